"""The model over a scope, under Qt's own tester (SPEC Q02, A10)."""

import itertools
import random

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtTest import QAbstractItemModelTester

from desktop.core.chunks import System, ToolCall, ToolResult
from desktop.core.reducer import Dropped
from desktop.ui.transcript.model import ROW_ROLE
from tests.ui.transcript.desk import Desk, texts


def test_the_tester_finds_no_fault_under_random_append_evict_prepend_and_seal(
    small_desk: Desk,
) -> None:
    """Q02: and persistent indexes stay on their rows."""
    desk = small_desk
    desk.say(*[f"row {number}" for number in range(100)])
    desk.show()
    tester = QAbstractItemModelTester(
        desk.model, QAbstractItemModelTester.FailureReportingMode.Warning
    )
    tester.setUseFetchMore(False)
    dice = random.Random(11)
    numbers = itertools.count()
    streaming: list[str] = []
    resets: list[bool] = []
    gone: set[str] = set()
    desk.model.modelReset.connect(lambda: resets.append(True))
    desk.model.rowsAboutToBeRemoved.connect(
        lambda _, first, last: gone.update(row.id for row in desk.model.rows()[first : last + 1])
    )
    for _ in range(250):
        held = [
            (QPersistentModelIndex(desk.model.index(at)), desk.model.row(at).id)
            for at in range(0, desk.model.rowCount(), 7)
        ]
        match dice.randrange(9):
            case 0 | 1:
                desk.say(f"new {next(numbers)}")
            case 2:
                streaming.append(f"o{next(numbers)}")
                desk.open_block(streaming[-1])
            case 3 if streaming:
                desk.grow(streaming[0], "text")
            case 4 if streaming:
                sealed = streaming.pop(dice.randrange(len(streaming)))
                desk.write([desk.chunk("sealed", id_=sealed)])
            case 5 if streaming:
                desk.hub.live(desk.tab, Dropped(streaming.pop()))
            case 6:
                desk.scope.follow(dice.random() < 0.5)
            case 7:
                desk.model.fetch_older()
            case _:
                desk.model.fetchMore(QModelIndex())
        if dice.random() < 0.3:
            desk.settle()
        left = {row.id for row in desk.model.rows()} if not resets else set[str]()
        resets.clear()
        for index, id_ in held:
            assert not index.isValid() or desk.model.row(index.row()).id == id_
            assert index.isValid() or id_ not in left or id_ in gone
        gone.clear()
        assert [row.id for row in desk.model.rows()] == [row.id for row in desk.scope.rows]
    desk.settle()


def test_a_block_that_seals_before_an_older_one_keeps_its_index_and_its_place_on_the_screen(
    desk: Desk,
) -> None:
    """Q01, Q02"""
    desk.say(*texts(20))
    view = desk.show()
    for id_ in ("a", "b"):
        desk.open_block(id_)
        desk.grow(id_, f"{id_} streams")
    desk.settle()
    kept = QPersistentModelIndex(desk.model.index(21))
    moved: list[int] = []
    desk.model.rowsMoved.connect(lambda *_: moved.append(1))
    desk.write([desk.chunk("b streams", id_="b")])
    desk.settle()
    assert (kept.row(), desk.model.row(20).id, len(moved)) == (20, "b", 1)
    assert [desk.model.row(one.row).id for one in view.layout_now.placed][-2:] == ["b", "a"]


def test_more_can_be_fetched_only_where_there_are_newer_rows(small_desk: Desk) -> None:
    desk = small_desk
    desk.say(*["row"] * 100)
    view = desk.show()
    root = QModelIndex()
    assert not desk.model.canFetchMore(root)
    view.jump(20)
    desk.settle()
    assert desk.model.canFetchMore(root)
    assert not desk.model.canFetchMore(desk.model.index(0))


def test_a_row_has_its_value_and_its_words(desk: Desk) -> None:
    desk.say("the answer")
    desk.show()
    index = desk.model.index(0)
    assert desk.model.data(index, ROW_ROLE) is desk.model.row(0)
    assert desk.model.data(index, Qt.ItemDataRole.DisplayRole) == "Answer: the answer"
    assert desk.model.data(QModelIndex()) is None


def test_a_result_changes_the_card_of_its_call(desk: Desk) -> None:
    desk.say(ToolCall("k", "read_file", {"path": "a.txt"}))
    desk.show()
    changed = desk.changes()
    desk.say(ToolResult("k", "read_file", "text"))
    assert 0 in changed


def test_a_row_that_is_taken_back_is_announced(desk: Desk) -> None:
    desk.say("one", "two")
    desk.show()
    changed = desk.changes()
    desk.say(System("retracted", "", {"chunkIds": ["n2"]}))
    assert changed == [1]
