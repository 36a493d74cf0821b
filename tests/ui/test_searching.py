"""SPEC U40: the search over everything, in the whole program and piece by piece."""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import pytest
import qasync
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QLabel, QLineEdit, QListView, QPushButton
from pytestqt.qtbot import QtBot

from desktop.core.chunks import LogChunk
from desktop.core.errors import StoreError
from desktop.core.protocols import Search
from desktop.core.records import (
    EVERYTHING,
    CatalogueView,
    FoundRows,
    Project,
    SearchFilter,
    SearchHit,
    SearchPage,
    SearchPlace,
    Workspace,
)
from desktop.feed.hub import WHOLE_LOG, Hub
from desktop.ui.conversation_area import ConversationArea
from desktop.ui.put_away_page import PutAwayPage
from desktop.ui.search_list import SearchList, SearchModel
from desktop.ui.search_page import EverythingPage
from desktop.ui.search_rows import HitRow
from desktop.ui.searching import Searching
from desktop.ui.tasks import Tasks
from desktop.ui.theme import LIGHT, Theme
from tests.e2e.nacre import Home
from tests.fakes.messages_api import MessagesServer, reply
from tests.fakes.stores import MemoryLog
from tests.ui.conftest import Enter, until
from tests.ui.many_rows import lay_down
from tests.ui.program import Person
from tests.ui.test_finding import marked
from tests.unit.store.builders import chunk, counter

T = TypeVar("T")

pytestmark = pytest.mark.timeout(300)


def look_for(person: Person, words: str) -> None:
    """Ctrl+Shift+F, the words, and Enter to the first hit once it is there."""
    person.now(person.action("search").trigger)
    person.wait(lambda: person.shows("searchPage"))
    field = person.part(QLineEdit, "searchEverything")
    person.now(lambda: field.setText(words))
    person.wait(lambda: "found" in person.part(QLabel, "searchState").text().split("Looking")[0])
    person.press(Qt.Key.Key_Return, field)


def open_hit(person: Person) -> None:
    person.press(Qt.Key.Key_Return, person.part(SearchList, "searchList"))


def marks(person: Person) -> list[str]:
    return marked(person) if person.shows("transcript") else []


def region(person: Person) -> str:
    """Where F6 leads."""
    person.do("next_region")
    focus = person.window.focusWidget()
    return focus.objectName() if focus else ""


def test_u40_a_hit_opens_its_conversation_at_the_marked_row_wherever_it_was_put(
    home: Home, enter: Enter
) -> None:
    """Closed, not loaded, archived; what is in the bin is shown there."""
    with MessagesServer([reply("So it is.")]) as server:
        person = enter(server)
        person.open_folder(home.workspace)
        tab = person.begin("Is it?")
        person.wait(lambda: person.reads("So it is") and person.idle())
        assert person.leave() == 0
        lay_down(home, tab, 900, said={17: "Row seventeen holds a pearl."})
        person = enter(server)
        person.wait(lambda: person.reads("Row 899"))
        person.do("close_tab")
        person.wait(lambda: person.tab_ids() == [])

        look_for(person, "pearl seventeen")
        open_hit(person)
        person.wait(lambda: marks(person) == ["seventeen", "pearl"])
        assert person.tab_ids() == [tab]
        assert person.part(QLineEdit, "findField").text() == "seventeen"
        assert person.part(QListView, "transcript").hasFocus()

        person.do("archive")
        person.wait(lambda: person.tab_ids() == [])
        look_for(person, "seventeen")
        open_hit(person)
        person.wait(lambda: person.shows("archivedBar") and marks(person) == ["seventeen"])

        person.do("trash")
        person.wait(lambda: person.tab_ids() == [])
        look_for(person, "pearl")
        person.wait(lambda: "Nothing was found" in person.part(QLabel, "searchState").text())
        visited = [region(person) for _ in range(3)]
        assert visited == ["undoBarAct", "searchField", "searchEverything"]
        person.click("searchBin")
        person.wait(lambda: "1 found" in person.part(QLabel, "searchState").text())
        person.now(person.part(SearchList, "searchList").enter)
        open_hit(person)
        person.wait(lambda: person.shows("binPage"))
        assert [row.id for row in person.part(PutAwayPage, "binPage").chosen()] == [tab]
        assert person.leave() == 0


# -- piece by piece ---------------------------------------------------------------------------


class Slow:
    """A search whose answers come when the test says so; it doesn't care who cancels it."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, SearchFilter]] = []
        self.answers: dict[str, asyncio.Future[SearchPage]] = {}

    async def find(
        self,
        text: str,
        *,
        limit: int,
        place: SearchPlace | None = None,
        only: SearchFilter = EVERYTHING,
    ) -> SearchPage:
        self.asked.append((text, only))
        answer = self.answers[text] = asyncio.get_running_loop().create_future()
        while not answer.done():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.shield(answer)
        return answer.result()

    async def newest(self) -> int:
        return 0

    async def among(
        self, rows: Sequence[tuple[int, LogChunk]], text: str, *, only: SearchFilter = EVERYTHING
    ) -> tuple[SearchHit, ...]:
        raise NotImplementedError

    async def within(self, tab_id: str, text: str, *, place: int | None = None) -> FoundRows:
        raise NotImplementedError


class Desk:
    """The search of a window without its window."""

    def __init__(self, loop: qasync.QEventLoop, qtbot: QtBot, search: Search) -> None:
        self.loop = loop
        theme = Theme("light", LIGHT)
        self.area = ConversationArea(theme)
        qtbot.addWidget(self.area)
        self.area.resize(800, 600)
        self.tasks = Tasks()
        self.hub = Hub()
        self.searching = Searching(
            search,
            hub=self.hub,
            area=self.area,
            tasks=self.tasks,
            later=loop.call_later,
            theme=lambda: theme,
            now=lambda: datetime(2026, 11, 30, 12, tzinfo=UTC),
        )
        self.opened: list[SearchHit] = []
        self.searching.open_wanted.connect(self.opened.append)
        self.area.show()
        self.searching.begin()
        page = self.area.findChild(EverythingPage)
        assert page is not None
        self.page = page
        self.said: list[str] = []

        def hear(words: str) -> None:
            self.said.append(words)

        page.announce = hear

    def type(self, text: str) -> None:
        self.do(lambda: self.page.field.setText(text))

    def do(self, act: Callable[[], object]) -> None:
        async def acting() -> None:
            act()

        self._run(acting())

    def wait(self, predicate: Callable[[], object]) -> None:
        self._run(until(predicate))

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        found: list[T] = []

        async def whole() -> None:
            found.append(await work)

        self._run(whole())
        return found[0]

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        """As `Person._run`: what qasync lets through at its end would find no running loop."""
        task = self.loop.create_task(work)
        task.add_done_callback(lambda _: self.loop.stop())
        self.loop.run_forever()
        task.result()

    def at_work(self) -> bool:
        names = (one.get_name() for one in asyncio.all_tasks(self.loop))
        return "search everything" in names

    @property
    def state(self) -> str:
        label = self.page.findChild(QLabel, "searchState")
        assert label is not None
        return label.text()

    def lines(self) -> list[str]:
        rows = self.page.rows
        return [str(rows.data(rows.index(at))) for at in range(rows.rowCount())]

    def close(self) -> None:
        self._run(self.tasks.close())


def a_hit(seq: int, snippet: str = "a pearl", tab: str = "t", **more: Any) -> SearchHit:
    at = snippet.find("pearl")
    hit = SearchHit(seq, tab, "Shells", "/w/sea", seq, "user", "text", 5, snippet, ((at, at + 5),))
    return replace(hit, **more)


@pytest.fixture
def slow() -> Slow:
    return Slow()


@pytest.fixture
def desk(loop: qasync.QEventLoop, qtbot: QtBot, slow: Slow) -> Iterator[Desk]:
    made = Desk(loop, qtbot, slow)
    yield made
    made.do(lambda: [one.cancel() for one in slow.answers.values()])
    made.close()


def answer(desk: Desk, slow: Slow, text: str, page: SearchPage) -> None:
    """The words are looked for once there is a pause; then the answer comes."""
    desk.wait(lambda: text in slow.answers)
    desk.do(lambda: slow.answers[text].set_result(page))


def test_u40_an_older_answer_never_stands_over_a_newer_one(desk: Desk, slow: Slow) -> None:
    desk.type("pearl")
    desk.wait(lambda: "pearl" in slow.answers)
    desk.type("oyster")
    answer(desk, slow, "oyster", SearchPage((a_hit(2, "an oyster"),)))
    desk.wait(lambda: desk.lines() == ["Shells", "an oyster"])
    answer(desk, slow, "pearl", SearchPage((a_hit(1), a_hit(3))))
    desk.wait(lambda: not desk.at_work())
    assert desk.lines() == ["Shells", "an oyster"]
    assert desk.state == "1 found, the newest first."


def test_u40_letters_typed_in_a_row_are_one_search_and_its_count_is_said_once(
    desk: Desk, slow: Slow
) -> None:
    for end in range(1, 6):
        desk.type("pearl"[:end])
    answer(desk, slow, "pearl", SearchPage((a_hit(1),)))
    desk.wait(lambda: desk.said)
    assert [text for text, _ in slow.asked] == ["pearl"]
    assert desk.said == ["1 found, the newest first."]
    assert desk.page.field.accessibleDescription() == desk.said[0]


def test_u40_hits_stand_under_their_conversation_with_what_is_invisible_shown(
    desk: Desk, slow: Slow
) -> None:
    desk.type("pearl")
    hostile = a_hit(3, "🦜 rm\n\n  pearl\u202etxt.exe <b>x</b>", title="a\u202eb", shelf="archived")
    page = SearchPage((hostile, a_hit(2), a_hit(1, tab="u")))
    answer(desk, slow, "pearl", page)
    desk.wait(lambda: len(desk.lines()) == 5)
    assert desk.lines() == [
        "a‹U+202E›b",
        "🦜 rm pearl‹U+202E›txt.exe <b>x</b>",
        "a pearl",
        "Shells",
        "a pearl",
    ]
    row = desk.page.rows.row(1)
    assert isinstance(row, HitRow)
    assert [row.text[low:high] for low, high in row.marks] == ["pearl"]
    spoken = desk.page.rows.data(desk.page.rows.index(1), Qt.ItemDataRole.AccessibleTextRole)
    assert "You · " in spoken and "in “a‹U+202E›b”" in spoken
    head = desk.page.rows.data(desk.page.rows.index(0), Qt.ItemDataRole.AccessibleTextRole)
    assert head == "a‹U+202E›b, archived"
    assert desk.page.list.grab().width() > 0


def test_u40_keys_go_from_the_field_to_the_hits_and_back(
    desk: Desk, slow: Slow, qtbot: QtBot
) -> None:
    desk.type("pearl")
    answer(desk, slow, "pearl", SearchPage((a_hit(2), a_hit(1, tab="u"))))
    desk.wait(lambda: len(desk.lines()) == 4)
    page = desk.page
    for key, widget in (
        (Qt.Key.Key_Down, page.field),
        (Qt.Key.Key_Down, page.list),
        (Qt.Key.Key_Return, page.list),
        (Qt.Key.Key_Up, page.list),
        (Qt.Key.Key_Return, page.list),
    ):
        qtbot.keyClick(widget, key)
    assert [hit.seq for hit in desk.opened] == [1, 2]
    qtbot.keyClick(page.list, Qt.Key.Key_Up)
    assert page.focusWidget() is page.field
    closed: list[bool] = []
    page.closed.connect(lambda: closed.append(True))
    page.list.enter()
    qtbot.keyClick(page.list, Qt.Key.Key_Escape)
    assert page.focusWidget() is page.field and not closed
    qtbot.keyClick(page.field, Qt.Key.Key_Escape)
    assert closed


def test_u40_choices_narrow_the_search_and_tools_that_were_found_can_be_chosen(
    desk: Desk, slow: Slow
) -> None:
    workspaces = (Workspace(1, 1, "/w/a", "a"), Workspace(2, 1, "/w/b", "b"))
    view = CatalogueView((Project(1, "/w", "Sea", "git"),), workspaces)
    desk.do(lambda: desk.searching.show(view))
    filters = desk.page.filters
    assert [filters.folder.itemText(at) for at in range(4)] == [
        "All folders",
        "Sea: all its folders",
        "a",
        "b",
    ]
    filters.folder.setCurrentIndex(1)
    filters.time.setCurrentIndex(filters.time.findData("7"))
    filters.who.setCurrentIndex(filters.who.findData("you"))
    desk.do(lambda: desk.searching.show(view))
    desk.type("pearl")
    answer(desk, slow, "pearl", SearchPage((a_hit(1, tool="mcp__sea__dive"),)))
    desk.wait(lambda: desk.said)
    midnight = datetime(2026, 11, 23, tzinfo=UTC)
    assert slow.asked == [
        (
            "pearl",
            SearchFilter((1, 2), "user", ("text",), since=int(midnight.timestamp() * 1_000)),
        )
    ]
    at = filters.who.findData("tool mcp__sea__dive")
    desk.do(lambda: filters.who.setCurrentIndex(at))
    desk.wait(lambda: len(slow.asked) == 2)
    assert (slow.asked[1][1].tool, slow.asked[1][1].types) == ("mcp__sea__dive", ())


def test_u40_pages_that_are_empty_go_on_say_how_far_and_can_be_stopped(
    desk: Desk, slow: Slow
) -> None:
    desk.type("pearl")
    answer(desk, slow, "pearl", SearchPage((), SearchPlace(80)))
    desk.wait(lambda: "Looking… 0 %" in desk.state)
    stop = desk.page.findChild(QPushButton, "searchStop")
    assert stop is not None and stop.isVisible()
    desk.do(stop.click)
    assert desk.state == "Stopped. Nothing was found. The bin was not searched."
    answer(desk, slow, "pearl", SearchPage((a_hit(1),)))
    desk.wait(lambda: not desk.at_work())
    assert (len(slow.asked), desk.lines(), stop.isVisible()) == (2, [], False)


def test_u40_what_can_not_be_read_is_said(desk: Desk, slow: Slow) -> None:
    desk.type("pearl")
    desk.wait(lambda: "pearl" in slow.answers)
    desk.do(lambda: slow.answers["pearl"].set_exception(StoreError("The disk is gone.")))
    desk.wait(lambda: desk.said == ["The disk is gone."])
    assert desk.state == "The disk is gone."
    desk.type("")
    assert desk.state == "What was said, written and run, in every conversation."


def test_u40_all_hits_are_reached_by_scrolling(
    loop: qasync.QEventLoop, qtbot: QtBot, tmp_path: Path
) -> None:
    log = MemoryLog(now_ms=lambda: 5, new_id=counter())
    tab = new_tab_in(log, tmp_path, loop)
    said = [chunk(f"n{at}", f"pearl {at}") for at in range(170)]
    loop.run_until_complete(log.session(tab).append(said))
    desk = Desk(loop, qtbot, log.search)
    desk.type("pearl")
    desk.wait(lambda: desk.page.rows.hits == 50)
    assert desk.state == "50+ found, the newest first."
    bar = desk.page.list.verticalScrollBar()

    def all_there() -> bool:
        bar.setValue(bar.maximum())
        return desk.page.rows.hits == 170

    desk.wait(all_there)
    desk.wait(lambda: desk.state == "170 found, the newest first.")
    assert desk.lines()[1:] == [f"pearl {at}" for at in range(169, -1, -1)]
    assert desk.said == ["50+ found, the newest first."]
    desk.close()


def new_tab_in(log: MemoryLog, folder: Path, loop: qasync.QEventLoop) -> str:
    async def make() -> str:
        workspace = await log.catalogue.open_workspace(folder)
        return (await log.catalogue.create_tab(workspace.id)).id

    return loop.run_until_complete(make())


def test_q02_the_model_passes_qts_tester(qtbot: QtBot) -> None:
    model = SearchModel()
    tester = QAbstractItemModelTester(
        model, QAbstractItemModelTester.FailureReportingMode.Warning, model
    )
    for hits in ((a_hit(3),), (a_hit(2), a_hit(1, tab="u")), ()):
        model.add(hits)
        model.offer_more(True)
    model.begin()
    model.add((a_hit(9),))
    assert tester.model() is model and model.rowCount() == 2


def test_u40_what_is_said_after_the_search_joins_at_the_top_and_is_read_by_nobody(
    loop: qasync.QEventLoop, qtbot: QtBot, tmp_path: Path
) -> None:
    """A title that is given and a conversation that goes into the bin are followed, too."""
    log = MemoryLog(now_ms=lambda: 5, new_id=counter())
    tab = new_tab_in(log, tmp_path, loop)
    other = new_tab_in(log, tmp_path, loop)
    loop.run_until_complete(log.session(tab).append([chunk("n1", "pearl 1")]))
    desk = Desk(loop, qtbot, log.search)

    def say(where: str, id_: str, text: str) -> None:
        receipt = desk.run(log.session(where).append([chunk(id_, text)]))
        desk.do(lambda: desk.hub.receipt(receipt))

    def show() -> None:
        view = desk.run(log.catalogue.view())
        desk.do(lambda: desk.searching.show(view))

    show()
    desk.type("pearl")
    desk.wait(lambda: desk.said)
    say(tab, "n2", "pearl 2")
    say(other, "n3", "no such thing")
    say(other, "n4", "pearl 3")
    desk.wait(lambda: desk.page.rows.hits == 3)
    assert [one for one in desk.lines() if "pearl" in one] == ["pearl 3", "pearl 2", "pearl 1"]
    assert desk.lines().count("New conversation") == 2
    assert desk.state == "3 found, the newest first."
    receipt = desk.run(log.session(tab).append([chunk("n5", "pearl 4")]))
    broken = StoreError("The disk is gone.")
    log.search.failures.append(broken)
    desk.do(lambda: desk.hub.revision_found(WHOLE_LOG, receipt.ordinal))
    desk.wait(lambda: desk.state == str(broken))
    assert desk.page.rows.hits == 3
    desk.do(lambda: desk.hub.revision_found(WHOLE_LOG, receipt.ordinal))
    desk.wait(lambda: desk.state == "4 found, the newest first.")
    desk.run(log.catalogue.rename_tab(tab, "Sea"))
    desk.run(log.catalogue.trash_tab(other))
    show()
    assert desk.lines() == ["Sea", "pearl 4", "pearl 2", "pearl 1"]
    desk.close()


def test_u40_what_joins_above_moves_nothing_that_is_looked_at(
    loop: qasync.QEventLoop, qtbot: QtBot
) -> None:
    model = SearchModel()
    rows = SearchList(model)
    qtbot.addWidget(rows)
    rows.resize(300, 120)
    rows.show()
    model.add([a_hit(one) for one in range(60, 0, -1)])
    rows.executeDelayedItemsLayout()
    rows.verticalScrollBar().setValue(200)
    top = rows.indexAt(rows.viewport().rect().topLeft())
    before = (str(top.data()), model.row(top.row()), rows.visualRect(top).top())
    model.put_first([a_hit(62, tab="u"), a_hit(61)])
    top = rows.indexAt(rows.viewport().rect().topLeft())
    assert (str(top.data()), model.row(top.row()), rows.visualRect(top).top()) == before
    rows.verticalScrollBar().setValue(0)
    model.put_first([a_hit(63)])
    assert rows.verticalScrollBar().value() == 0


def test_q02_the_model_passes_qts_tester_while_it_follows(qtbot: QtBot) -> None:
    model = SearchModel()
    tester = QAbstractItemModelTester(
        model, QAbstractItemModelTester.FailureReportingMode.Fatal, model
    )
    model.add([a_hit(3), a_hit(2, tab="u"), a_hit(1)])
    model.put_first([a_hit(6, tab="u"), a_hit(5), a_hit(4)])
    assert model.rowCount() == 6 + 4
    assert model.follow([], gone={"u"})
    assert [str(model.data(model.index(at))) for at in range(model.rowCount())] == [
        "Shells",
        *["a pearl"] * 4,
    ]
    assert (model.hits, tester.model() is model) == (4, True)
