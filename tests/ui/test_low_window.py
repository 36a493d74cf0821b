"""A question on a small screen: its words scroll, its buttons stand in sight (SPEC U31, U38)."""

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import QPushButton, QWidget

from tests.e2e.nacre import Home
from tests.fakes.messages_api import MessagesServer, reply, tool_use
from tests.ui.conftest import Enter
from tests.ui.program import Person
from tests.unit.store.builders import open_log, run

pytestmark = pytest.mark.timeout(300)

COMMAND = "echo 'some words of a long command'\n" * 60


def place(person: Person, part: QWidget) -> QRect:
    return QRect(part.mapTo(person.window, QPoint()), part.size())


# A screen of 1024 × 600 pixels: as it is with letters of 200 %, and at a scale of 200 %, where the
# sidebar is put away. Without the frame that a desktop puts around it.
@pytest.mark.parametrize(("width", "height", "font_scale"), [(1024, 570, 200), (512, 300, 100)])
def test_u31_on_a_small_screen_the_buttons_of_a_question_can_be_seen_and_reached(
    home: Home, enter: Enter, width: int, height: int, font_scale: int
) -> None:
    home.data.mkdir()
    with open_log(home.data) as log:
        run(log.catalogue.save_setting("appearance.font_scale", str(font_scale)))
    script = [reply(tool_use("shell", {"command": COMMAND})), reply("Then not.")]
    with MessagesServer(script) as server:
        person = enter(server)
        person.wait(lambda: person.shows("newPage"))
        person.do("sidebar")
        person.begin("Do it")
        person.wait(lambda: person.shows("permissionBar") and person.part_enabled("deny"))
        # What is as high as its width allows is known only once it is laid out.
        person.wait(lambda: person.window.resize(width, height) or person.window.height() <= height)
        inside = QRect(0, 0, width, height)
        for name in ("allowOnce", "deny", "composer", "stopButton"):
            part = person.part(QWidget, name)
            person.wait(lambda part=part: inside.contains(place(person, part)))
        words = place(person, person.part(QWidget, "permissionWords"))
        assert words.bottom() < place(person, person.part(QPushButton, "deny")).top()
        person.press(Qt.Key.Key_3, person.part(QWidget, "permissionBar"))
        person.wait(lambda: person.shows("denyNow"))
        person.wait(lambda: inside.contains(place(person, person.part(QPushButton, "denyNow"))))
        person.click("denyNow")
        person.wait(lambda: person.reads("Then not.") and person.idle())
        assert person.leave() == 0
