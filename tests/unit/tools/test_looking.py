"""Reading, listing, finding and searching: bounded, cancellable, honest about what was left out."""

import asyncio
import codecs
import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from desktop.core.errors import ToolFailed
from desktop.core.permissions import Act
from desktop.core.tools import Scene
from desktop.tools.builtin.glob import Glob
from desktop.tools.builtin.grep import Grep
from desktop.tools.builtin.list_dir import ListDir
from desktop.tools.builtin.read_file import ReadFile
from tests.unit.tools.conftest import Run, prepare_and_run
from tests.unit.tools.pictures import drawn, noise, paper


@pytest.mark.parametrize(
    ("data", "seen"),
    [
        (b"one\ntwo\n", "     1\tone\n     2\ttwo"),
        (b"one\r\ntwo", "     1\tone\n     2\ttwo"),
        (b"one\rtwo", "     1\tone\n     2\ttwo"),
        (codecs.BOM_UTF8 + "Grüße".encode(), "     1\tGrüße"),
        ("\ufeffGrüße\n😀".encode("utf-16-le"), "     1\tGrüße\n     2\t😀"),
        ("\ufeffa".encode("utf-16-be"), "     1\ta"),
        (b"caf\xe9", "     1\tcaf\ufffd"),
        (b"\n\n", "     1\t\n     2\t"),
        (b"", "[The file is empty.]"),
    ],
)
def test_lines_are_read_with_their_numbers(
    use: Run, workspace: Path, data: bytes, seen: str
) -> None:
    (workspace / "f").write_bytes(data)
    assert use(ReadFile(), path="f").text == seen


@pytest.mark.parametrize("data", [b"a\0b", "\ufeffa".encode("utf-32-le")])
def test_a_binary_file_is_called_so(use: Run, workspace: Path, data: bytes) -> None:
    (workspace / "f").write_bytes(data)
    with pytest.raises(ToolFailed, match="f is a binary file of"):
        use(ReadFile(), path="f")


def test_a_picture_or_document_is_shown_whatever_it_is_called(use: Run, workspace: Path) -> None:
    (workspace / "photo").write_bytes(drawn((3000, 40)))
    seen = use(ReadFile(), path="photo")
    assert seen.text == (
        f"[photo: a picture, 2000 × 27 pixels, {seen.images[0]['size']} bytes,"
        " made fit to be shown]"
    )
    assert seen.images[0]["mediaType"] == "image/png"
    (workspace / "paper.pdf").write_bytes(paper(2))
    seen = use(ReadFile(), path="paper.pdf")
    assert seen.text.startswith("[paper.pdf: a PDF of 2 pages, ")
    assert [one["kind"] for one in seen.images] == ["document"]


def test_a_picture_that_is_not_complete_is_called_so(use: Run, workspace: Path) -> None:
    (workspace / "half.png").write_bytes(noise(64)[:2000])
    with pytest.raises(ToolFailed, match=r"half\.png is damaged or not complete"):
        use(ReadFile(), path="half.png")


@pytest.mark.parametrize("text", ["BMW drives", "the header is %PDF-1.7", "GIF, PNG"])
def test_a_text_that_speaks_of_pictures_stays_a_text(use: Run, workspace: Path, text: str) -> None:
    (workspace / "f.txt").write_text(text)
    assert use(ReadFile(), path="f.txt").text == f"     1\t{text}"


def test_a_window_of_a_file_says_where_it_lies(use: Run, workspace: Path) -> None:
    (workspace / "f").write_text("".join(f"{number}\n" for number in range(1, 5001)))
    assert use(ReadFile(), path="f", offset=10, limit=2).text == (
        "    10\t10\n    11\t11\n[Lines 10 to 11 of 5,000; go on with offset 12.]"
    )
    assert use(ReadFile(), path="f").text.endswith(
        "[Lines 1 to 2,000 of 5,000; go on with offset 2001.]"
    )
    assert use(ReadFile(), path="f", offset="4999").text == "  4999\t4999\n  5000\t5000"
    assert "there is no line 6,000" in use(ReadFile(), path="f", offset=6000).text


def test_what_is_read_stays_within_the_caps(scene: Scene, use: Run, workspace: Path) -> None:
    (workspace / "long").write_text("x" * 3_000_000 + "\nnext\n")
    text = use(ReadFile(), path="long").text
    assert len(text) < 2200
    assert text.endswith("[… line of 3,000,000 characters]\n     2\tnext")
    (workspace / "wide").write_text("😀" * 1000 + "\n" + "b\n" * 10)
    small = replace(scene, result_bytes=100)
    outcome = asyncio.run(prepare_and_run(ReadFile(), small, path="wide", offset=2))[1]
    assert len(outcome.text.encode()) < 200


@pytest.mark.skipif(os.name != "posix", reason="special files")
@pytest.mark.parametrize("path", ["/dev/zero", "pipe"])
def test_a_special_file_is_not_read(use: Run, workspace: Path, path: str) -> None:
    os.mkfifo(workspace / "pipe")
    with pytest.raises(ToolFailed, match="is not a regular file"):
        use(ReadFile(), path=path)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({}, "path is missing"),
        ({"path": "gone"}, "gone does not exist"),
        ({"path": "."}, "is a folder"),
        ({"path": 3}, "path is missing"),
        ({"path": "f", "offset": "two"}, "offset must be a whole number"),
        ({"path": "f", "limit": True}, "limit must be a whole number"),
    ],
)
def test_what_can_not_be_read_says_why(use: Run, arguments: dict[str, object], why: str) -> None:
    with pytest.raises(ToolFailed) as caught:
        use(ReadFile(), **arguments)
    assert why in str(caught.value)


def test_a_stop_of_a_long_read_does_not_wait(scene: Scene, workspace: Path) -> None:
    with (workspace / "big").open("wb") as file:
        file.write(b"text" * 4096)
        file.seek(40_000_000_000)
        file.write(b"\n")

    async def main() -> float:
        act = await ReadFile().prepare({"path": "big", "offset": 2}, scene)
        task = asyncio.create_task(ReadFile().run(act, scene, lambda _: None))
        await asyncio.sleep(0.1)
        started = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return time.monotonic() - started

    assert asyncio.run(main()) < 1


def test_a_folder_is_listed_in_order(use: Run, workspace: Path) -> None:
    (workspace / "b").mkdir()
    (workspace / "a.txt").write_text("12345")
    (workspace / "c").symlink_to("nowhere")
    assert use(ListDir()).text == "a.txt  5 bytes\nb/\nc -> nowhere"
    assert use(ListDir(), path="b").text == "[The folder is empty.]"


def test_a_large_folder_says_how_much_was_left_out(use: Run, workspace: Path) -> None:
    for number in range(1005):
        (workspace / f"{number:04}").touch()
    lines = use(ListDir()).text.splitlines()
    assert len(lines) == 1001
    assert lines[-1] == "[… 5 more left out; use glob …]"
    assert use(Glob(), pattern="*").text.endswith("[… 5 more left out; use a narrower pattern …]")


@pytest.fixture
def project(workspace: Path) -> Path:
    for name in (
        "src/a.py",
        "src/deep/er/b.py",
        "src/c.txt",
        "top.py",
        "build/out.py",
        "sub/keep.log",
        "sub/x.log",
        "other.log",
        ".git/hooks/x.py",
        "node_modules/m/i.py",
    ):
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text(f"needle in {name}\n")
    (workspace / ".gitignore").write_text("build/\n*.log\n/node_modules\n")
    (workspace / "sub/.gitignore").write_text("!keep.log\n")
    return workspace


@pytest.mark.parametrize(
    ("pattern", "path", "found"),
    [
        ("*.py", ".", ["src/a.py", "src/deep/er/b.py", "top.py"]),
        ("src/*.py", ".", ["src/a.py"]),
        ("src/**/*.py", ".", ["src/a.py", "src/deep/er/b.py"]),
        ("./top.py", ".", ["top.py"]),
        ("**/er/**", ".", ["src/deep/er/b.py"]),
        ("*.{txt,log}", ".", ["src/c.txt", "sub/keep.log"]),
        ("[st]*.py", ".", ["top.py"]),
        ("*.py", "src/deep", ["src/deep/er/b.py"]),
        ("*.log", "sub", ["sub/keep.log"]),
        ("nothing*", ".", ["[No file matches.]"]),
    ],
)
def test_files_are_found_by_name(
    use: Run, project: Path, pattern: str, path: str, found: list[str]
) -> None:
    assert use(Glob(), pattern=pattern, path=path).text.splitlines() == found


@pytest.mark.parametrize("pattern", ["../*", "", "/", "{a,b}" * 10])
def test_a_pattern_that_means_nothing_is_refused(
    prepared: Callable[..., Act], pattern: str
) -> None:
    with pytest.raises(ToolFailed):
        prepared(Glob(), pattern=pattern)


def test_a_greedy_name_pattern_takes_no_time(use: Run, workspace: Path) -> None:
    (workspace / ("a" * 200)).touch()
    started = time.monotonic()
    assert use(Glob(), pattern="*a" * 60 + "b").text == "[No file matches.]"
    assert time.monotonic() - started < 10  # tried one by one it would take years


def test_lines_are_found_in_text_files_only(use: Run, project: Path) -> None:
    (project / "blob").write_bytes(b"needle\0")
    (project / "utf16").write_bytes("\ufeffx\nNeedle ü\n".encode("utf-16-le"))
    assert use(Grep(), pattern=r"needle", path="src").text == (
        "src/a.py:1: needle in src/a.py\n"
        "src/c.txt:1: needle in src/c.txt\n"
        "src/deep/er/b.py:1: needle in src/deep/er/b.py"
    )
    assert use(Grep(), pattern="NEEDLE ü", ignore_case=True).text == "utf16:2: Needle ü"
    only = use(Grep(), pattern="needle", glob="*.py").text
    assert only.splitlines()[-1].startswith("top.py:1:")
    assert "build" not in only
    assert use(Grep(), pattern="needle", path="top.py").text == "top.py:1: needle in top.py"
    assert use(Grep(), pattern="absent").text == "[No line matches.]"


def test_many_and_long_matches_are_bounded(use: Run, workspace: Path) -> None:
    (workspace / "f").write_text("x" * 5000 + "needle" + "y" * 5000 + "\n" + "needle\n" * 1000)
    text = use(Grep(), pattern="needle").text
    assert text.splitlines()[0].count("…") == 2
    assert "needle" in text.splitlines()[0]
    assert len(text.splitlines()) == 501
    assert text.endswith("[Only the first 500 matches; use a narrower pattern or path.]")


def test_a_broken_pattern_is_explained(use: Run, workspace: Path) -> None:
    (workspace / "f").write_text("x")
    with pytest.raises(ToolFailed, match="not a regular expression: missing"):
        use(Grep(), pattern="(")
    with pytest.raises(ToolFailed, match="gone does not exist"):
        use(Grep(), pattern="x", path="gone")


CATASTROPHE = {"pattern": r"(a+)+$", "path": "f"}


def children() -> set[int]:
    """Processes that this one has started; the suite's own services may be among them."""
    return {one.pid for one in psutil.Process().children()}


def test_a_catastrophic_pattern_is_ended_by_its_limit(use: Run, workspace: Path) -> None:
    (workspace / "f").write_text("a" * 60 + "b")
    before = children()
    with pytest.raises(ToolFailed, match="takes too long"):
        use(Grep(seconds=0.5), **CATASTROPHE)
    assert children() == before


def test_a_catastrophic_pattern_is_stopped_within_a_second(scene: Scene, workspace: Path) -> None:
    (workspace / "f").write_text("a" * 60 + "b")

    before = children()

    async def main() -> float:
        act = await Grep().prepare(CATASTROPHE, scene)
        task = asyncio.create_task(Grep().run(act, scene, lambda _: None))
        async with asyncio.timeout(10):
            while children() == before:  # noqa: ASYNC110 (no events in the table)
                await asyncio.sleep(0.01)
        started = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return time.monotonic() - started

    assert asyncio.run(main()) < 1
    assert children() == before


def test_the_loop_stays_live_while_a_search_runs(scene: Scene, workspace: Path) -> None:
    """A pattern holds the interpreter it runs in; that is not ours."""
    (workspace / "f").write_text("a" * 60 + "b")

    async def main() -> int:
        tool = Grep(seconds=1.0)
        act = await tool.prepare(CATASTROPHE, scene)
        task = asyncio.create_task(tool.run(act, scene, lambda _: None))
        turns = 0
        while not task.done():
            await asyncio.sleep(0.01)
            turns += 1
        with pytest.raises(ToolFailed):
            await task
        return turns

    assert asyncio.run(main()) > 8  # a hundred where nobody else works; one where it is held
