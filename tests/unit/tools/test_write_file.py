"""Whole files are written at once or not at all, in the place that was shown (FIELD F-T06)."""

import asyncio
import os
import resource
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from desktop.core.errors import ToolFailed
from desktop.core.permissions import Act
from desktop.core.tools import Scene
from desktop.tools import files
from desktop.tools.builtin.write_file import WriteFile
from tests.unit.tools.conftest import Run

Prepared = Callable[..., Act]


def test_a_new_file_comes_with_its_folders(use: Run, workspace: Path) -> None:
    outcome = use(WriteFile(), path="a/b/c.txt", content="Grüße\r\n")
    assert (workspace / "a/b/c.txt").read_bytes() == "Grüße\r\n".encode()
    assert outcome.text == "Created a/b/c.txt (9 bytes)."
    assert [one.name for one in (workspace / "a/b").iterdir()] == ["c.txt"]


def test_preparing_touches_nothing_and_shows_the_new_file(
    prepared: Prepared, workspace: Path
) -> None:
    act = prepared(WriteFile(), path="a/b.txt", content="one\ntwo")
    assert list(workspace.iterdir()) == []
    assert act.sentence == "Create a/b.txt"
    assert act.detail == (
        "--- /dev/null\n+++ a/b.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n\\ No newline at end of file\n"
    )
    assert (act.kind, act.outside, act.offer) == ("write", False, "inside")


def test_the_result_brings_the_change_that_was_shown(use: Run, workspace: Path) -> None:
    (workspace / "a").write_text("one\ntwo\n")
    outcome = use(WriteFile(), path="a", content="one\n2\n")
    assert outcome.diff == "--- a\n+++ a\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"


@pytest.mark.skipif(os.name != "posix", reason="modes")
def test_overwriting_keeps_the_mode(use: Run, workspace: Path) -> None:
    (workspace / "run.sh").write_text("old")
    (workspace / "run.sh").chmod(0o755)
    use(WriteFile(), path="run.sh", content="new")
    assert stat.S_IMODE((workspace / "run.sh").stat().st_mode) == 0o755
    assert (workspace / "run.sh").read_text() == "new"


@pytest.mark.skipif(os.name != "posix", reason="limits")
def test_the_old_file_stays_when_the_write_fails(
    prepared: Prepared, scene: Scene, workspace: Path
) -> None:
    """The system itself refuses in the middle of the write (a limit on file sizes)."""
    (workspace / "f").write_text("precious")
    act = prepared(WriteFile(), path="f", content="x" * 100_000)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, hard))
    try:
        with pytest.raises(ToolFailed):
            asyncio.run(WriteFile().run(act, scene, lambda _: None))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (workspace / "f").read_text() == "precious"
    assert [one.name for one in workspace.iterdir()] == ["f"]


def test_a_file_that_appeared_after_the_question_is_left_alone(
    prepared: Prepared, scene: Scene, workspace: Path
) -> None:
    act = prepared(WriteFile(), path="f", content="mine")
    (workspace / "f").write_text("theirs")
    with pytest.raises(ToolFailed, match="changed after you were asked"):
        asyncio.run(WriteFile().run(act, scene, lambda _: None))
    assert (workspace / "f").read_text() == "theirs"


def test_a_binary_or_large_file_is_named_as_such(prepared: Prepared, workspace: Path) -> None:
    (workspace / "b").write_bytes(b"\0" * 2000)
    assert (
        "Binary content: 2.0 KB -> 1 byte." in prepared(WriteFile(), path="b", content="x").detail
    )
    with (workspace / "big").open("wb") as file:
        file.truncate(files.LARGEST_COMPARED + 1)
    detail = prepared(WriteFile(), path="big", content="x").detail
    assert "Too large to compare: 16.0 MB -> 1 byte." in detail


def test_a_large_file_that_changed_is_noticed_too(
    prepared: Prepared, scene: Scene, workspace: Path
) -> None:
    with (workspace / "big").open("wb") as file:
        file.truncate(files.LARGEST_COMPARED + 1)
    act = prepared(WriteFile(), path="big", content="x")
    with (workspace / "big").open("ab") as file:
        file.write(b"more")
    with pytest.raises(ToolFailed, match="changed after you were asked"):
        asyncio.run(WriteFile().run(act, scene, lambda _: None))


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"path": "f"}, "content is missing"),
        ({"content": "x"}, "path is missing"),
        ({"path": "", "content": "x"}, "path is missing"),
        ({"path": "a\0b", "content": "x"}, "NUL"),
        ({"path": "f", "content": "half \udc3d"}, "half a character"),
        ({"path": ".", "content": "x"}, "is a folder"),
        ({"path": "x" * 300, "content": "x"}, "too long"),
        ({"path": "file/under", "content": "x"}, "not a folder"),
    ],
)
def test_what_can_not_be_written_is_refused_with_a_sentence(
    prepared: Prepared, workspace: Path, arguments: dict[str, str], why: str
) -> None:
    (workspace / "file").write_text("")
    with pytest.raises(ToolFailed) as caught:
        prepared(WriteFile(), **arguments)
    assert why in str(caught.value)


@pytest.mark.parametrize("path", [".git/hooks/pre-commit", "sub/.GIT/config"])
def test_what_lies_in_the_folder_of_git_always_asks(prepared: Prepared, path: str) -> None:
    """A hook is a program that runs later, beyond every question."""
    act = prepared(WriteFile(), path=path, content="id")
    assert (act.outside, act.offer, act.coverable_by) == (True, "", ())
    assert "git's own folder" in act.sentence


def test_a_long_file_is_shown_by_its_change_alone(prepared: Prepared, workspace: Path) -> None:
    lines = [f"{number}\n" for number in range(200_000)]
    (workspace / "f").write_text("".join(lines))
    lines[100_000] = "changed\n"
    detail = prepared(WriteFile(), path="f", content="".join(lines)).detail
    assert "@@ -99998,7 +99998,7 @@" in detail
    assert len(detail) < 200


def test_a_rewrite_of_thousands_of_lines_says_how_many(prepared: Prepared, workspace: Path) -> None:
    (workspace / "f").write_text("".join(f"a{number}\n" for number in range(5000)))
    content = "".join(f"b{number}\n" for number in range(5001))
    assert "-5,000 and +5,001 lines" in prepared(WriteFile(), path="f", content=content).detail
