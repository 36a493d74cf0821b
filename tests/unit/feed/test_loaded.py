"""The loaded range: what an operation changes in it, and where it ends (SPEC R07, R11)."""

from hypothesis import given
from hypothesis import strategies as st

from desktop.feed.batches import Operation, Record, Removal, Upsert
from desktop.feed.loaded import Loaded, Order


def record(place: int, value: int = 0) -> Record:
    return Record("row", f"r{place}", place, value)


def cut(state: dict[str, Record], order: Order, boundary: int | None) -> Loaded:
    """What a fresh read up to the boundary gives."""
    whole = Loaded(order, boundary=boundary)
    inside = [one for one in state.values() if whole.covers(one.place)]
    inside.sort(key=lambda one: one.place, reverse=order == "descending")
    return Loaded(order, tuple(inside), boundary)


def test_a_boundary_whose_record_is_gone_still_bounds() -> None:
    """R11"""
    loaded = cut({one.id: one for one in map(record, (5, 6, 7))}, "descending", 5)
    loaded = loaded.changed(Removal("row", "r5")).changed(Upsert(record(4)))
    assert [one.place for one in loaded.records] == [7, 6]
    loaded = loaded.extended(Loaded("descending", (record(4), record(3)), 3))
    assert [one.place for one in loaded.records] == [7, 6, 4, 3]


def test_new_records_come_in_at_an_open_end_only() -> None:
    whole = Loaded("ascending", (record(1),)).changed(Upsert(record(2)))
    assert [one.place for one in whole.records] == [1, 2]
    part = Loaded("ascending", (record(1),), boundary=1).changed(Upsert(record(2)))
    assert [one.place for one in part.records] == [1]
    head = Loaded("descending", (record(5),), boundary=5).changed(Upsert(record(6)))
    assert [one.place for one in head.records] == [6, 5]


@given(
    order=st.sampled_from(["ascending", "descending"]),
    boundary=st.none() | st.integers(0, 9),
    steps=st.lists(st.tuples(st.booleans(), st.integers(0, 9), st.integers(0, 3)), max_size=30),
)
def test_operations_leave_what_a_fresh_read_would_give(
    order: Order, boundary: int | None, steps: list[tuple[bool, int, int]]
) -> None:
    """R07"""
    state: dict[str, Record] = {}
    loaded = Loaded(order, boundary=boundary)
    for is_upsert, place, value in steps:
        operation: Operation
        if is_upsert:
            operation = Upsert(record(place, value))
            state[f"r{place}"] = record(place, value)
        else:
            operation = Removal("row", f"r{place}")
            state.pop(f"r{place}", None)
        loaded = loaded.changed(operation)
        assert loaded == loaded.changed(operation) == cut(state, order, boundary)


def test_a_record_that_moves_is_where_it_belongs() -> None:
    loaded = Loaded("ascending", (record(1), record(2), record(3)), boundary=3)
    moved = Record("row", "r1", 9, 0)
    assert [one.id for one in loaded.changed(Upsert(moved)).records] == ["r2", "r3"]
    moved = Record("row", "r3", 0, 0)
    assert [one.id for one in loaded.changed(Upsert(moved)).records] == ["r3", "r1", "r2"]
