"""A log as a list of states, and a Source on it whose every read waits for the test's word."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from desktop.feed.batches import Batch, Key, Operation, Record, Removal, Upsert, joined
from desktop.feed.faults import CursorExpired, ReconciliationRequired
from desktop.feed.loaded import Loaded, Order
from desktop.feed.source import Snapshot

State = dict[Key, Record]


@dataclass
class Table:
    """What the log held at each revision; `writes[n]` led from n to n + 1."""

    epoch: str = "e1"
    states: list[State] = field(default_factory=lambda: [{}])
    writes: list[Operation] = field(default_factory=list[Operation])

    @property
    def revision(self) -> int:
        return len(self.writes)

    def write(self, operation: Operation) -> None:
        state = dict(self.states[-1])
        if isinstance(operation, Upsert):
            state[operation.key] = operation.record
        else:
            state.pop(operation.key, None)
        self.states.append(state)
        self.writes.append(operation)

    def put(self, place: int, value: object = 0, *, kind: str = "row") -> None:
        self.write(Upsert(Record(kind, f"{kind}{place}", place, value, 10)))

    def remove(self, place: int, *, kind: str = "row") -> None:
        self.write(Removal(kind, f"{kind}{place}"))


Admits = Callable[[Record], bool]


def everything(record: Record) -> bool:
    return True


class TableSource:
    """Rows that are admitted, page by page, and all `turn` records with them.

    `asked` are the reads so far. Each answers with what there was when it was asked; it waits in
    `waiting` for the test's word, unless the source `is_open`.
    """

    paged = "row"

    def __init__(
        self,
        table: Table,
        *,
        order: Order = "descending",
        size: int = 3,
        admits: Admits = everything,
        is_open: bool = True,
    ) -> None:
        self.table = table
        self.order: Order = order
        self.size = size
        self.admits = admits
        self.is_open = is_open
        self.asked: list[str] = []
        self.waiting: list[asyncio.Future[None]] = []
        self.waits_for: list[str] = []
        self.faults: list[Exception] = []
        self.churn = 0

    def batch(self, base: int, revision: int) -> Batch:
        """All that happened to the selection in the interval."""
        found = Batch(self.table.epoch, base, base)
        for at in range(base, revision):
            found = joined(found, self._step(at)) or found
        return found

    def _step(self, at: int) -> Batch:
        operation = self.table.writes[at]
        if isinstance(operation, Upsert) and not self._holds(operation.record):
            was = self.table.states[at].get(operation.key)
            gone = was is not None and self._holds(was)
            operations = (Removal(*operation.key),) if gone else ()
            return Batch(self.table.epoch, at, at + 1, operations)
        return Batch(self.table.epoch, at, at + 1, (operation,))

    def cut(self, revision: int, kind: str, boundary: int | None = None) -> Loaded:
        """What a fresh read up to the boundary gives."""
        whole = Loaded(self.order, boundary=boundary)
        found = [
            one
            for one in self.table.states[revision].values()
            if one.kind == kind and self._holds(one) and whole.covers(one.place)
        ]
        found.sort(key=lambda one: one.place, reverse=self.order == "descending")
        return Loaded(self.order, tuple(found), boundary)

    def _holds(self, record: Record) -> bool:
        return record.kind != self.paged or self.admits(record)

    async def answer(self, what: str) -> None:
        self.asked.append(what)
        if not self.is_open:
            done = asyncio.get_running_loop().create_future()
            self.waiting.append(done)
            self.waits_for.append(what)
            await done
        if self.faults:
            raise self.faults.pop(0)

    async def read(self, loaded: Loaded | None) -> Snapshot:
        revision = self.table.revision
        await self.answer("read")
        if self.churn:
            self.churn -= 1
            raise ReconciliationRequired
        whole = self.cut(revision, self.paged)
        if loaded is None:
            return self._snapshot(revision, whole, self.size)
        if loaded.boundary is None:
            return self._snapshot(revision, whole, len(whole.records))
        inside = [one for one in whole.records if loaded.covers(one.place)]
        return self._snapshot(revision, whole, len(inside), loaded.boundary)

    async def more(self, cursor: str, *, expected: int) -> Snapshot:
        revision = self.table.revision
        await self.answer("more")
        if expected != revision:
            raise ReconciliationRequired
        epoch, _, place = cursor.partition(":")
        if epoch != self.table.epoch:
            raise CursorExpired
        whole = self.cut(expected, self.paged)
        before = Loaded(self.order, boundary=int(place))
        left = tuple(one for one in whole.records if not before.covers(one.place))
        return self._snapshot(expected, Loaded(self.order, left), self.size)

    async def revision(self) -> tuple[str, int]:
        told = self.table.epoch, self.table.revision
        await self.answer("revision")
        return told

    def _snapshot(
        self, revision: int, whole: Loaded, count: int, through: int | None = None
    ) -> Snapshot:
        page = whole.records[:count]
        has_more = len(whole.records) > count
        boundary = None
        if has_more:
            boundary = through if through is not None else page[-1].place
        turns = self.cut(revision, "turn")
        return Snapshot(
            self.table.epoch,
            revision,
            {"row": Loaded(self.order, page, boundary), "turn": turns},
            f"{self.table.epoch}:{boundary}" if has_more else "",
        )
