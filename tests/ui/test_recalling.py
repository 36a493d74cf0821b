"""↑ in an empty field goes back through what was said (LOOK.md)."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
import qasync
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QInputMethodEvent
from pytestqt.qtbot import QtBot

from desktop.core.chunks import LogChunk, Payload, Role, Stamp, Text
from desktop.core.records import Page, Receipt
from desktop.ui.composer import Composer
from desktop.ui.recalling import ROWS, Recalling
from desktop.ui.tasks import Tasks
from desktop.ui.theme import LIGHT, Theme
from tests.ui.conftest import until

TAB = "tab"


def row(seq: int, text: str, role: Role = "user") -> LogChunk:
    data: Payload = Text(text)
    return LogChunk(f"c{seq}", TAB, seq, "turn", 0, role, data, seq, Stamp())


@dataclass
class Log:
    """A reader of these rows that counts its reads."""

    rows: list[LogChunk]
    reads: int = 0

    async def page(
        self,
        tab_id: str,
        *,
        limit: int,
        before: int | None = None,
        after: int | None = None,
        around: int | None = None,
    ) -> Page:
        self.reads += 1
        known = [one for one in self.rows if before is None or one.seq < before]
        return Page(
            rows=tuple(known[-limit:]),
            total=len(self.rows),
            revision=1,
            has_older=len(known) > limit,
            has_newer=False,
        )

    async def revision(self, tab_id: str) -> int:
        return 1

    async def blob_path(self, sha256: str) -> None:
        return None


class Desk:
    def __init__(self, loop: qasync.QEventLoop, qtbot: QtBot, log: Log) -> None:
        self._loop = loop
        self._qtbot = qtbot
        self.composer = Composer(Theme("light", LIGHT))
        qtbot.addWidget(self.composer)
        self.composer.show()
        self._tasks = Tasks()
        self.stopped: list[bool] = []
        self.composer.stop_wanted.connect(lambda: self.stopped.append(True))
        self.recalling = Recalling(TAB, self.composer, reader=log, tasks=self._tasks)

    def press(self, *keys: Qt.Key) -> str:
        """The text of the field afterwards."""
        for key in keys:
            self.now(lambda key=key: self._qtbot.keyClick(self.composer.field, key))
        return self.composer.text()

    def now(self, act: Callable[[], object]) -> None:
        async def acting() -> None:
            act()
            running = self._tasks._running  # pyright: ignore[reportPrivateUsage]
            await until(lambda: not running)

        self._loop.run_until_complete(acting())

    def type(self, text: str) -> None:
        self.now(lambda: self._qtbot.keyClicks(self.composer.field, text))


UP, DOWN, ESC, LEFT = Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Escape, Qt.Key.Key_Left


@pytest.fixture
def log() -> Log:
    rows = [row(1, "first\nof two lines"), row(2, "an answer", "assistant"), row(3, "second")]
    return Log([*rows, row(4, "second"), row(5, "third")])


@pytest.fixture
def desk(loop: qasync.QEventLoop, qtbot: QtBot, log: Log) -> Desk:
    return Desk(loop, qtbot, log)


def test_up_goes_further_back_and_down_forward_to_the_empty_field(desk: Desk) -> None:
    assert desk.press(UP) == "third"
    assert desk.press(UP) == "second"
    assert desk.press(UP) == "first\nof two lines"
    assert desk.press(UP) == "first\nof two lines"
    assert desk.press(DOWN, DOWN) == "third"
    assert desk.press(DOWN) == ""


def test_escape_leads_out_and_stops_nothing(desk: Desk) -> None:
    assert desk.press(UP, UP, ESC) == ""
    assert desk.stopped == []
    desk.press(ESC)
    assert desk.stopped == [True]


def test_a_text_that_was_touched_is_the_persons_own(desk: Desk) -> None:
    desk.press(UP)
    desk.type("!")
    assert desk.press(UP) == "third!"
    assert desk.press(ESC) == "third!"
    assert desk.stopped == [True]


def test_a_caret_that_was_moved_moves_on_in_the_text(desk: Desk) -> None:
    desk.press(UP, UP, UP, LEFT)
    assert desk.press(UP) == "first\nof two lines"


def test_up_leaves_alone_what_is_being_written(desk: Desk, log: Log) -> None:
    desk.type("half")
    assert desk.press(UP) == "half"
    assert log.reads == 0


def test_what_was_said_just_now_comes_first(desk: Desk) -> None:
    assert desk.press(UP, ESC) == ""
    desk.recalling.hear(Receipt(TAB, 1, 2, chunks=(row(6, "fourth"),)))
    assert desk.press(UP) == "fourth"
    assert desk.press(UP) == "third"


def test_the_log_is_read_only_as_far_as_one_goes_back(
    loop: qasync.QEventLoop, qtbot: QtBot
) -> None:
    answers = [row(seq, "an answer", "assistant") for seq in range(2, 3 * ROWS)]
    log = Log([row(1, "long ago"), *answers, row(3 * ROWS, "just now")])
    desk = Desk(loop, qtbot, log)
    assert log.reads == 0
    assert desk.press(UP) == "just now"
    assert log.reads == 1
    assert desk.press(UP) == "long ago"
    assert log.reads == 3


def test_u38_arrows_of_an_input_method_bring_nothing_back(desk: Desk, log: Log) -> None:
    desk.now(lambda: QCoreApplication.sendEvent(desk.composer.field, QInputMethodEvent("にほ", [])))
    desk.press(UP, DOWN, ESC)
    assert log.reads == 0
    assert desk.stopped == []


def test_the_way_back_can_be_undone(desk: Desk) -> None:
    desk.press(UP, UP)
    desk.composer.field.undo()
    assert desk.composer.text() == "third"
