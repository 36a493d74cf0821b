"""Where one reads is the same in another tab's company and in another life (SPEC U11, U37)."""

import asyncio
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import qasync
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from desktop.core.chunks import NewChunk, Text
from desktop.core.records import ViewState
from desktop.core.reducer import Grew, Opened
from desktop.feed.hub import Hub
from desktop.ui import place_keeping
from desktop.ui.place_keeping import PlaceKeeping
from desktop.ui.tasks import Tasks
from desktop.ui.theme import theme_for
from desktop.ui.transcript.pane import TranscriptPane
from tests.ui.conftest import until
from tests.ui.test_drafting import new_tab, open_log
from tests.ui.transcript.desk import NEVER, texts

ROWS = 400


class Reader:
    """A real log with one long conversation, and whoever reads it: `open` begins another life."""

    def __init__(self, loop: qasync.QEventLoop, qtbot: QtBot, folder: Path) -> None:
        self.loop, self.qtbot, self.folder = loop, qtbot, folder
        self.log = open_log(folder)
        self.tab = self.run(new_tab(self.log, folder))
        self.say(*texts(ROWS))
        self.tasks = Tasks()
        self.hub = Hub()
        self.saved: list[ViewState] = []
        self.pane: TranscriptPane | None = None

    def run(self, work: Any) -> Any:
        return self.loop.run_until_complete(asyncio.wait_for(work, 60))

    def wait(self, predicate: Callable[[], object]) -> None:
        self.run(until(predicate))

    def say(self, *lines: str) -> None:
        rows = [NewChunk(line[:12], "t", "assistant", Text(line)) for line in lines]
        self.run(self.log.session(self.tab).append(rows))

    def restart(self) -> None:
        """Nothing but the file is left."""
        self.run(self.log.close())
        self.log = open_log(self.folder)

    def open(self, width: int = 700) -> TranscriptPane:
        pane = self.make(width)
        self.run(self._enter(pane))
        return pane

    def make(self, width: int = 700) -> TranscriptPane:
        if self.pane is not None:
            self.run(self._leave(self.pane))
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        pane = self.pane = TranscriptPane(
            self.tab,
            theme=theme_for("light", app.palette()),
            reader=self.log.reader,
            hub=self.hub,
            start=self.tasks.start,
            later=lambda _, call: self.loop.call_later(NEVER, call),
        )
        self.qtbot.addWidget(pane)
        pane.resize(width, 500)
        catalogue = self.log.catalogue
        save = catalogue.save_view_state

        async def counted(tab_id: str, state: ViewState) -> None:
            self.saved.append(state)
            await save(tab_id, state)

        catalogue.save_view_state = counted
        self.keeping = PlaceKeeping(self.tab, catalogue=catalogue, tasks=self.tasks, pane=pane)
        pane.show()
        return pane

    async def _enter(self, pane: TranscriptPane) -> None:
        pane.enter()
        await until(lambda: pane.loaded and pane.view.placed and not pane.view.frame_due)

    async def _leave(self, pane: TranscriptPane) -> None:
        pane.leave()

    def go(self, act: Callable[[], object]) -> None:
        async def acting() -> None:
            act()
            await until(lambda: not self.view.frame_due)

        self.run(acting())

    @property
    def view(self) -> Any:
        assert self.pane is not None
        return self.pane.view

    @property
    def screen(self) -> list[tuple[str, int]]:
        """What stands on the screen, and where."""
        assert self.pane is not None
        tops = [one.y for one in self.view.layout_now.placed]
        return list(zip(self.pane.visible_texts(), tops, strict=True))

    def close(self) -> None:
        if self.pane is not None:
            self.run(self._leave(self.pane))
        self.run(self.tasks.close())
        self.run(self.log.close())


@pytest.fixture
def reader(loop: qasync.QEventLoop, qtbot: QtBot, tmp_path: Path) -> Iterator[Reader]:
    made = Reader(loop, qtbot, tmp_path)
    yield made
    made.close()


def stand(reader: Reader, seq: int, offset: int) -> None:
    """Scrolls to a place, as a jump and a wheel do."""
    reader.go(lambda: reader.view.jump(seq))
    reader.wait(lambda: reader.view.placed)
    reader.go(lambda: reader.view.scroll_by(offset))


def test_u37_the_same_row_stands_at_the_same_pixel_in_another_life(reader: Reader) -> None:
    reader.open()
    stand(reader, 57, 31)
    reader.go(lambda: reader.view.set_fold("Row 58.\n\nA l", "all"))
    before = reader.screen
    reader.run(reader.keeping.keep())
    reader.restart()
    pane = reader.open()
    assert reader.screen == before
    assert pane.state is not None
    assert pane.state.folds


def test_u37_no_other_row_is_seen_first_and_the_place_is_read_once(reader: Reader) -> None:
    reader.open()
    stand(reader, 57, 31)
    reader.run(reader.keeping.keep())
    first: list[int] = []
    reads: list[Any] = []
    real = reader.log.reader.page

    async def page(tab_id: str, **where: Any) -> Any:
        reads.append(where.get("around"))
        return await real(tab_id, **where)

    reader.log.reader.page = page  # pyright: ignore[reportAttributeAccessIssue]
    show = TranscriptPane.__init__

    def heard(pane: TranscriptPane, *args: Any, **named: Any) -> None:
        show(pane, *args, **named)
        pane.view.laid_out.connect(lambda: first.append(pane.view.read_seq))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TranscriptPane, "__init__", heard)
        reader.open()
    assert reads[0] == 57
    assert {seq for seq in first if seq} == {reader.view.read_seq}


def test_u37_who_followed_the_end_follows_what_has_come_since(reader: Reader) -> None:
    reader.open()
    assert reader.view.following
    reader.run(reader.keeping.keep())
    assert reader.saved == []
    reader.restart()
    reader.say("Later.")
    reader.open()
    assert reader.view.following
    assert reader.view.last_seen == ROWS + 1


def test_u37_a_row_that_is_gone_leads_to_the_end(reader: Reader) -> None:
    gone = ViewState(False, ROWS * 2, 12, height=90)
    reader.run(reader.log.catalogue.save_view_state(reader.tab, gone))
    reader.open()
    assert reader.view.following
    assert reader.view.last_seen == ROWS


def test_u37_at_another_width_the_same_part_of_the_row_is_read(reader: Reader) -> None:
    reader.open()
    stand(reader, 57, 60)
    share = _share(reader)
    reader.run(reader.keeping.keep())
    reader.restart()
    reader.open(width=420)
    assert _share(reader) == pytest.approx(share, abs=0.02)


def _share(reader: Reader) -> float:
    first = reader.view.layout_now.placed[0]
    assert reader.view.view_state().seq == 57
    return -first.y / first.height


def test_u11_scrolling_is_saved_once_and_reading_not_at_all(
    reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(place_keeping, "SAVE_MS", 50)
    reader.open()
    assert not reader.keeping.due
    reader.go(lambda: [reader.view.scroll_by(-7) for _ in range(100)])
    reader.wait(lambda: reader.saved and not reader.keeping.due)
    reader.run(reader.keeping.keep())
    assert reader.saved == [reader.view.view_state()]
    reader.go(lambda: reader.view.viewport().repaint())
    assert not reader.keeping.due


def test_u11_one_who_never_stops_scrolling_is_saved_all_the_same(
    reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A timer that begins anew with every step would wait for the first pause."""
    monkeypatch.setattr(place_keeping, "SAVE_MS", 50)
    reader.open()

    def step() -> bool:
        reader.view.scroll_by(-1)
        return bool(reader.saved)

    reader.wait(step)


def test_u11_a_tab_that_is_left_before_its_place_was_read_keeps_it(reader: Reader) -> None:
    state = ViewState(False, 57, 31)
    reader.run(reader.log.catalogue.save_view_state(reader.tab, state))

    pane = reader.make()

    async def look_in() -> None:
        pane.enter()
        await reader.keeping.keep()
        pane.leave()
        pane.enter()
        pane.leave()
        await reader.keeping.keep()

    reader.run(look_in())
    assert reader.run(reader.log.catalogue.view_state(reader.tab)).seq == 57


def test_u11_a_place_that_cannot_be_kept_or_read_disturbs_nobody(reader: Reader) -> None:
    told: list[str] = []
    reader.tasks.failed.connect(lambda words, _: told.append(words))
    reader.open()
    stand(reader, 57, 31)
    with closing(sqlite3.connect(reader.log.database)) as connection, connection:
        connection.execute("DROP TABLE view_state")
    reader.run(reader.keeping.keep())
    reader.open()
    assert reader.view.following
    assert told == []


def test_u37_who_leaves_a_tab_and_comes_back_is_where_the_answer_streams(
    reader: Reader,
) -> None:
    """The row at the top may be one that has no seq yet."""
    pane = reader.open()
    reader.hub.live(reader.tab, Opened("new", "t2", 0, "assistant", "text", "", ""))
    reader.hub.live(reader.tab, Grew("new", "A line.\n\n" * 200))
    reader.wait(lambda: reader.view.last_seen > ROWS)
    reader.go(lambda: reader.view.scroll_by(-90))
    before = reader.screen

    async def look_away() -> None:
        pane.leave()
        pane.enter()
        await until(lambda: pane.loaded and pane.view.placed and not pane.view.frame_due)

    reader.run(look_away())
    assert reader.screen == before
