"""Each block has its own direction, and nothing that is judged can be reordered (SPEC U31, U38)."""

from PySide6.QtCore import QRect, QRectF
from PySide6.QtGui import QImage, QTextBlock

from desktop.core.chunks import Text, ToolCall, ToolResult
from desktop.ui.transcript.code_piece import CodePiece
from desktop.ui.transcript.view import TranscriptView
from tests.ui.transcript.desk import Desk

HEBREW = "שלום עולם"


def blocks(view: TranscriptView, id_: str) -> list[tuple[QTextBlock, bool]]:
    """The lines of text of a row, and whether they are of code."""
    box = view.box_of(id_)
    assert box is not None
    found: list[tuple[QTextBlock, bool]] = []
    for piece in box.pieces:
        block = piece.document.begin() if piece.document is not None else QTextBlock()
        while block.isValid():
            found.append((block, isinstance(piece, CodePiece)))
            block = block.next()
    return found


def stands(block: QTextBlock) -> QRectF:
    return block.layout().lineAt(0).naturalTextRect()


def test_u38_each_paragraph_stands_where_its_language_begins(desk: Desk) -> None:
    desk.write([desk.chunk(Text(f"{HEBREW}\nand English"), id_="u", role="user")])
    desk.write([desk.chunk(Text(f"Hello.\n\n{HEBREW}\n\n```\n{HEBREW}\n```"), id_="a")])
    view = desk.show()
    for id_ in ("u", "a"):
        lines = [(block, code) for block, code in blocks(view, id_) if block.text().strip()]
        for block, is_code in lines:
            is_right = stands(block).left() > stands(block).width()
            assert is_right == (HEBREW in block.text() and not is_code), block.text()


def test_u38_the_line_of_a_quotation_stands_where_its_text_begins(desk: Desk) -> None:
    desk.write([desk.chunk(Text(f"> {HEBREW}"), id_="a")])
    view = desk.show()
    frame = view.visualRect(desk.model.index(0))
    picture = view.viewport().grab().toImage()
    line = desk.theme().color("border").rgb()
    middle = frame.center().x()
    columns = {x for x in range(frame.left(), frame.right()) if holds(picture, x, frame, line)}
    assert columns
    assert all(x > middle for x in columns)


def holds(picture: QImage, x: int, frame: QRect, colour: int) -> bool:
    return any(picture.pixel(x, y) == colour for y in range(frame.top(), frame.bottom()))


def test_u31_what_a_call_was_given_shows_what_would_reorder_it(desk: Desk) -> None:
    desk.say(ToolCall("c1", "shell", {"command": "echo gnp\u202eexe.", "note\u202e": "x"}))
    desk.say(ToolResult("c1", "shell", "done"))
    view = desk.show()
    row = desk.model.row(0)
    view.set_fold(row.id, "open")
    desk.settle()
    shown = "\n".join(block.text() for block, _ in blocks(view, row.id))
    assert "gnp‹U+202E›exe." in shown
    assert "\u202e" not in shown
