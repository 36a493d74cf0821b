"""Pages of a conversation's file, and what is found in it."""

import json
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from desktop.core.chunks import DamagedRow, LogChunk, NewChunk, System, Text
from desktop.core.errors import StoreDamaged, StoreError
from desktop.core.records import Page, Receipt
from desktop.store import search_query
from desktop.store.jsonl import FSJSONLStore
from desktop.store.jsonl_pages import FSJSONLPages
from desktop.store.jsonl_search import Hits, Sought, lines_before, look
from tests.unit.store.builders import chunk, clock, run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "sessions"


@pytest.fixture
def file(folder: Path) -> Path:
    return folder / "s.jsonl"


def append(folder: Path, *chunks: NewChunk) -> Receipt:
    async def work() -> Receipt:
        store = FSJSONLStore(folder, "s", now_ms=clock())
        try:
            return await store.append(chunks)
        finally:
            await store.close()

    return run(work())


def answers(*names: str) -> list[NewChunk]:
    return [chunk(name, f"text of {name}", role="assistant") for name in names]


def seqs(page: Page) -> list[int]:
    return [row.seq for row in page.rows]


def test_a_page_follows_what_is_added_and_has_the_revision_of_its_receipt(folder: Path) -> None:
    """R04: a view takes receipts and pages for one line of revisions."""
    pages = None
    for count in range(1, 6):
        receipt = append(folder, *answers(*(f"{count}-{n}" for n in range(count))))
        pages = pages or FSJSONLPages(folder, "s")
        page = pages.page(limit=3)
        assert page.revision == receipt.revision == pages.revision()
        assert page.rows[-1] == receipt.chunks[-1]
        assert page.total == receipt.chunks[-1].seq


def test_a_line_that_can_not_be_read_stands_in_its_place(folder: Path, file: Path) -> None:
    """C12, F-S02: shown as damaged, never skipped in silence."""
    append(folder, *answers("a", "b", "c"))
    lines = file.read_bytes().split(b"\n")
    lines[2] = b"}{ half a text"
    file.write_bytes(b"\n".join(lines))
    pages = FSJSONLPages(folder, "s")
    page = pages.page(limit=9)
    assert seqs(page) == [1, 2, 3]
    damaged = page.rows[1]
    assert isinstance(damaged, DamagedRow)
    assert (damaged.raw, "not JSON" in damaged.reason) == ("}{ half a text", True)
    assert seqs(pages.page(limit=1, after=1)) == [2]
    append(folder, *answers("d"))
    assert seqs(pages.page(limit=9)) == [1, 2, 3, 4]
    assert append(folder, *answers("e")).revision == pages.revision()


def test_a_row_whose_payload_alone_is_damaged_keeps_its_place_and_its_id(
    folder: Path, file: Path
) -> None:
    """C12: it counts for views and for agents alike, as it does in the database."""
    append(folder, *answers("a", "b", "c"))
    whole = file.read_bytes()
    file.write_bytes(whole.replace(b'{"text":"text of b"', b'{"text":"text \0\0 b"'))
    page = FSJSONLPages(folder, "s").page(limit=9)
    assert [(row.id, row.seq) for row in page.rows] == [("a", 1), ("b", 2), ("c", 3)]
    assert isinstance(page.rows[1], DamagedRow)
    receipt = append(folder, *answers("d"))
    assert (receipt.base_revision, receipt.chunks[0].seq) == (page.revision, 4) == (3, 4)
    assert "line 3" in FSJSONLPages(folder, "s").fault()


def test_a_damaged_line_that_was_no_row_takes_no_place(folder: Path, file: Path) -> None:
    append(folder, *answers("a"))
    with file.open("ab") as end:
        end.write(b"}{\n")
    pages = FSJSONLPages(folder, "s")
    assert seqs(pages.page(limit=9)) == [1, 2]
    row = json.loads(file.read_bytes().split(b"\n")[1])
    with file.open("ab") as end:
        end.write(json.dumps({**row, "id": "b", "seq": 2}).encode() + b"\n")
    page = pages.page(limit=9)
    assert [row.id for row in page.rows] == ["a", "b"]


def test_a_batch_on_its_way_is_not_shown(folder: Path, file: Path) -> None:
    """S04, S10: another process may be writing it."""
    append(folder, *answers("a"))
    begin = file.stat().st_size
    append(folder, *answers("b", "c"))
    whole = file.read_bytes()
    pages = FSJSONLPages(folder, "s")
    for size in range(begin, len(whole) - 1):
        file.write_bytes(whole[:size])
        assert seqs(pages.page(limit=9)) == [1]
    file.write_bytes(whole)
    assert seqs(pages.page(limit=9)) == [1, 2, 3]


def test_a_file_that_is_gone_is_an_error_and_no_empty_page(folder: Path, file: Path) -> None:
    append(folder, *answers("a"))
    pages = FSJSONLPages(folder, "s")
    assert seqs(pages.page(limit=9)) == [1]
    file.rename(folder / "other")
    with pytest.raises(StoreError, match="which is not there") as error:
        pages.page(limit=9)
    assert str(file) in error.value.sentence
    (folder / "other").rename(file)
    assert seqs(pages.page(limit=9)) == [1]
    file.write_bytes(b"my shopping list\n")
    with pytest.raises(StoreDamaged, match="left alone"):
        pages.page(limit=9)


def test_another_file_in_its_place_is_read_anew(folder: Path, file: Path) -> None:
    append(folder, *answers("a", "b", "c"))
    pages = FSJSONLPages(folder, "s")
    pages.page(limit=9)
    lines = file.read_bytes().split(b"\n")
    (folder / "new").write_bytes(b"\n".join([*lines[:1], lines[3], b""]))
    (folder / "new").rename(file)
    assert [row.id for row in pages.page(limit=9).rows] == ["c"]


@pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="counts the bytes Linux counts")
def test_a_page_reads_its_own_rows_whatever_stands_around_them(folder: Path) -> None:
    """P11, R14: once the file was gone through, a page costs its rows and a look costs nothing."""

    def read_bytes() -> int:
        fields = dict(line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())
        return int(fields["rchar"])

    append(folder, *(chunk(f"c{n}", "x" * 10_000, role="assistant") for n in range(2_000)))
    pages = FSJSONLPages(folder, "s")
    pages.page(limit=1)
    before = read_bytes()
    assert seqs(pages.page(limit=10, before=1_000)) == list(range(990, 1_000))
    assert pages.revision() == 2_000
    assert read_bytes() - before < 10 * 40_000


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    sizes=st.lists(st.integers(1, 4), min_size=1, max_size=8),
    bad=st.dictionaries(
        st.integers(1, 20), st.sampled_from([b"text", b"row", b"more"]), max_size=3
    ),
    limit=st.integers(1, 6),
)
def test_pages_put_together_are_the_whole_file_whatever_is_damaged(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], bad: dict[int, bytes], limit: int
) -> None:
    """P07, S01: forwards and backwards each line comes once, in order."""
    folder = tmp_path_factory.mktemp("pages")
    for number, size in enumerate(sizes):
        append(folder, *answers(*(f"{number}-{n}" for n in range(size))))
    file = folder / "s.jsonl"
    lines = file.read_bytes().split(b"\n")
    for number, word in bad.items():
        if number < len(lines) - 1:
            lines[number] = lines[number].replace(word, b"\xff" * 5)
    file.write_bytes(b"\n".join(lines))
    pages = FSJSONLPages(folder, "s")
    everything = pages.page(limit=1_000)
    assert pages.revision() == append(folder).revision
    assert seqs(everything) == list(range(1, sum(sizes) + 1))
    assert not (everything.has_older or everything.has_newer)
    forwards: list[LogChunk | DamagedRow] = []
    after = 0
    while (page := pages.page(limit=limit, after=after)).rows:
        forwards += page.rows
        after = page.rows[-1].seq
    backwards: list[LogChunk | DamagedRow] = []
    before = sum(sizes) + 1
    while (page := pages.page(limit=limit, before=before)).rows:
        backwards = [*page.rows, *backwards]
        before = page.rows[0].seq
    assert tuple(forwards) == tuple(backwards) == everything.rows


# -- finding ------------------------------------------------------------------------------------


def found(file: Path, text: str, *, limit: int = 9, before: int | None = None) -> Hits:
    return look(file, "s", Sought(search_query.parse(text), limit), before=before)


def ids(hits: Hits) -> list[str]:
    return [row.id for row, _ in hits.found]


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("pearl", ["b", "a"]),
        ("PEARL oyster", ["a"]),
        ('"the pearl"', ["b"]),
        ("resume", ["c"]),
        ("src/main.py", ["d"]),
        ("真珠", ["e"]),
        ("yster", ["a"]),
        ("++", ["f"]),
        ("pear", ["b", "a"]),
        ("nothing", []),
        ("system prompt", []),
    ],
)
def test_what_is_typed_is_found_in_a_file_as_in_the_database(
    folder: Path, file: Path, typed: str, expected: list[str]
) -> None:
    """U40, S09."""
    texts = [
        ("a", "An oyster, a pearl"),
        ("b", "the pearl\u2028again"),
        ("c", "My résumé\ud800"),
        ("d", "look at src/main.py"),
        ("e", "きれいな真珠です"),
        ("f", "C++\0"),
    ]
    append(folder, chunk("p", System("prompt", "a system prompt"), role="system"))
    append(folder, *(chunk(id_, text, role="assistant") for id_, text in texts))
    assert ids(found(file, typed)) == expected


def test_hits_come_newest_first_page_by_page_each_once(folder: Path, file: Path) -> None:
    append(folder, *answers(*(f"c{n}" for n in range(10))))
    seen: list[str] = []
    before: int | None = None
    while True:
        hits = found(file, "text", limit=3, before=before)
        assert len(hits.found) <= 3
        seen += ids(hits)
        before = hits.before
        if before is None:
            break
    assert seen == [f"c{n}" for n in reversed(range(10))]


def test_a_look_reads_a_slice_and_says_where_to_go_on(
    folder: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("desktop.store.jsonl_search.SLICE_BYTES", 3_000)
    append(folder, *answers("first"))
    append(folder, *(chunk(f"c{n}", "x" * 1_000, role="assistant") for n in range(10)))
    looks, before = 0, None
    while True:
        hits = found(file, "first", before=before)
        looks += 1
        if hits.found or hits.before is None:
            break
        before = hits.before
    assert ids(hits) == ["first"]
    assert looks > 3


def test_s04_a_batch_that_is_not_whole_is_not_found(folder: Path, file: Path) -> None:
    append(folder, *answers("a"))
    append(folder, *answers("b", "c", "d"))
    lines = file.read_bytes().split(b"\n")
    file.write_bytes(b"\n".join([*lines[:4], lines[4][:30]]))
    assert ids(found(file, "text")) == ["a"]


@settings(max_examples=50, deadline=None)
@given(lines=st.lists(st.binary(max_size=9).map(lambda b: b.replace(b"\n", b"")), max_size=9))
@pytest.mark.parametrize("piece", [1, 3, 1_000])
def test_lines_from_the_end_are_those_from_the_beginning(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], piece: int
) -> None:
    path = tmp_path_factory.mktemp("lines") / "f"
    content = b"\n".join(lines)
    path.write_bytes(content)
    with pytest.MonkeyPatch.context() as patch, path.open("rb") as file:
        patch.setattr("desktop.store.jsonl_search._PIECE", piece)
        back = list(lines_before(file, len(content)))
    assert [text for _, text in reversed(back)] == content.split(b"\n")
    for at, text in back:
        assert content[at : at + len(text)] == text
        assert at == 0 or content[at - 1 : at] == b"\n"


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")
def test_a_stopped_look_ends_at_the_next_line(folder: Path, file: Path) -> None:
    append(folder, *answers(*(f"c{n}" for n in range(50))))
    asked: list[int] = []

    def stopped() -> bool:
        asked.append(1)
        return len(asked) == 3

    hits = look(file, "s", Sought(search_query.parse("text"), 99, stopped=stopped), before=None)
    assert len(hits.found) == 3
    assert hits.before is not None
    assert isinstance(hits.found[0][0].data, Text)
