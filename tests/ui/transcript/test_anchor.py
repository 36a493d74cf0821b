"""Where rows stand, counted from an anchor (SPEC Q01)."""

from hypothesis import given
from hypothesis import strategies as st

from desktop.ui.transcript.anchor import Layout, Placed, from_anchor, from_end

HEIGHTS = st.lists(st.integers(0, 90), min_size=1, max_size=40)


def test_fewer_rows_than_a_screenful_stand_at_the_top() -> None:
    layout = from_end(2, lambda row: 10, 100)
    assert layout.placed == (Placed(0, 0, 10), Placed(1, 10, 10))
    assert layout.at_end and not layout.filled


def test_only_rows_on_the_screen_are_measured() -> None:
    measured: list[int] = []

    def height(row: int) -> int:
        measured.append(row)
        return 10

    from_end(1_000, height, 50)
    from_anchor(500, 3, 1_000, height, 50)
    assert len(measured) <= 12


def test_an_offset_before_the_first_row_stops_at_the_top() -> None:
    layout = from_anchor(0, -50, 20, lambda row: 10, 100)
    assert (layout.anchor, layout.offset) == (0, 0)


def test_an_empty_list_has_an_empty_screen() -> None:
    assert from_anchor(0, 0, 0, lambda row: 0, 100) == Layout()
    assert from_end(0, lambda row: 0, 100).placed == ()


@given(heights=HEIGHTS, row=st.integers(0, 60), offset=st.integers(-200, 400), more=HEIGHTS)
def test_rows_before_the_anchor_do_not_move_the_screen(
    heights: list[int], row: int, offset: int, more: list[int]
) -> None:
    """Q01: whatever is put before it."""
    layout = from_anchor(row, offset, len(heights), heights.__getitem__, 100)
    if not layout.placed or layout.at_end:
        return
    longer = more + heights
    again = from_anchor(
        layout.anchor + len(more), layout.offset, len(longer), longer.__getitem__, 100
    )
    assert [(one.row - len(more), one.y) for one in again.placed] == [
        (one.row, one.y) for one in layout.placed
    ]


@given(heights=HEIGHTS, row=st.integers(0, 60), offset=st.integers(-200, 400))
def test_a_screen_is_contiguous_and_never_has_a_hole_below_when_there_is_more_above(
    heights: list[int], row: int, offset: int
) -> None:
    layout = from_anchor(row, offset, len(heights), heights.__getitem__, 100)
    for first, second in zip(layout.placed, layout.placed[1:], strict=False):
        assert second.y == first.y + first.height
    if layout.placed and sum(heights) >= 100:
        assert layout.placed[0].y <= 0
        assert layout.placed[-1].y + layout.placed[-1].height >= 100
