"""SPEC U40, FIELD F-I04: whatever is typed is no error, and finds the row that holds it."""

import asyncio
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection

from desktop.core.chunks import System, Text, ToolCall, ToolResult
from desktop.core.protocols import Search
from desktop.core.records import SearchFilter, SearchHit, SearchPage, SearchPlace
from desktop.store import search, search_query, search_texts
from desktop.store.codec import search_text
from desktop.store.log import Log
from tests.fakes.stores import MemoryLog
from tests.unit.store.builders import AnyLog, chunk, clock, counter, new_tab, open_log, run

# What a person may type, and the message that holds it.
TYPED = {
    "don't": "I don't know why it's so",
    "it's": "well, it's done",
    "src/main.py": "look into src/main.py first",
    "gateway/run.py": "then gateway/run.py fails",
    "#123": "see issue #123 for that",
    "C++": "written in C++ and older",
    "C#": "written in C# and newer",
    "foo-bar": "the foo-bar flag",
    "a.b.c": "import a.b.c here",
    '"exact phrase"': "an exact phrase stands here",
    "100%": "it is 100% sure",
    "50 %": "about 50 % of them",
    "$5": "costs $5 each",
    "<div>": "a <div> tag",
    "[x]": "- [x] done",
    "{y}": "f-string {y} value",
    "^": "a caret ^ alone",
    "*": "a star * alone",
    "~": "a tilde ~ alone",
    "|": "a pipe | alone",
    "\\": "a backslash \\ alone",
    "%": "a percent % alone",
    "_": "an underscore _ alone",
    "NEAR": "it is NEAR the end",
    "NEAR(a b)": "call NEAR(a b) there",
    "AND": "this AND that",
    "OR": "this OR that",
    "NOT": "this, NOT that",
    "col:val": "with col:val set",
    "search_text:odd": "with search_text:odd set",
    "TODO:": "TODO: mend this",
    "user@host": "ssh user@host -p 2",
    '"unbalanced': "an unbalanced quote",
    '"': 'a lone " stands here',
    'say "': 'they say " and go',
    "(": "open ( bracket",
    "((one": "((one bracket",
    "🦜": "a parrot 🦜 flies",
    "漢字": "これは漢字のテストです",
    "テスト": "これは漢字のテストです",
    "ไทย": "ภาษาไทยง่าย",
    "한국": "나는한국사람",
    "naïve": "a naive way",
    "CAFE": "the café is open",
    "straße": "an der Straße",
    "ПРИВЕТ": "скажи привет",
    "middle": "premiddleware",
    "½": "add ½ cup",
    "a\x00b": "it says a b here",
}


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    with open_log(tmp_path) as made:
        yield made


@pytest.fixture
def tab(log: Log, tmp_path: Path) -> str:
    return new_tab(log, tmp_path)


def find(log: AnyLog, text: str, *, limit: int = 1_000) -> list[SearchHit]:
    """All hits, page by page."""
    hits: list[SearchHit] = []
    page = SearchPage(next=SearchPlace(0))
    place = None
    while page.next is not None:
        page = run(log.search.find(text, limit=limit, place=place))
        hits += page.hits
        place = page.next
    return hits


def say(log: AnyLog, tab: str, *texts: str) -> None:
    old = len(run(log.session(tab).load()).chunks)
    new = [chunk(f"{tab}-{old + at}", text, role="assistant") for at, text in enumerate(texts)]
    run(log.session(tab).append(new))


def plain(folder: Path) -> "closing[sqlite3.Connection]":
    return closing(sqlite3.connect(folder / "nacre.db", isolation_level=None))


def test_f_i04_each_finds_its_message_and_no_letter_on_the_way_is_an_error(
    log: Log, tab: str
) -> None:
    say(log, tab, *dict.fromkeys(TYPED.values()))
    say(log, tab, *(f"plain row {number}x" for number in range(500)))
    seqs = {row.seq: row for row in run(log.session(tab).load()).chunks}
    for typed, message in TYPED.items():
        for end in range(len(typed)):
            run(log.search.find(typed[:end], limit=5))
        found = [seqs[hit.seq].data for hit in find(log, typed)]
        assert Text(message) in found, typed
        assert len(found) < 60, typed


@pytest.mark.parametrize("blank", ["", " ", "\t\n", "\x00", "\ud800"])
def test_blanks_alone_find_nothing_and_are_no_error(log: Log, tab: str, blank: str) -> None:
    say(log, tab, "hello")
    assert run(log.search.find(blank, limit=5)) == SearchPage()


@pytest.mark.parametrize(
    "long", ["word " * 1_000, "x" * 5_000, "%" * 5_000, "漢" * 5_000, '"' * 5_000, "a" * 60_000]
)
def test_a_query_of_thousands_of_letters_finds_its_message(log: Log, tab: str, long: str) -> None:
    say(log, tab, f"before {long} after", "another")
    assert [hit.seq for hit in find(log, long)] == [1]


def test_operators_are_words(log: Log, tab: str) -> None:
    say(log, tab, "apple", "pear", "apple OR pear")
    assert [hit.seq for hit in find(log, "apple OR pear")] == [3]
    assert find(log, "apple NOT pear") == []


def test_quotes_in_pairs_keep_words_together(log: Log, tab: str) -> None:
    say(log, tab, "blue sky", "sky blue", "a blue sky again")
    assert [hit.seq for hit in find(log, '"blue sky"')] == [3, 1]
    assert [hit.seq for hit in find(log, "blue sky")] == [3, 2, 1]
    assert [hit.seq for hit in find(log, '"blue sky" again')] == [3]


def test_the_last_word_is_completed_from_its_third_letter_on(log: Log, tab: str) -> None:
    say(log, tab, "completion", "come")
    assert search_query.parse("com").match == '"com"*'
    assert [hit.seq for hit in find(log, "com")] == [2, 1]
    assert [hit.seq for hit in find(log, "compl")] == [1]
    assert search_query.parse("co").match == '"co"'
    assert search_query.parse("com ").match == '"com"'
    assert search_query.parse('"com"').match == '"com"'
    assert search_query.parse("src/mai").match == '"src/mai"*'


def test_hits_come_newest_first_over_all_conversations_page_by_page(
    log: Log, tab: str, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    second = new_tab(log, other)
    for number in range(4):
        say(log, tab, f"needle {number}")
        say(log, second, f"needle {number}", "hay")
    expected = [(place, seq) for seq in (4, 3, 2, 1) for place in (second, tab)]
    for limit in (1, 3, 8, 50):
        found = [(hit.tab_id, hit.seq) for hit in find(log, "needle", limit=limit)]
        assert [place for place, _ in found] == [place for place, _ in expected]
        assert found[1::2] == expected[1::2]


def test_a_hit_says_where_it_stands_and_marks_what_matched(
    log: Log, tab: str, tmp_path: Path
) -> None:
    run(log.catalogue.rename_tab(tab, "My talk"))
    say(log, tab, "lorem " * 200 + "the Needle and the needle-case" + " ipsum" * 200)
    hit = find(log, "needle")[0]
    assert (hit.tab_id, hit.title, hit.directory) == (tab, "My talk", str(tmp_path.resolve()))
    assert (hit.seq, hit.role, hit.type) == (1, "assistant", "text")
    assert {hit.snippet[low:high].lower() for low, high in hit.marks} == {"needle"}
    assert len(hit.snippet) <= search_texts.SNIPPET_LETTERS
    look = find(log, "eedle")[0]
    assert {look.snippet[low:high] for low, high in look.marks} == {"eedle"}


def test_a_snippet_of_endless_words_stays_short_and_keeps_its_mark(log: Log, tab: str) -> None:
    say(log, tab, "x" * 50_000 + " needle " + "y" * 50_000)
    hit = find(log, "needle")[0]
    assert len(hit.snippet) <= search_texts.SNIPPET_LETTERS
    assert [hit.snippet[low:high] for low, high in hit.marks] == ["needle"]


def test_all_that_a_person_may_remember_is_found(log: Log, tab: str) -> None:
    rows = [
        chunk("u", Text("see it", attachments=({"name": "plan-needle.pdf", "sha256": "0"},))),
        chunk("c", ToolCall("1", "read_file", {"path": "needle.txt"}), role="assistant"),
        chunk("r", ToolResult("1", "read_file", "a needle"), role="tool"),
        chunk("p", System("prompt", "needle", fields={"tools": []}), role="system"),
    ]
    run(log.session(tab).append(rows))
    assert [hit.type for hit in find(log, "needle")] == ["tool_result", "tool_call", "text"]


def test_conversations_in_the_bin_or_purged_are_left_out(
    log: Log, tab: str, tmp_path: Path
) -> None:
    say(log, tab, "needle one")
    kept = new_tab(log, tmp_path)
    say(log, kept, "needle two")
    with plain(tmp_path) as connection:
        for column in ("trashed_at", "purged_at"):
            connection.execute(f"UPDATE tabs SET {column} = 5 WHERE id = ?", (tab,))
            assert [hit.tab_id for hit in find(log, "needle")] == [kept]
            assert [hit.tab_id for hit in find(log, "eedl")] == [kept]
            connection.execute(f"UPDATE tabs SET {column} = NULL WHERE id = ?", (tab,))
        assert len(find(log, "needle")) == 2
        connection.execute("UPDATE tabs SET purged_at = 5 WHERE id = ?", (tab,))
        connection.execute("DELETE FROM chunks WHERE tab_id = ?", (tab,))
        connection.execute("UPDATE tabs SET purged_at = NULL WHERE id = ?", (tab,))
    assert [hit.tab_id for hit in find(log, "needle")] == [kept]


def test_damaged_rows_and_rows_without_a_text_disturb_no_search(
    log: Log, tab: str, tmp_path: Path
) -> None:
    """C12."""
    say(log, tab, "needle one")
    with plain(tmp_path) as connection:
        for seq, data, text in (
            (2, "{not json", b"needle \xff\xfe broken"),
            (3, b"\xff\xfe", b"needle three \xc3"),
            (4, "{}", None),
        ):
            connection.execute(
                "INSERT INTO chunks(id, tab_id, seq, turn_id, role, type, data_json, created_at,"
                " search_text) VALUES (?, ?, ?, 't', 'assistant', 'text', CAST(? AS TEXT), 1,"
                " CAST(? AS TEXT))",
                (f"row-{seq}", tab, seq, data, text),
            )
    assert [hit.seq for hit in find(log, "needle")] == [3, 2, 1]
    assert [hit.seq for hit in find(log, "eedle")] == [3, 2, 1]


def test_looking_goes_on_slice_by_slice_until_nothing_is_left(
    log: Log, tab: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """U40: all hits reachable, and an empty page says whether it is the last."""
    monkeypatch.setattr(search, "SLICE", 5)
    say(log, tab, "premiddleware 0", *(f"hay {at}" for at in range(20)), "unmiddled", "hay")
    first = run(log.search.find("middle", limit=5))
    assert [hit.seq for hit in first.hits] == [22]
    assert first.next is not None
    assert run(log.search.find("middle", limit=5, place=first.next)).hits == ()
    assert [hit.seq for hit in find(log, "middle")] == [22, 1]
    assert [hit.seq for hit in find(log, "middle", limit=1)] == [22, 1]


def test_a_prefix_of_many_rows_is_answered_from_the_newest_as_the_index_answers(
    log: Log, tab: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(log, tab, *(f"préfix{at} {'other' * (at % 3)} end" for at in range(300)))
    fast = find(log, "end pref", limit=20)
    monkeypatch.setattr(search, "NEWEST_ROWS", 0)
    slow = find(log, "end pref", limit=20)
    assert [hit.seq for hit in fast] == list(range(300, 0, -1))
    assert fast == slow


def test_the_small_index_splits_words_as_the_large_one(log: Log, tmp_path: Path) -> None:
    with plain(tmp_path) as connection:
        made = connection.execute(
            "SELECT sql FROM sqlite_master WHERE name = 'chunks_search'"
        ).fetchone()[0]
    assert f"tokenize='{search_texts.TOKENIZER}'" in made


ANY_TEXT = st.text(
    st.one_of(st.sampled_from("\"'*^:()+-~{}[]\\/%_ \x00\ud800漢é🦜aNEARORD1"), st.characters()),
    max_size=60,
)


@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(text=ANY_TEXT, typed=ANY_TEXT)
def test_no_text_is_an_error_and_every_stored_text_finds_itself(
    log: Log, tmp_path: Path, text: str, typed: str
) -> None:
    tab = new_tab(log, tmp_path)
    run(log.session(tab).append([chunk(tab, text)]))
    run(log.search.find(typed, limit=3))
    stored = search_text(Text(text))
    if stored is None or not search_query.parse(text).words:
        return
    assert tab in {hit.tab_id for hit in find(log, text)}


LETTERS = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=10)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(words=st.lists(LETTERS, min_size=1, max_size=4))
def test_every_stored_word_can_be_found(log: Log, tmp_path: Path, words: list[str]) -> None:
    tab = new_tab(log, tmp_path)
    say(log, tab, " ".join(words))
    for word in words:
        assert tab in {hit.tab_id for hit in find(log, word)}


def test_a_cancelled_search_stops_in_its_middle_and_the_next_one_works(
    log: Log, tab: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(log, tab, "needle")
    begun = threading.Event()
    ended = threading.Event()

    def endless(connection: Connection, **_: object) -> SearchPage:
        begun.set()
        try:
            connection.exec_driver_sql(
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
                " SELECT max(i) FROM n"
            )
        finally:
            ended.set()
        return SearchPage()

    async def cancel_one() -> SearchPage:
        with monkeypatch.context() as patched:
            patched.setattr(search, "read_hits", endless)
            task = asyncio.ensure_future(log.search.find("needle", limit=1))
            waiting = asyncio.ensure_future(log.search.find("needle", limit=1))
            await asyncio.to_thread(begun.wait, 10)
            waiting.cancel()
            task.cancel()
            await asyncio.wait([task, waiting])
        assert task.cancelled()
        assert await asyncio.to_thread(ended.wait, 10)
        return await log.search.find("needle", limit=1)

    assert len(run(cancel_one()).hits) == 1


def test_tidying_merges_in_steps_after_writes_and_then_has_nothing_to_do(
    log: Log, tab: str, tmp_path: Path
) -> None:
    for number in range(40):
        say(log, tab, f"word{number} and more")
    assert log.upkeep.is_untidy
    before = _segments(tmp_path)
    while run(log.upkeep.tidy()):
        pass
    assert _segments(tmp_path) < before
    assert not log.upkeep.is_untidy
    changes = _data_version(tmp_path)
    assert not run(log.upkeep.tidy())
    assert _data_version(tmp_path) == changes
    say(log, tab, "one more")
    assert log.upkeep.is_untidy
    assert len(find(log, "word7")) == 1


def _segments(folder: Path) -> int:
    with plain(folder) as connection:
        return connection.execute("SELECT count(DISTINCT segid) FROM chunks_search_idx").fetchone()[
            0
        ]


def _data_version(folder: Path) -> bytes:
    """The structure of the index; each merge writes it anew."""
    with plain(folder) as connection:
        return connection.execute("SELECT block FROM chunks_search_data WHERE id = 10").fetchone()[
            0
        ]


def test_a_log_for_reading_is_searched_and_never_tidied(tmp_path: Path) -> None:
    with open_log(tmp_path) as log:
        say(log, new_tab(log, tmp_path), "needle")
    with open_log(tmp_path, read_only=True) as log:
        assert len(find(log, "needle")) == 1
        assert not run(log.upkeep.tidy())


@pytest.mark.parametrize("kind", ["sql", "memory"])
def test_the_double_finds_what_the_database_finds(kind: str, tmp_path: Path) -> None:
    if kind == "memory":
        _check_double(MemoryLog(now_ms=clock(), new_id=counter()), tmp_path)
        return
    with open_log(tmp_path) as log:
        _check_double(log, tmp_path)


def _check_double(log: AnyLog, folder: Path) -> None:
    tab = new_tab(log, folder)
    say(log, tab, "blue sky", "sky blue", "Needle in the sky")
    door: Search = log.search
    assert [hit.seq for hit in find(log, "sky", limit=2)] == [3, 2, 1]
    assert [hit.seq for hit in find(log, '"blue sky"')] == [1]
    assert [hit.seq for hit in find(log, "needle sky")] == [3]
    assert run(door.find(" ", limit=3)) == SearchPage()
    assert run(door.find("sky", limit=3, only=SearchFilter(role="user"))).hits == ()
    hit = run(door.find("needle", limit=1)).hits[0]
    assert (hit.tab_id, hit.directory, hit.role) == (tab, str(folder.resolve()), "assistant")
    assert [hit.snippet[low:high].lower() for low, high in hit.marks] == ["needle"]
