"""What is written stands under what is read, at every width and in both directions (LOOK.md)."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from desktop.ui.theme import LIGHT, Theme
from desktop.ui.transcript.frame import frame_of
from tests.e2e.nacre import Home
from tests.fakes.messages_api import MessagesServer, reply
from tests.ui.conftest import Enter
from tests.ui.program import Person

pytestmark = pytest.mark.timeout(300)


def edges(person: Person, part: QWidget, left: int, width: int) -> tuple[int, int]:
    """Left and right of a stretch of a part, in the window."""
    begin = part.mapTo(person.window, QPoint(left, 0)).x()
    return begin, begin + width


@pytest.mark.parametrize("direction", list(Qt.LayoutDirection)[:2])
def test_the_composer_is_as_wide_as_the_text_above_it(
    home: Home, enter: Enter, qtbot: QtBot, qapp: QApplication, direction: Qt.LayoutDirection
) -> None:
    qapp.setLayoutDirection(direction)
    try:
        with MessagesServer([reply("I see.")]) as server:
            person = enter(server)
            person.begin("Look")
            person.wait(lambda: person.reads("I see.") and person.idle())
            for width in (*range(760, 790), 1100, 1500):
                person.now(lambda width=width: person.window.resize(width, 700))
                view = person.pane.view.viewport()
                frame = frame_of(Theme("light", LIGHT), view.size())
                composer = person.part(QWidget, "composerFrame")
                here = edges(person, composer, 0, composer.width())
                above = edges(person, view, frame.left, frame.width)
                # A window of an odd width has a pixel more at one side, in its own direction.
                spare = direction == Qt.LayoutDirection.RightToLeft and width > 1_000
                assert max(abs(a - b) for a, b in zip(here, above, strict=True)) <= spare, width
            assert person.leave() == 0
    finally:
        qapp.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
