"""How far a scope is covered: every decision about a batch (SPEC R05, R06, R08, R09)."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.feed.applying import MOST_BYTES, MOST_OPERATIONS, PATIENCE_SECONDS, Applied, Step
from desktop.feed.batches import Batch, Record, Removal, Upsert, joined


def batch(base: int, revision: int, *ids: str, epoch: str = "e", size: int = 1) -> Batch:
    operations = tuple(Upsert(Record("row", id_, 1, revision, size)) for id_ in ids)
    return Batch(epoch, base, revision, operations)


def at(revision: int, now: float = 0.0) -> Applied:
    return Applied().snapshot("e", revision, now).applied


def test_a_batch_that_follows_is_committed() -> None:
    """R06"""
    step = at(10).receive(batch(10, 11, "a"), 0.0)
    assert (step.applied.revision, step.ready, step.why) == (11, (batch(10, 11, "a"),), None)
    assert not step.applied.is_behind


def test_a_lost_batch_is_hidden_by_neither_its_successor_nor_a_check() -> None:
    """R05, R08"""
    applied = at(10).receive(batch(11, 12, "b"), 0.0).applied
    step = applied.observe("e", 12, 0.5)
    assert (step.applied.revision, step.ready, step.applied.is_behind) == (10, (), True)
    assert step.applied.late(0.9).why is None
    step = step.applied.late(PATIENCE_SECONDS)
    assert (step.applied.revision, step.why) == (10, "gap")
    step = step.applied.reading().snapshot("e", 12, 2.0)
    assert (step.applied.revision, step.ready, step.applied.is_behind) == (12, (), False)


def test_what_comes_out_of_order_is_committed_in_order() -> None:
    """R06, and an empty batch is like any other."""
    applied = at(10).receive(batch(12, 13, "c"), 0.0).applied
    applied = applied.receive(batch(11, 12), 0.0).applied
    step = applied.receive(batch(10, 11, "a"), 0.5)
    assert [one.revision for one in step.ready] == [11, 12, 13]
    assert not step.applied.is_behind


@pytest.mark.parametrize("again", [batch(8, 9, "x"), batch(9, 10, "x"), batch(2, 10)])
def test_what_is_covered_already_changes_nothing(again: Batch) -> None:
    """R06: duplicates and old ones."""
    assert at(10).receive(again, 0.0) == Step(at(10))


def test_a_batch_that_overlaps_what_is_applied_needs_a_read() -> None:
    """R06"""
    step = at(10).receive(batch(9, 11, "a"), 0.0)
    assert (step.applied.revision, step.ready, step.why) == (10, (), "overlap")
    assert step.applied.is_behind


def test_another_epoch_makes_what_is_loaded_unknown_until_it_is_read() -> None:
    """R06, R14"""
    step = at(10).receive(batch(10, 11, "a", epoch="new"), 0.0)
    assert (step.applied.revision, step.ready, step.why) == (None, (), "epoch")
    step = step.applied.reading().snapshot("new", 10, 0.0)
    assert (step.applied.revision, [one.epoch for one in step.ready]) == (11, ["new"])


def test_a_log_that_went_back_is_read_anew() -> None:
    """What was heard before of a later revision counts no more."""
    step = at(10).observe("e", 7, 0.0, since=10)
    assert step.why == "backwards"
    assert not step.applied.reading().snapshot("e", 7, 0.0).applied.is_behind


def test_a_look_that_began_before_the_last_batch_does_not_mean_that_the_log_went_back() -> None:
    applied = at(10).receive(batch(10, 11), 0.0).applied
    assert applied.observe("e", 10, 0.0, since=10) == Step(applied)


def test_a_failed_read_after_a_reconnection_leaves_later_batches_unapplied() -> None:
    """R08"""
    applied = at(10).lost("e", 10).reading().released(0.0).applied
    step = applied.receive(batch(10, 11, "a"), 0.0)
    assert (step.ready, step.applied.is_behind) == ((), True)


def test_too_many_operations_lead_to_one_read() -> None:
    """R09: more than 256, counted over all that wait; empty ones count too."""
    applied = at(0)
    for n in range(MOST_OPERATIONS):
        step = applied.receive(batch(n + 1, n + 2), 0.0)
        applied = step.applied
        assert step.why is None
    step = applied.receive(batch(400, 401), 0.0)
    assert (step.why, step.applied.held, step.applied.observed) == ("overflow", (), 401)


@pytest.mark.parametrize(
    "large",
    [
        batch(10, 11, "a", size=MOST_BYTES + 1),
        batch(12, 13, "a", size=MOST_BYTES + 1),
        batch(10, 267, *(str(n) for n in range(MOST_OPERATIONS + 1))),
    ],
)
def test_a_batch_that_is_too_large_leads_to_a_read(large: Batch) -> None:
    """R09: 257 operations, or more than 1 MiB."""
    step = at(10).receive(large, 0.0)
    assert (step.applied.revision, step.ready, step.why) == (10, (), "overflow")
    assert step.applied.is_behind


def test_a_reset_needs_a_read_at_its_place_in_the_line() -> None:
    """R04"""
    reset = Batch("e", 11, 15, is_reset=True)
    applied = at(10).receive(reset, 0.0).applied
    step = applied.receive(batch(10, 11, "a"), 0.0)
    assert (step.applied.revision, step.why, step.applied.is_behind) == (11, "reset", True)


@pytest.mark.parametrize("bad", [batch(5, 5), batch(5, 4), batch(-1, 3)])
def test_a_batch_that_covers_no_interval_is_not_believed(bad: Batch) -> None:
    step = at(3).receive(bad, 0.0)
    assert (step.applied, step.why) == (at(3), "unsound")


def test_what_comes_while_one_reads_goes_on_from_what_was_read() -> None:
    applied = Applied().reading()
    for n in (12, 10, 11, 9):
        applied = applied.receive(batch(n, n + 1, str(n)), 0.0).applied
    step = applied.snapshot("e", 11, 0.0)
    assert [one.revision for one in step.ready] == [12, 13]
    assert (step.applied.revision, step.applied.is_behind) == (13, False)


def test_only_batches_that_touch_are_joined() -> None:
    """The last operation of each record counts; a hole is never closed."""
    first, second = batch(1, 2, "a", "b"), Batch("e", 2, 3, (Removal("row", "a"),))
    both = joined(first, second)
    assert both == Batch("e", 1, 3, (first.operations[1], Removal("row", "a")))
    assert joined(first, batch(3, 4)) is None
    assert joined(first, batch(2, 3, epoch="other")) is None
    assert joined(first, Batch("e", 2, 3, is_reset=True)) == Batch("e", 1, 3, is_reset=True)


# Each revision sets one of three records to a value; `states[n]` is what the log holds at n.
Write = tuple[str, int]


def states(writes: list[Write]) -> list[dict[str, int]]:
    found: list[dict[str, int]] = [{}]
    for id_, value in writes:
        found.append(found[-1] | {id_: value})
    return found


def interval(writes: list[Write], base: int, revision: int) -> Batch:
    last = dict(writes[base:revision])
    operations = tuple(Upsert(Record("row", id_, 1, last[id_], 1)) for id_ in last)
    return Batch("e", base, revision, operations)


@given(
    data=st.data(), writes=st.lists(st.tuples(st.sampled_from("abc"), st.integers()), max_size=9)
)
def test_whatever_comes_the_records_are_those_of_the_revision(
    data: st.DataObject, writes: list[Write]
) -> None:
    """R05, R06, R08: any intervals in any order, twice or never, reads and checks between them."""
    history, end = states(writes), len(writes)
    applied, records, now = Applied(), dict[str, object](), 0.0
    revisions = st.integers(0, end)

    def take(step: Step) -> None:
        nonlocal applied
        applied = step.applied
        for one in step.ready:
            records.update({op.record.id: op.record.value for op in one.operations})  # type: ignore[union-attr]
        if applied.revision is not None:
            assert records == history[applied.revision]

    for _ in range(data.draw(st.integers(0, 20))):
        now += data.draw(st.sampled_from([0.0, 0.3, 2.0]))
        match data.draw(st.sampled_from(["batch", "check", "read", "late", "begin", "lost"])):
            case "batch":
                base, revision = sorted((data.draw(revisions), data.draw(revisions)))
                take(applied.receive(interval(writes, base, revision), now))
            case "check":
                take(applied.observe("e", data.draw(revisions), now))
            case "read":
                read = data.draw(st.integers(applied.revision or 0, end))
                records.clear()
                records.update(history[read])
                take(applied.snapshot("e", read, now))
            case "begin":
                take(Step(applied.reading()))
            case "lost":
                take(Step(applied.lost("e", applied.observed)))
            case _:
                take(applied.late(now))
    take(applied.observe("e", end, now))
    assert applied.is_behind is (applied.revision != end)
    if applied.is_behind and not applied.is_waiting:
        assert replace(applied.late(now + 2 * PATIENCE_SECONDS)).why == "gap"
