"""Settings → Plugins: what is seen of each plugin, and what can be done with it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import qasync
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QMessageBox, QPlainTextEdit, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from desktop.core.errors import PluginError
from desktop.core.plugins import PluginOffer, PluginView
from desktop.ui import asking
from desktop.ui.plugin_offer import PluginOfferBox
from desktop.ui.plugins_page import PluginsPage
from desktop.ui.tasks import Tasks
from desktop.ui.theme import LIGHT, Theme
from tests.fakes.plugins import MemoryPlugins
from tests.ui.on_screen import OnScreen

READ = "api_read:messages"
SHIPPED = PluginView(
    "prompt-history",
    "Prompt history",
    "1.1",
    "running",
    wants=(READ,),
    granted=frozenset({READ}),
    runs=("/usr/bin/python3", "-I", "main.py"),
    is_shipped=True,
)
MINE = PluginView(
    "mine",
    "Mine",
    "2",
    "resting",
    wants=(READ,),
    granted=frozenset({READ}),
    runs=("/usr/bin/node", "a file.js"),
)
OFFER = PluginOffer(
    "new",
    "New one",
    "3",
    wants=(READ,),
    new=frozenset({READ}),
    runs=("/usr/bin/node", "ma\u202ein.js", ""),
    folder="/data/installed-plugins/new/1",
    files=12,
    size=48_000,
)


@dataclass(slots=True)
class Desk(OnScreen):
    """The page with what it shows."""

    page: PluginsPage
    plugins: MemoryPlugins
    loop: qasync.QEventLoop
    qtbot: QtBot

    def show(self, *views: PluginView) -> None:
        self.plugins.show(*views)
        self.now(self.page.show)
        self.wait(lambda: len(self.parts("pluginCard")) == len(views))

    def heard(self, name: str) -> list[str]:
        """What a screen reader is told, from the top; without what sets a name apart."""
        found = sorted(self.parts(name), key=lambda one: one.mapTo(self.page, one.pos()).y())
        return [one.accessibleName().strip("\u2068\u2069") for one in found]

    def buttons(self) -> list[str]:
        return [one.text() for one in self.page.findChildren(QAbstractButton) if one.isVisible()]

    def click(self, name: str) -> None:
        self.wait(lambda: any(one.isEnabled() for one in self.parts(name)))
        self.now(lambda: self.qtbot.mouseClick(self.part(name), Qt.MouseButton.LeftButton))

    def boxes(self) -> list[PluginOfferBox]:
        return [one for one in self.page.findChildren(PluginOfferBox) if one.isVisible()]

    def box(self) -> PluginOfferBox:
        self.wait(self.boxes)
        return self.boxes()[0]

    def answer(self, words: str) -> None:
        """Presses a button of the question that stands there."""
        box = self.box() if self.boxes() else None
        parent: QWidget = box or self.page
        found = [one for one in parent.findChildren(QPushButton) if one.text() == words]
        (button,) = (one for one in found if one.isVisible())
        self.now(button.click)


@pytest.fixture
def desk(loop: qasync.QEventLoop, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    async def choose(parent: QWidget, title: str) -> Path:
        return Path("/chosen")

    monkeypatch.setattr(asking, "choose_folder", choose)  # the system's own dialog is no subject
    tasks, plugins = Tasks(), MemoryPlugins()
    page = PluginsPage(Theme("light", LIGHT), plugins, tasks)
    page.resize(600, 900)
    qtbot.addWidget(page)
    there = Desk(page, plugins, loop, qtbot)
    yield there
    there.now(page.hide)
    there.run(tasks.close())


def test_each_plugin_says_what_it_is_how_it_is_what_it_may_and_where_it_runs(desk: Desk) -> None:
    stopped = replace(
        MINE, id="x", phase="stopped", why="it was killed (signal 9)", name="<b>X</b>"
    )
    desk.show(SHIPPED, MINE, stopped)
    assert desk.heard("pluginPhase") == [
        "Running",
        "On; it starts when its page in the right pane is opened",
        "Stopped because it was killed (signal 9)",
    ]
    assert desk.heard("pluginName")[0] == "Prompt history\u2069 1.1"
    assert desk.heard("pluginName")[2] == "<b>X</b>\u2069 2"
    assert all("Read what was said" not in one for one in desk.heard("pluginRuns"))
    assert desk.heard("pluginMay")[0].startswith(
        "It may:\n• Read what was said in every conversation"
    )
    assert desk.heard("pluginRuns")[1] == "/usr/bin/node 'a file.js'"
    assert desk.heard("pluginCame") == [
        "Came with Nacre · runs in the sandbox",
        "Installed from a folder · runs in the sandbox",
        "Installed from a folder · runs in the sandbox",
    ]


def test_one_that_came_with_the_program_can_be_turned_off_and_no_more(desk: Desk) -> None:
    desk.show(SHIPPED)
    assert desk.buttons() == ["Install from folder…", "Disable", "Reload"]
    desk.click("pluginReload")
    desk.click("pluginDisable")
    desk.wait(lambda: desk.buttons() == ["Install from folder…", "Enable"])
    assert desk.plugins.did == [("reload", "prompt-history"), ("turn off", "prompt-history")]


def test_without_a_sandbox_it_is_said_what_that_means(desk: Desk) -> None:
    desk.plugins.is_sandboxed = False
    desk.show(MINE)
    assert "with your rights" in desk.heard("pluginsWhere")[0]
    assert desk.heard("pluginCame") == [
        "Installed from a folder · runs with your rights, without a sandbox"
    ]


def test_installing_shows_exactly_what_is_started_before_anything_is(desk: Desk) -> None:
    desk.plugins.offered = OFFER
    desk.show()
    desk.click("installPlugin")
    box = desk.box()
    assert desk.plugins.did == [("examine", Path("/chosen"))]
    command = box.findChild(QPlainTextEdit, "offerCommand")
    assert command is not None
    assert command.toPlainText().split("\n") == [
        "Program: “/usr/bin/node”",
        "Argument 1: “ma‹U+202E›in.js”",
        "Argument 2: “”",
        "In the folder: “/data/installed-plugins/new/1”",
    ]
    may = box.findChild(QWidget, "offerMay")
    assert may is not None
    assert "Read what was said in every conversation" in may.accessibleName()
    assert not [one for one in box.findChildren(QPushButton) if one.isDefault()]
    desk.answer("Install")
    desk.wait(lambda: ("install", "new") in desk.plugins.did)
    desk.wait(lambda: len(desk.parts("pluginCard")) == 1)
    assert desk.heard("pluginsAnswer")[0].endswith(" is installed.")


def test_what_is_not_agreed_to_is_put_away(desk: Desk) -> None:
    desk.plugins.offered = OFFER
    desk.show()
    desk.click("installPlugin")
    box = desk.box()
    desk.now(lambda: desk.qtbot.keyClick(box, Qt.Key.Key_Escape))
    desk.wait(lambda: desk.plugins.did[-1] == ("discard", "new"))
    assert ("install", "new") not in desk.plugins.did


def test_what_takes_long_says_so_and_can_be_stopped(desk: Desk) -> None:
    desk.plugins.let_go.clear()
    desk.show()
    desk.click("installPlugin")
    desk.wait(lambda: desk.heard("pluginsAnswer") == ["Copying and checking…"])
    desk.click("stopExamining")
    desk.wait(lambda: not desk.parts("stopExamining"))
    assert not desk.parts("pluginsAnswer")
    assert not desk.boxes()
    assert desk.plugins.did == [("examine", Path("/chosen")), ("stop",)]


def test_what_was_agreed_to_before_is_not_asked_again(desk: Desk) -> None:
    desk.plugins.offered = replace(OFFER, is_known=True, before="2")
    desk.show()
    desk.click("installPlugin")
    desk.wait(lambda: ("install", "new") in desk.plugins.did)
    desk.show(replace(MINE, phase="off"))
    desk.click("pluginEnable")
    desk.wait(lambda: ("turn on", "new") in desk.plugins.did)
    assert not desk.boxes()


def test_a_new_version_says_what_is_new_in_what_it_wants(desk: Desk) -> None:
    desk.plugins.offered = replace(OFFER, before="2")
    desk.show(replace(MINE, phase="asking"))
    assert desk.heard("pluginPhase") == ["Turned off: it wants more than you have allowed"]
    desk.click("pluginEnable")
    may = desk.box().findChild(QWidget, "offerMay")
    assert may is not None
    assert "New: Read what was said" in may.accessibleName()
    desk.answer("Enable")
    desk.wait(lambda: ("turn on", "new") in desk.plugins.did)


def test_what_it_may_is_taken_back_at_once(desk: Desk) -> None:
    desk.show(MINE)
    desk.click("pluginTakeBack")
    desk.wait(lambda: desk.plugins.did == [("take back", "mine")])
    desk.show(replace(MINE, phase="off", granted=frozenset()))
    desk.wait(lambda: desk.heard("pluginPhase") == ["Turned off, and it may nothing"])
    assert desk.heard("pluginMay")[0].startswith("It wants to:\n• Read ")
    assert desk.buttons() == ["Install from folder…", "Enable", "Uninstall…"]


@pytest.mark.parametrize(
    ("words", "did"),
    [
        ("Uninstall, keep its data", [("uninstall", "mine", False)]),
        ("Uninstall and delete its data", [("uninstall", "mine", True)]),
        ("Cancel", []),
    ],
)
def test_uninstalling_asks_what_becomes_of_its_data(
    desk: Desk, words: str, did: list[tuple[object, ...]]
) -> None:
    desk.show(MINE)
    desk.click("pluginUninstall")
    desk.wait(lambda: [one for one in desk.page.findChildren(QMessageBox) if one.isVisible()])
    desk.answer(words)
    desk.wait(lambda: not desk.page.findChildren(QMessageBox))
    assert desk.plugins.did == did
    desk.wait(lambda: len(desk.parts("pluginCard")) == (0 if did else 1))


def test_what_can_not_be_done_is_said_and_what_there_is_stays(desk: Desk) -> None:
    desk.show(MINE)
    desk.plugins.refusal = PluginError("The link x leads out of the folder.")
    desk.click("installPlugin")
    desk.wait(lambda: desk.heard("pluginsAnswer") == ["The link x leads out of the folder."])
    assert len(desk.parts("pluginCard")) == 1
    desk.plugins.refusal = None
    desk.click("pluginReload")
    desk.wait(lambda: not desk.parts("pluginsAnswer"))


def test_the_keyboard_stays_with_a_plugin_whose_button_is_gone(desk: Desk) -> None:
    desk.show(SHIPPED, MINE)
    off = next(one for one in desk.parts("pluginDisable") if "Mine" in one.accessibleName())
    desk.now(desk.page.activateWindow)
    desk.now(off.setFocus)
    desk.wait(off.hasFocus)
    desk.now(lambda: desk.qtbot.keyClick(off, Qt.Key.Key_Space))
    desk.wait(lambda: desk.part("pluginEnable").hasFocus())
