"""What a person reads of the cost: the usage of each request, and what the next message costs."""

import asyncio
import itertools
from collections.abc import Sequence
from dataclasses import replace

import qasync
from PySide6.QtCore import QPersistentModelIndex, Qt
from PySide6.QtGui import QFont
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QTreeView, QWidget
from pytestqt.qtbot import QtBot

from desktop.core.caching import CacheMiss, RequestUsage, Upload
from desktop.core.errors import StoreError
from desktop.core.model import Spent
from desktop.core.records import Receipt, RequestRecord, Requests
from desktop.feed.hub import Hub
from desktop.feed.usage import FollowedUsage
from desktop.ui import words
from desktop.ui.resend_line import ResendLine
from desktop.ui.shell_style import shell_style
from desktop.ui.tasks import Tasks
from desktop.ui.theme import LIGHT, Theme, style_sheet
from desktop.ui.usage_box import UsageBox
from desktop.ui.usage_model import UsageModel
from tests.e2e.nacre import Home
from tests.fakes.messages_api import MessagesServer, reply
from tests.fakes.stores import MemoryLog
from tests.ui.conftest import Enter, until

NOW = 1_700_000_000_000
FIRST = RequestUsage(NOW - 600_000, "model-1", written=2_000, uncached=4, output=10, dollars=0.02)
MISSED = RequestUsage(
    NOW,
    "model-1",
    written=2_100,
    uncached=3,
    output=20,
    dollars=0.03,
    miss=CacheMiss("expired", 2_000, 0.0095, reason={"type": "messages_changed"}),
)
UNKNOWN = replace(MISSED, dollars=None, miss=CacheMiss("changed", 7, None, position="tools[0]"))
SPENT = Spent(dollars=0.1, context=18_200, cached_until=NOW + 40, resend_dollars=0.0912)


def shown(
    loop: qasync.QEventLoop,
    qtbot: QtBot,
    usage: Sequence[RequestUsage] | StoreError,
    *,
    below: Sequence[RequestUsage] = (),
    parent: QWidget | None = None,
) -> UsageBox:
    """The box as it stands when everything is read."""

    async def open_it() -> UsageBox:
        tasks = Tasks()
        requests = await asked(usage, below)
        box = UsageBox(
            Theme("light", LIGHT),
            usage=requests.follow(tasks),
            now_ms=lambda: NOW,
            parent=parent,
        )
        qtbot.addWidget(box)
        box.open()
        await until(lambda: "Adding up" not in words_of(box, "usageTotals"))
        await tasks.close()
        return box

    return loop.run_until_complete(open_it())


class Asked:
    """A log in which requests were made that stand for these usages; what it can't read is said."""

    def __init__(self, usages: Sequence[RequestUsage], error: StoreError | None) -> None:
        ids = itertools.count()
        self.log = MemoryLog(now_ms=lambda: NOW, new_id=lambda: f"id{next(ids)}")
        self.hub = Hub()
        self.usages = list(usages)
        self.error = error
        self.tab = ""

    def follow(self, tasks: Tasks) -> FollowedUsage:
        return FollowedUsage(
            self.tab,
            self,
            self.log.catalogue,
            self.hub,
            line=lambda request: self.usages[int(request.id)],
            start=tasks.start,
            later=lambda seconds, call: asyncio.get_running_loop().call_later(seconds, call),
        )

    async def ask(self, tab: str, place: int) -> Receipt:
        request = RequestRecord(str(place), tab, "t", 0, "p", "m", place)
        return await self.log.session(tab).start_request(request)

    async def requests(self, tab_id: str) -> Requests:
        if self.error is not None:
            raise self.error
        return await self.log.reader.requests(tab_id)

    async def revision(self, tab_id: str) -> int:
        return await self.log.reader.revision(tab_id)


async def asked(usage: Sequence[RequestUsage] | StoreError, below: Sequence[RequestUsage]) -> Asked:
    error = usage if isinstance(usage, StoreError) else None
    own = () if isinstance(usage, StoreError) else usage
    made = Asked([*own, *below], error)
    catalogue = made.log.catalogue
    workspace = await catalogue.scratch_workspace()
    made.tab = (await catalogue.create_tab(workspace.id)).id
    child = (await catalogue.create_tab(workspace.id, parent=made.tab)).id
    for place in range(len(made.usages)):
        await made.ask(made.tab if place < len(own) else child, place)
    return made


def words_of(box: UsageBox, name: str) -> str:
    label = box.findChild(QLabel, name)
    assert label is not None
    return label.text()


def row_of(box: UsageBox, at: int) -> list[str]:
    table = box.findChild(QTreeView, "usageTable")
    assert table is not None
    model = table.model()
    return [str(model.index(at, column).data()) for column in range(model.columnCount())]


def test_c18_every_request_is_listed_with_its_tokens_its_cost_and_why(
    loop: qasync.QEventLoop, qtbot: QtBot
) -> None:
    box = shown(loop, qtbot, [FIRST, MISSED])
    assert words_of(box, "usageTotals") == (
        f"Requests: 2 · Cost: $0.05 · Tokens sent again: {words.tokens(2_000)}"
    )
    assert row_of(box, 0)[1:] == [
        "model-1",
        "0",
        words.tokens(2_100),
        "3",
        "20",
        "$0.03",
        "The cache had let the conversation go in the meantime",
    ]
    assert row_of(box, 1)[-1] == ""
    assert words_of(box, "usageWhy") == (
        "The cache had let the conversation go in the meantime:"
        f" {words.tokens(2_000)} tokens were sent again,"
        " $0.01 more than reading them from the cache. The provider says: messages_changed."
    )


def test_u28_what_subagents_cost_is_told_apart(loop: qasync.QEventLoop, qtbot: QtBot) -> None:
    box = shown(loop, qtbot, [FIRST], below=[MISSED, FIRST])
    assert words_of(box, "usageTotals") == (
        "Requests: 1 · Cost: $0.02 · Requests of subagents: 2 · Cost: $0.05"
    )


def test_an_unknown_price_says_so(loop: qasync.QEventLoop, qtbot: QtBot) -> None:
    box = shown(loop, qtbot, [FIRST, UNKNOWN])
    assert "Cost: $ ?" in words_of(box, "usageTotals")
    assert words_of(box, "usageWhy") == (
        "The request differed from the one before it: 7 tokens were sent again; their price is"
        " unknown. The first difference is at tools[0]."
    )


def test_a_request_that_got_no_answer_says_so(loop: qasync.QEventLoop, qtbot: QtBot) -> None:
    box = shown(loop, qtbot, [replace(FIRST, is_answered=False)])
    assert row_of(box, 0)[2:] == ["", "", "", "", "", "No answer came"]


def test_c5_the_bytes_that_compressing_saved_are_shown(
    loop: qasync.QEventLoop, qtbot: QtBot
) -> None:
    first = replace(FIRST, upload=Upload(700_000, 200_000))
    second = replace(FIRST, upload=Upload(500_000, 150_000))
    totals = words_of(shown(loop, qtbot, [first, FIRST, second]), "usageTotals")
    assert totals.endswith(f" · Sent: {words.size(1_200_000)} as {words.size(350_000)}")
    plain = replace(FIRST, upload=Upload(700_000, 700_000))
    totals = words_of(shown(loop, qtbot, [plain]), "usageTotals")
    assert totals.endswith(f" · Sent: {words.size(700_000)}")


def test_c2_a_request_that_only_kept_the_cache_says_so(
    loop: qasync.QEventLoop, qtbot: QtBot
) -> None:
    box = shown(loop, qtbot, [FIRST, replace(FIRST, written=0, read=2_000, is_refresh=True)])
    assert row_of(box, 0)[-1] == "Kept warm"
    assert words_of(box, "usageWhy").startswith("Kept warm: the conversation was read")


def test_a_conversation_without_requests_says_so(loop: qasync.QEventLoop, qtbot: QtBot) -> None:
    box = shown(loop, qtbot, [])
    assert words_of(box, "usageTotals") == "Nothing has been asked in this conversation yet."


def test_a_log_that_can_not_be_read_says_why(loop: qasync.QEventLoop, qtbot: QtBot) -> None:
    box = shown(loop, qtbot, StoreError("The log can't be read."))
    assert "The log can't be read." in words_of(box, "usageTotals")


def test_c18_the_box_opens_with_all_its_columns_in_view(
    loop: qasync.QEventLoop, qtbot: QtBot
) -> None:
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    sheet, font = app.styleSheet(), app.font()
    small = QFont(font)
    small.setPixelSize(6)
    theme = Theme("light", LIGHT)
    # The screen of the tests is narrow, and so is the window that the box belongs to.
    app.setFont(small)
    app.setStyleSheet(style_sheet(theme) + shell_style(theme))
    try:
        around = QWidget()
        qtbot.addWidget(around)
        around.resize(400, 600)
        around.show()
        box = shown(loop, qtbot, [MISSED] * 40, parent=around)
        table = box.findChild(QTreeView, "usageTable")
        assert table is not None
        assert box.width() < box.screen().availableSize().width() * 0.9
        assert table.verticalScrollBar().maximum() > 0
        assert table.horizontalScrollBar().maximum() == 0
    finally:
        app.setStyleSheet(sheet)
        app.setFont(font)


def test_the_model_keeps_the_rules_of_its_kind(qtbot: QtBot) -> None:
    model = UsageModel(lambda: NOW)
    QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    begun = replace(MISSED, started_at=NOW + 1, is_answered=False)
    for shown in ([FIRST], [FIRST, MISSED], [FIRST, MISSED, begun], [MISSED], []):
        model.show(shown)
    chosen = [FIRST, MISSED]
    model.show(chosen)
    kept = QPersistentModelIndex(model.index(1, 0))
    model.show([*chosen, begun])
    model.show([*chosen, replace(begun, is_answered=True)])
    assert (kept.row(), model.row(2), model.row(0).is_answered) == (2, FIRST, True)


def test_a_request_that_is_made_while_the_box_is_open_joins_and_the_chosen_one_stays(
    loop: qasync.QEventLoop, qtbot: QtBot
) -> None:
    async def watch() -> None:
        tasks = Tasks()
        made = await asked([FIRST, MISSED], ())
        box = UsageBox(Theme("light", LIGHT), usage=made.follow(tasks), now_ms=lambda: NOW)
        qtbot.addWidget(box)
        box.open()
        await until(lambda: "Requests: 2" in words_of(box, "usageTotals"))
        made.usages.append(replace(FIRST, started_at=NOW + 1))
        made.hub.receipt(await made.ask(made.tab, 2))
        assert "Requests: 3 · Cost: $0.07" in words_of(box, "usageTotals")
        table = box.findChild(QTreeView, "usageTable")
        assert table is not None
        assert table.currentIndex().row() == 1
        assert words_of(box, "usageWhy").startswith("The cache had let the conversation go")
        box.reject()
        assert made.hub.followed == ()
        await tasks.close()

    loop.run_until_complete(watch())


def test_the_next_message_says_its_price_once_the_cache_has_let_go(
    loop: qasync.QEventLoop, qtbot: QtBot
) -> None:
    """It comes by itself when the time is over."""
    clock = [NOW]
    line = ResendLine(lambda: clock[0])
    qtbot.addWidget(line)
    line.show_spent(SPENT, is_running=False)
    assert line.isHidden()
    clock[0] += 40
    loop.run_until_complete(until(lambda: not line.isHidden()))
    assert line.text() == (
        f"The next message re-sends {words.tokens(18_200)} tokens, about $0.09:"
        " the provider's cache no longer has them for this model."
    )
    line.show_spent(SPENT, is_running=True)
    assert line.isHidden()
    line.show_spent(replace(SPENT, resend_dollars=None), is_running=False)
    assert "tokens, at an unknown price:" in line.text()
    line.show_spent(replace(SPENT, cached_until=None), is_running=False)
    assert line.isHidden()


def test_c18_a_person_reads_why_the_cache_was_missed(home: Home, enter: Enter) -> None:
    """The provider lets an entry go before its time (API C44), which was asked for as an hour."""
    with MessagesServer([reply("One."), reply("Two.")]) as server:
        person = enter(server)
        person.do("settings")
        person.choose_section("Model")
        person.choose("model.cache_ttl", "1h")
        person.close_dialog("settingsDialog")
        person.begin("one")
        person.wait(lambda: person.reads("One.") and person.idle())
        server.advance_clock(3_700)
        person.say("two")
        person.wait(lambda: person.reads("Two.") and person.idle())
        person.do("usage")
        person.wait(lambda: "Requests: 2" in person.labels())
        assert "though nothing had changed" in person.labels()
        table = person.part(QTreeView, "usageTable")
        written, read = (table.model().index(0, at).data() for at in (3, 2))
        assert read == "0"
        assert written != "0"
        person.close_dialog("usageBox")
        assert not person.parts(QLabel, "resendLine")
        person.choose("modelChoice", "claude-sonnet-5-5")
        person.wait(lambda: "The next message re-sends" in person.labels())
        assert person.leave() == 0
        assert not server.rejected
        assert all(one.account and one.account.write_1h for one in server.requests)
        one, two = server.requests
        assert two.json["diagnostics"] == {"previous_message_id": one.message["id"]}


def test_c2_the_settings_name_the_prices_of_the_model_that_new_conversations_get(
    home: Home, enter: Enter
) -> None:
    with MessagesServer([reply("One.")]) as server:
        person = enter(server)
        person.begin("one")
        person.wait(lambda: person.reads("One.") and person.idle())
        person.do("settings")
        person.choose_section("Model")
        person.wait(lambda: "With Claude Opus 5.5, 100,000 tokens cost $0.50" in person.labels())
        assert "each costs $0.02 for 100,000 tokens" in person.labels()
        person.type_into("model.default", "claude-haiku-4-5")
        person.press(Qt.Key.Key_Return, person.part(QLineEdit, "model.default"))
        person.wait(lambda: "With Claude Haiku 4.5, each costs $0.01" in person.labels())
        person.type_into("model.default", "a-model-of-mine")
        person.press(Qt.Key.Key_Return, person.part(QLineEdit, "model.default"))
        person.wait(lambda: "is not known" in person.labels())
        person.close_dialog("settingsDialog")
        assert person.leave() == 0
