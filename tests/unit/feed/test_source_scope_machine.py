"""Any writer, any transport, any reads: a scope shows one revision, and ends at the last one.

Batches come in any order, twice or never, joined as a sender may join them; reads are answered
late, fail or disagree; the reader pages, looks away and comes back. SPEC R05 – R13.
"""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    rule,
)

from desktop.feed.batches import Batch, Record
from desktop.feed.faults import CursorExpired, ReconciliationRequired, UpstreamFailure
from desktop.feed.source_scope import SourceScope
from tests.effort import examples
from tests.unit.feed.tables import Admits, Table, TableSource, everything
from tests.unit.feed.times import Room, Time


def _even(record: Record) -> bool:
    return record.value in (0, 2)


class Machine(RuleBasedStateMachine):
    batches = Bundle("batches")

    def __init__(self) -> None:
        super().__init__()
        self.room, self.time, self.table = Room(), Time(), Table()
        self.told = 0
        self.is_cut_off = False
        self.scope: SourceScope | None = None

    @initialize(
        order=st.sampled_from(["ascending", "descending"]),
        admits=st.sampled_from([everything, _even]),
        rows=st.integers(0, 8),
    )
    def begin(self, order: str, admits: Admits, rows: int) -> None:
        for place in range(rows):
            self.table.put(place)
        self.source = TableSource(self.table, order=order, admits=admits, is_open=False)  # type: ignore[arg-type]
        self.scope = SourceScope(
            self.source, start=self.room.start, later=self.time.later, clock=self.time.clock
        )
        self.scope.open()
        self.room.settle()

    @rule(
        target=batches,
        place=st.integers(0, 12),
        value=st.none() | st.integers(0, 2),
        kind=st.sampled_from(["row", "row", "row", "turn"]),
        is_sent=st.booleans(),
    )
    def write(self, place: int, value: int | None, kind: str, is_sent: bool) -> object:
        if value is None:
            self.table.remove(place, kind=kind)
        else:
            self.table.put(place, value, kind=kind)
        end = self.table.revision
        batch = self.source.batch(end - 1, end)
        if not is_sent:
            return batch
        self._deliver(batch)
        return multiple()

    @rule(target=batches, base=st.integers(0, 30), size=st.integers(1, 4), is_reset=st.booleans())
    def join(self, base: int, size: int, is_reset: bool) -> object:
        end = min(base + size, self.table.revision)
        if base >= end:
            return multiple()
        if is_reset:
            return Batch(self.table.epoch, base, end, is_reset=True)
        return self.source.batch(base, end)

    @rule(batch=batches)
    def deliver_and_again_perhaps(self, batch: Batch) -> None:
        self._deliver(batch)

    @rule(batch=consumes(batches))
    def deliver(self, batch: Batch) -> None:
        self._deliver(batch)

    @rule(batch=consumes(batches))
    def lose(self, batch: Batch) -> None:
        pass

    @rule(back=st.integers(0, 2))
    def check(self, back: int) -> None:
        """What a look read before the last writes."""
        revision = max(self.table.revision - back, 0)
        self.told = max(self.told, revision)
        assert self.scope is not None
        self.scope.observe(self.table.epoch, revision)
        self.room.settle()

    @rule(
        fault=st.sampled_from(
            [None, None, None, UpstreamFailure(), ReconciliationRequired(), CursorExpired()]
        )
    )
    def answer(self, fault: Exception | None) -> None:
        if not self.source.waiting:
            return
        what = self.source.waits_for.pop(0)
        if fault is not None and (what == "more" or not isinstance(fault, CursorExpired)):
            self.source.faults.append(fault)
        self.source.waiting.pop(0).set_result(None)
        self.room.settle()

    @rule(seconds=st.sampled_from([0.2, 1.0, 3.0]))
    def wait(self, seconds: float) -> None:
        self.time.advance(seconds)
        self.room.settle()

    @rule()
    def page(self) -> None:
        assert self.scope is not None
        self.room.start(self._page(self.scope))
        self.room.settle()

    async def _page(self, scope: SourceScope) -> None:
        try:
            assert await scope.load_more() >= 0
        except UpstreamFailure:
            pass

    @rule(is_seen=st.booleans())
    def look(self, is_seen: bool) -> None:
        assert self.scope is not None
        self.scope.show(is_seen)
        self.room.settle()

    @rule()
    def reconnect(self) -> None:
        assert self.scope is not None
        self.scope.lost()
        self.room.settle()

    def _deliver(self, batch: Batch) -> None:
        self.told = max(self.told, batch.revision)
        assert self.scope is not None
        self.scope.batch(batch)
        self.room.settle()

    @invariant()
    def the_records_are_those_of_their_revision(self) -> None:
        if self.scope is None or self.scope.revision is None:
            return
        self._compare(self.scope.revision)
        if self.scope.is_fresh:
            assert self.scope.revision >= self.told

    def _compare(self, revision: int) -> None:
        assert self.scope is not None
        for kind in ("row", "turn"):
            loaded = self.scope.loaded(kind)
            assert loaded == self.source.cut(revision, kind, loaded.boundary)

    def teardown(self) -> None:
        try:
            if self.scope is not None:
                self._end(self.scope)
        finally:
            self.room.close()

    def _end(self, scope: SourceScope) -> None:
        """Whatever happened: seen and told the truth, it is right within two cycles."""
        self.source.is_open = True
        self.source.faults.clear()
        for one in self.source.waiting:
            one.set_result(None)
        scope.show(True)
        self.room.settle()
        for _ in range(2):
            scope.observe(self.table.epoch, self.table.revision)
            self.room.settle()
            for _ in range(4):
                self.time.advance(1)
                self.room.settle()
        assert scope.is_fresh
        assert scope.revision == self.table.revision
        self._compare(self.table.revision)
        reads = len(self.source.asked)
        self.time.advance(60)
        self.room.settle()
        assert len(self.source.asked) == reads
        scope.close()
        self.room.settle()
        assert self.time.is_idle


TestMachine = Machine.TestCase
TestMachine.settings = settings(max_examples=examples(60), stateful_step_count=30, deadline=None)
