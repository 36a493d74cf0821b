"""Messages that wait, changed in the field (SPEC C05, C06)."""

from collections.abc import Callable, Mapping, Sequence
from typing import cast

import pytest
import qasync
from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QLabel,
    QMenu,
    QPushButton,
    QScrollArea,
    QToolButton,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot

from desktop.core.commands import Commands
from desktop.core.status import QueuedMessage, in_order
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

    async def order_queued(self, tab_id: str, message_ids: Sequence[str]) -> None:
        self.queue = list(in_order(self.queue, message_ids))

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
        self.window.resize(600, 500)
        self.window.show()
        self.bar.show_queue(self.agent.queue, held=False)

    def now(self, act: Callable[[], object]) -> None:
        async def acting() -> None:
            act()
            running = self._tasks._running  # pyright: ignore[reportPrivateUsage]
            await until(lambda: not running)

        self._loop.run_until_complete(acting())
        self.bar.show_queue(self.agent.queue, held=False)

    def wait(self, predicate: Callable[[], object]) -> None:
        self._loop.run_until_complete(until(predicate))

    def click(self, name: str, at: int) -> None:
        buttons = [one for one in self.bar.findChildren(QPushButton, name) if one.isVisible()]
        self.now(buttons[at].click)

    def put(self) -> str:
        text = self.composer.text()
        return self._loop.run_until_complete(self.editing.put(text, self.composer.attachments()))

    def shows(self, *expected: str) -> None:
        """As they stand, once the rows that were before are gone."""
        self.bar.show_queue(self.agent.queue, held=False)

        def rows() -> list[str]:
            found = [one for one in self.bar.findChildren(QLabel) if one.isVisible()]
            found.sort(key=lambda one: one.mapTo(self.bar, QPoint()).y())
            return [one.text() for one in found]

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


# -- the order ------------------------------------------------------------------------------------

A, B, C = "Waiting: text a", "Waiting: text b", "Waiting: text c"


def handles(desk: Desk) -> dict[str, QToolButton]:
    """What moves each message, by its words."""
    found = desk.bar.findChildren(QToolButton, "moveQueued")
    return {one.accessibleName().removeprefix("Move: text "): one for one in found}


def mouse(desk: Desk, kind: QEvent.Type, part: QWidget, at: QPoint) -> None:
    """An event at a place on the screen, to the part that was pressed, as Qt sends it."""
    moved = kind == QEvent.Type.MouseMove
    event = QMouseEvent(
        kind,
        QPointF(part.mapFromGlobal(at)),
        QPointF(at),
        Qt.MouseButton.NoButton if moved else Qt.MouseButton.LeftButton,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    desk.now(lambda: QApplication.sendEvent(part, event))


def middle(part: QWidget) -> QPoint:
    return part.mapToGlobal(part.rect().center())


def drop_line(desk: Desk) -> QRect:
    """What of the line that says where it would go can be seen, in the bar."""
    line = desk.bar.findChild(QFrame, "queueDropLine")
    assert line is not None
    return QRect(line.mapTo(desk.bar, QPoint()), line.visibleRegion().boundingRect().size())


def drag(desk: Desk, part: QWidget, to: QPoint) -> None:
    start = middle(part)
    mouse(desk, QEvent.Type.MouseButtonPress, part, start)
    mouse(desk, QEvent.Type.MouseMove, part, start + (to - start) / 2)
    mouse(desk, QEvent.Type.MouseMove, part, to)
    is_near = desk.bar.rect().contains(desk.bar.mapFromGlobal(to))
    assert drop_line(desk).isEmpty() != is_near
    mouse(desk, QEvent.Type.MouseButtonRelease, part, to)


def test_c05_a_waiting_message_is_moved_by_the_keyboard_which_stays_with_it(desk: Desk) -> None:
    desk.now(desk.window.activateWindow)
    desk.now(handles(desk)["c"].setFocus)
    desk.now(lambda: desk.bar.step(-1))
    desk.shows(A, C, B)
    desk.now(lambda: desk.bar.step(-1))
    desk.shows(C, A, B)
    desk.now(lambda: desk.bar.step(-1))
    desk.shows(C, A, B)
    assert desk.window.focusWidget() is handles(desk)["c"]
    desk.now(lambda: desk.bar.step(1))
    desk.shows(A, C, B)


def test_c05_what_is_told_of_an_order_before_moves_nothing_under_the_hand(desk: Desk) -> None:
    """Two presses are quicker than what is told of the first."""
    told = list(desk.agent.queue)
    desk.now(handles(desk)["c"].setFocus)

    def press_twice() -> None:
        desk.bar.step(-1)
        desk.bar.show_queue([told[0], told[2], told[1]], held=True)
        desk.bar.step(-1)
        desk.bar.show_queue([told[0], told[2], told[1]], held=False)
        assert [one.id for one in desk.bar._shown()] == ["c", "a", "b"]  # pyright: ignore[reportPrivateUsage]

    desk.now(press_twice)
    desk.shows(C, A, B)


def test_c05_the_keys_lead_to_the_queue_first_and_move_nothing_yet(desk: Desk) -> None:
    desk.now(desk.composer.field.setFocus)
    desk.now(lambda: desk.bar.step(-1))
    assert desk.window.focusWidget() is handles(desk)["c"]
    desk.shows(A, B, C)


def test_c05_a_waiting_message_is_dragged_by_its_handle_or_its_words(desk: Desk) -> None:
    rows = handles(desk)
    desk.wait(lambda: middle(rows["a"]).y() < middle(rows["b"]).y() < middle(rows["c"]).y())
    drag(desk, rows["c"], middle(rows["a"]) - QPoint(0, 8))
    desk.shows(C, A, B)
    words = [one for one in desk.bar.findChildren(QLabel, "queuedText") if one.text() == C]
    drag(desk, words[0], middle(rows["b"]) + QPoint(0, 8))
    desk.shows(A, B, C)
    drag(desk, rows["b"], middle(rows["a"]) + QPoint(0, 2))
    desk.shows(A, B, C)
    drag(desk, rows["b"], middle(rows["a"]) - QPoint(0, 300))
    desk.shows(A, B, C)


def test_c05_a_press_on_the_handle_opens_a_menu_that_moves_it(desk: Desk) -> None:
    desk.now(handles(desk)["a"].click)
    (menu,) = [one for one in desk.bar.findChildren(QMenu, "moveQueuedMenu") if one.isVisible()]
    up, down = menu.actions()
    assert (up.isEnabled(), down.isEnabled()) == (False, True)
    desk.now(down.trigger)
    desk.now(menu.close)
    desk.shows(B, A, C)


def test_u38_tab_goes_through_the_queue_as_it_stands(desk: Desk) -> None:
    desk.now(lambda: desk.bar.show_queue(desk.agent.queue, held=True))
    rows = handles(desk)
    assert rows["b"].accessibleDescription() == "2 of 3"
    desk.now(rows["c"].setFocus)
    desk.now(lambda: desk.bar.step(-1))
    desk.agent.queue.append(QueuedMessage("d", TAB, "text d", 0))
    desk.now(lambda: desk.bar.show_queue(desk.agent.queue, held=True))
    desk.shows(A, C, B, "Waiting: text d")
    names: list[str] = []
    part: QWidget | None = handles(desk)["a"]
    while part is not None and desk.bar.isAncestorOf(part):
        if part.isVisible() and part.focusPolicy() & Qt.FocusPolicy.TabFocus:
            names.append(part.accessibleName() or cast("QPushButton", part).text())
        part = part.nextInFocusChain()
    assert names == [
        f"{words}: text {one}" for one in "acbd" for words in ("Move", "Edit", "Take back")
    ]


def test_c05_a_single_message_has_nothing_to_be_moved_by(desk: Desk) -> None:
    desk.agent.queue = desk.agent.queue[:1]
    desk.now(lambda: desk.bar.show_queue(desk.agent.queue, held=False))
    assert not handles(desk)["a"].isVisible()


def test_c05_many_messages_scroll_and_the_one_that_is_moved_stays_in_sight(desk: Desk) -> None:
    desk.agent.queue = [QueuedMessage(str(n), TAB, f"text {n}", 0) for n in range(30)]
    desk.now(lambda: desk.bar.show_queue(desk.agent.queue, held=True))
    desk.bar.show_room(500)
    desk.window.resize(600, 500)
    rows = handles(desk)
    scroll = desk.bar.findChild(QScrollArea)
    assert scroll is not None
    desk.wait(lambda: scroll.verticalScrollBar().maximum() > 0)
    assert desk.window.height() == 500
    desk.now(rows["0"].setFocus)
    for _ in range(20):
        desk.now(lambda: desk.bar.step(1))

    def in_sight() -> bool:
        at = rows["0"].mapTo(scroll.viewport(), rows["0"].rect().center())
        return scroll.viewport().rect().contains(at)

    desk.wait(lambda: scroll.verticalScrollBar().value() > 0 and in_sight())
    assert [one.id for one in desk.agent.queue][20] == "0"
