"""Edits change the edited bytes and no others (FIELD F-T03), and only what was shown (F-T06)."""

import asyncio
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from desktop.core.errors import ToolFailed
from desktop.core.permissions import Act
from desktop.core.tools import Scene
from desktop.tools.builtin.edit_file import Edit, EditFile, edited
from desktop.tools.places import Place
from desktop.tools.texts import FileText, decode
from tests.unit.tools.conftest import Run


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        pytest.param(b"a\r\nb\r\nc\r\n", "a\nb", "a\nx\ny", b"a\r\nx\r\ny\r\nc\r\n", id="crlf"),
        pytest.param(b"a\r\nb\r\n", "b", "x\ny", b"a\r\nx\r\ny\r\n", id="crlf, one word grows"),
        pytest.param(b"a\nb\r\nc\rd\n", "b\nc", "b\nC", b"a\nb\r\nC\rd\n", id="mixed"),
        pytest.param(
            b"a\nb\r\nc\n", "a\nb\nc", "a\nb\nX\nc", b"a\nb\r\nX\r\nc\n", id="mixed, kept"
        ),
        pytest.param(b"a\rb\rc", "b", "x\ny", b"a\rx\ry\rc", id="cr only"),
        pytest.param(b"a\nlast", "last", "last\nmore", b"a\nlast\nmore", id="no final newline"),
        pytest.param(b"last", "last", "last\nmore", b"last\nmore", id="no newline at all"),
        pytest.param(
            b"\xef\xbb\xbfa\r\nb\r\n", "a\nb", "c\nd", b"\xef\xbb\xbfc\r\nd\r\n", id="bom, crlf"
        ),
        pytest.param(
            "\ufeffa\r\nb€\r\n".encode("utf-16-le"),
            "b€\n",
            "c\nd\n",
            "\ufeffa\r\nc\r\nd\r\n".encode("utf-16-le"),
            id="utf-16 le",
        ),
        pytest.param(
            "\ufeffab\n".encode("utf-16-be"), "b", "😀", "\ufeffa😀\n".encode("utf-16-be"), id="be"
        ),
        pytest.param(b"\tif x:\r\n\t\ty\r\n", "\tif x:\n\t\ty", "\tz", b"\tz\r\n", id="tabs"),
        pytest.param(b"caf\xe9 old\n\xff", "old", "new", b"caf\xe9 new\n\xff", id="latin-1 stays"),
        pytest.param(b"a b a", "b", "", b"a  a", id="taken away"),
        pytest.param(b"x\x85y\x0cz\nw", "w", "v", b"x\x85y\x0cz\nv", id="other separators"),
        pytest.param(b"1\r\n2\r\n", "1\r\n2", "1\r\n3", b"1\r\n3\r\n", id="asked for with crlf"),
    ],
)
def test_only_the_edited_bytes_change(
    use: Run, workspace: Path, before: bytes, old: str, new: str, after: bytes
) -> None:
    file = workspace / "f"
    file.write_bytes(before)
    use(EditFile(), path="f", old=old, new=new)
    assert file.read_bytes() == after


@pytest.mark.parametrize(
    ("before", "arguments", "why"),
    [
        (b"a\na\n", {"old": "a", "new": "b"}, "2 times in f (lines 1, 2)"),
        (b"a\r\nb", {"old": "a\nb", "new": "a\r\nb"}, "nothing would change"),
        (b"a", {"old": "a", "new": "a"}, "nothing would change"),
        (b"a", {"old": "x", "new": "b"}, "is not in f"),
        (b"x\n  a  b\n", {"old": "a b", "new": "c"}, "line 2 differs from it in blanks only"),
        (b"a", {"old": "", "new": "b"}, "old is empty"),
        (b"a\0b", {"old": "a", "new": "b"}, "binary file"),
        ("\ufeffa".encode("utf-32-le"), {"old": "a", "new": "b"}, "binary file"),
        (b"\xff\xfea\0b", {"old": "a", "new": "b"}, "damaged text"),
        (b"\n\r\n", {"old": "\n\n\n", "new": "b"}, "is not in f"),
        (b"a", {"old": "a", "new": "\ud83d"}, "half a character"),
        (b"a", {"old": "a"}, "argument new is missing"),
    ],
)
def test_an_edit_that_can_not_be_made_says_why(
    prepared: Callable[..., Act],
    workspace: Path,
    before: bytes,
    arguments: dict[str, str],
    why: str,
) -> None:
    (workspace / "f").write_bytes(before)
    with pytest.raises(ToolFailed) as caught:
        prepared(EditFile(), path="f", **arguments)
    assert why in str(caught.value)
    assert (workspace / "f").read_bytes() == before


def test_all_places_change_when_asked_for(use: Run, workspace: Path) -> None:
    (workspace / "f").write_bytes(b"a\r\na\na")
    outcome = use(EditFile(), path="f", old="a", new="b\nc", all=True)
    assert (workspace / "f").read_bytes() == b"b\r\nc\r\nb\nc\nb\nc"
    assert outcome.text == "Edited f in 3 places."


def test_a_missing_file_is_named(prepared: Callable[..., Act]) -> None:
    with pytest.raises(ToolFailed, match="nothere does not exist"):
        prepared(EditFile(), path="nothere", old="a", new="b")


def test_the_diff_is_exactly_the_change(prepared: Callable[..., Act], workspace: Path) -> None:
    lines = [f"line {number}\r\n" for number in range(1, 101)]
    (workspace / "f").write_bytes("".join(lines).encode())
    act = prepared(EditFile(), path="f", old="line 50\nline 51", new="line 50\nnew")
    assert act.detail == (
        "--- f\n+++ f\n@@ -48,7 +48,7 @@\n line 48\n line 49\n line 50\n-line 51\n+new\n"
        " line 52\n line 53\n line 54\n"
    )
    assert (act.detail_kind, act.writes) == ("diff", (str(workspace / "f"),))
    assert (act.coverable_by, act.offer, act.outside) == (("inside",), "inside", False)


def test_a_change_of_line_ends_alone_is_visible_in_the_diff(
    prepared: Callable[..., Act], workspace: Path
) -> None:
    (workspace / "f").write_bytes(b"a\nb\r\nc\nd")
    act = prepared(EditFile(), path="f", old="c\nd", new="c")
    assert "-c␊\n-d\n\\ No newline at end of file\n+c\n\\ No newline" in act.detail


def test_preparing_touches_nothing(prepared: Callable[..., Act], workspace: Path) -> None:
    (workspace / "f").write_bytes(b"a")
    before = (workspace / "f").stat()
    prepared(EditFile(), path="f", old="a", new="b")
    assert list(workspace.iterdir()) == [workspace / "f"]
    assert (workspace / "f").stat().st_mtime_ns == before.st_mtime_ns


def test_a_file_that_changed_after_the_question_is_left_alone(
    scene: Scene, workspace: Path
) -> None:
    (workspace / "f").write_bytes(b"a1")

    async def main() -> None:
        tool = EditFile()
        act = await tool.prepare({"path": "f", "old": "a", "new": "b"}, scene)
        (workspace / "f").write_bytes(b"a2")
        with pytest.raises(ToolFailed, match="the file changed after you were asked"):
            await tool.run(act, scene, lambda _: None)

    asyncio.run(main())
    assert (workspace / "f").read_bytes() == b"a2"


@pytest.mark.skipif(os.name != "posix", reason="modes")
def test_the_mode_of_the_file_is_kept(use: Run, workspace: Path) -> None:
    (workspace / "f").write_bytes(b"a")
    (workspace / "f").chmod(0o754)
    use(EditFile(), path="f", old="a", new="b")
    assert stat.S_IMODE((workspace / "f").stat().st_mode) == 0o754


PLACE = Place(asked="f", real=Path("/f"), inside=True, label="f")


@example(start="", old="\rx\n", end="", new="\n\n")
@given(
    start=st.text(alphabet="ab\r\n", max_size=12),
    old=st.text(alphabet="xy\r\n", min_size=1, max_size=8),
    end=st.text(alphabet="ab\r\n", max_size=12),
    new=st.text(alphabet="cd\n", max_size=8),
)
def test_everything_around_an_edit_stays_byte_for_byte(
    start: str, old: str, end: str, new: str
) -> None:
    body = f"{start}<{old}>{end}"
    after, count = edited(FileText(body, "utf-8", b""), Edit(f"<{old}>", f"<{new}>"), PLACE)
    assert count == 1
    assert after.startswith(f"{start}<")
    assert after.endswith(f">{end}")
    assert (
        after[len(start) :][: len(after) - len(start) - len(end)]
        .replace("\r\n", "\n")
        .replace("\r", "\n")
        == f"<{new}>"
    )


@given(st.binary(max_size=60))
def test_a_decoded_file_comes_back_byte_for_byte(data: bytes) -> None:
    text = decode(data)
    assert text is None or text.encode(text.body) == data
