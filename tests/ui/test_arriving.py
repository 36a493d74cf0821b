"""A second start: the window comes up, goes where it was asked to, and believes nothing (F7)."""

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
import qasync
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QWidget
from pytestqt.qtbot import QtBot

from desktop.app.front_door import FrontDoor
from desktop.app.handing_over import LONGEST, Answer, Message
from desktop.app.listening import MOST, Listener
from desktop.core.links import Link
from desktop.paths import DataFolder
from tests.architecture.source import ROOT
from tests.e2e.nacre import Home
from tests.fakes.messages_api import MessagesServer, reply, text
from tests.ui.conftest import Enter
from tests.ui.program import Person

NOBODY = "0b6f1f0e-6f0b-5c0e-9a51-3c1f0e2b7a94"
ENTERS = """
import sys
from pathlib import Path
from desktop.app.front_door import FrontDoor
from desktop.paths import DataFolder
door = FrontDoor(DataFolder(Path(sys.argv[1])), None)
print(door.enter(), door.is_held)
"""
HOSTILE = (
    b"\n",
    b"GET / HTTP/1.1\r\n\r\n",
    b'{"open": "nacre://tab/1; rm -rf /", "token": ""}\n',
    b'{"open": "", "token": "a\\nb"}\n',
    b"[" * LONGEST + b"\n",
    b"x" * (3 * LONGEST),
)


def said_to(
    where: Path, lines: Sequence[bytes], loop: qasync.QEventLoop, qtbot: QtBot
) -> tuple[list[bytes], list[Message]]:
    """What a listener answers to each line, and what it hears of them all."""
    heard: list[Message] = []
    modes: list[int] = []
    owner = QWidget()
    qtbot.addWidget(owner)

    def hear(message: Message) -> Answer:
        heard.append(message)
        return "done"

    async def talk() -> list[bytes]:
        listener = Listener(hear, owner)
        listener.listen(str(where))
        modes.append(os.stat(where).st_mode & 0o077)  # noqa: PTH116
        answers = [await answer(where, line) for line in lines]
        listener.close()
        return answers

    answers = loop.run_until_complete(talk())
    assert modes == [0], "nobody else reaches it"
    return answers, heard


async def answer(where: Path, line: bytes) -> bytes:
    """One line to a socket, and what comes back before it is closed."""
    return await asyncio.to_thread(_answer, where, line)


def _answer(where: Path, line: bytes) -> bytes:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(10)
        connection.connect(str(where))
        try:
            connection.sendall(line)
            return connection.recv(64)
        except OSError:
            return b"no\n"  # let go while it was still talking


def test_f7_a_hostile_message_is_refused_and_the_next_start_is_heard(
    tmp_path: Path, loop: qasync.QEventLoop, qtbot: QtBot
) -> None:
    message = Message(Link(NOBODY, 3), "token")
    lines = [*HOSTILE, message.encode()] * 2
    answers, heard = said_to(tmp_path / "s", lines, loop, qtbot)
    assert heard == [message] * 2
    assert answers == ([b"no\n"] * len(HOSTILE) + [b"done\n"]) * 2
    assert len(lines) > MOST, "callers that are gone take nobody's place"


def test_f7_what_a_dead_process_left_at_the_address_is_taken_over(
    tmp_path: Path, loop: qasync.QEventLoop, qtbot: QtBot
) -> None:
    where = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(where))
    assert said_to(where, [Message().encode()], loop, qtbot) == ([b"done\n"], [Message()])


def test_f7_a_start_while_the_window_ends_waits_and_becomes_the_first(
    tmp_path: Path, loop: qasync.QEventLoop, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime = tmp_path / "r"
    runtime.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    owner = QWidget()
    qtbot.addWidget(owner)
    folder = DataFolder(tmp_path / "data")
    ending = FrontDoor(folder, None)
    assert ending.enter()
    # A process of its own: to wait for an answer would hold up who is to give it.
    command = [sys.executable, "-c", ENTERS, str(folder.root)]

    def hear(message: Message) -> Answer:
        ending.leave()
        return "ending"

    async def start() -> str:
        listener = Listener(hear, owner)
        listener.listen(ending.address)
        try:
            done = await asyncio.to_thread(
                subprocess.run, command, cwd=ROOT, capture_output=True, text=True
            )
            return done.stdout + done.stderr
        finally:
            listener.close()

    assert loop.run_until_complete(start()) == "True True\n"


def test_f7_a_second_start_opens_a_folder_and_a_row_and_nothing_that_is_not_there(
    home: Home, enter: Enter
) -> None:
    long = "\n\n".join(f"Paragraph {number}." for number in range(60))
    with MessagesServer([reply(text(long)), reply(text("The end."))]) as server:
        other = home.root / "other"
        other.mkdir()
        person = enter(server)
        person.open_folder(home.workspace)
        tab_id = person.begin("the first question")
        person.wait(person.idle)
        person.say("the second question")
        person.wait(lambda: person.reads("The end.") and person.idle())
        person.start_again(str(other))
        person.wait(lambda: _folders(person) == [str(other)])
        person.start_again(f"nacre://tab/{tab_id}?seq=1")
        person.wait(lambda: person.reads("the first question"))
        assert not person.reads("The end.")
        before = person.transcript()
        person.start_again(f"nacre://tab/{tab_id}?seq=999999")
        person.start_again(f"nacre://tab/{NOBODY}")
        person.wait(lambda: "No conversation has this id." in person.banner())
        assert person.transcript() == before
        assert person.tab_ids() == [tab_id]
        person.now(person.window.showMinimized)
        person.start_again()
        assert not person.window.isMinimized()
        assert "XDG_ACTIVATION_TOKEN" not in os.environ, "no child is to have it"
        assert person.leave() == 0


def _folders(person: Person) -> list[str]:
    """The folder of the page for a new conversation, if that is in view."""
    role = Qt.ItemDataRole.ToolTipRole
    choices = person.parts(QComboBox, "folderChoice")
    return [str(choice.itemData(choice.currentIndex(), role)) for choice in choices]
