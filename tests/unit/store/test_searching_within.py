"""SPEC U40: a text typed into a conversation's own field is found as it stands, wherever it is."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from desktop.core.errors import UnknownConversation
from desktop.store import jsonl_search, searching_within
from desktop.store.codec import search_text
from desktop.store.jsonl import FSJSONLStore
from desktop.store.searching_within import Wanted
from tests.unit.store.builders import (
    AnyLog,
    chunk,
    clock,
    new_tab,
    open_any,
    open_log,
    run,
)

LETTERS = st.text(alphabet="aAbÄäßéЖж漢%_\\ \n'", max_size=8)


def say(log: AnyLog, tab: str, *texts: str) -> None:
    old = len(run(log.session(tab).load()).chunks)
    new = [chunk(f"{tab}-{old + at}", text, role="assistant") for at, text in enumerate(texts)]
    run(log.session(tab).append(new))


def all_within(log: AnyLog, tab: str, text: str) -> list[int]:
    """Every seq that is found, piece by piece."""
    found = run(log.search.within(tab, text))
    seqs = list(found.seqs)
    while found.next is not None:
        found = run(log.search.within(tab, text, place=found.next))
        seqs += found.seqs
    return seqs


@pytest.mark.parametrize("kind", ["sql", "memory"])
def test_u40_a_text_is_found_in_the_middle_of_a_word_in_any_case_of_letters_newest_first(
    kind: str, tmp_path: Path
) -> None:
    with open_any(kind, tmp_path) as log:
        tab, other = new_tab(log, tmp_path), new_tab(log, tmp_path)
        say(log, tab, "premiddleware", "nothing", "MIDDLE of it", "100% sure", "1000 sure")
        say(log, other, "middle")
        assert all_within(log, tab, "middle") == [3, 1]
        assert all_within(log, tab, "0% s") == [4]
        assert all_within(log, tab, "   ") == []


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(LETTERS, min_size=1, max_size=6), wanted=LETTERS)
def test_u40_what_is_found_is_what_a_plain_look_at_every_row_finds(
    texts: list[str], wanted: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("log")
    with open_log(folder) as log:
        tab = new_tab(log, folder)
        say(log, tab, *texts)
        rows = run(log.session(tab).load()).chunks
        asked = Wanted.of(wanted)
        expected = [
            row.seq
            for row in reversed(rows)
            if asked is not None and wanted.lower() in (search_text(row.data) or "").lower()
        ]
        assert set(expected) <= set(all_within(log, tab, wanted))


def test_u40_a_long_conversation_is_looked_through_in_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching_within, "SLICE", 4)
    with open_log(tmp_path) as log:
        tab = new_tab(log, tmp_path)
        say(log, tab, *(f"needle {n}" if n % 3 == 0 else "hay" for n in range(20)))
        first = run(log.search.within(tab, "needle"))
        assert (first.seqs, first.next) == ((19,), 16)
        assert all_within(log, tab, "needle") == [19, 16, 13, 10, 7, 4, 1]


def test_u40_a_fork_finds_what_it_reads_and_nothing_of_what_came_after_it(tmp_path: Path) -> None:
    with open_log(tmp_path) as log:
        tab = new_tab(log, tmp_path)
        run(log.session(tab).append([chunk("q", "needle one", role="user")]))
        say(log, tab, "needle two")
        fork = run(log.catalogue.fork_tab(tab, at_seq=0)).id
        inner = run(log.catalogue.fork_tab(tab, at_seq=0)).id
        say(log, fork, "own needle")
        assert all_within(log, fork, "needle") == [1]
        assert all_within(log, inner, "needle") == []
        assert all_within(log, tab, "needle") == [2, 1]
        with pytest.raises(UnknownConversation):
            run(log.search.within("nobody", "needle"))


def test_u40_a_conversation_in_a_file_is_looked_through_from_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jsonl_search, "SLICE_BYTES", 600)
    store = FSJSONLStore(tmp_path, "talk", now_ms=clock())
    run(store.append([chunk(f"c{n}", f"Needle {n}" if n % 2 else "hay") for n in range(9)]))
    path = tmp_path / "talk.jsonl"
    wanted = Wanted.of("needle")
    assert wanted is not None
    found = jsonl_search.look_within(path, "talk", wanted, before=None)
    seqs = list(found.seqs)
    assert found.next is not None
    while found.next is not None:
        found = jsonl_search.look_within(path, "talk", wanted, before=found.next)
        seqs += found.seqs
    assert seqs == [8, 6, 4, 2]
