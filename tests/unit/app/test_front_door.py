"""One window process for each data folder, whatever stands in its way (SPEC F7)."""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.app.front_door import FrontDoor
from desktop.app.handing_over import Message, address, decode
from desktop.app.window_lock import WindowLock
from desktop.cli import COMMANDS, parser, with_place
from desktop.core.errors import NacreError
from desktop.core.links import Link
from desktop.paths import DataFolder
from tests.architecture.source import ROOT

TAB = "0b6f1f0e-6f0b-5c0e-9a51-3c1f0e2b7a94"
HOLDS = """
import os, sys
from pathlib import Path
from desktop.app.window_lock import WindowLock
from desktop.paths import DataFolder
lock = WindowLock(DataFolder(Path(sys.argv[1])))
assert lock.take() and lock.held
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """This user's own folder for sockets, whose names must be short."""
    with tempfile.TemporaryDirectory() as place:
        monkeypatch.setenv("XDG_RUNTIME_DIR", place)
        yield Path(place)


def test_f7_a_killed_process_leaves_no_lock_behind(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path / "data")
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(folder.root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        lock = WindowLock(folder)
        assert not lock.take()
        other.kill()
        other.wait()
        assert lock.take()
        lock.release()


def test_f7_two_data_folders_each_have_their_own_lock(tmp_path: Path) -> None:
    locks = [WindowLock(DataFolder(tmp_path / name)) for name in ("one", "two")]
    assert all(lock.take() and lock.held for lock in locks)
    for lock in locks:
        lock.release()


def test_f7_a_folder_that_can_hold_no_lock_stands_in_nobodys_way(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file", "utf-8")
    lock = WindowLock(DataFolder(tmp_path / "data"))
    assert lock.take()
    assert not lock.held


def test_f7_a_window_that_does_not_answer_is_named_and_no_second_one_opens(
    tmp_path: Path, runtime: Path
) -> None:
    folder = DataFolder(tmp_path / "data")
    first = WindowLock(folder)
    assert first.take()
    with pytest.raises(NacreError, match="does not answer"):
        FrontDoor(folder, None).enter(seconds=0.01)
    first.release()
    door = FrontDoor(folder, None)
    assert door.enter()
    assert Path(door.address).parent == runtime
    door.leave()


def test_f7_every_name_of_a_data_folder_leads_to_the_same_window(
    tmp_path: Path, runtime: Path
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "data")
    there, other = DataFolder(tmp_path / "data"), DataFolder(tmp_path / "other")
    assert address(DataFolder(tmp_path / "link")) == address(there)
    assert address(other) != address(there)


def test_f7_a_place_where_others_could_listen_is_not_used(tmp_path: Path, runtime: Path) -> None:
    runtime.chmod(0o777)
    assert not address(DataFolder(tmp_path)).startswith(str(runtime))


@pytest.mark.parametrize("place", [None, Link(TAB, 3), Path("/a folder/ü")], ids=str)
def test_f7_a_message_arrives_as_it_was_sent(place: Link | Path | None) -> None:
    message = Message(place, "token-1_TIME123")
    assert decode(message.encode()) == message


@pytest.mark.parametrize(
    "held",
    [
        None,
        [],
        {"open": ""},
        {"open": "", "token": "", "run": "x"},
        {"open": 1, "token": ""},
        {"open": "", "token": "a b"},
        {"open": "", "token": "a" * 257},
        {"open": "relative", "token": ""},
        {"open": f"nacre://tab/{TAB}?seq=x", "token": ""},
    ],
)
def test_f7_what_is_not_exactly_a_message_is_none(held: object) -> None:
    assert decode(json.dumps(held).encode()) is None


@given(st.binary(max_size=64))
def test_f7_no_bytes_do_harm(line: bytes) -> None:
    assert decode(line) is None
    assert decode(b"[" * 8000 + line) is None


@pytest.mark.parametrize(
    ("words", "read"),
    [
        ([], []),
        (["/a"], ["--open", "/a"]),
        (["--data-dir", "/d", "/a"], ["--data-dir", "/d", "--open", "/a"]),
        (["--data-dir", "/d"], ["--data-dir", "/d"]),
        (["--selftest-window", "./a.png"], ["--selftest-window", "./a.png"]),
        (["nacre://tab/x"], ["--open", "nacre://tab/x"]),
        (["run", "--workspace", ".", "/compact"], ["run", "--workspace", ".", "/compact"]),
        (["import-records", "/a"], ["import-records", "/a"]),
        (["tabs"], ["tabs"]),
        (["tbas"], ["tbas"]),
    ],
)
def test_f7_a_place_alone_is_what_to_open(words: list[str], read: list[str]) -> None:
    assert with_place(words) == read


def test_f7_every_command_is_known_as_one_and_not_taken_for_a_folders_neighbour() -> None:
    listed = re.findall(r"^    ([a-z-]+)(?: |$)", parser().format_help(), re.MULTILINE)
    assert set(listed) == COMMANDS


def test_f7_without_a_place_nothing_is_opened_and_a_folder_is_sent_by_its_full_path() -> None:
    assert parser().parse_args([]).open is None
    assert parser().parse_args(["--open", "."]).open == str(Path.cwd())


def test_f7_the_lock_costs_no_library(tmp_path: Path) -> None:
    code = (
        "import sys, desktop.app.front_door\n"
        "print(sorted({'PySide6', 'filelock', 'hashlib', 'json'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.strip() == "[]"
    assert os.environ.get("XDG_ACTIVATION_TOKEN") is None
