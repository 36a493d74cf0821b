"""The outline of a conversation, read in pieces, and its bookmarks: one contract, every backend."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from desktop.core.chunks import NewChunk, System, Text, ToolCall, ToolResult
from desktop.core.outline import Piece
from desktop.core.protocols import TurnStore
from desktop.store import jsonl_outline, outline
from desktop.store.jsonl_pages import FSJSONLPages
from desktop.store.log import Log
from desktop.store.outline import Asked
from tests.fakes.stores import MemoryLog
from tests.unit.store.builders import AnyLog, chunk, new_tab, open_any, open_log, run
from tests.unit.store.test_contract import open_jsonl

PieceOf = Callable[..., Piece]


@pytest.fixture(params=["sql", "memory"])
def log(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[AnyLog]:
    with open_any(request.param, tmp_path) as made:
        yield made


@pytest.fixture(params=["sql", "memory", "jsonl"])
def read(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[TurnStore, PieceOf]]:
    """The store of a new conversation, and what gives pieces of its outline."""
    if request.param == "jsonl":
        with open_jsonl(tmp_path / "sessions", "tab") as store:
            run(store.make())
            pages = FSJSONLPages(tmp_path / "sessions", "tab")
            yield store, lambda **asked: jsonl_outline.read_piece(pages.page, Asked(**asked))
        return
    with open_any(request.param, tmp_path) as log:
        tab = new_tab(log, tmp_path)
        yield log.session(tab), lambda **asked: run(log.outline.piece(tab, **asked))


def turn(number: int, *, outcome: str = "done", words: str = "") -> list[NewChunk]:
    """Five rows: a prompt, a call, its result, an answer, the turn's end."""
    name = f"turn-{number}"
    return [
        chunk(f"u{number}", words or f"Prompt {number}", turn=name),
        chunk(f"c{number}", ToolCall(f"k{number}", "shell", {}), role="assistant", turn=name),
        chunk(f"r{number}", ToolResult(f"k{number}", "shell", "out"), role="tool", turn=name),
        chunk(f"a{number}", f"Answer {number}\nand more", role="assistant", turn=name),
        chunk(
            f"e{number}", System("turn_end", fields={"outcome": outcome}), role="system", turn=name
        ),
    ]


def lay(store: TurnStore, count: int) -> None:
    run(store.append([row for number in range(1, count + 1) for row in turn(number)]))


def words(piece: Piece) -> list[str]:
    return [one.words for one in piece.headings]


def test_the_tail_comes_first_and_the_pieces_before_it_join_to_the_whole(
    read: tuple[TurnStore, PieceOf],
) -> None:
    store, asked = read
    lay(store, 7)
    pieces = [asked(limit=3)]
    while pieces[-1].has_older:
        assert len(pieces[-1].headings) == 3
        pieces.append(asked(limit=3, before=pieces[-1].first))
        assert pieces[-1].last == pieces[-2].first - 1
        assert pieces[-1].has_newer
    joined = [word for piece in reversed(pieces) for word in words(piece)]
    assert joined == [f"Prompt {number}" for number in range(1, 8)]
    assert pieces[-1].first == 1


def test_pieces_after_a_place_join_too_and_end_with_the_log(
    read: tuple[TurnStore, PieceOf],
) -> None:
    store, asked = read
    lay(store, 7)
    first = asked(limit=2, around=1)
    assert words(first)[:2] == ["Prompt 1", "Prompt 2"]
    pieces = [first]
    while pieces[-1].has_newer:
        pieces.append(asked(limit=3, after=pieces[-1].last))
        assert pieces[-1].first == pieces[-2].last + 1
        assert len(pieces[-1].headings) <= 3
    joined = [word for piece in pieces for word in words(piece)]
    assert joined == [f"Prompt {number}" for number in range(1, 8)]
    assert words(asked(limit=3, after=pieces[-1].last)) == []


def test_around_a_row_its_own_prompt_is_among_the_lines(read: tuple[TurnStore, PieceOf]) -> None:
    store, asked = read
    lay(store, 9)
    middle = asked(limit=4, around=23)  # in the answer of prompt 5, which stands at 21
    assert "Prompt 5" in words(middle)
    assert middle.has_older and middle.has_newer
    assert len(middle.headings) == 4


def test_a_heading_has_the_first_line_and_says_how_its_turn_ended(
    read: tuple[TurnStore, PieceOf],
) -> None:
    store, asked = read
    run(store.append(turn(1, words="\n   \n  Mend \t the  door \n and more", outcome="failed")))
    run(store.append([chunk("p", Text(" ", attachments=({"name": "a.png"},)), turn="turn-2")]))
    piece = asked(limit=5)
    assert words(piece) == ["Mend the door", "a.png"]
    assert piece.ends == {"turn-1": "failed"}
    assert [one.turn_id for one in piece.headings] == ["turn-1", "turn-2"]
    assert all(one.is_prompt and one.created_at for one in piece.headings)


def test_what_was_taken_back_and_compacted_is_told(read: tuple[TurnStore, PieceOf]) -> None:
    store, asked = read
    run(store.append(turn(1)))
    run(store.append([chunk("s", System("compaction", "All so far"), role="system")]))
    run(store.append([chunk("gone", "Never mind", turn="turn-2")]))
    back = System("retracted", fields={"chunkIds": ["gone"]})
    run(store.append([chunk("b", back, role="system", turn="turn-3"), *turn(3)]))
    piece = asked(limit=9)
    assert words(piece) == ["Prompt 1", "Never mind", "Prompt 3"]
    assert piece.retracted == {"gone"}
    assert piece.compacted == 6
    assert [one.seq < piece.compacted for one in piece.headings] == [True, False, False]


def test_a_bookmarked_row_has_a_line_of_its_own(read: tuple[TurnStore, PieceOf]) -> None:
    store, asked = read
    lay(store, 3)
    piece = asked(limit=9, bookmarks=frozenset({4, 6, 12}))
    assert words(piece) == ["Prompt 1", "Answer 1", "Prompt 2", "Prompt 3", "shell"]
    assert [one.is_prompt for one in piece.headings] == [True, False, True, True, False]


def test_only_lines_that_hold_a_text_are_read(read: tuple[TurnStore, PieceOf]) -> None:
    store, asked = read
    run(store.append([*turn(1), *turn(2, words="Paint\nthe DÖOR"), *turn(3, words="100 %")]))
    assert words(asked(limit=9, text="döor")) == ["Paint"]
    assert words(asked(limit=9, text="%")) == ["100 %"]
    assert words(asked(limit=9, text="answer", bookmarks=frozenset({4}))) == ["Answer 1"]
    assert words(asked(limit=9, text="  ")) == ["Prompt 1", "Paint", "100 %"]


def test_an_empty_conversation_has_no_outline(read: tuple[TurnStore, PieceOf]) -> None:
    _, asked = read
    for where in ({}, {"before": 5}, {"after": 0}, {"around": 3}):
        piece = asked(limit=3, **where)
        assert not piece.headings and not piece.has_older and not piece.has_newer


def test_a_fork_reads_its_parents_prompts_and_then_its_own(log: AnyLog, tmp_path: Path) -> None:
    tab = new_tab(log, tmp_path)
    lay(log.session(tab), 3)
    fork = run(log.catalogue.fork_tab(tab, at_seq=10)).id
    run(log.session(fork).append(turn(4)))
    whole = run(log.outline.piece(fork, limit=9))
    assert words(whole) == ["Prompt 1", "Prompt 2", "Prompt 4"]
    newest = run(log.outline.piece(fork, limit=1, bookmarks=frozenset({10})))
    assert words(newest) == ["Prompt 4"]
    piece = run(log.outline.piece(fork, limit=1, before=whole.headings[-1].seq))
    assert words(piece) == ["Prompt 2"]
    assert words(run(log.outline.piece(fork, limit=1, after=6))) == ["Prompt 4"]


def test_a_read_looks_at_a_slice_and_says_where_it_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outline, "SLICE", 4)
    with open_log(tmp_path) as log:
        tab = new_tab(log, tmp_path)
        run(log.session(tab).append([*turn(1), *turn(2)]))
        piece = run(log.outline.piece(tab, limit=9))
        assert (words(piece), piece.first, piece.has_older) == ([], 7, True)
        older = run(log.outline.piece(tab, limit=9, before=piece.first))
        assert (words(older), older.first) == (["Prompt 2"], 3)


def test_a_row_that_cannot_be_read_costs_no_other(tmp_path: Path) -> None:
    with open_log(tmp_path) as log:
        tab = new_tab(log, tmp_path)
        lay(log.session(tab), 2)
        damage(log, tab, seq=1)
        piece = run(log.outline.piece(tab, limit=9, bookmarks=frozenset({1})))
        assert words(piece) == ["", "Prompt 2"]


def damage(log: Log, tab: str, *, seq: int) -> None:
    """Spoils a row from outside, past the refusals of the database."""
    with closing(sqlite3.connect(log.database)) as plain, plain:
        plain.execute("DROP TRIGGER chunks_no_update")
        plain.execute(
            "UPDATE chunks SET data_json = X'ff' WHERE tab_id = ? AND seq = ?", (tab, seq)
        )


# Bookmarks


def test_a_bookmark_is_set_and_taken_away_and_told_each_time(tmp_path: Path) -> None:
    told: list[int] = []
    with open_log(tmp_path, on_catalogue_change=lambda _: told.append(1)) as log:
        tab = new_tab(log, tmp_path)
        lay(log.session(tab), 1)

        async def set_and_hear(*, is_set: bool) -> int:
            before = await log.catalogue.revision()
            await log.catalogue.set_bookmark(tab, 4, is_set=is_set)
            return await log.catalogue.revision() - before

        assert run(log.catalogue.bookmarks(tab)) == frozenset()
        assert run(set_and_hear(is_set=True)) == 1
        assert run(set_and_hear(is_set=True)) == 0
        assert run(log.catalogue.bookmarks(tab)) == {4}
    with open_log(tmp_path) as again:
        assert run(again.catalogue.bookmarks(tab)) == {4}
        run(again.catalogue.set_bookmark(tab, 4, is_set=False))
        assert run(again.catalogue.bookmarks(tab)) == frozenset()


def test_a_bookmark_of_a_shared_row_is_that_of_all_who_read_it(log: AnyLog, tmp_path: Path) -> None:
    tab = new_tab(log, tmp_path)
    lay(log.session(tab), 3)
    fork = run(log.catalogue.fork_tab(tab, at_seq=10)).id
    run(log.session(fork).append(turn(4)))
    run(log.catalogue.set_bookmark(tab, 6, is_set=True))
    run(log.catalogue.set_bookmark(tab, 11, is_set=True))
    run(log.catalogue.set_bookmark(fork, 1, is_set=True))
    run(log.catalogue.set_bookmark(fork, 12, is_set=True))
    assert run(log.catalogue.bookmarks(tab)) == {1, 6, 11}
    assert run(log.catalogue.bookmarks(fork)) == {1, 6, 12}
    run(log.catalogue.set_bookmark(fork, 6, is_set=False))
    assert run(log.catalogue.bookmarks(tab)) == {1, 11}


def test_u13_what_a_fork_reads_of_a_purged_one_keeps_its_bookmarks(
    log: AnyLog, tmp_path: Path
) -> None:
    tab = new_tab(log, tmp_path)
    lay(log.session(tab), 3)
    fork = run(log.catalogue.fork_tab(tab, at_seq=10)).id
    run(log.catalogue.set_bookmark(tab, 6, is_set=True))
    run(log.catalogue.set_bookmark(tab, 12, is_set=True))
    run(log.catalogue.trash_tab(tab))
    run(log.catalogue.purge_tab(tab))
    assert run(log.catalogue.bookmarks(fork)) == {6}
    if isinstance(log, MemoryLog):
        return
    run(log.catalogue.trash_tab(fork))
    run(log.catalogue.purge_tab(fork))
    with closing(sqlite3.connect(log.database)) as plain:
        assert plain.execute("SELECT count(*) FROM bookmarks").fetchone() == (0,)
