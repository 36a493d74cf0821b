"""What the code of an answer hides is told, shown, and copied as it was written (SPEC U31, U38)."""

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication

from desktop.core.chunks import Text
from desktop.ui.transcript.code_piece import CodePiece
from desktop.ui.transcript.view import TranscriptView
from tests.ui.transcript.desk import Desk
from tests.ui.transcript.test_row_parts import close, entry, inner, menu_by_key, words

TROJAN = "if (isAdmin) /*\u202e } \u2066return\u2069\u2069 begin\n    pass\u200bword = 1\n"
ANSWER = f"See:\n\n```js\n{TROJAN}```\n\nDone."


def code_of(view: TranscriptView) -> CodePiece:
    box = view.box_of("a")
    assert box is not None
    return next(one for one in box.pieces if isinstance(one, CodePiece))


def lines_of(view: TranscriptView) -> str:
    return code_of(view).document.toPlainText()


def place_of(view: TranscriptView) -> QPoint | None:
    """A point of the line that tells of it."""
    left = view.visualRect(view.model().index(0, 0)).left()
    found = (QPoint(left + 40, y) for y in range(view.viewport().height()))
    return next((at for at in found if kind_at(view, at) == "reveal"), None)


def kind_at(view: TranscriptView, at: QPoint) -> str:
    hit = view.hit_at(QPointF(at))
    return hit.kind if hit is not None else ""


def said(desk: Desk, text: str, *, width: int = 800) -> TranscriptView:
    desk.write([desk.chunk(Text(text), id_="a")])
    return desk.show(width=width)


def test_u31_code_that_reorders_itself_says_so_and_shows_how(desk: Desk) -> None:
    view = said(desk, ANSWER)
    place = place_of(view)
    assert place is not None
    assert lines_of(view) == TROJAN.rstrip("\n")
    desk.qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    desk.settle()
    assert lines_of(view) == (
        "if (isAdmin) /*‹U+202E› } ‹U+2066›return‹U+2069›‹U+2069› begin\n    pass‹ZWSP›word = 1"
    )
    assert code_of(view).code.text == TROJAN
    desk.qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    desk.settle()
    assert lines_of(view) == TROJAN.rstrip("\n")


def test_u31_plain_code_says_nothing(desk: Desk) -> None:
    view = said(desk, "```\nprint('שלום 👩\u200d👧')\n```")
    assert place_of(view) is None


@pytest.mark.parametrize("shown", [False, True])
def test_u37_what_is_copied_is_what_was_written(desk: Desk, *, shown: bool) -> None:
    view = said(desk, f"{ANSWER} The name `a\u202eb\u202ec‹U+202E›` stays.")
    box = view.box_of("a")
    place = place_of(view)
    assert box is not None
    assert place is not None
    if shown:
        desk.qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
        desk.settle()
        box = view.box_of("a")
        assert box is not None
    whole = box.text_between(box.start, box.end)
    assert TROJAN.rstrip("\n") in whole
    assert "The name a\u202eb\u202ec‹U+202E› stays." in whole
    for place_ in range(12):
        first = (box.start[0], place_)
        assert whole.endswith(box.text_between(first, box.end))
    view.selectAll()
    view.copy()
    assert TROJAN in QGuiApplication.clipboard().text()


def test_half_a_sign_is_copied_as_the_letter_it_stands_for(desk: Desk) -> None:
    view = said(desk, "`a\u202eb`")
    box = view.box_of("a")
    assert box is not None
    document = box.pieces[0].document
    assert document is not None
    assert document.toPlainText() == "a‹U+202E›b"
    assert box.text_between((0, 0), (0, 4)) == "a\u202e"
    assert box.text_between((0, 4), (0, 99)) == "\u202eb"


def test_u31_it_is_told_while_it_streams_and_in_the_end_alike(desk: Desk) -> None:
    view = desk.show()
    desk.open_block("a")
    for letter in ANSWER[:-1]:
        desk.grow("a", letter)
        desk.settle()
    assert place_of(view) is not None
    assert code_of(view).code.hidden == "order"
    desk.write([desk.chunk(Text(ANSWER), id_="a")])
    desk.settle()
    assert place_of(view) is not None


@pytest.mark.parametrize("zoom", [100, 125, 150, 200])
@pytest.mark.parametrize("width", [320, 800])
def test_the_line_can_be_hit_and_covers_no_code(desk: Desk, width: int, zoom: int) -> None:
    view = said(desk, ANSWER, width=width)
    view.set_zoom(zoom)
    desk.settle()
    piece = code_of(view)
    heights = [y for y in range(piece.height) if (hit := piece.hit(60, y)) and hit.kind == "reveal"]
    assert len(heights) >= 28
    assert heights[-1] < piece.above
    assert piece.caret_at(0).top() >= piece.above


def test_u38_the_menu_of_the_row_shows_it_too(desk: Desk) -> None:
    view = said(desk, ANSWER)
    menu = menu_by_key(view)
    name = next(one for one in words(menu) if one.startswith("js: "))
    assert "‹U+202E›" in name
    entry(inner(menu, name), "Show what it hides").trigger()
    close(desk, view, menu)
    assert "‹U+202E›" in lines_of(view)
