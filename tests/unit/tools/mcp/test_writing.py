"""Changing `mcp.json`: nothing of anybody's is lost, whatever stands in it (SPEC U33, F-S05)."""

import json
import random
import stat
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from desktop.core.errors import ServersFileError
from desktop.core.tool_servers import ServerEntry
from desktop.tools.mcp import config, writing
from desktop.tools.mcp.writing import mark_of, read
from tests.architecture.source import ROOT

FILES = ServerEntry("files", command="npx", args=("-y", "server-files"), env={"A": "1"})
WEB = ServerEntry("web", url="https://x.test/mcp", headers={"Authorization": "Bearer x"})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "mcp.json"


def mark(path: Path, name: str) -> str:
    return mark_of(read(path).entries[name])


def servers(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text("utf-8-sig"))["mcpServers"]


def test_the_first_server_makes_the_file_for_the_person_alone(path: Path) -> None:
    writing.add(path, FILES)
    writing.add(path, WEB)
    assert servers(path) == {
        "files": {"command": "npx", "args": ["-y", "server-files"], "env": {"A": "1"}},
        "web": {"url": "https://x.test/mcp", "headers": {"Authorization": "Bearer x"}},
    }
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert config.read(path).problems == ()


ODD = """{
    "inputs": [1.0, 1e3, "ü"],
    "mcpServers": {
        "b": {"command": "b", "sandbox": {"network": false}, "autoApprove": ["x"]},
        "broken": 5,
        "a": {"command": "a", "disabled": true}
    },
    "version": 9
}
"""


def test_what_nacre_does_not_know_stays_in_its_order_and_manner(path: Path) -> None:
    """SPEC U33."""
    path.write_text(ODD, "utf-8")
    before = json.loads(ODD)
    writing.replace(path, "b", mark(path, "b"), ServerEntry("c", command="c", args=("d",)))
    text = path.read_text("utf-8")
    after = json.loads(text)
    assert list(after) == ["inputs", "mcpServers", "version"]
    assert list(after["mcpServers"]) == ["c", "broken", "a"]
    assert after["mcpServers"]["c"] == {
        "command": "c",
        "sandbox": {"network": False},
        "autoApprove": ["x"],
        "args": ["d"],
    }
    assert after["mcpServers"]["a"] == before["mcpServers"]["a"]
    assert (after["inputs"], after["version"]) == (before["inputs"], 9)
    assert '\n    "inputs"' in text and "ü" in text and text.endswith("}\n")
    assert path.with_name("mcp.json.bak").read_text("utf-8") == ODD


@pytest.mark.parametrize(
    ("data", "sign"),
    [
        (b'\xef\xbb\xbf{"mcpServers": {}}', b"\xef\xbb\xbf{"),
        (b'{\r\n\t"mcpServers": {}\r\n}\r\n', b'\r\n\t"mcpServers"'),
        (b'{"mcpServers":{}}', b'{"mcpServers": {"files"'),
        (b'{"x": "\\u00fc\\ud83d",\n "mcpServers": {}}', b"\\u00fc\\ud83d"),
        (b'{"x": "\\ud83d \xc3\xbc",\n "mcpServers": {}}', b"\\ud83d"),
        (b"{}", b'"mcpServers"'),
    ],
    ids=["BOM", "CRLF and tabs", "one line", "escapes", "half a character", "no servers yet"],
)
def test_a_file_is_written_as_it_was_written(path: Path, data: bytes, sign: bytes) -> None:
    path.write_bytes(data)
    writing.add(path, FILES)
    written = path.read_bytes()
    assert sign in written
    assert written.endswith(b"\n") == data.endswith(b"\n")
    assert [one.name for one in config.read(path).entries] == ["files"]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b'{"mcpServers": {"a": {"comm',
        b'{"mcpServers": {}}{"mcpServers": {}}',
        b"[]",
        b'{"mcpServers": 5}',
        b"\xff\xfe{",
        b'{"mcpServers": {"a": {"command": "b"}, "a": {"command": "c"}}}',
        b'{"mcpServers": {}, "n": NaN}',
    ],
    ids=["empty", "half", "two in one", "list", "number", "bytes", "a name twice", "no number"],
)
def test_a_broken_file_is_never_written_and_can_be_set_aside(path: Path, data: bytes) -> None:
    """SPEC U33, FIELD F-S05."""
    path.write_bytes(data)
    with pytest.raises(ServersFileError, match=r"mcp\.json"):
        writing.add(path, FILES)
    assert path.read_bytes() == data
    assert sorted(one.name for one in path.parent.iterdir()) == ["mcp.json", "mcp.json.lock"]
    if b"NaN" in data:
        return  # it can be read, and is used
    path.with_name("mcp.broken.json").write_text("an older one")
    aside = writing.set_aside(path)
    assert (aside.name, aside.read_bytes()) == ("mcp.broken-2.json", data)
    assert not path.exists()
    writing.add(path, FILES)


def test_a_broken_file_is_named_with_its_place(path: Path) -> None:
    path.write_text('{\n  "mcpServers": {,}\n}')
    assert "line 2, column 18" in read(path).problem


def test_a_file_that_is_whole_again_is_not_set_aside(path: Path) -> None:
    writing.add(path, FILES)
    with pytest.raises(ServersFileError, match="left where it is"):
        writing.set_aside(path)


def test_an_entry_that_was_changed_or_taken_out_meanwhile_is_left_alone(path: Path) -> None:
    writing.add(path, FILES)
    seen = mark(path, "files")
    path.write_text('{"mcpServers": {"files": {"command": "other"}, "more": {"command": "m"}}}')
    by_hand = path.read_text()
    for act in (
        lambda: writing.replace(path, "files", seen, FILES),
        lambda: writing.remove(path, "files", seen),
        lambda: writing.turn(path, "files", seen, on=False),
        lambda: writing.remove(path, "gone", seen),
        lambda: writing.add(path, replace(FILES, name="more")),
        lambda: writing.replace(path, "files", mark(path, "files"), replace(FILES, name="more")),
    ):
        with pytest.raises(ServersFileError):
            act()
        assert path.read_text() == by_hand


def test_a_change_by_another_program_in_the_last_moment_is_not_overwritten(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writing.add(path, FILES)
    beside = writing._beside  # pyright: ignore[reportPrivateUsage]

    def late(target: Path, data: bytes, mode: int) -> Path:
        path.write_text("{}")
        return beside(target, data, mode)

    monkeypatch.setattr(writing, "_beside", late)
    with pytest.raises(ServersFileError, match="another program"):
        writing.add(path, WEB)
    assert path.read_text() == "{}"
    assert not path.with_name("mcp.json.new").exists()


@pytest.mark.parametrize("keys", [{}, {"disabled": True}, {"enabled": False}, {"enabled": True}])
def test_a_server_is_turned_off_and_on_by_the_key_that_is_there(
    path: Path, keys: dict[str, bool]
) -> None:
    path.write_text(json.dumps({"mcpServers": {"a": {"command": "b", **keys}}}))
    for on in (False, True):
        writing.turn(path, "a", mark(path, "a"), on=on)
        (entry,) = config.read(path).entries
        assert entry.is_enabled is on
    assert set(servers(path)["a"]) == {"command", *(keys or {"disabled": 0})}


def test_a_server_that_becomes_one_of_the_other_kind_keeps_nothing_that_would_break_it(
    path: Path,
) -> None:
    path.write_text('{"mcpServers": {"a": {"type": "stdio", "command": "b", "env": {}, "x": 1}}}')
    writing.replace(path, "a", mark(path, "a"), replace(WEB, name="a"))
    assert set(servers(path)["a"]) == {"url", "headers", "x"}
    writing.replace(path, "a", mark(path, "a"), replace(FILES, name="a"))
    assert set(servers(path)["a"]) == {"command", "args", "env", "x"}


@pytest.mark.parametrize(
    "entry",
    [
        ServerEntry("", command="a"),
        ServerEntry("a\nb", command="a"),
        ServerEntry("a"),
        ServerEntry("a", url="ftp://x"),
        ServerEntry("a", command="a\0"),
        ServerEntry("a", command="a", env={"": "x"}),
    ],
)
def test_an_entry_that_could_not_be_read_back_is_refused_in_words(
    path: Path, entry: ServerEntry
) -> None:
    with pytest.raises(ServersFileError, match="can't be kept like this"):
        writing.add(path, entry)
    assert not path.exists()


def test_a_link_stays_a_link_and_the_mode_of_the_file_stays(path: Path, tmp_path: Path) -> None:
    target = tmp_path / "elsewhere" / "shared.json"
    target.parent.mkdir()
    target.write_text("{}")
    target.chmod(0o640)
    path.symlink_to(target)
    writing.add(path, FILES)
    assert path.is_symlink()
    assert servers(target)["files"]["command"] == "npx"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert path.with_name("mcp.json.bak").read_text() == "{}"


def test_a_read_only_file_is_named_and_stays(path: Path) -> None:
    path.write_text("{}")
    path.chmod(0o400)
    with pytest.raises(ServersFileError, match="read-only"):
        writing.add(path, FILES)
    assert path.read_text() == "{}"


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "mcp.json").symlink_to(tmp_path / "gone" / "mcp.json")
    with pytest.raises(ServersFileError, match="can't be written"):
        writing.add(tmp_path / "mcp.json", FILES)
    (tmp_path / "loop.json").symlink_to(tmp_path / "loop.json")
    with pytest.raises(ServersFileError, match="can't be read"):
        writing.add(tmp_path / "loop.json", FILES)


CHANGING = """
import sys
from pathlib import Path
from tests.unit.tools.mcp.test_writing import change_often
change_often(Path(sys.argv[1]), sys.argv[2])
"""


def change_often(path: Path, name: str) -> None:
    """Another process: its own server is changed again and again, at random."""
    chance = random.Random(name)
    for number in range(40):
        entry = ServerEntry(name, command="c", args=(str(number),))
        known = read(path).entries.get(name)
        match chance.randrange(3) if known is not None else 0:
            case 0 if known is None:
                writing.add(path, entry)
            case 1:
                writing.turn(path, name, mark_of(known), on=chance.random() < 0.5)
            case _:
                writing.replace(path, name, mark_of(known), entry)


@pytest.mark.timeout(180)
def test_five_processes_change_their_servers_at_once_and_none_loses_anything(path: Path) -> None:
    """FIELD F-S05: a reader never meets a broken file, and no change of another is lost."""
    path.write_text('{"kept": 1, "mcpServers": {}}')
    names = [f"server-{number}" for number in range(5)]
    met: list[str] = []
    over = threading.Event()

    def look() -> None:
        while not over.is_set():
            met.extend(config.read(path).problems)

    reader = threading.Thread(target=look)
    reader.start()
    try:
        processes = [
            subprocess.Popen([sys.executable, "-c", CHANGING, str(path), name], cwd=ROOT)
            for name in names
        ]
        codes = [process.wait() for process in processes]
    finally:
        over.set()
        reader.join()
    assert codes == [0] * 5
    assert met == []
    assert sorted(servers(path)) == names
    assert json.loads(path.read_text())["kept"] == 1
    left = {one.name for one in path.parent.iterdir()}
    assert left == {"mcp.json", "mcp.json.bak", "mcp.json.lock"}


# Half characters can't stand in a file.
TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(
    whole=st.dictionaries(TEXT.filter(lambda key: key != "mcpServers"), VALUES, max_size=3),
    others=st.dictionaries(TEXT.filter(lambda key: key != "files"), VALUES, max_size=4),
    indent=st.sampled_from([None, 1, 2, 4, "\t"]),
    ascii_only=st.booleans(),
)
def test_whatever_else_stands_in_the_file_comes_through_a_change(
    tmp_path_factory: pytest.TempPathFactory,
    whole: dict[str, Any],
    others: dict[str, Any],
    indent: int | str | None,
    ascii_only: bool,
) -> None:
    """SPEC U33."""
    path = tmp_path_factory.mktemp("servers") / "mcp.json"
    document = {**whole, "mcpServers": others}
    path.write_text(json.dumps(document, indent=indent, ensure_ascii=ascii_only), "utf-8")
    before = path.read_bytes()
    writing.add(path, FILES)
    after = json.loads(path.read_bytes())
    assert list(after["mcpServers"]) == [*others, "files"]
    assert {**after["mcpServers"]} == {**others, "files": servers(path)["files"]}
    assert list(after) == list(document)
    writing.remove(path, "files", mark(path, "files"))
    assert json.loads(path.read_bytes()) == json.loads(before)
