"""The whole window for people who hear it, and for those who have no mouse (SPEC U38).

One window goes through its main states; in each the accessible tree is walked and Tab goes around.
"""

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QFileDialog,
    QLabel,
    QLineEdit,
    QListWidget,
    QMenu,
    QPushButton,
    QToolButton,
    QWidget,
)

from desktop.credentials import api_key
from desktop.ui.attachments import AttachmentChip
from desktop.ui.message_field import LONG_PASTE
from desktop.ui.permission_bar import PermissionBar
from tests.e2e.nacre import Home
from tests.fakes.messages_api import MessagesServer, reply, text, thinking, tool_use
from tests.ui.conftest import Enter
from tests.ui.everyone import Node, nodes, tree
from tests.ui.looking import Looker, focused
from tests.ui.program import Person

pytestmark = pytest.mark.timeout(300)

CODE = "Layer on layer.\n\n```python\nprint(1)\n```\n\n[a link](https://example.org)"
LONG = "n" * 200
HISTORY = "rightPane.plugin.prompt-history"
PLUGIN = f"""
id = "long"
name = "{LONG[:60]}"
version = "1"
minimum_host = "0"
command = ["{{python}}", "{LONG}.py"]
capabilities = ["api_read:messages"]
"""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def a_plugin(place: Path) -> Path:
    place.mkdir()
    (place / "plugin.toml").write_text(PLUGIN)
    return place


def rows_of(window: QWidget, name: str) -> list[Node]:
    lists = (one for one in nodes(tree(window)) if one.role == QAccessible.Role.List)
    (found,) = (one for one in lists if one.name == name)
    return list(found.children)


def test_u38_every_control_has_a_name_and_is_reached_with_the_keyboard_in_every_state(
    home: Home, enter: Enter, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = tool_use("write_file", {"path": LONG, "content": "x"})
    script = [reply(thinking("A thought."), text(CODE), call), reply("Done.")]
    with MessagesServer(script) as server:
        monkeypatch.setattr(api_key, "PROVIDER_URL", server.base_url)
        person = enter()
        person.wait(lambda: person.shows("welcomePage"))
        person.now(person.window.activateWindow)
        # As on a screen that has room for it: the buttons of the right pane stand in one row.
        person.now(lambda: person.window.resize(1180, 780))
        eye = Looker(person)
        window = person.window
        eye.look("welcome", window, person.part(QLineEdit, "keyField"))
        person.type_into("keyField", "right-key-0123456789")
        person.click("sessionKey")
        person.wait(lambda: person.shows("newPage"))
        eye.look("new", window, person.composer)
        least = window.minimumSizeHint().width()
        tab_id = person.begin(f"How? {LONG}")
        person.wait(lambda: person.shows("permissionBar"))
        person.wait(lambda: not person.part(PermissionBar, "permissionBar").guarded)
        person.write(f"And then? {LONG}")
        person.press(Qt.Key.Key_Return)
        person.wait(lambda: person.shows("queueBar"))
        person.do("find")
        eye.look("asking, waiting, finding", window, person.composer)
        assert window.minimumSizeHint().width() <= least, "a long name widens the window"
        person.click("allowOnce")
        person.wait(lambda: person.idle() and person.reads("Done."))
        rows = rows_of(window, "Conversation")
        speakers = [row.name.partition(":")[0] for row in rows]
        assert speakers == ["You", "Thinking", "Answer", "Tool", "You", "Answer"]
        assert {row.role for row in rows} == {QAccessible.Role.ListItem}
        eye.look("answered", window, person.composer)
        assert regions_by_f6(person) == ["composer", "searchField", "transcript"]
        assert_the_search_gives_the_keyboard_back(person)
        assert_shift_f10_opens_the_menu_of_the_row(person)
        look_at_dialogs(eye, a_plugin(home.root / "plugin"))
        look_at_the_palette(eye)
        look_at_what_is_written(eye)
        look_beside_the_conversation(eye)
        look_at_the_search(eye)
        person.go_to(tab_id)
        for page in ("archived", "bin"):
            person.do(page)
            person.wait(lambda page=page: person.shows(f"{page}Page"))
            eye.look(page, window, person.part(QPushButton, "closePutAway"))
        person.go_to(tab_id)
        person.do("trash")
        person.wait(lambda: not person.tab_ids())
        person.do("bin")
        person.wait(lambda: person.shows("putAwayList"))
        eye.look("a filled bin", window, person.part(QPushButton, "closePutAway"))
        assert person.leave() == 0
    assert not eye.wrong, "\n".join(eye.wrong)


def regions_by_f6(person: Person) -> list[str]:
    """Where F6 leads from the message field, until it is there again."""
    person.now(person.composer.setFocus)
    names: list[str] = []
    while (name := focused().objectName()) not in names:
        names.append(name)
        person.now(lambda: QTest.keyClick(focused(), Qt.Key.Key_F6))
    return names


def assert_the_search_gives_the_keyboard_back(person: Person) -> None:
    person.do("find")
    assert focused().objectName() == "findField"
    person.press(Qt.Key.Key_Escape, focused())
    assert focused().objectName() == "transcript"


def assert_shift_f10_opens_the_menu_of_the_row(person: Person) -> None:
    shift = Qt.KeyboardModifier.ShiftModifier
    person.now(lambda: QTest.keyClick(focused(), Qt.Key.Key_F10, shift))
    person.wait(lambda: person.shows("rowMenu"))
    menu = person.part(QMenu, "rowMenu")
    assert "Copy the answer" in [one.text() for one in menu.actions()]
    person.now(menu.close)
    person.wait(lambda: not person.shows("rowMenu"))


def look_at_an_offer(eye: Looker, plugin: Path) -> None:
    """A plugin with a long name that is to be installed, and is not."""
    person = eye.person
    person.choose_section("Plugins")
    person.click("installPlugin")
    person.wait(lambda: person.window.findChildren(QFileDialog))
    (dialog,) = person.window.findChildren(QFileDialog)
    name = dialog.findChild(QLineEdit, "fileNameEdit")
    assert name is not None
    name.setText(str(plugin))
    person.press(Qt.Key.Key_Return, name)
    person.wait(lambda: person.shows("pluginOffer"))
    eye.look_at_dialog("a plugin that is to be installed", "pluginOffer")
    person.close_dialog("pluginOffer")


def look_at_the_palette(eye: Looker) -> None:
    person = eye.person
    person.do("palette")
    person.wait(lambda: person.shows("palette"))
    eye.look_at_dialog("palette", "palette")
    person.close_dialog("palette")


def look_at_what_is_written(eye: Looker) -> None:
    """The offers while one types, and a long paste that was opened."""
    person = eye.person
    person.write("/")
    person.wait(lambda: person.shows("completionFrame"))
    eye.look("completion", person.part(QWidget, "completionFrame"))
    person.press(Qt.Key.Key_Escape)
    person.clear()
    data = QMimeData()
    data.setText("a line\n" * LONG_PASTE)
    person.now(lambda: person.composer.insertFromMimeData(data))
    (chip,) = person.window.findChildren(AttachmentChip)
    person.wait(chip.isVisible)
    eye.look("a long paste", person.window, person.composer)
    read, remove = chip.findChildren(QToolButton)
    person.click_on(read)
    person.wait(lambda: person.shows("attachedText"))
    eye.look_at_dialog("attached text", "attachedText")
    person.close_dialog("attachedText")
    person.click_on(remove)


def look_beside_the_conversation(eye: Looker) -> None:
    person = eye.person
    person.do("right_pane")
    person.wait(lambda: person.shows("outlineList"))
    eye.look("outline", person.window, person.composer)
    person.wait(lambda: person.parts(QToolButton, HISTORY))
    person.click(HISTORY)
    person.wait(lambda: person.shows("pluginChoice") and person.shows("pluginList"))
    eye.look("a plugin", person.window, person.composer)
    person.click("rightPane.outline")
    person.do("right_pane")


def look_at_the_search(eye: Looker) -> None:
    person = eye.person
    person.do("search")
    person.wait(lambda: person.shows("searchPage"))
    person.type_into("searchEverything", "Layer")
    person.wait(lambda: person.part(QLabel, "searchState").text().startswith("1 found"))
    eye.look("search", person.window, person.part(QLineEdit, "searchEverything"))


def look_at_dialogs(eye: Looker, plugin: Path) -> None:
    person = eye.person
    person.do("settings")
    person.wait(lambda: person.shows("settingsDialog"))
    sections = person.part(QWidget, "settingsDialog").findChild(QListWidget)
    assert sections is not None
    for at in range(sections.count()):
        person.now(lambda at=at: sections.setCurrentRow(at))
        eye.look_at_dialog(f"settings, {sections.item(at).text()}", "settingsDialog")
    person.now(lambda: sections.setCurrentRow(1))
    person.click("addToolServer")
    person.wait(lambda: person.shows("serverForm"))
    eye.look_at_dialog("server form", "serverForm")
    person.close_dialog("serverForm")
    look_at_an_offer(eye, plugin)
    person.close_dialog("settingsDialog")
    person.do("usage")
    person.wait(lambda: person.shows("usageBox"))
    eye.look_at_dialog("usage", "usageBox")
    person.close_dialog("usageBox")
