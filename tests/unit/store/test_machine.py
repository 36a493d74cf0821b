"""The store against a plain model of it: several open logs on one file, and one that is no log.

Whatever is done through whichever of them, all agree with the model: seqs are 1..n, a revision
counts the changes of its tab, and what a plain connection tries to rewrite stays as it was.
"""

import asyncio
import atexit
import itertools
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    multiple,
    precondition,
    rule,
)

from desktop.core.chunks import LogChunk, NewChunk, Payload, Role, System, Text
from desktop.core.errors import LeaseHeld, StoreError
from desktop.core.records import Receipt, RequestRecord
from desktop.core.status import QueuedMessage
from desktop.store.log import Log
from tests.unit.store.builders import STAMP, chunk

T = TypeVar("T")

LOGS = 3
which = st.integers(0, LOGS - 1)
texts = st.text(st.characters(), max_size=8)
payloads = st.one_of(
    texts.map(lambda text: ("user", Text(text))),
    texts.map(lambda text: ("assistant", Text(text))),
    texts.map(lambda text: ("system", System("notice", text))),
)
# {tab} and {seq} are a row that is there.
ATTACKS = (
    "UPDATE chunks SET data_json = '{{}}' WHERE tab_id = '{tab}' AND seq = {seq}",
    "UPDATE OR REPLACE chunks SET seq = 1 WHERE tab_id = '{tab}' AND seq = {seq}",
    "DELETE FROM chunks WHERE tab_id = '{tab}' AND seq >= {seq}",
    "REPLACE INTO chunks SELECT * FROM chunks WHERE tab_id = '{tab}' AND seq = {seq}",
    "INSERT OR REPLACE INTO chunks(id, tab_id, seq, turn_id, role, type, data_json, created_at)"
    " VALUES ('attack', '{tab}', {seq}, 't', 'user', 'text', '{{}}', 1)",
    "INSERT OR REPLACE INTO tabs SELECT * FROM tabs WHERE id = '{tab}'",
    "REPLACE INTO workspaces SELECT * FROM workspaces",
)


@dataclass(slots=True)
class Tab:
    """What a conversation should be."""

    title: str = ""
    rows: list[tuple[str, Role, Payload]] = field(default_factory=list[tuple[str, Role, Payload]])
    requests: dict[str, RequestRecord] = field(default_factory=dict[str, RequestRecord])
    queue: list[QueuedMessage] = field(default_factory=list[QueuedMessage])
    holder: int | None = None
    draft: str = ""
    revision: int = 0


class Store(RuleBasedStateMachine):
    """Rules are what programs do to the store; the model is `tabs`, `kept` and `changes`."""

    known_tabs: Bundle[str] = Bundle("known_tabs")

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="nacre-machine-"))
        shutil.copyfile(empty_database(), self.folder / "nacre.db")
        self.runner = asyncio.Runner()
        self.times = itertools.count(1)
        self.ids = itertools.count(1)
        self.logs = [self._open(n) for n in range(LOGS)]
        self.plain = sqlite3.connect(self.folder / "nacre.db", isolation_level=None)
        self.plain.execute("PRAGMA foreign_keys=ON")
        self.tabs: dict[str, Tab] = {}
        self.kept: dict[str, str] = {}
        self.changes = 0

    def teardown(self) -> None:
        self.plain.close()
        for log in self.logs:
            self._run(log.close())
        self.runner.close()
        shutil.rmtree(self.folder)

    # -- conversations and what stands beside them

    @initialize(target=known_tabs)
    def begin(self) -> str:
        workspace = self._run(self.logs[0].catalogue.open_workspace(self.folder))
        self.workspace_id = workspace.id
        self.changes = self._run(self.logs[0].catalogue.revision())
        return self._new_tab(0)

    @rule(target=known_tabs, log=which)
    def create(self, log: int) -> Any:
        return self._new_tab(log) if len(self.tabs) < 4 else multiple()

    @rule(tab=known_tabs, log=which, title=st.sampled_from(["", "one", "two"]))
    def rename(self, tab: str, log: int, title: str) -> None:
        self._run(self.logs[log].catalogue.rename_tab(tab, title))
        self.changes += title != self.tabs[tab].title
        self.tabs[tab].title = title

    @rule(tab=known_tabs, log=which, text=st.sampled_from(["", "half a", "thought"]))
    def write_draft(self, tab: str, log: int, text: str) -> None:
        self._run(self.logs[log].catalogue.save_draft(tab, text))
        self.tabs[tab].draft = text

    @rule(log=which, key=st.sampled_from("ab"), value=st.sampled_from([None, "1", "2"]))
    def set_preference(self, log: int, key: str, value: str | None) -> None:
        self._run(self.logs[log].catalogue.save_setting(key, value))
        self.kept.pop(key, None)
        if value is not None:
            self.kept[key] = value

    # -- rows

    @rule(tab=known_tabs, log=which, said=st.lists(payloads, max_size=4))
    def append(self, tab: str, log: int, said: list[tuple[Role, Payload]]) -> None:
        new = [chunk(self._id(), data, role=role) for role, data in said]
        self._took(tab, new, self._run(self.logs[log].session(tab).append(new)))

    @rule(tab=known_tabs, said=st.lists(payloads, min_size=LOGS, max_size=LOGS))
    def append_from_all_at_once(self, tab: str, said: list[tuple[Role, Payload]]) -> None:
        """Each gets a place of its own; which one comes first is nobody's business."""
        new = [chunk(self._id(), data, role=role) for role, data in said]

        async def all_of_them() -> list[Receipt]:
            pairs = zip(self.logs, new, strict=True)
            return await asyncio.gather(*(log.session(tab).append([one]) for log, one in pairs))

        receipts = self._run(all_of_them())
        for receipt in sorted(receipts, key=lambda one: one.revision):
            (there,) = receipt.chunks
            (mine,) = [one for one in new if one.id == there.id]
            self._took(tab, [mine], receipt)

    @precondition(lambda self: any(tab.rows for tab in self.tabs.values()))
    @rule(tab=known_tabs, log=which, data=st.data())
    def append_with_a_known_id(self, tab: str, log: int, data: st.DataObject) -> None:
        # In an order that does not depend on who came first when all appended at once.
        known = sorted(row[0] for one in self.tabs.values() for row in one.rows)
        batch = [chunk(self._id()), chunk(data.draw(st.sampled_from(known)))]
        with pytest.raises(StoreError):
            self._run(self.logs[log].session(tab).append(batch))

    @rule(tab=known_tabs, text=st.sampled_from(["plain", "ascii"]))
    def append_by_a_plain_connection(self, tab: str, text: str) -> None:
        model = self.tabs[tab]
        id_ = self._id()
        self.plain.execute(
            "INSERT INTO chunks(id, tab_id, seq, turn_id, role, type, data_json, created_at)"
            " VALUES (?, ?, ?, 'turn-1', 'assistant', 'text', json_object('text', ?), 7)",
            (id_, tab, len(model.rows) + 1, text),
        )
        model.rows.append((id_, "assistant", Text(text)))
        model.revision += 1

    @precondition(lambda self: any(tab.rows for tab in self.tabs.values()))
    @rule(attack=st.sampled_from(ATTACKS), data=st.data())
    def attack(self, attack: str, data: st.DataObject) -> None:
        tab = data.draw(st.sampled_from([id_ for id_, one in self.tabs.items() if one.rows]))
        seq = data.draw(st.integers(1, len(self.tabs[tab].rows)))
        with pytest.raises(sqlite3.IntegrityError):
            self.plain.execute(attack.format(tab=tab, seq=seq))

    # -- requests, the queue, leases

    @rule(tab=known_tabs, log=which)
    def start_request(self, tab: str, log: int) -> None:
        record = RequestRecord(self._id(), tab, "turn-1", 0, "p", "m", next(self.times))
        receipt = self._run(self.logs[log].session(tab).start_request(record))
        self._counted(tab, receipt, 1)
        self.tabs[tab].requests[record.id] = record

    @precondition(lambda self: any(tab.requests for tab in self.tabs.values()))
    @rule(log=which, reason=st.just("end_turn"), data=st.data())
    def finish_request(self, log: int, reason: str, data: st.DataObject) -> None:
        known = [record for one in self.tabs.values() for record in one.requests.values()]
        before = data.draw(st.sampled_from(known))
        after = replace(before, stop_reason=reason, usage={"output_tokens": 3}, ended_at=9)
        receipt = self._run(self.logs[log].session(before.tab_id).finish_request(after))
        self._counted(before.tab_id, receipt, int(after != before))
        self.tabs[before.tab_id].requests[before.id] = after

    @rule(tab=known_tabs, log=which, text=texts)
    def enqueue(self, tab: str, log: int, text: str) -> None:
        message = QueuedMessage(self._id(), tab, text, next(self.times))
        for _ in range(2):  # a repeated one is the same one
            self._run(self.logs[log].session(tab).enqueue(message))
        self.tabs[tab].queue.append(message)

    @rule(tab=known_tabs, log=which, place=st.integers(0, 3))
    def take_back(self, tab: str, log: int, place: int) -> None:
        queue = self.tabs[tab].queue
        wanted = queue[place] if place < len(queue) else None
        id_ = wanted.id if wanted else "never"
        assert self._run(self.logs[log].session(tab).cancel_queued(id_)) == wanted
        if wanted:
            queue.remove(wanted)

    @rule(tab=known_tabs, log=which, places=st.lists(st.integers(0, 3), max_size=4))
    def order_queue(self, tab: str, log: int, places: list[int]) -> None:
        queue = self.tabs[tab].queue
        ids = [queue[place].id for place in dict.fromkeys(places) if place < len(queue)]
        self._run(self.logs[log].session(tab).order_queued(ids))
        queue.sort(key=lambda one: ids.index(one.id) if one.id in ids else len(ids))

    @rule(tab=known_tabs, log=which)
    def take_queue(self, tab: str, log: int) -> None:
        queue, self.tabs[tab].queue = self.tabs[tab].queue, []
        taking = self.logs[log].session(tab).take_queued(turn_id="turn-1", step=1, stamp=STAMP)
        receipt = self._run(taking)
        assert (receipt is None) == (not queue)
        if receipt is not None:
            self._took(tab, [chunk(one.id, Text(one.text), step=1) for one in queue], receipt)

    @rule(tab=known_tabs, log=which)
    def acquire(self, tab: str, log: int) -> None:
        holder = self.tabs[tab].holder
        acquiring = self.logs[log].session(tab).acquire_lease()
        if holder in (None, log):
            self._run(acquiring)
            self.tabs[tab].holder = log
            return
        with pytest.raises(LeaseHeld):
            self._run(acquiring)

    @rule(tab=known_tabs, log=which)
    def release(self, tab: str, log: int) -> None:
        self._run(self.logs[log].session(tab).release_lease())
        if self.tabs[tab].holder == log:
            self.tabs[tab].holder = None

    @rule(log=which)
    def reopen(self, log: int) -> None:
        self._run(self.logs[log].close())
        self.logs[log] = self._open(log)
        for tab in self.tabs.values():
            if tab.holder == log:
                tab.holder = None

    @rule(log=which)
    def tidy(self, log: int) -> None:
        self._run(self.logs[log].upkeep.tidy())

    # -- what is read

    @rule(
        tab=known_tabs,
        log=which,
        how=st.sampled_from(["tail", "before", "after", "around"]),
        place=st.integers(0, 12),
        limit=st.integers(1, 6),
    )
    def read_page(self, tab: str, log: int, how: str, place: int, limit: int) -> None:
        count = len(self.tabs[tab].rows)
        asked = {} if how == "tail" else {how: place}
        page = self._run(self.logs[log].reader.page(tab, limit=limit, **asked))
        seqs = [row.seq for row in page.rows]
        everything = range(1, count + 1)
        match how:
            case "tail":
                assert seqs == [*everything][-limit:]
            case "before":
                assert seqs == [seq for seq in everything if seq < place][-limit:]
            case "after":
                assert seqs == [seq for seq in everything if seq > place][:limit]
            case _:
                assert len(seqs) == min(limit, count)
                assert place in seqs or not 1 <= place <= count
        assert (page.total, page.revision) == (count, self.tabs[tab].revision)
        assert seqs == list(range(seqs[0], seqs[-1] + 1)) if seqs else True
        if seqs:
            assert (page.has_older, page.has_newer) == (seqs[0] > 1, seqs[-1] < count)
        self._check_rows(tab, page.rows)

    @invariant()
    def all_logs_agree_with_the_model(self) -> None:
        for log in self.logs:
            assert self._run(log.catalogue.settings()) == self.kept
            view = self._run(log.catalogue.view())
            assert view.revision == self.changes
            assert {one.id: one.title for one in view.tabs} == {
                id_: tab.title for id_, tab in self.tabs.items()
            }
            for id_, tab in self.tabs.items():
                self._check(log, id_, tab)

    def _check(self, log: Log, id_: str, tab: Tab) -> None:
        session = log.session(id_)
        loaded = self._run(session.load())
        rows = sorted((*loaded.chunks, *loaded.dangling), key=lambda row: row.seq)
        assert loaded.damaged == 0
        assert [row.seq for row in rows] == list(range(1, len(tab.rows) + 1))
        self._check_rows(id_, rows)
        assert self._run(log.reader.revision(id_)) == tab.revision
        assert self._run(session.requests()) == tuple(tab.requests.values())
        assert self._run(session.queued()) == tuple(tab.queue)
        assert self._run(log.catalogue.draft(id_)).text == tab.draft

    # -- words of the rules

    def _check_rows(self, tab: str, rows: Sequence[Any]) -> None:
        for row in rows:
            assert isinstance(row, LogChunk)
            assert (row.id, row.role, row.data) == self.tabs[tab].rows[row.seq - 1]

    def _took(self, tab: str, new: Sequence[NewChunk], receipt: Receipt) -> None:
        """An append did what its receipt says."""
        model = self.tabs[tab]
        first = len(model.rows) + 1
        assert [(one.id, one.seq) for one in receipt.chunks] == [
            (one.id, seq) for seq, one in enumerate(new, start=first)
        ]
        self._counted(tab, receipt, len(new))
        model.rows.extend((one.id, one.role, one.data) for one in new)
        self.changes += any(one.role == "user" for one in new)  # the time of the last message

    def _counted(self, tab: str, receipt: Receipt, changes: int) -> None:
        model = self.tabs[tab]
        assert receipt.tab_id == tab
        assert (receipt.base_revision, receipt.revision) == (
            model.revision,
            model.revision + changes,
        )
        model.revision += changes

    def _new_tab(self, log: int) -> str:
        made = self._run(self.logs[log].catalogue.create_tab(self.workspace_id))
        self.tabs[made.id] = Tab()
        self.changes += 1
        return made.id

    def _id(self) -> str:
        return f"id-{next(self.ids)}"

    def _open(self, number: int) -> Log:
        return open_log(
            self.folder,
            new_id=lambda: f"log-{number}-{self._id()}",
            now_ms=lambda: next(self.times),
        )

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)


def open_log(folder: Path, *, new_id: Callable[[], str], now_ms: Callable[[], int]) -> Log:
    return Log.open(
        folder / "nacre.db",
        blobs=folder / "blobs",
        run=folder / "run",
        new_id=new_id,
        now_ms=now_ms,
        busy_ms=20_000,
    )


@cache
def empty_database() -> Path:
    """A fresh database; making one takes longer than an example does."""
    folder = Path(tempfile.mkdtemp(prefix="nacre-empty-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    log = open_log(folder, new_id=lambda: "x", now_ms=lambda: 1)
    asyncio.run(log.close())
    return folder / "nacre.db"


@pytest.mark.timeout(900)  # a failure is made small first
class TestStore(Store.TestCase):
    """SPEC C14, R01, R02, R04, S01, S04, U15."""

    settings = settings(
        max_examples=15,
        stateful_step_count=30,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
