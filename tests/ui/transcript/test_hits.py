"""What is pointed at is what is seen there, in any size and in high contrast (SPEC U37, U38)."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QTextBlock
from PySide6.QtWidgets import QApplication

from desktop.core.chunks import ErrorNote, Text, Thinking, ToolCall, ToolResult
from desktop.ui.theme import theme_for
from desktop.ui.transcript.box import Box
from desktop.ui.transcript.code_piece import CodePiece
from desktop.ui.transcript.line_piece import LinePiece
from desktop.ui.transcript.pieces import Piece
from desktop.ui.transcript.view import TranscriptView
from tests.ui.transcript.desk import Desk

ANSWER = """A [link to the reef](https://example.org/reef) and `some code` in a line that is so long
that it goes on in the next one, where [another](https://example.org/other) stands at some place.

> Quoted [inside](https://example.org/inside).

* One
* Two with [a third](https://example.org/third)

```python
print("a line of code that is longer than any column is wide" + "and goes on and on" * 20)
```

| a | b |
|---|---|
| one | [cell](https://example.org/cell) |

שלום [קישור](https://example.org/hebrew) עולם
"""


@pytest.fixture(params=[(1.0, 100), (1.25, 100), (1.5, 100), (2.0, 100), (1.0, 150), (2.0, 200)])
def view(desk: Desk, request: pytest.FixtureRequest) -> TranscriptView:
    scale, zoom = request.param
    desk.write([desk.chunk(Text("Hello, reef"), id_="u", role="user")])
    desk.say(Thinking("Well\n\nthen"))
    desk.write([desk.chunk(Text(ANSWER), id_="a")])
    desk.say(ToolCall("k", "shell", {"command": "ls"}))
    desk.say(ToolResult("k", "shell", "".join(f"file {n}\n" for n in range(90))))
    desk.write([desk.chunk(ErrorNote("It broke.", extra={"detail": "why"}), id_="e")])
    view = desk.show(height=9_000)
    view.set_theme(replace(desk.theme(), scale=scale))
    view.set_zoom(zoom)
    for id_ in [row.id for row in desk.model.rows()]:
        view.set_fold(id_, "open")
    desk.settle()
    return view


def boxes(view: TranscriptView) -> Iterator[tuple[Box, int, int]]:
    """The boxes that are seen, and where each begins on the screen."""
    for placed in view.layout_now.placed:
        box = view.box_of(view.model().row(placed.row).id)  # type: ignore[attr-defined]
        if box is not None:
            yield box, view.visualRect(view.model().index(placed.row, 0)).left(), placed.y


def letters(piece: Piece) -> Iterator[tuple[int, QRectF, str]]:
    """Each letter of a piece: its place, where it is drawn in the piece, and its link's target."""
    document = piece.document
    if document is None:
        return
    block = document.begin()
    while block.isValid():
        for stretch in block.textFormats():
            for at in range(stretch.start, stretch.start + stretch.length - 1):
                area = _area(piece, block, at)
                if area is not None:
                    yield block.position() + at, area, stretch.format.anchorHref()
        block = block.next()


def _area(piece: Piece, block: QTextBlock, at: int) -> QRectF | None:
    here, after = (piece.caret_at(block.position() + one) for one in (at, at + 1))
    if here.top() != after.top() or abs(after.left() - here.left()) < 2:
        return None  # the end of a line, or a letter without a width
    return QRectF(here.topLeft(), after.bottomLeft()).normalized()


def test_u37_each_letter_can_be_marked_and_each_link_be_clicked(view: TranscriptView) -> None:
    seen: set[str] = set()
    for box, left, top in boxes(view):
        for number, piece in enumerate(box.pieces):
            for place, area, target in letters(piece):
                if isinstance(piece, CodePiece) and area.right() > piece.left + piece.room:
                    continue
                at = area.center()
                spot = box.spot_at(at.x(), at.y() + piece.y)
                assert spot[0] == number
                assert spot[1] in (place, place + 1)
                hit = view.hit_at(QPointF(left + at.x(), top + piece.y + at.y()))
                assert hit is not None
                assert (hit.kind, hit.value) == (("link", target) if target else ("text", ""))
                seen.add(target)
    assert len(seen) == 7


def test_u38_each_line_that_folds_and_each_act_of_code_is_a_target_of_28_pixels(
    view: TranscriptView,
) -> None:
    lines, acts = 0, 0
    for box, left, top in boxes(view):
        for piece in box.pieces:
            if isinstance(piece, LinePiece):
                lines += 1
                assert piece.height >= 28
                kind = piece.offer[1].kind
                for x in (piece.left, piece.width - piece.right - 1):
                    for y in (0, piece.height - 1):
                        hit = view.hit_at(QPointF(left + x, top + piece.y + y))
                        assert hit is not None
                        assert hit.kind == kind
            elif isinstance(piece, CodePiece) and piece.first:
                acts += 1
                assert kinds_across(piece) == ["wrap", "save", "copy"]
    assert (lines, acts) == (4, 1)


def kinds_across(piece: CodePiece) -> list[str]:
    """What a head offers from left to right; each over 28 pixels both ways."""
    assert piece.head >= 28
    found: dict[str, int] = {}
    for x in range(piece.width):
        hit = piece.hit(x + 0.5, piece.head / 2)
        if hit is not None:
            found[hit.kind] = found.get(hit.kind, 0) + 1
    assert all(one >= 28 for one in found.values())
    return list(found)


def test_code_that_is_scrolled_sideways_is_marked_where_it_is_seen(view: TranscriptView) -> None:
    for box, _, _ in boxes(view):
        for piece in (one for one in box.pieces if isinstance(one, CodePiece)):
            piece.slide.by(100)
            for place, area, _ in letters(piece):
                if piece.left <= area.left() and area.right() < piece.left + piece.room:
                    at = area.center()
                    assert piece.char_at(at.x(), at.y()) in (place, place + 1)


def test_u38_high_contrast_has_the_same_places(desk: Desk) -> None:
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    desk.write([desk.chunk(Text(ANSWER), id_="a")])
    view = desk.show(height=3_000)
    before = view.layout_now
    view.set_theme(theme_for("light", app.palette(), high_contrast=True))
    desk.settle()
    assert view.layout_now == before
    pieces = [one for box, _, _ in boxes(view) for one in box.pieces]
    assert len({target for one in pieces for _, _, target in letters(one)}) == 7
