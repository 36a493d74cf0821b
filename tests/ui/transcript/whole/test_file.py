"""A file of any length is read around one place (SPEC U06)."""

from collections.abc import Iterator
from io import BytesIO
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.ui.transcript.whole import file as output_file
from desktop.ui.transcript.whole.file import Lines, find, read

STRIDE = 8
PARTS = (b"a", b"\n", b"bbbb", "ä".encode(), b"c" * 20, b"\x1b[31m", b"\r", b"\xff", b"\0", b"\r\n")
files = st.lists(st.sampled_from(PARTS), max_size=40).map(b"".join)


@pytest.fixture(autouse=True, scope="module")
def _short_lines() -> Iterator[None]:  # pyright: ignore[reportUnusedFunction]
    patch = pytest.MonkeyPatch()
    patch.setattr(output_file, "STRIDE", STRIDE)
    yield
    patch.undo()


def starts_of(lines: Lines) -> list[int]:
    starts = [0]
    while starts[-1] < lines.size:
        starts.append(lines.next(starts[-1]))
    return starts


@given(files)
def test_a_place_lies_in_the_same_line_whichever_way_it_is_reached(data: bytes) -> None:
    lines = Lines(BytesIO(data))
    starts = starts_of(lines)
    assert all(after - one <= 2 * STRIDE for one, after in pairwise(starts))
    for place in range(len(data)):
        assert lines.start_of(place) == max(one for one in starts if one <= place)


@given(files, st.integers(0, 200), st.integers(-30, 30), st.integers(1, 12))
def test_a_window_is_full_wherever_it_stands(
    data: bytes, place: int, steps: int, count: int
) -> None:
    lines = Lines(BytesIO(data))
    starts = starts_of(lines)[:-1]
    window = lines.window(place, steps, count)
    assert len(window.lines) == min(count, len(starts))
    assert 0 <= window.start <= window.end <= window.size == len(data)
    assert not starts or window.start in starts


@given(st.text(alphabet="aä€😀\n", max_size=80))
def test_no_letter_is_halved_where_a_long_line_goes_on(text: str) -> None:
    window = Lines(BytesIO(text.encode())).window(0, 0, 500)
    assert "".join(line.text for line in window.lines) == text.replace("\n", "")


def test_lines_are_as_a_terminal_shows_them(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"1%\r2%\n\x1b[31mred\x1b[0m\n\0\n")
    window = read(path, 0)
    assert [line.text for line in window.lines] == ["2%", "red", "", "␀"]
    assert [len(line.spans) for line in window.lines] == [0, 1, 0, 0]


def test_u06_a_place_in_five_gigabytes_costs_a_few_kilobytes(tmp_path: Path) -> None:
    path = tmp_path / "huge"
    with path.open("wb") as out:
        out.write(b"first\n")
        out.seek(5_000_000_000)
        out.write(b"\nlast but one\nlast")
    asked: list[int] = []

    class Counting:
        """A file that notes how much is read."""

        def __init__(self) -> None:
            self.file = path.open("rb")

        def seek(self, place: int, whence: int = 0) -> int:
            return self.file.seek(place, whence)

        def read(self, count: int) -> bytes:
            asked.append(count)
            return self.file.read(count)

    for place in (0, 2_500_000_000, 5_000_000_018):
        counting = Counting()
        lines = Lines(counting)  # pyright: ignore[reportArgumentType]
        window = lines.window(place, 0, 60)
        counting.file.close()
        assert len(window.lines) == 60
    assert window.lines[-1].text == "last"
    assert sum(asked) < 3_000_000


@pytest.mark.parametrize("block", [4, 5, 7, 64])
def test_a_text_is_found_wherever_the_reads_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    monkeypatch.setattr(output_file, "_BLOCK", block)
    path = tmp_path / "out"
    path.write_bytes(b"xx Needle xx needle xx")
    assert find(path, "needle", 0) == 3
    assert find(path, "needle", 4) == 13
    assert find(path, "needle", 14) is None
    assert find(path, "needle", 22, backwards=True) == 13
    assert find(path, "needle", 13, backwards=True) == 3
    assert find(path, "needle", 3, backwards=True) is None
    assert find(path, "", 0) is None
    assert find(path, "needle", 0, on=lambda _: False) is None
