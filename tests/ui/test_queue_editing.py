"""Messages that wait, changed in the field (SPEC C05, C06)."""

from collections.abc import Callable, Mapping, Sequence
from typing import cast

import pytest
import qasync
from PySide6.QtWidgets import QLabel, QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from desktop.core.protocols import Commands
from desktop.core.status import QueuedMessage
from desktop.ui.composer import Composer
from desktop.ui.notice_bar import NoticeBar
from desktop.ui.queue_bar import QueueBar
from desktop.ui.queue_editing import QueueEditing
from desktop.ui.tasks import Tasks
from desktop.ui.theme import LIGHT, Theme
from tests.ui.conftest import until

TAB = "tab"


class Agent:
    """An agent with a queue and nothing else; `went` are those that it has sent."""

    def __init__(self) -> None:
        self.queue = [QueuedMessage(one, TAB, f"text {one}", 0) for one in "abc"]
        self.went: set[str] = set()
        self.kept_back = ""

    async def edit_queued(self, tab_id: str, message_id: str) -> QueuedMessage | None:
        if message_id in self.went:
            return None
        self.kept_back = message_id
        return next(one for one in self.queue if one.id == message_id)

    async def put_queued(
        self,
        tab_id: str,
        message_id: str,
        text: str | None = None,
        attachments: Sequence[Mapping[str, object]] = (),
    ) -> bool:
        self.kept_back = ""
        if text is not None:
            for at, one in enumerate(self.queue):
                if one.id == message_id:
                    self.queue[at] = QueuedMessage(one.id, TAB, text, 0, tuple(attachments))
        return message_id not in self.went

    async def cancel_queued(self, tab_id: str, message_id: str) -> QueuedMessage | None:
        found = next(one for one in self.queue if one.id == message_id)
        self.queue.remove(found)
        return found


class Desk:
    def __init__(self, loop: qasync.QEventLoop, qtbot: QtBot) -> None:
        self._loop = loop
        theme = Theme("light", LIGHT)
        self.window = QWidget()
        qtbot.addWidget(self.window)
        self.bar = QueueBar(theme, self.window)
        self.line = NoticeBar(
            theme, name="queueEditBar", act="Cancel", closable=False, parent=self.window
        )
        self.composer = Composer(theme, self.window)
        self.agent, self._tasks = Agent(), Tasks()
        self.editing = QueueEditing(
            TAB,
            commands=cast("Commands", self.agent),
            tasks=self._tasks,
            composer=self.composer,
            queue_bar=self.bar,
            bar=self.line,
        )
        self.bar.edit_wanted.connect(self.editing.edit)
        column = QVBoxLayout(self.window)
        for part in (self.bar, self.line, self.composer):
            column.addWidget(part)
        self.window.show()
        self.bar.show_queue(self.agent.queue, held=False)

    def now(self, act: Callable[[], object]) -> None:
        async def acting() -> None:
            act()
            running = self._tasks._running  # pyright: ignore[reportPrivateUsage]
            await until(lambda: not running)

        self._loop.run_until_complete(acting())
        self.bar.show_queue(self.agent.queue, held=False)

    def click(self, name: str, at: int) -> None:
        buttons = [one for one in self.bar.findChildren(QPushButton, name) if one.isVisible()]
        self.now(buttons[at].click)

    def put(self) -> str:
        text = self.composer.text()
        return self._loop.run_until_complete(self.editing.put(text, self.composer.attachments()))

    def shows(self, *expected: str) -> None:
        """Once the rows that were before are gone."""
        self.bar.show_queue(self.agent.queue, held=False)

        def rows() -> list[str]:
            return [one.text() for one in self.bar.findChildren(QLabel) if one.isVisible()]

        self._loop.run_until_complete(until(lambda: rows() == list(expected)))


@pytest.fixture
def desk(loop: qasync.QEventLoop, qtbot: QtBot) -> Desk:
    return Desk(loop, qtbot)


def test_a_waiting_message_is_changed_in_its_place_and_the_draft_comes_back(desk: Desk) -> None:
    desk.composer.set_text("half a thought")
    desk.composer.set_caret(4)
    before = desk.composer.draft()
    desk.click("editQueued", 1)
    assert desk.composer.text() == "text b"
    assert desk.agent.kept_back == "b"
    assert desk.line.isVisible()
    desk.shows("Waiting: text a", "Being changed: text b", "Waiting: text c")
    assert desk.editing.before == before
    desk.composer.set_text("another")
    assert desk.put() == ""
    assert desk.composer.draft() == before
    assert not desk.line.isVisible()
    desk.shows("Waiting: text a", "Waiting: another", "Waiting: text c")


def test_an_edit_that_is_given_up_lets_the_queue_go_as_it_was(desk: Desk) -> None:
    desk.click("editQueued", 0)
    desk.composer.set_text("another")
    desk.now(desk.editing.cancel)
    assert desk.agent.kept_back == ""
    desk.shows("Waiting: text a", "Waiting: text b", "Waiting: text c")
    assert desk.composer.text() == ""


def test_another_edit_ends_the_first(desk: Desk) -> None:
    desk.composer.set_text("mine")
    desk.click("editQueued", 0)
    desk.click("editQueued", 2)
    assert desk.composer.text() == "text c"
    desk.now(desk.editing.cancel)
    assert desk.composer.text() == "mine"


def test_what_went_out_meanwhile_is_said_and_nothing_written_is_lost(desk: Desk) -> None:
    desk.composer.set_text("mine")
    desk.click("editQueued", 0)
    desk.composer.set_text("another")
    desk.agent.went.add("a")
    assert "gone out already" in desk.put()
    assert desk.composer.text() == "mine\nanother"
    desk.click("editQueued", 0)
    assert not desk.line.isVisible()


def test_a_page_that_is_left_keeps_nothing_back(desk: Desk) -> None:
    desk.click("editQueued", 0)
    desk.now(desk.editing.close)
    assert desk.agent.kept_back == ""
    desk.now(lambda: desk.editing.edit("b"))
    assert desk.agent.kept_back == ""


def test_a_message_that_is_taken_back_stands_below_what_is_written(desk: Desk) -> None:
    desk.composer.set_text("mine")
    desk.click("takeBack", 1)
    assert desk.composer.text() == "mine\ntext b"
    desk.shows("Waiting: text a", "Waiting: text c")


def test_each_button_of_the_queue_says_which_message_it_is_for(desk: Desk) -> None:
    names = [one.accessibleName() for one in desk.bar.findChildren(QPushButton)]
    assert "Edit: text b" in names
    assert "Take back: text c" in names
