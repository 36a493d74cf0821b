"""Settings → Tool servers: what is seen of each server, and what can be done with it (SPEC U33)."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest
import qasync
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QComboBox,
    QLabel,
    QLineEdit,
    QMessageBox,
    QPlainTextEdit,
)
from pytestqt.qtbot import QtBot

from desktop.core.errors import ServersFileError
from desktop.core.tool_servers import ServerEntry, ServerSandbox, ServerTool, ServerView, Tried
from desktop.ui.tasks import Tasks
from desktop.ui.theme import LIGHT, Theme
from desktop.ui.tool_servers_page import ToolServersPage
from tests.fakes.tool_servers import MemoryServers
from tests.ui.on_screen import OnScreen

KEY = "sk-ant-abcdefgh1234"
FILES = ServerView(
    ServerEntry("files", "npx", ("-y", "server-files", "/a b")),
    "ready",
    tools=(ServerTool("read", "Reads <b>it</b>."), ServerTool("wr\u202eite", "Writes.")),
    mark="m",
)
FAILED = ServerView(
    ServerEntry("search", "search", ("--api-key", KEY), env={"TOKEN": KEY}),
    "failed",
    "it ended with exit code 1",
    ("Traceback", "no license found"),
)


@dataclass(slots=True)
class Desk(OnScreen):
    """The page with what it shows."""

    page: ToolServersPage
    servers: MemoryServers
    loop: qasync.QEventLoop
    qtbot: QtBot

    def show(self, *servers: ServerView, problem: str = "") -> None:
        self.servers.show(*servers, problem=problem)
        self.now(self.page.show)
        self.wait(lambda: self.servers.looks and len(self.names()) == len(servers))

    def words(self, name: str) -> list[str]:
        """What a screen reader is told of labels; without the places where lines may break."""
        return [one.text().replace("\u200b", "") for one in self.parts(name)]

    def names(self) -> list[str]:
        cards = sorted(self.parts("serverCard"), key=lambda card: card.y())
        return [
            label.accessibleName()
            for card in cards
            for label in card.findChildren(QLabel, "serverName")
        ]

    def click(self, name: str) -> None:
        self.wait(lambda: any(one.isEnabled() for one in self.parts(name)))
        self.now(lambda: self.qtbot.mouseClick(self.part(name), Qt.MouseButton.LeftButton))

    def type(self, name: str, text: str) -> None:
        field = self.part(name)
        self.now(
            lambda: (
                field.setPlainText(text)
                if isinstance(field, QPlainTextEdit)
                else field.setText(text)
            )
        )

    def choose_web(self) -> None:
        combo = self.part("serverFormKind")
        assert isinstance(combo, QComboBox)
        self.now(lambda: combo.setCurrentIndex(combo.findData("web")))

    def outcome(self) -> str:
        return "\n".join(self.words("serverFormOutcome"))


@pytest.fixture
def desk(loop: qasync.QEventLoop, qtbot: QtBot) -> Iterator[Desk]:
    tasks, servers = Tasks(), MemoryServers()
    page = ToolServersPage(Theme("light", LIGHT), servers, tasks)
    page.resize(600, 900)
    qtbot.addWidget(page)
    there = Desk(page, servers, loop, qtbot)
    yield there
    there.now(page.hide)  # its timer must not run out where no loop runs
    there.run(tasks.close())


def test_without_a_server_there_is_one_sentence_and_one_thing_to_do(desk: Desk) -> None:
    desk.now(desk.page.show)
    desk.wait(lambda: desk.words("noToolServers") == ["There is no tool server yet."])
    buttons = [one for one in desk.page.findChildren(QAbstractButton) if one.isVisible()]
    assert [one.text() for one in buttons] == ["Add a server…"]


def test_each_server_says_what_runs_and_how_it_is(desk: Desk) -> None:
    """SPEC U33: a key in a command is dots, a hidden character is seen."""
    off = ServerView(ServerEntry("a\u202eb", "x\u200by", is_enabled=False), "off")
    web = ServerView(ServerEntry("web", url=f"https://u:{KEY}@x.test/m?token={KEY}"), "starting")
    bad = ServerView(ServerEntry("bad"), "broken", "its args must be a list of texts")
    desk.show(FILES, FAILED, off, web, bad)
    assert desk.words("serverState") == [
        "Connected, 2 tools",
        "Failed: it ended with exit code 1",
        "Turned off",
        "Connecting…",
        "Its entry is broken: its args must be a list of texts",
    ]
    assert desk.words("serverRuns") == [
        "npx -y server-files '/a b'",
        "search --api-key ••••••••",
        "'x‹ZWSP›y'",
        "https://••••••••@x.test/m?token=••••••••",
    ]
    assert desk.words("serverSaid") == ["Traceback\nno license found"]
    assert "a‹U+202E›b" in desk.names()
    assert desk.words("toolServersPath") == ["Kept in /data/mcp.json"]
    card = desk.parts("serverCard")[0]
    assert card.accessibleName() == "files: Connected, 2 tools"


def test_it_follows_the_servers_without_being_asked_and_keeps_the_focus(desk: Desk) -> None:
    desk.show(FILES, FAILED)
    _, restart = desk.parts("serverRestart")
    desk.now(restart.setFocus)
    desk.servers.show(FILES, replace(FAILED, phase="starting", why="", said=()))
    desk.wait(lambda: desk.words("serverState") == ["Connected, 2 tools", "Connecting…"])
    assert restart.hasFocus()
    desk.servers.show(FILES)
    desk.wait(lambda: desk.names() == ["files"])
    assert desk.part("addToolServer").hasFocus()


def test_a_file_that_was_changed_by_hand_is_looked_at_while_the_page_is_seen(desk: Desk) -> None:
    desk.show(FILES)
    looks = desk.servers.looks
    desk.wait(lambda: desk.servers.looks > looks)
    desk.now(desk.page.hide)
    assert not desk.page._looks.isActive()  # pyright: ignore[reportPrivateUsage]


def test_the_buttons_do_what_they_say_and_tab_goes_through_them_in_order(desk: Desk) -> None:
    desk.show(FAILED, replace(FILES, entry=replace(FILES.entry, is_enabled=False), phase="off"))
    desk.click("serverRestart")
    turn = desk.parts("serverTurn")
    assert [one.text() for one in turn] == ["Turn off", "Turn on"]
    desk.now(lambda: [one.click() for one in turn])
    desk.wait(lambda: len(desk.servers.did) == 3)
    assert desk.servers.did == [
        ("restart", "search"),
        ("turn", "search", False),
        ("turn", "files", True),
    ]
    desk.now(desk.part("addToolServer").setFocus)
    reached: list[str] = []
    for _ in range(9):
        desk.now(lambda: desk.qtbot.keyClick(desk.page.window().focusWidget(), Qt.Key.Key_Tab))
        focus = desk.page.window().focusWidget()
        assert focus is not None
        reached.append(focus.accessibleName())
    assert reached == [
        *("Restart search", "Log… search", "Edit… search", "Turn off search", "Remove… search"),
        *("Tools… files", "Log… files", "Edit… files", "Turn on files"),
    ]


def test_a_server_is_removed_only_after_a_question(desk: Desk) -> None:
    desk.show(FILES)
    for label in ("Keep", "Remove"):
        desk.click("serverRemove")
        desk.wait(lambda: desk.page.findChildren(QMessageBox))
        box = desk.page.findChildren(QMessageBox)[-1]
        assert box.textFormat() == Qt.TextFormat.PlainText
        button = next(one for one in box.buttons() if one.text() == label)
        desk.now(button.click)
        desk.wait(
            lambda: not [one for one in desk.page.findChildren(QMessageBox) if one.isVisible()]
        )
    desk.wait(lambda: desk.names() == [])
    assert desk.servers.did == [("remove", "files")]


def test_what_could_not_be_done_is_said_on_the_page(desk: Desk) -> None:
    desk.show(FILES)
    desk.servers.refusal = ServersFileError("“files” was changed in the file meanwhile.")
    desk.click("serverTurn")
    desk.wait(lambda: desk.words("toolServersAnswer"))
    assert desk.words("toolServersAnswer") == ["“files” was changed in the file meanwhile."]


def test_a_broken_file_is_named_never_written_and_can_be_set_aside(desk: Desk) -> None:
    """SPEC U33, FIELD F-S05."""
    desk.show(FILES, problem="/data/mcp.json is not JSON (line 3, column 7), so it is not used.")
    assert "line 3, column 7" in desk.words("toolServersProblem")[0]
    assert not desk.part("addToolServer").isEnabled()
    assert desk.parts("openToolServers")
    desk.click("setToolServersAside")
    desk.wait(lambda: not desk.parts("toolServersProblem"))
    assert desk.words("toolServersAnswer") == ["The file is now /data/mcp.broken.json."]
    assert desk.part("addToolServer").isEnabled()


def test_tools_and_log_are_read_as_plain_text(desk: Desk) -> None:
    """Hostile words of a server: no markup, no hidden character."""
    desk.show(FILES)
    desk.click("serverTools")
    desk.wait(lambda: desk.parts("textBoxText"))
    text = desk.part("textBoxText").toPlainText()
    assert text == "read\n    Reads <b>it</b>.\n\nwr‹U+202E›ite\n    Writes."
    desk.now(desk.part("textBox").reject)
    desk.servers.text = "one\n\x1b[31mtwo\u200b"
    desk.click("serverLog")
    desk.wait(lambda: desk.parts("textBoxText"))
    assert desk.part("textBoxText").toPlainText() == "one\n‹U+001B›[31mtwo‹ZWSP›"
    desk.now(desk.part("textBox").reject)


def test_a_server_is_added_and_exactly_what_will_run_is_seen_before(desk: Desk) -> None:
    desk.show()
    desk.click("addToolServer")
    desk.wait(lambda: desk.parts("serverForm"))
    assert not desk.part("serverFormSave").isEnabled()
    desk.type("serverFormName", "mine")
    desk.type("serverFormCommand", f'run "a b" --token={KEY} x\u200by $HOME')
    assert desk.words("serverFormMeaning")[0].splitlines() == [
        "Program: “run”",
        "Argument 1: “a b”",
        "Argument 2: “--token=••••••••”",
        "Argument 3: “x‹ZWSP›y”",
        "Argument 4: “$HOME”",
    ]
    desk.click("serverFormEnvAdd")
    name, value = desk.part("pairName"), desk.part("pairValue")
    desk.now(lambda: (name.setText("API_KEY"), value.setText(KEY)))
    assert value.echoMode() == QLineEdit.EchoMode.Password
    assert KEY not in desk.words("serverFormMeaning")[0]
    desk.click("serverFormSave")
    desk.wait(lambda: desk.names() == ["mine"])
    entry = ServerEntry(
        "mine", "run", ("a b", f"--token={KEY}", "x\u200by", "$HOME"), env={"API_KEY": KEY}
    )
    assert desk.servers.did == [("add", entry)]
    desk.wait(lambda: not desk.parts("serverForm"))


def test_a_command_that_cannot_be_taken_apart_can_be_neither_kept_nor_tried(desk: Desk) -> None:
    desk.show()
    desk.click("addToolServer")
    desk.wait(lambda: desk.parts("serverForm"))
    desk.type("serverFormName", "mine")
    desk.type("serverFormCommand", 'run "a b')
    assert "a quote is not closed" in desk.words("serverFormMeaning")[0]
    assert not desk.part("serverFormSave").isEnabled()
    assert not desk.part("serverFormTest").isEnabled()
    desk.now(desk.part("serverForm").reject)


def test_a_server_is_tried_before_it_is_kept_and_the_try_can_be_stopped(desk: Desk) -> None:
    """FIELD F-T07."""
    desk.show()
    desk.click("addToolServer")
    desk.wait(lambda: desk.parts("serverForm"))
    desk.choose_web()
    desk.type("serverFormUrl", "https://x.test/mcp")
    desk.click("serverFormTest")
    desk.click("serverFormStopTest")
    desk.wait(lambda: desk.outcome() == "The test was stopped.")
    assert [one[0] for one in desk.servers.did] == ["test", "cancelled"]
    desk.servers.let_go.set()
    desk.servers.tried = Tried((ServerTool("get", ""),), ("The tool “a” can't be offered.",))
    desk.click("serverFormTest")
    desk.wait(lambda: desk.outcome().startswith("It works, and offers 1 tool: get"))
    assert "“a” can't be offered" in desk.outcome()
    desk.servers.tried = Tried(problem="it ended with exit code 1", said=("no license found",))
    desk.click("serverFormTest")
    desk.wait(lambda: desk.outcome() == "It failed: it ended with exit code 1.\nno license found")
    desk.now(desk.part("serverForm").reject)


def test_an_entry_is_tried_in_the_sandbox_that_it_has(desk: Desk) -> None:
    entry = replace(FILES.entry, sandbox=ServerSandbox(is_wanted=False))
    desk.show(replace(FILES, entry=entry))
    desk.click("serverEdit")
    desk.click("serverFormTest")
    desk.wait(lambda: desk.servers.did)
    assert desk.servers.did[0] == ("test", entry)
    desk.now(desk.part("serverForm").reject)
    desk.wait(lambda: desk.servers.did[-1] == ("cancelled",))


def test_closing_the_form_ends_a_try(desk: Desk) -> None:
    desk.show(FILES)
    desk.click("serverEdit")
    desk.click("serverFormTest")
    desk.wait(lambda: desk.servers.did)
    desk.now(desk.part("serverForm").reject)
    desk.wait(lambda: desk.servers.did[-1] == ("cancelled",))


def test_an_edit_that_is_refused_keeps_what_was_typed(desk: Desk) -> None:
    desk.show(FILES)
    desk.click("serverEdit")
    assert desk.part("serverFormCommand").toPlainText() == "npx -y server-files '/a b'"
    desk.type("serverFormName", "other")
    desk.servers.refusal = ServersFileError("There is a tool server named “other” already.")
    desk.click("serverFormSave")
    desk.wait(lambda: "already" in desk.outcome())
    assert desk.part("serverFormName").text() == "other"
    desk.servers.refusal = None
    desk.click("serverFormSave")
    desk.wait(lambda: not desk.parts("serverForm"))
    assert desk.servers.did[-1] == ("change", "files", replace(FILES.entry, name="other"))
