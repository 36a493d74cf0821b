"""Where a person is among branches: what a key means here, and the same place elsewhere."""

from collections.abc import Iterable, Sequence

from desktop.core.records import ViewState
from desktop.ui.transcript.acts import Act, Point
from desktop.ui.transcript.overlay import Wish, acts_of, wish_of
from desktop.ui.transcript.page import Page


def wish_near(page: Page, current: str, act: Act) -> Wish | None:
    """The act on the row that the keyboard is on (""), else near the one that is read; what is a
    row's own is done with that one alone."""
    chosen = page.rows.place(current)
    if chosen is None and act in ("quote", "bookmark"):
        chosen = _read(page)
    for at in _near(page, act) if chosen is None else (chosen,):
        if act in acts_of(page, at):
            return wish_of(page, page.rows.row(at), act)
    return None


def _near(page: Page, act: Act) -> Iterable[int]:
    """The places to look for an act at, the likeliest first: at the log's end from the last row
    back; further up what is read, a prompt before it and the rest of its answer after it."""
    count, read = page.rows.rowCount(), _read(page)
    if read is None or page.position.at_log_end:
        return reversed(range(count))
    before, after = reversed(range(read)), range(read + 1, count)
    return (read, *before, *after) if act == "edit" else (read, *after, *before)


def read_seq(page: Page) -> int:
    """The seq of the row that is read; 0 where none is seen."""
    at = _read(page)
    return page.rows.seq_of(at) if at is not None else 0


def _read(page: Page) -> int | None:
    """The place of the row that begins in the first line of the screen, or above it; at the log's
    end that of the last one."""
    rows = page.rows
    seen = [one for one in page.position.layout.placed if rows.takes_space(rows.row(one.row))]
    if not seen or page.position.at_log_end:
        return seen[-1].row if seen else None
    return next((one.row for one in reversed(seen) if one.y <= page.frame.line), seen[0].row)


def point_near(page: Page, points: Sequence[Point], current: str) -> Point | None:
    """The parting that a key means: the last one up to the row that the keyboard is on, else the
    last one on the screen, else the last one of all."""
    if not points:
        return None
    ordered = sorted(points, key=lambda point: point.seq)
    at = page.rows.place(current)
    if at is not None:
        seq = page.rows.seq_of(at)
        near = [point for point in ordered if point.row_id and point.seq <= seq]
    else:
        seen = page.position.seen
        near = [point for point in ordered if not point.row_id or point.row_id in seen]
    return (near or ordered)[-1]


def state_at(page: Page, seq: int) -> ViewState:
    """The place in a conversation that shares the rows before `seq`, such that the row of `seq`
    stands there where it stands here. It hangs on the last shared row, which both have."""
    rows = page.rows
    y = _screen_y(page, seq)
    common = rows.place_of_seq(seq - 1) if seq > 1 else None
    if common is None or rows.seq_of(common) != seq - 1:
        return ViewState(False, seq, -y, page.state.folds, loose=True)
    is_last = common == rows.rowCount() - 1
    height = 0 if is_last else page.shelf.height(common)
    if is_last:
        y = next((one.y for one in page.position.layout.placed if one.row == common), y)
    return ViewState(False, seq - 1, height - y, page.state.folds, loose=True)


def _screen_y(page: Page, seq: int) -> int:
    """Where the row of `seq` begins on the screen; off it, a third down."""
    third = page.frame.height // 3
    for one in page.position.layout.placed:
        if page.rows.seq_of(one.row) >= seq:
            return one.y if page.rows.seq_of(one.row) == seq or one.y >= 0 else third
    return third
