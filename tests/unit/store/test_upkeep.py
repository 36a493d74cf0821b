"""Checkpoints, room given back, blobs that go with their last reference, the storage report."""

import asyncio
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Connection

from desktop.core.chunks import System, Text, ToolResult
from desktop.core.drafts import BEGINNING
from desktop.core.errors import StoreError
from desktop.core.status import QueuedMessage
from desktop.store import sweeping
from desktop.store.checkpoints import STEP_BYTES, Checkpoints, fold
from desktop.store.log import Log
from desktop.store.plain import connect, write_ahead_log
from tests.unit.store.builders import chunk, new_tab, open_log, run

LONG_AGO = 1_000_000.0
SECONDS = 20.0


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    with open_log(tmp_path) as made:
        yield made


@pytest.fixture
def tab(log: Log, tmp_path: Path) -> str:
    return new_tab(log, tmp_path)


def _plain(folder: Path) -> "closing[sqlite3.Connection]":
    return closing(sqlite3.connect(folder / "nacre.db", isolation_level=None))


def _attached(text: str) -> Text:
    return Text("see", attachments=({"name": "a", "mediaType": "text/plain", "text": text},))


def _blobs(folder: Path, *, age: float | None = LONG_AGO) -> dict[str, Path]:
    """The blobs by their text; `age` is when they were last kept."""
    files = {file.read_text(): file for file in (folder / "blobs").rglob("*") if file.is_file()}
    for file in files.values():
        if age is not None:
            os.utime(file, (age, age))
    return files


def _purge(folder: Path, tab: str) -> None:
    with _plain(folder) as plain:
        plain.execute("UPDATE tabs SET purged_at = 1 WHERE id = ?", (tab,))
        plain.execute("DELETE FROM chunks WHERE tab_id = ?", (tab,))


def _sweep(log: Log) -> tuple[int, int]:
    swept = run(sweeping.sweep(log._lanes, log._blobs))  # pyright: ignore[reportPrivateUsage]
    return swept.count, swept.freed


def test_a_blob_goes_with_its_last_reference(log: Log, tab: str, tmp_path: Path) -> None:
    """U08, DESIGN §4: shared, queued and just kept ones stay; a file without a row goes too."""
    other = new_tab(log, tmp_path)
    run(log.session(tab).append([chunk("a", _attached("mine")), chunk("b", _attached("ours"))]))
    run(log.session(other).append([chunk("c", _attached("ours"))]))
    spool = tmp_path / "spool"
    spool.write_text("full output")
    sha256, size = run(log.session(tab).keep_file(spool, "text/plain"))
    full = {"sha256": sha256, "size": size}
    result = ToolResult("c", "t", "head", extra={"full": full})
    run(log.session(tab).append([chunk("d", result, role="tool")]))
    spool.write_text("waits")
    waits, _ = run(log.session(other).keep_file(spool, "text/plain"))
    named = ({"name": "w", "sha256": waits, "size": 5},)
    run(log.session(other).enqueue(QueuedMessage("m", other, "later", 1, named)))
    orphan = tmp_path / "blobs" / "00" / ("0" * 64)
    orphan.parent.mkdir()
    orphan.write_text("nobody's")
    assert len(_blobs(tmp_path)) == 5
    assert _sweep(log) == (1, len("nobody's"))
    _purge(tmp_path, tab)
    spool.write_text("young")
    run(log.session(tab).keep_file(spool, "text/plain"))
    assert _sweep(log) == (2, len("mine") + len("full output"))
    assert sorted(_blobs(tmp_path, age=None)) == ["ours", "waits", "young"]
    with _plain(tmp_path) as plain:
        assert plain.execute("SELECT sum(size) FROM blobs").fetchone() == (4 + 5 + 5,)
    assert _sweep(log) == (0, 0)


@pytest.mark.parametrize("is_begun", [True, False])
def test_u14_what_a_draft_has_attached_stays_until_the_draft_lets_it_go(
    log: Log, tab: str, tmp_path: Path, *, is_begun: bool
) -> None:
    tab = tab if is_begun else BEGINNING
    attached = ({"name": "a", "text": "half"}, {"kind": "image", "content": b"drawn"})
    run(log.catalogue.save_attachments(tab, attached))
    assert len(_blobs(tmp_path)) == 2
    assert _sweep(log) == (0, 0)
    assert run(log.doctor())["missingFiles"] == 0
    run(log.catalogue.save_attachments(tab, attached[:1]))
    assert _sweep(log) == (1, len("drawn"))
    assert run(log.catalogue.draft(tab)).attachments == attached[:1]


def test_a_row_that_comes_while_the_log_is_looked_through_keeps_its_blob(
    log: Log, tab: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(log.session(tab).append([chunk("a", _attached("again"))]))
    _purge(tmp_path, tab)
    _blobs(tmp_path)
    other = new_tab(log, tmp_path)
    mark = sweeping.mark

    async def mark_and_more(lanes: sweeping.Lanes) -> sweeping.References:
        found = await mark(lanes)
        await log.session(other).append([chunk("b", _attached("again"))])
        _blobs(tmp_path)  # old by its time; its row alone saves it
        return found

    monkeypatch.setattr(sweeping, "mark", mark_and_more)
    assert _sweep(log) == (0, 0)
    assert list(_blobs(tmp_path)) == ["again"]


def test_emptying_the_bin_takes_the_blobs_along(log: Log, tab: str, tmp_path: Path) -> None:
    """U08: without being asked, in an idle moment."""
    run(log.session(tab).append([chunk("a", _attached("gone")), chunk("b", _attached("forked"))]))
    run(log.session(tab).append([chunk("e", System("turn_end"), role="system")]))
    while run(log.upkeep.tidy()):
        pass
    fork = run(log.catalogue.fork_tab(tab, at_seq=3))
    run(log.session(tab).append([chunk("c", _attached("late"), turn="turn-2")]))
    assert len(_blobs(tmp_path)) == 3
    run(log.catalogue.trash_tab(tab))
    run(log.catalogue.purge_tab(tab))
    while run(log.upkeep.tidy()):
        pass
    assert sorted(_blobs(tmp_path)) == ["forked", "gone"]  # the fork reads them
    run(log.catalogue.trash_tab(fork.id))
    run(log.catalogue.purge_tab(fork.id))
    while run(log.upkeep.tidy()):
        pass
    assert _blobs(tmp_path) == {}


def test_content_that_is_kept_again_counts_as_young(log: Log, tab: str, tmp_path: Path) -> None:
    spool = tmp_path / "spool"
    for _ in range(2):
        spool.write_text("twice")
        run(log.session(tab).keep_file(spool, "text/plain"))
        kept = _blobs(tmp_path, age=None)["twice"]
        assert kept.stat().st_mtime > LONG_AGO
        _blobs(tmp_path)
    spool.write_text("twice")
    run(log.session(tab).keep_file(spool, "text/plain"))
    assert _sweep(log) == (0, 0)


def test_the_doctor_tells_of_a_file_that_is_gone(log: Log, tab: str, tmp_path: Path) -> None:
    run(log.session(tab).append([chunk("a", _attached("here")), chunk("b", _attached("gone"))]))
    assert run(log.doctor())["missingFiles"] == 0
    _blobs(tmp_path)["gone"].unlink()
    found = run(log.doctor())
    assert (found["ok"], found["missingFiles"]) == (False, 1)
    assert run(log.session(tab).load()).damaged == 0


def test_the_report_says_what_each_conversation_takes(log: Log, tab: str, tmp_path: Path) -> None:
    """U08."""
    other, empty = new_tab(log, tmp_path), new_tab(log, tmp_path)
    run(log.catalogue.rename_tab(tab, "The big one"))
    run(log.session(tab).append([chunk(f"a{n}", "x" * 10_000) for n in range(20)]))
    run(log.session(tab).append([chunk("b", _attached("m" * 300)), chunk("s", _attached("o"))]))
    run(log.session(other).append([chunk("c", _attached("o"))]))
    report = run(log.storage())
    assert [one.tab_id for one in report.tabs] == [tab, other, empty]
    big, small, none = report.tabs
    assert (big.title, big.rows, big.blob_bytes) == ("The big one", 22, 300)
    assert 2 * 200_000 < big.row_bytes < 2 * 200_000 + 3_000  # the row and its search text
    assert (small.rows, small.blob_bytes) == (1, 0)
    assert (none.rows, none.row_bytes) == (0, 0)
    assert report.blob_bytes == 301
    assert report.database_bytes + report.wal_bytes > 400_000
    assert report.disk_free_bytes > 0


def test_deleting_returns_pages_to_the_system(log: Log, tab: str, tmp_path: Path) -> None:
    """U08."""
    for n in range(30):
        run(log.session(tab).append([chunk(f"a{n}-{m}", "lorem " * 2_000) for m in range(20)]))
    run(log.upkeep.free_space(lambda words, freed: None))
    full = (tmp_path / "nacre.db").stat().st_size
    _purge(tmp_path, tab)
    said: list[tuple[str, int]] = []
    freed = run(log.upkeep.free_space(lambda words, freed: said.append((words, freed))))
    assert freed > full * 0.8
    assert (tmp_path / "nacre.db").stat().st_size < full * 0.2
    assert write_ahead_log(tmp_path / "nacre.db").stat().st_size == 0
    assert [words for words, _ in said] == [
        "Merging the search index",
        "Looking for files that nothing names",
        "Giving pages back",
    ]
    assert run(log.doctor())["ok"]
    assert run(log.storage()).free_bytes == 0


def test_tidying_gives_back_what_is_more_than_spare(log: Log, tab: str, tmp_path: Path) -> None:
    for n in range(30):
        run(log.session(tab).append([chunk(f"a{n}-{m}", "lorem " * 2_000) for m in range(20)]))
    _purge(tmp_path, tab)
    run(log.session(new_tab(log, tmp_path)).append([chunk("on")]))
    while run(log.upkeep.tidy()):
        pass
    assert not log.upkeep.is_untidy
    assert 0 < run(log.storage()).free_bytes <= 1_024 * 4_096


def test_the_write_ahead_log_is_folded_in_while_rows_come_and_given_back_when_quiet(
    tmp_path: Path,
) -> None:
    """U16: no append makes a checkpoint, and still it is bounded."""
    database = tmp_path / "nacre.db"
    wal = write_ahead_log(database)
    with open_log(tmp_path):
        pass
    with (
        closing(connect(database, "write", busy_ms=1_000)) as writer,
        closing(connect(database, "read", busy_ms=1_000)) as reader,
    ):
        checkpoints = Checkpoints(database, quiet=0.05)
        largest = 0
        for n in range(400):
            writer.execute("INSERT INTO settings(key, value) VALUES (?, ?)", (n, "x" * 200_000))
            largest = max(largest, wal.stat().st_size)
            checkpoints.wake()
        total = 400 * 200_000
        _until(lambda: wal.stat().st_size == 0)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM settings").fetchone()
        writer.execute("UPDATE settings SET value = 'y'")
        checkpoints.wake()
        assert reader.execute("SELECT DISTINCT length(value) FROM settings").fetchall() == [
            (200_000,)
        ]
        reader.execute("COMMIT")
        checkpoints.close()
    assert STEP_BYTES < largest < total


def test_a_checkpoint_that_another_holds_up_is_tried_again(tmp_path: Path) -> None:
    database = tmp_path / "nacre.db"
    with open_log(tmp_path):
        pass
    with (
        closing(connect(database, "write", busy_ms=1_000)) as writer,
        closing(connect(database, "write", busy_ms=10)) as folding,
    ):
        writer.execute("INSERT INTO settings(key, value) VALUES ('a', 'b')")
        writer.execute("BEGIN IMMEDIATE")
        fold(folding, "TRUNCATE")
        assert write_ahead_log(database).stat().st_size > 0
        writer.execute("COMMIT")
        fold(folding, "TRUNCATE")
        assert write_ahead_log(database).stat().st_size == 0


def test_a_damaged_page_is_found_by_the_check_and_the_rest_can_be_read(tmp_path: Path) -> None:
    """F-S02: the check at every open."""
    with open_log(tmp_path) as log:
        tab = new_tab(log, tmp_path)
        for n in range(40):
            run(log.session(tab).append([chunk(f"c{n}", "x" * 3_000)]))
        assert run(log.upkeep.check()) == ()
    with _plain(tmp_path) as plain:
        root = plain.execute("SELECT rootpage FROM sqlite_master WHERE name = 'drafts'").fetchone()
        size = plain.execute("PRAGMA page_size").fetchone()[0]
    with (tmp_path / "nacre.db").open("r+b") as file:
        file.seek((root[0] - 1) * size)
        file.write(b"\xff" * size)
    with open_log(tmp_path, prefix="b") as log:
        found = run(log.upkeep.check())
        assert found
        assert run(log.reader.page(tab, limit=99)).total == 40


def test_closing_the_log_stops_a_look_over_the_whole_file(tmp_path: Path) -> None:
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n"

    async def both() -> None:
        begun = asyncio.Event()
        loop = asyncio.get_running_loop()

        def job(connection: Connection) -> None:
            loop.call_soon_threadsafe(begun.set)
            connection.exec_driver_sql(endless)

        lanes = log._lanes  # pyright: ignore[reportPrivateUsage]
        look = asyncio.ensure_future(lanes.oversee(job))
        await begun.wait()
        await log.close()
        with pytest.raises(StoreError, match="stopped"):
            await look

    with open_log(tmp_path) as log:
        run(asyncio.wait_for(both(), SECONDS))


def _until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + SECONDS
    while not is_so():
        assert time.monotonic() < end
        os.sched_yield()
