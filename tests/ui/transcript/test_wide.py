"""Code and tables that are wider or longer than the screen (LOOK.md "Rows of the transcript")."""

import itertools
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication, QTextCursor, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QMenu

from desktop.core.errors import NacreError
from desktop.ui.transcript.box import Box
from desktop.ui.transcript.code_piece import CodePiece
from desktop.ui.transcript.pieces import HitKind, Piece, TextPiece
from desktop.ui.transcript.saving import save_code, suggestion
from desktop.ui.transcript.view import TranscriptView
from desktop.ui.transcript.wide import Slide, TablePiece, WidePiece
from tests.ui.conftest import until
from tests.ui.transcript.desk import Desk

LONG_LINE = "value = call(" + ", ".join(f"argument_{n}" for n in range(40)) + ")"
WIDE_TABLE = "|" + " column |" * 20 + "\n|" + "---|" * 20 + "\n|" + " words of it |" * 20 + "\n"


def box_of(view: TranscriptView) -> Box:
    box = view.box_of("n1")
    assert box is not None
    return box


def wide(view: TranscriptView) -> WidePiece:
    return next(piece for piece in box_of(view).pieces if isinstance(piece, WidePiece))


def place_of(view: TranscriptView, kind: HitKind) -> QPoint:
    """Somewhere on the screen where this is under the mouse."""
    size = view.viewport().size()
    for y, x in itertools.product(range(0, size.height(), 3), range(0, size.width(), 6)):
        hit = view.hit_at(QPointF(x, y))
        if hit is not None and hit.kind == kind:
            return QPoint(x, y)
    raise AssertionError(f"nothing to {kind}")


def click(view: TranscriptView, kind: HitKind) -> None:
    left = Qt.MouseButton.LeftButton
    QTest.mouseClick(view.viewport(), left, pos=place_of(view, kind))


def wheel(view: TranscriptView, at: QPoint, angle: QPoint, *, shift: bool = False) -> None:
    held = Qt.KeyboardModifier.ShiftModifier if shift else Qt.KeyboardModifier.NoModifier
    event = QWheelEvent(
        QPointF(at),
        QPointF(view.viewport().mapToGlobal(at)),
        QPoint(),
        angle,
        Qt.MouseButton.NoButton,
        held,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QGuiApplication.sendEvent(view.viewport(), event)


@pytest.mark.parametrize("text", [f"```\n{LONG_LINE}\n```\n", WIDE_TABLE], ids=["code", "table"])
def test_what_is_wide_scrolls_inside_itself_and_nothing_else_moves(desk: Desk, text: str) -> None:
    """U03, LOOK.md: by a wheel that moves sideways, by Shift, by its bar and by keys."""
    desk.say(f"before\n\n{text}\nafter")
    view = desk.show()
    piece = wide(view)
    before = [(one.y, one.height) for one in box_of(view).pieces]
    assert piece.width <= 760 and piece.slide.reach > 0 and piece.slide.at == 0
    at = QPoint(view.viewport().width() // 2, piece.y + piece.height // 2 + 4)

    wheel(view, at, QPoint(-120, 0))
    moved = piece.slide.at
    assert moved > 0
    wheel(view, at, QPoint(0, -120), shift=True)
    assert piece.slide.at > moved
    wheel(view, at, QPoint(12_000, 0))
    assert piece.slide.at == 0
    bar = place_of(view, "slide")
    QTest.mousePress(view.viewport(), Qt.MouseButton.LeftButton, pos=bar)
    QTest.mouseMove(view.viewport(), bar + QPoint(20, 30))
    QTest.mouseRelease(view.viewport(), Qt.MouseButton.LeftButton, pos=bar + QPoint(20, 30))
    assert piece.slide.at >= 20 and not view.selected_text()
    QTest.keyClick(view, Qt.Key.Key_Down, Qt.KeyboardModifier.ControlModifier)
    for _ in range(200):
        QTest.keyClick(view, Qt.Key.Key_Right)
    assert piece.slide.at == piece.slide.reach
    assert [(one.y, one.height) for one in box_of(view).pieces] == before


def test_a_letter_that_was_scrolled_to_is_the_one_that_is_marked(desk: Desk) -> None:
    desk.say(f"```\n{LONG_LINE}\n```\n")
    view = desk.show()
    piece = wide(view)
    x, y = 100.0, piece.height - 30.0
    first = piece.char_at(x, y)
    piece.slide.by(200)
    assert piece.char_at(x, y) > first
    assert piece.char_at(x - 200, y) == first


def test_a_table_that_fits_is_not_scrolled_and_one_of_long_words_wraps_first(desk: Desk) -> None:
    words = "many words that can be wrapped " * 8
    desk.say(f"| a | b |\n|---|---|\n| {words} | x |\n")
    view = desk.show()
    table = wide(view)
    assert isinstance(table, TablePiece)
    assert table.slide.reach == 0


def test_the_pieces_of_a_long_table_stand_as_one(desk: Desk) -> None:
    """U03: their columns are those of the first, whatever their own cells hold."""
    row = "| 1 | two | " + "x" * 60 + " |\n"
    text = "| a | b | c |\n|---|---|---|\n" + row * 20 + "| " + "long words " * 9 + "| 3 | 4 |\n"
    desk.say(text)
    pieces = [one for one in box_of(desk.show()).pieces if isinstance(one, TablePiece)]
    assert len(pieces) == 2 and pieces[0].slide is pieces[1].slide
    assert _columns(pieces[0]) == _columns(pieces[1])
    assert (pieces[0].last, pieces[1].last) == (False, True)
    # The border between them is one line.
    assert pieces[1].y == pieces[0].y + pieces[0].height and pieces[1].above < 0


def _columns(piece: TablePiece) -> list[float]:
    """Where the cells of the first row begin."""
    document = piece.document
    layout, found, block = document.documentLayout(), list[float](), document.begin()
    while block.isValid():
        table: Any = QTextCursor(block).currentTable()
        if table is not None and len(found) < table.columns():
            found.append(layout.blockBoundingRect(block).x())
        block = block.next()
    return found


def test_code_wraps_when_it_is_asked_for_and_stays_so(desk: Desk) -> None:
    """LOOK.md: Wrap in the head. The choice outlives the row's box."""
    desk.say(f"```\nx\n```\n\n```\n{LONG_LINE}\n```\n")
    view = desk.show()
    second = box_of(view).pieces[1]
    narrow = second.height
    QTest.mouseClick(
        view.viewport(),
        Qt.MouseButton.LeftButton,
        pos=QPoint(wrap_x(view), second.y + 10),
    )
    desk.settle()
    second = box_of(view).pieces[1]
    assert isinstance(second, CodePiece) and second.code.wrapped
    assert second.height > narrow and second.slide.reach == 0
    first = box_of(view).pieces[0]
    assert isinstance(first, CodePiece) and not first.code.wrapped
    view.set_zoom(110)
    desk.settle()
    again = box_of(view).pieces[1]
    assert again is not second and isinstance(again, CodePiece) and again.code.wrapped


def wrap_x(view: TranscriptView) -> int:
    return place_of(view, "wrap").x()


def test_the_head_of_long_code_stays_and_copies_all_of_it(desk: Desk) -> None:
    """LOOK.md: a header line that stays while the block scrolls."""
    code = "".join(f"line {number}\n" for number in range(900))
    desk.say(f"```sh\n{code}```\n\n" + "after\n\n" * 60)
    view = desk.show()
    view.jump(1)
    view.scroll_by(9_000)
    desk.settle()
    assert place_of(view, "copy").y() < 28
    click(view, "copy")
    assert QGuiApplication.clipboard().text() == code
    pixels = view.grab().toImage()
    view.scroll_by(19 * 40)
    desk.settle()
    head = [pixels.pixelColor(x, 14) for x in range(60, 140)]
    now = view.grab().toImage()
    assert [now.pixelColor(x, 14) for x in range(60, 140)] == head
    view.follow()
    desk.settle()
    with pytest.raises(AssertionError):
        place_of(view, "copy")


def test_save_asks_where_to_and_writes_what_is_copied(desk: Desk, tmp_path: Path) -> None:
    code = "print('a')\r\n\tend  \n"
    desk.say(f"```python\n{code}```\n")
    view = desk.show()
    wanted: list[tuple[str, str]] = []
    view.code_wanted.connect(lambda text, language: wanted.append((text, language)))
    click(view, "save")
    assert wanted == [("print('a')\n\tend  \n", "python")]

    async def save() -> None:
        work = desk.loop.create_task(save_code(view, *wanted[0]))
        await until(lambda: view.findChild(QFileDialog) is not None)
        dialog = view.findChild(QFileDialog)
        assert isinstance(dialog, QFileDialog)
        dialog.setDirectory(str(tmp_path))
        dialog.selectFile("code.py")
        dialog.done(1)
        await work

    desk.run(save())
    assert (tmp_path / "code.py").read_bytes() == b"print('a')\n\tend  \n"
    with pytest.raises(NacreError, match="already a file"):
        desk.run(save())


@pytest.mark.parametrize(
    ("language", "name"),
    [("Python", "code.py"), ("../../etc/passwd", "code.txt"), ("", "code.txt")],
)
def test_the_name_for_a_file_never_comes_from_the_model(language: str, name: str) -> None:
    assert suggestion(language) == name


def test_an_answer_can_always_be_seen_as_it_was_written(desk: Desk) -> None:
    """U39: view raw; the menu has it, also for what is too heavy to render."""
    raw = "# Title\n\n*text* $4 … $19 <b>\n\n| a |\n|---|\n| b |"
    desk.say(raw)
    view = desk.show()
    assert box_of(view).text_between((0, 0), box_of(view).end) != raw
    toggle_written(desk, view)
    assert box_of(view).text_between((0, 0), box_of(view).end) == raw
    toggle_written(desk, view)
    assert "# Title" not in box_of(view).text_between((0, 0), box_of(view).end)


def test_an_answer_that_streams_can_be_seen_as_it_is_written(desk: Desk) -> None:
    """U39"""
    desk.say("hello")
    view = desk.show()
    desk.open_block("b1")
    desk.grow("b1", "# Ti")
    desk.settle()
    view.toggle_written("b1")
    desk.grow("b1", "tle\n\nand *more*")
    desk.settle()
    box = view.box_of("b1")
    assert box is not None
    assert box.text_between((0, 0), box.end) == "# Title\n\nand *more*"


def toggle_written(desk: Desk, view: TranscriptView) -> None:
    at = QPoint(view.viewport().width() // 2, 10)
    place = view.viewport().mapToGlobal(at)
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, at, place)
    QGuiApplication.sendEvent(view.viewport(), event)
    menu = view.findChild(QMenu, "rowMenu")
    assert isinstance(menu, QMenu)
    act = next(one for one in menu.actions() if one.text() == "Show as written")
    act.trigger()
    menu.close()
    desk.settle()
    desk.run(until(lambda: view.findChild(QMenu, "rowMenu") is None))


def test_what_streams_lays_out_only_its_end(desk: Desk) -> None:
    """U03, A10: counted in pieces, whatever stands before them."""
    view = desk.show()
    desk.open_block("b1")
    part = "Words of it.\n\n```\nx = 1\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n"
    for _ in range(60):
        desk.grow("b1", part)
        desk.settle()
        box = view.box_of("b1")
        assert box is not None
        assert len(box.pieces) - box.settled <= 4
    box = view.box_of("b1")
    assert box is not None and len(box.pieces) >= 180
    stood = [(one.y, one.height) for one in box.pieces]
    box.width = 0
    box.lay_out(760)
    assert [(one.y, one.height) for one in box.pieces] == stood
    assert box.documents == sum(_has_document(one) for one in box.pieces)


def _has_document(piece: Piece) -> bool:
    return isinstance(piece, TextPiece)


def test_a_slide_never_leaves_what_there_is_to_see() -> None:
    slide = Slide()
    slide.fit(100, 250)
    assert slide.by(400) and slide.at == 150
    assert not slide.by(1)
    slide.fit(240, 250)
    assert slide.at == 10
    slide.fit(300, 250)
    assert slide.at == slide.reach == 0
