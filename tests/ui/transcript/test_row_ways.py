"""The buttons in the box of an error (LOOK.md "Error", SPEC A02, U37, U38)."""

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtWidgets import QPushButton

from desktop.core.chunks import ErrorNote, Text
from desktop.core.status import TabStatus, Way
from desktop.ui.transcript.error_text import ErrorText
from desktop.ui.transcript.view import TranscriptView
from tests.ui.transcript.desk import Desk

WIDTHS = (320, 480, 800)
LONG = "The connection ended before the answer was whole, and nobody knows why that is so. " * 3


def failed(desk: Desk, *, width: int = 800, more: int = 0) -> TranscriptView:
    desk.write([desk.chunk(Text("Hello"), id_="u", role="user")])
    for number in range(more):
        desk.say(f"Line {number}.\n\nAnd more.")
    desk.write([desk.chunk(ErrorNote(LONG, extra={"detail": "x" * 900}), id_="e")])
    return desk.show(width=width)


def can(desk: Desk, *ways: Way) -> None:
    desk.hub.status(TabStatus(desk.tab, ways_on=ways))
    desk.settle()


def seen(view: TranscriptView) -> dict[str, QRect]:
    """The buttons that are seen, and where, in the viewport."""
    found = [one for one in view.findChildren(QPushButton) if one.isVisibleTo(view)]
    found = [one for one in found if one.objectName().startswith("row.")]
    port = view.viewport()
    return {one.text(): QRect(one.mapTo(port, one.rect().topLeft()), one.size()) for one in found}


@pytest.mark.parametrize("zoom", [100, 125, 150, 200])
@pytest.mark.parametrize("width", WIDTHS)
def test_a02_the_buttons_stand_in_the_box_and_over_none_of_its_words(
    desk: Desk, width: int, zoom: int
) -> None:
    view = failed(desk, width=width)
    view.set_zoom(zoom)
    can(desk, "retry", "go_on")
    buttons = seen(view)
    assert list(buttons) == ["Retry", "Continue"]
    box, place = view.box_of("e"), view.visualRect(desk.model.index(1))
    assert box is not None
    text = next(one for one in box.pieces if isinstance(one, ErrorText))
    block, words = text.document.begin(), QRect()
    while block.isValid():
        at = text.document.documentLayout().blockBoundingRect(block).topLeft().toPoint()
        for number in range(block.layout().lineCount()):
            line = block.layout().lineAt(number).naturalTextRect().toRect()
            words = words.united(line.translated(at))
        block = block.next()
    words.translate(place.left() + text.left, place.top() + text.y)
    for area in buttons.values():
        assert place.contains(area)
        assert not words.intersects(area)
        assert area.height() >= 28


@pytest.mark.parametrize("width", WIDTHS)
def test_u37_nothing_moves_when_they_come_and_go(desk: Desk, width: int) -> None:
    view = failed(desk, width=width)
    before = view.layout_now
    for ways in (("retry",), ("retry", "go_on"), ()):
        can(desk, *ways)  # pyright: ignore[reportArgumentType]
        assert len(seen(view)) == len(ways)
        assert view.layout_now == before


def test_a_button_says_what_it_does_and_asks_for_it(desk: Desk) -> None:
    view = failed(desk)
    can(desk, "retry")
    wanted: list[str] = []
    view.way_wanted.connect(wanted.append)
    button = next(one for one in view.findChildren(QPushButton) if one.isVisible())
    assert button.accessibleDescription()
    desk.qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    desk.qtbot.keyClick(button, Qt.Key.Key_Return)
    desk.qtbot.keyClick(button, Qt.Key.Key_Space)
    assert wanted == ["retry"] * 3


def test_they_go_with_their_row_and_leave_the_focus_to_the_conversation(desk: Desk) -> None:
    view = failed(desk, more=40)
    can(desk, "retry")
    button = next(one for one in view.findChildren(QPushButton) if one.isVisible())
    top = seen(view)["Retry"].top()
    view.scroll_by(-30)
    assert seen(view)["Retry"].top() == top + 30
    button.setFocus()
    view.jump(1)
    assert seen(view) == {}
    assert view.window().focusWidget() is view


def test_an_error_that_was_asked_again_has_none(desk: Desk) -> None:
    view = failed(desk)
    can(desk, "retry")
    desk.write([desk.chunk(Text("Something else"), id_="v", role="user")])
    desk.settle()
    assert seen(view) == {}
