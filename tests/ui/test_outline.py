"""The outline of a conversation in the right pane (LOOK.md "The window", SPEC U09)."""

import asyncio
from collections.abc import Coroutine, Iterator
from typing import Any

import pytest
import qasync
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from desktop.core.chunks import NewChunk, System
from desktop.core.errors import StoreBusy
from desktop.ui.bookmarking import Bookmarking
from desktop.ui.outline.model import MOST, OutlineModel
from desktop.ui.outline.page import OutlinePage
from desktop.ui.stepping import Stepping
from desktop.ui.tasks import Tasks
from desktop.ui.transcript.overlay import Wish
from desktop.ui.transcript.pane import TranscriptPane
from tests.ui.conftest import FRAME, until
from tests.ui.transcript import desk as transcript

LONG = "\n\n".join(f"Layer {number} is laid down." for number in range(30))


class Conversation:
    """A real transcript with its bookmarks, and the outline beside it."""

    def __init__(self, loop: qasync.QEventLoop, qtbot: QtBot) -> None:
        self.desk = transcript.Desk(loop, qtbot)
        self.loop, self.qtbot = loop, qtbot
        self.log, self.hub = self.desk.log, self.desk.hub
        self.tab_id = self.desk.tab
        self.tasks = Tasks()
        theme = self.desk.theme()
        self.pane = TranscriptPane(
            self.tab_id,
            theme=theme,
            reader=self.log.reader,
            hub=self.hub,
            start=self.tasks.start,
            later=self.desk.later,
        )
        self.bookmarking = Bookmarking(
            self.tab_id, catalogue=self.log.catalogue, tasks=self.tasks, pane=self.pane
        )
        self.stepping = Stepping(
            self.tab_id, outline=self.log.outline, tasks=self.tasks, view=self.pane.view
        )
        self.outline = OutlinePage(
            self.desk.theme,
            outline=self.log.outline,
            hub=self.hub,
            tasks=self.tasks,
            later=loop.call_later,
        )
        qtbot.addWidget(self.pane)
        # Before it is deleted, which is before the fixture ends.
        qtbot.addWidget(
            self.outline, before_close_func=lambda _: self.outline.show_conversation(None)
        )
        self.pane.resize(700, 500)
        self.outline.resize(320, 500)

    @property
    def model(self) -> OutlineModel:
        return self.outline.model

    def turn(self, number: int, *, outcome: str = "done", answer: str = LONG) -> list[NewChunk]:
        turn = f"turn{number}"
        end = System("turn_end", fields={"outcome": outcome})
        chunk = self.desk.chunk
        return [
            chunk(f"Prompt {number}", id_=f"u{number}", role="user", turn=turn),
            chunk(answer, id_=f"a{number}", turn=turn),
            chunk(end, id_=f"e{number}", turn=turn),
        ]

    def lay(self, *numbers: int) -> None:
        self.desk.write([row for number in numbers for row in self.turn(number)])

    def open(self) -> None:
        async def opening() -> None:
            self.pane.enter()
            self.pane.show()
            self.bookmarking.refresh()
            self.outline.show_conversation(self)
            self.outline.show()

        self.run(opening())
        self.wait(self.lines)

    def wait(self, predicate: object) -> None:
        """Until it holds and nothing is on its way."""

        async def waiting() -> None:
            assert callable(predicate)
            await until(predicate)
            for _ in range(3):
                await asyncio.sleep(FRAME)
                await until(lambda: not self.outline.busy)

        self.run(waiting())

    def revision(self) -> int:
        return self.log.find(self.tab_id).revision

    def lines(self) -> list[str]:
        model = self.model
        return [str(model.data(model.index(at))) for at in range(model.rowCount())]

    def here(self) -> str:
        return self.lines()[self.model.current] if self.model.current >= 0 else ""

    def spoken(self, at: int) -> str:
        role = Qt.ItemDataRole.AccessibleTextRole
        return str(self.model.data(self.model.index(at), role))

    def seq_of(self, row_id: str) -> int:
        return next(row.seq for row in self.log.chunks(self.tab_id) if row.id == row_id)

    def choose(self, words: str) -> None:
        """Walks to a line with the keyboard and presses Enter."""
        index = self.model.index(self.lines().index(words))
        self.outline.list.setCurrentIndex(index)
        self.act(lambda: self.qtbot.keyClick(self.outline.list, Qt.Key.Key_Return))

    def act(self, act: object) -> None:
        async def acting() -> None:
            assert callable(act)
            act()

        self.run(acting())

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Not `run_until_complete`, which lets Qt's events through when no loop runs any more."""
        task = self.loop.create_task(work)
        task.add_done_callback(lambda _: self.loop.stop())
        self.loop.run_forever()
        task.result()

    def close(self) -> None:
        async def closing() -> None:
            self.pane.leave()
            self.bookmarking.close()
            await self.tasks.close()

        self.run(closing())


@pytest.fixture
def there(loop: qasync.QEventLoop, qtbot: QtBot) -> Iterator[Conversation]:
    made = Conversation(loop, qtbot)
    yield made
    made.close()


def test_every_prompt_has_a_line_and_the_one_that_is_read_is_marked(there: Conversation) -> None:
    there.lay(1, 2, 3)
    there.open()
    assert there.lines() == ["Prompt 1", "Prompt 2", "Prompt 3"]
    there.wait(lambda: there.here() == "Prompt 3")
    there.act(lambda: there.pane.view.jump(there.seq_of("a1")))
    there.wait(lambda: there.here() == "Prompt 1")
    assert "You are here" in there.spoken(0) and "You are here" not in there.spoken(2)


def test_enter_on_a_line_leads_there_also_where_it_is_not_loaded(there: Conversation) -> None:
    there.lay(*range(1, 200))
    there.open()
    there.act(lambda: there.outline.list.verticalScrollBar().setValue(0))
    there.wait(lambda: there.lines()[0] == "Prompt 1")
    there.choose("Prompt 1")
    there.wait(lambda: there.pane.view.read_seq == 1 and there.here() == "Prompt 1")


def test_a_line_that_was_chosen_is_where_one_is_though_it_cannot_come_to_the_top(
    there: Conversation,
) -> None:
    there.lay(1)
    there.desk.write([row for n in (2, 3) for row in there.turn(n, answer="So it is.")])
    there.open()
    there.act(lambda: there.pane.view.jump(1))
    there.wait(lambda: there.here() == "Prompt 1")
    there.choose("Prompt 2")
    there.wait(lambda: there.pane.view.read_seq == there.seq_of("a3"))
    assert there.here() == "Prompt 2"
    there.choose("Prompt 2")  # nothing moves: the next move is the person's own
    there.act(lambda: there.pane.view.jump(1))
    there.wait(lambda: there.here() == "Prompt 1")


def test_new_turns_join_and_say_how_they_ended_without_reading_again(there: Conversation) -> None:
    there.lay(1)
    there.open()
    before = there.log.outline.reads
    there.desk.write(there.turn(2, outcome="failed"))
    assert there.lines() == ["Prompt 1", "Prompt 2"]
    assert "Failed" in there.spoken(1) and "Failed" not in there.spoken(0)
    assert there.log.outline.reads == before


def test_a_turn_of_another_process_joins_once_a_look_finds_it(there: Conversation) -> None:
    there.lay(1, 2)
    there.open()
    receipt = there.desk.write(there.turn(3), publish=False)
    before = there.log.outline.reads
    for _ in range(3):
        there.act(lambda: there.hub.revision_found(there.tab_id, receipt.revision))
        there.wait(lambda: there.lines()[-1].startswith("Prompt 3"))
    assert there.log.outline.reads - before == 1


def test_r07_a_hundred_updates_that_are_no_prompt_read_nothing(there: Conversation) -> None:
    there.lay(1)
    there.open()
    elsewhere = there.desk.run(there.desk.another_tab())
    before = there.log.outline.reads
    for _ in range(50):
        there.desk.say("So it is.")
        there.desk.say("Not here.", tab=elsewhere)
    there.act(lambda: there.hub.revision_found(there.tab_id, there.revision()))
    there.wait(lambda: there.outline.is_fresh)
    assert there.lines() == ["Prompt 1"]
    assert there.log.outline.reads == before


def test_r14_an_outline_that_nobody_sees_reads_nothing_and_catches_up_when_it_is_seen(
    there: Conversation,
) -> None:
    """What it has stays; it is compared before it counts as fresh, and read where there is more."""
    there.lay(1)
    there.open()
    before = there.log.outline.reads
    there.act(there.outline.hide)
    there.lay(2)
    assert there.lines() == ["Prompt 1", "Prompt 2"]
    there.desk.write(there.turn(3), publish=False)
    there.act(lambda: there.hub.revision_found(there.tab_id, there.revision()))
    there.wait(lambda: True)
    assert (there.log.outline.reads, there.outline.is_fresh) == (before, False)
    there.act(there.outline.show)
    there.wait(lambda: there.outline.is_fresh)
    assert there.lines() == ["Prompt 1", "Prompt 2", "Prompt 3"]
    assert there.log.outline.reads == before + 1
    there.act(there.outline.hide)
    there.act(there.outline.show)
    there.wait(lambda: there.outline.is_fresh)
    assert there.log.outline.reads == before + 1


def test_r05_a_receipt_that_was_lost_is_repaired_by_one_read(there: Conversation) -> None:
    there.lay(1)
    there.open()
    before = there.log.outline.reads
    there.desk.write(there.turn(2), publish=False)
    there.lay(3)
    assert (there.lines(), there.outline.is_fresh) == (["Prompt 1"], False)
    there.wait(lambda: there.outline.is_fresh)
    assert there.lines() == ["Prompt 1", "Prompt 2", "Prompt 3"]
    assert there.log.outline.reads == before + 1


def test_r09_lines_stay_under_an_error_which_is_told(there: Conversation) -> None:
    there.lay(1)
    there.open()
    there.act(lambda: there.pane.view.jump(1))
    there.wait(lambda: there.here() == "Prompt 1")
    there.log.outline.failures.append(StoreBusy("The database is busy."))
    there.desk.write(there.turn(2), publish=False)
    there.act(lambda: there.hub.revision_found(there.tab_id, there.revision()))
    problem = there.outline.findChild(QLabel, "outlineProblem")
    assert problem is not None
    there.wait(problem.isVisible)
    assert (problem.text(), there.lines()) == ("The database is busy.", ["Prompt 1"])
    there.act(lambda: there.hub.revision_found(there.tab_id, there.revision()))
    there.wait(lambda: there.lines() == ["Prompt 1", "Prompt 2"])
    assert not problem.isVisible()


def test_what_was_taken_back_or_compacted_says_so(there: Conversation) -> None:
    there.lay(1)
    there.open()
    chunk = there.desk.chunk
    there.desk.write([chunk(System("compaction", "So far"), turn="s")])
    there.desk.write([chunk("Never mind", id_="gone", role="user", turn="t2")])
    back = chunk(System("retracted", fields={"chunkIds": ["gone"]}), turn="t3")
    there.desk.write([back, *there.turn(3)])
    assert there.lines() == ["Prompt 1", "Never mind", "Prompt 3"]
    assert "only a summary" in there.spoken(0)
    assert "Taken back" in there.spoken(1) and "summary" not in there.spoken(1)
    assert "Taken back" not in there.spoken(2) and "summary" not in there.spoken(2)


def test_a_bookmark_is_seen_in_the_outline_and_on_the_row_and_moves_nothing(
    there: Conversation,
) -> None:
    there.lay(1, 2)
    there.open()
    before = there.pane.view.layout_now
    wish = Wish("bookmark", "a2", None, there.seq_of("a2"))
    there.act(lambda: there.pane.wished.emit(wish))
    there.wait(lambda: there.lines() == ["Prompt 1", "Prompt 2", "Layer 0 is laid down."])
    assert "Bookmarked" in there.spoken(2)
    assert any("Bookmarked" in line for line in there.pane.visible_texts())
    assert there.pane.view.layout_now == before
    there.act(lambda: there.pane.wished.emit(wish))
    there.wait(lambda: there.lines() == ["Prompt 1", "Prompt 2"])
    assert not any("Bookmarked" in line for line in there.pane.visible_texts())


def test_the_filter_leaves_lines_that_hold_a_text_and_says_when_none_does(
    there: Conversation,
) -> None:
    there.lay(1, 2, 13)
    there.open()
    there.act(lambda: there.outline.field.setText("prompt 1"))
    there.wait(lambda: there.lines() == ["Prompt 1", "Prompt 13"])
    there.act(lambda: there.outline.field.setText("nothing like it"))
    there.wait(lambda: not there.lines())
    why = there.outline.findChild(QLabel, "outlineEmpty")
    assert why is not None
    there.wait(lambda: why.isVisible() and why.text() == "No prompt holds this.")
    there.act(lambda: there.qtbot.keyClick(there.outline.field, Qt.Key.Key_Escape))
    there.wait(lambda: len(there.lines()) == 3)


def test_a_long_outline_opens_with_one_read_and_keeps_a_bounded_number_of_lines(
    there: Conversation,
) -> None:
    count = 3 * MOST
    there.desk.write([row for n in range(count) for row in there.turn(n, answer="So it is.")])
    there.open()
    assert there.log.outline.reads == 1
    assert 0 < there.model.rowCount() < count
    bar = there.outline.list.verticalScrollBar()
    while there.model.has_older:
        first = there.model.first
        there.act(lambda: bar.setValue(0))
        there.wait(lambda first=first: there.model.first < first)
        assert there.model.rowCount() <= MOST
    assert there.lines()[0] == "Prompt 0"
    assert there.model.has_newer
    last = there.model.last
    there.act(lambda: bar.setValue(bar.maximum()))
    there.wait(lambda: there.model.last > last)
    assert there.lines() == [f"Prompt {n}" for n in _numbers(there.lines())]


def _numbers(lines: list[str]) -> range:
    """From the first line's number on: no line is left out and none stands twice."""
    start = int(lines[0].split()[1])
    return range(start, start + len(lines))


def test_lines_above_come_in_without_moving_those_that_are_looked_at(there: Conversation) -> None:
    there.desk.write([row for n in range(400) for row in there.turn(n, answer="So it is.")])
    there.open()
    there.wait(lambda: there.outline.list.verticalScrollBar().maximum() > 0)
    rows = there.outline.list
    seen: list[tuple[str, int]] = []

    def top() -> tuple[str, int]:
        index = rows.indexAt(rows.viewport().rect().topLeft())
        return str(index.data()), rows.visualRect(index).top()

    there.model.rowsAboutToBeInserted.connect(lambda: seen.append(top()))
    there.act(lambda: rows.verticalScrollBar().setValue(10))
    there.wait(lambda: seen)
    assert top() == seen[0]


def test_what_is_hidden_in_a_prompt_is_shown_and_cannot_turn_a_line_around(
    there: Conversation,
) -> None:
    there.desk.write([there.desk.chunk("pay \u202eevil\u200b", role="user")])
    there.open()
    assert there.lines() == ["pay ‹U+202E›evil‹ZWSP›"]


def test_a_hidden_outline_reads_nothing(there: Conversation) -> None:
    there.lay(1)
    there.act(lambda: there.outline.show_conversation(there))
    there.lay(2)
    assert there.log.outline.reads == 0
    there.act(there.outline.show)
    there.wait(lambda: len(there.lines()) == 2)


def test_the_model_keeps_qts_promises(there: Conversation) -> None:
    tester = QAbstractItemModelTester(
        there.model, QAbstractItemModelTester.FailureReportingMode.Fatal
    )
    there.lay(*range(1, 150))
    there.open()
    there.lay(200)
    there.act(lambda: there.outline.list.verticalScrollBar().setValue(0))
    there.wait(lambda: not there.model.has_older)
    tester.deleteLater()


def test_alt_up_and_down_step_from_prompt_to_prompt_and_beyond_the_last_to_the_end(
    there: Conversation,
) -> None:
    there.lay(*range(1, 200))
    there.open()
    view = there.pane.view

    def step(by: int, words: str) -> None:
        there.act(lambda: there.stepping.step(by))
        row = there.seq_of(f"u{words}")
        there.wait(lambda: view.view_state().seq == row and view.view_state().offset == 0)

    step(-1, "199")
    there.act(lambda: [there.stepping.step(-1), there.stepping.step(-1)])
    there.wait(lambda: view.view_state().seq == there.seq_of("u197"))
    there.act(lambda: view.jump(there.seq_of("a5"), 40))
    there.wait(lambda: view.view_state().seq == there.seq_of("a5"))
    step(1, "6")
    step(-1, "5")
    there.act(lambda: view.jump(there.seq_of("u6"), 10))
    step(-1, "6")
    there.act(lambda: view.jump(there.seq_of("u199")))
    there.wait(lambda: view.read_seq == there.seq_of("u199"))
    there.act(lambda: there.stepping.step(1))
    there.wait(lambda: view.following)


def test_stepping_goes_on_where_no_prompt_can_come_to_the_top(there: Conversation) -> None:
    there.lay(1)
    there.desk.write([row for n in (2, 3) for row in there.turn(n, answer="So it is.")])
    there.open()
    view = there.pane.view
    there.act(lambda: view.jump(1))
    there.act(lambda: [there.stepping.step(1) for _ in range(3)])
    there.wait(lambda: view.following)
    assert there.log.outline.reads >= 4
