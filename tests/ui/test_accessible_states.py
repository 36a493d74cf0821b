"""States that a person meets more seldom, for those who hear the window or have no mouse (U38)."""

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtWidgets import (
    QApplication,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QToolButton,
    QWidget,
)

from desktop.ui.attachments import AttachmentChip
from tests.e2e.nacre import Home
from tests.fakes.messages_api import MessagesServer, reply, text, tool_use
from tests.ui.conftest import Enter
from tests.ui.looking import Looker
from tests.ui.program import Person
from tests.unit.tools.pictures import drawn

pytestmark = pytest.mark.timeout(300)

LONG = "What was shown so far stays as it is and is marked."
WRITE = tool_use("write_file", {"path": "notes.txt", "content": "one\n" * 40})


def give(person: Person, *paths: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    person.now(lambda: person.composer.insertFromMimeData(data))


def test_u38_the_page_for_a_new_conversation_with_all_that_can_stand_on_it(
    home: Home, enter: Enter
) -> None:
    (home.workspace / "cat.png").write_bytes(drawn((60, 40)))
    with MessagesServer([reply("I see.")]) as server:
        person = enter(server)
        eye = Looker(person)
        person.wait(lambda: person.shows("newPage"))
        eye.look("new", person.window, person.composer)
        person.open_folder(home.workspace)
        give(person, home.workspace / "cat.png", home.workspace / "nothing.txt")
        person.wait(lambda: person.shows("attachComplaint"))
        person.write("/")
        person.wait(lambda: person.shows("completionFrame"))
        person.press(Qt.Key.Key_Escape)
        eye.look("a folder, a file, a complaint", person.window, person.composer)
        combo = person.part(QWidget, "folderChoice")
        person.now(lambda: (combo.setFocus(), person.hit(Qt.Key.Key_Space, combo)))
        person.wait(lambda: QApplication.activePopupWidget() is not None)
        popup = QApplication.activePopupWidget()
        assert popup is not None
        eye.look("the folders", popup)
        person.now(popup.close)
        chip = person.window.findChildren(AttachmentChip)[0]
        names = [one.accessibleName() for one in chip.findChildren(QToolButton)]
        assert names == ["Remove cat.png"]
        person.clear()
        person.say("Look")
        person.wait(lambda: person.reads("I see.") and person.idle())
        assert person.leave() == 0
    assert not eye.wrong, "\n".join(eye.wrong)


def test_u38_a_queue_that_is_held_and_one_of_it_that_is_changed(home: Home, enter: Enter) -> None:
    script = [reply(text(LONG)).gate_after(5, "mid"), reply("Two.")]
    with MessagesServer(script) as server:
        person = enter(server)
        eye = Looker(person)
        person.begin("First")
        person.wait_at_gate(server, "mid")
        for one in ("alpha", "beta"):
            person.say(one)
        person.wait(lambda: len(person.parts(QToolButton, "moveQueued")) == 2)
        person.do("stop")
        person.wait(lambda: person.idle() and person.shows("releaseQueue"))
        server.release("mid")
        eye.look("a queue that is held", person.window, person.composer)
        person.click_on(person.parts(QPushButton, "editQueued")[0])
        person.wait(lambda: person.shows("queueEditBar"))
        eye.look("a waiting message is changed", person.window, person.composer)
        person.press(Qt.Key.Key_Escape)
        person.click("releaseQueue")
        person.wait(lambda: person.reads("Two.") and person.idle())
        assert person.leave() == 0
    assert not eye.wrong, "\n".join(eye.wrong)


def test_u38_a_question_with_a_reason_to_deny_it_and_with_its_rule(
    home: Home, enter: Enter
) -> None:
    with MessagesServer([reply(WRITE), reply("Then not.")]) as server:
        person = enter(server)
        eye = Looker(person)
        person.begin("First")
        person.wait(lambda: person.shows("permissionBar") and person.part_enabled("deny"))
        person.click("deny")
        person.wait(lambda: person.shows("denyReason"))
        eye.look("to deny with words", person.window, person.composer)
        seen = person.part(QPlainTextEdit, "permissionDetail").verticalScrollBar()
        person.now(lambda: seen.setValue(seen.maximum()))
        person.click("allowAlways")
        person.wait(lambda: person.shows("keepRule"))
        eye.look("the rule before it is kept", person.window, person.composer)
        person.press(Qt.Key.Key_3, person.part(QWidget, "permissionBar"))
        person.click("denyNow")
        person.wait(lambda: person.reads("Then not.") and person.idle())
        assert person.leave() == 0
    assert not eye.wrong, "\n".join(eye.wrong)


def test_u38_the_search_without_a_hit_and_boxes_over_the_window(home: Home, enter: Enter) -> None:
    with MessagesServer([reply("I see.")]) as server:
        person = enter(server)
        eye = Looker(person)
        person.begin("Look")
        person.wait(lambda: person.reads("I see.") and person.idle())
        person.do("search")
        person.wait(lambda: person.shows("searchPage"))
        field = person.part(QLineEdit, "searchEverything")
        eye.look("search, nothing asked", person.window, field)
        person.type_into("searchEverything", "pearls beyond measure")
        person.wait(lambda: "Nothing" in person.part(QLabel, "searchState").text())
        eye.look("search, nothing found", person.window, field)
        person.press(Qt.Key.Key_Escape, field)
        person.do("settings")
        person.wait(lambda: person.shows("settingsDialog"))
        person.choose_section("Storage")
        person.click("restoreBackup")
        person.wait(lambda: person.shows("restoreBox"))
        box = person.part(QWidget, "restoreBox")
        eye.look("restore", box, box.focusWidget() or box.nextInFocusChain())
        person.close_dialog("restoreBox")
        person.close_dialog("settingsDialog")
        person.do("diagnostics")
        person.wait(lambda: person.shows("diagnosticsBox"))
        eye.look_at_dialog("diagnostics", "diagnosticsBox")
        person.close_dialog("diagnosticsBox")
        assert person.leave() == 0
    assert not eye.wrong, "\n".join(eye.wrong)
