"""Where rows stand on the screen, counted from an anchor instead of from the top of everything.

The anchor is a row and how many pixels of it lie above the screen. Whatever happens above or below,
the anchor is unchanged, so what is read does not move (SPEC Q01, C21). Only rows that are seen are
measured. Pure: heights come from a function.
"""

from collections.abc import Callable
from dataclasses import dataclass

Height = Callable[[int], int]


@dataclass(frozen=True, slots=True)
class Placed:
    """A row at `y` from the top of the screen."""

    row: int
    y: int
    height: int


@dataclass(frozen=True, slots=True)
class Layout:
    """What is on the screen. `anchor` and `offset` are the first row's; `at_end`: the last row
    ends on the screen; `filled`: the rows reach from top to bottom."""

    placed: tuple[Placed, ...] = ()
    anchor: int = 0
    offset: int = 0
    at_end: bool = True
    filled: bool = False


def from_end(count: int, height: Height, screen: int) -> Layout:
    """The last rows, the end at the bottom; fewer than a screenful stand at the top."""
    placed: list[Placed] = []
    y = screen
    row = count
    while row > 0 and y > 0:
        row -= 1
        tall = height(row)
        y -= tall
        placed.append(Placed(row, y, tall))
    placed.reverse()
    if y > 0:
        placed = [Placed(one.row, one.y - y, one.height) for one in placed]
    return _made(placed, count, screen)


def from_anchor(
    anchor: int, offset: int, count: int, height: Height, screen: int, *, loose: bool = False
) -> Layout:
    """The rows from the anchor on, `offset` pixels of it above the screen.

    Offsets outside the anchor's row step to its neighbours; beyond either end the rows stop there.
    A `loose` anchor stays where it is also when that leaves room below the last row.
    """
    if count == 0:
        return Layout()
    row = min(max(anchor, 0), count - 1)
    while offset < 0 and row > 0:
        row -= 1
        offset += height(row)
    offset = max(offset, 0)
    while row < count - 1 and offset >= height(row):
        offset -= height(row)
        row += 1
    placed: list[Placed] = []
    y = -offset
    while row < count and y < screen:
        tall = height(row)
        placed.append(Placed(row, y, tall))
        y += tall
        row += 1
    if row >= count and y < screen and not loose:
        return from_end(count, height, screen)
    return _made(placed, count, screen)


def _made(placed: list[Placed], count: int, screen: int) -> Layout:
    seen = [one for one in placed if one.height > 0 and one.y + one.height > 0]
    if not seen:
        return Layout(tuple(placed), max(count - 1, 0), 0)
    last = placed[-1]
    bottom = last.y + last.height
    return Layout(
        tuple(seen),
        seen[0].row,
        -seen[0].y,
        at_end=last.row == count - 1 and bottom <= screen,
        filled=seen[0].y <= 0 and bottom >= screen,
    )
