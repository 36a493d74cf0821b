"""The database behind the contract: damage, odd texts, forks, failures, other processes."""

import asyncio
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from desktop.core.chunks import DamagedRow, Text, ToolResult
from desktop.core.errors import (
    LeaseHeld,
    StoreBusy,
    StoreError,
    StoreFull,
    UnknownConversation,
    UnknownFolder,
)
from desktop.core.records import CatalogueReceipt
from desktop.core.status import QueuedMessage
from desktop.store.log import Log
from tests.unit.store.builders import STAMP, chunk, new_tab, open_log, run, tool_turn

DRAFTER = """
import asyncio, sys
from pathlib import Path
from desktop.store.log import Log

async def main():
    folder, tab = Path(sys.argv[1]), sys.argv[2]
    log = Log.open(
        folder / "nacre.db", blobs=folder / "blobs", run=folder / "run",
        new_id=lambda: "of-the-drafter", now_ms=lambda: 1,
    )
    for number in range(1, 100_000):
        await log.catalogue.save_attachments(tab, [{"name": "a", "text": f"{number} " * 5_000}])
        await log.catalogue.save_draft(tab, str(number), caret=number)
        print(number, flush=True)

asyncio.run(main())
"""
WRITER = """
import asyncio, sys, uuid
from pathlib import Path
from desktop.core.chunks import NewChunk, Text
from desktop.store.log import Log
folder, tab, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
log = Log.open(folder / "nacre.db", blobs=folder / "blobs", run=folder / "run",
               new_id=lambda: uuid.uuid4().hex, now_ms=lambda: 1)
async def main():
    session = log.session(tab)
    if len(sys.argv) > 4:
        await session.acquire_lease()
    for n in range(count):
        await session.append([NewChunk(id=uuid.uuid4().hex, turn_id="t", role="user",
                                       data=Text("x" * 2000))])
        print(n + 1, flush=True)
    await log.close()
asyncio.run(main())
"""


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    with open_log(tmp_path) as made:
        yield made


@pytest.fixture
def tab(log: Log, tmp_path: Path) -> str:
    return new_tab(log, tmp_path)


def _plain(folder: Path) -> "closing[sqlite3.Connection]":
    return closing(sqlite3.connect(folder / "nacre.db", isolation_level=None))


def _insert_row(plain: sqlite3.Connection, tab: str, seq: int, data: str | bytes) -> None:
    plain.execute(
        "INSERT INTO chunks(id, tab_id, seq, turn_id, role, type, data_json, created_at)"
        " VALUES (?, ?, ?, 't', 'assistant', 'text', CAST(? AS TEXT), 1)",
        (f"row-{seq}", tab, seq, data),
    )


def test_damaged_rows_are_skipped_by_agents_and_shown_to_views(
    log: Log, tab: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """C12, FIELD F-S02."""
    run(log.session(tab).append([chunk("one")]))
    with _plain(tmp_path) as plain:
        _insert_row(plain, tab, 2, '{"text": "secret ha')
        _insert_row(plain, tab, 3, b"\xff\xfe\x00")
        _insert_row(plain, tab, 4, '{"text": "whole"}')
    loaded = run(log.session(tab).load())
    assert [one.seq for one in loaded.chunks] == [1, 4]
    assert loaded.damaged == 2
    assert "Row 2" in caplog.text
    assert "secret" not in caplog.text
    rows = run(log.reader.page(tab, limit=9)).rows
    assert [type(row) is DamagedRow for row in rows] == [False, True, True, False]
    assert isinstance(rows[1], DamagedRow)
    assert rows[1].raw == '{"text": "secret ha'
    assert run(log.doctor())["damagedRows"] == 2
    assert run(log.session(tab).append([chunk("five")])).chunks[0].seq == 5


def test_any_text_is_stored_and_read_back(log: Log, tab: str, tmp_path: Path) -> None:
    """FIELD F-S07: exactly as it was in rows and queue, with visible marks in plain columns."""
    odd = "a\ud800b\x00c"
    store = log.session(tab)
    run(store.append([chunk("t", odd), chunk("r", ToolResult(odd, odd, odd), role="tool")]))
    loaded = run(store.load())
    assert [one.data for one in loaded.chunks] == [Text(odd), ToolResult(odd, odd, odd)]
    run(store.enqueue(QueuedMessage("m", tab, odd, 1)))
    assert run(store.queued())[0].text == odd
    assert run(log.catalogue.rename_tab(tab, odd)).title == "a�b�c"
    run(log.catalogue.save_draft(tab, odd))
    assert run(log.catalogue.draft(tab)).text == "a�b�c"
    run(log.catalogue.save_setting("k", odd))
    assert run(log.catalogue.settings()) == {"k": "a�b�c"}
    with _plain(tmp_path) as plain:
        found = plain.execute("SELECT count(*) FROM chunks_search WHERE chunks_search MATCH 'b'")
        assert found.fetchone() == (2,)


@pytest.mark.skipif(sys.platform != "linux", reason="names of any bytes are Linux's")
def test_a_folder_whose_name_cant_be_kept_is_refused_on_the_spot(log: Log, tmp_path: Path) -> None:
    """FIELD F-S07."""
    folder = tmp_path / "a\udc80b"
    folder.mkdir()
    with pytest.raises(UnknownFolder, match="characters"):
        run(log.catalogue.open_workspace(folder))


def test_an_attached_text_lies_in_a_blob_and_comes_back_on_load(
    log: Log, tab: str, tmp_path: Path
) -> None:
    paste = "line\n" * 200_000
    attached = {"name": "paste.txt", "mediaType": "text/plain", "text": paste, "size": len(paste)}
    sent = Text("look", attachments=(attached,))
    receipt = run(log.session(tab).append([chunk("u", sent), chunk("a", "yes", role="assistant")]))
    assert receipt.chunks[0].data == sent
    assert run(log.session(tab).load()).chunks == receipt.chunks
    shown = run(log.reader.page(tab, limit=2)).rows[0]
    assert not isinstance(shown, DamagedRow)
    assert isinstance(shown.data, Text)
    path = run(log.reader.blob_path(shown.data.attachments[0]["sha256"]))
    assert path is not None
    assert path.read_text() == paste
    assert path.parent.parent == tmp_path / "blobs"
    run(log.session(tab).enqueue(QueuedMessage("m", tab, "more", 1, (attached,))))
    taken = run(log.session(tab).take_queued(turn_id="t", step=0, stamp=STAMP))
    assert taken is not None
    assert run(log.session(tab).load()).dangling == taken.chunks
    with _plain(tmp_path) as plain:
        assert plain.execute("SELECT count(*), sum(size) FROM blobs").fetchone() == (1, len(paste))


def test_a_fork_is_read_through_and_goes_on_after_its_point(
    log: Log, tab: str, tmp_path: Path
) -> None:
    """DESIGN §4, §5: own rows start at forked_at_seq + 1; the parent's later rows don't show."""
    run(log.session(tab).append(tool_turn()))
    forks = [new_tab(log, tmp_path) for _ in range(3)]
    with _plain(tmp_path) as plain:
        points = ((forks[0], tab, 4), (forks[1], forks[0], 5), (forks[2], forks[0], 2))
        for fork, parent, point in points:
            plain.execute(
                "UPDATE tabs SET forked_from = ?, forked_at_seq = ? WHERE id = ?",
                (parent, point, fork),
            )
    own = run(log.session(forks[0]).append([chunk("x"), chunk("y")]))
    run(log.session(forks[1]).append([chunk("z")]))
    run(log.session(tab).append([chunk("later")]))
    assert [one.seq for one in own.chunks] == [5, 6]
    page = run(log.reader.page(forks[1], limit=99))
    assert [(row.id, row.seq) for row in page.rows] == [
        ("u", 1),
        ("c", 2),
        ("r", 3),
        ("a", 4),
        ("x", 5),
        ("z", 6),
    ]
    assert {row.tab_id for row in page.rows if not isinstance(row, DamagedRow)} == {forks[1]}
    middle = run(log.reader.page(forks[1], limit=3, before=6))
    assert [row.seq for row in middle.rows] == [3, 4, 5]
    assert (middle.total, middle.has_older, middle.has_newer) == (6, True, True)
    assert [row.seq for row in run(log.reader.page(forks[1], limit=3, after=3)).rows] == [4, 5, 6]
    assert [row.seq for row in run(log.reader.page(forks[2], limit=9)).rows] == [1, 2]
    assert run(log.session(forks[2]).append([chunk("w")])).chunks[0].seq == 3
    assert run(log.session(forks[1]).active_model()) == STAMP
    assert run(log.doctor())["tabsWithGaps"] == []


def test_the_catalogue_tells_of_its_changes_on_the_callers_loop(tmp_path: Path) -> None:
    heard: list[int] = []

    def hear(receipt: CatalogueReceipt) -> None:
        heard.append(threading.get_ident())

    with open_log(tmp_path, on_catalogue_change=hear) as log:
        tab = new_tab(log, tmp_path)
        heard.clear()

        async def write() -> list[int]:
            store = log.session(tab)
            counts: list[int] = []
            for new in (chunk("a", "answer", role="assistant"), chunk("u", "question")):
                await store.append([new])
                await asyncio.sleep(0)
                counts.append(len(heard))
            return counts

        assert run(write()) == [0, 1]
    assert heard == [threading.get_ident()]


def test_a_lock_of_another_process_ends_in_a_sentence_in_time_and_the_retry_works(
    tmp_path: Path,
) -> None:
    """FIELD F-S01."""
    with open_log(tmp_path, busy_ms=200) as log, _plain(tmp_path) as other:
        tab = new_tab(log, tmp_path)
        other.execute("BEGIN IMMEDIATE")
        begun = time.monotonic()
        with pytest.raises(StoreBusy, match=r"nacre\.db"):
            run(log.session(tab).append([chunk("one")]))
        assert time.monotonic() - begun < 5
        assert run(log.reader.page(tab, limit=1)).total == 0
        other.execute("ROLLBACK")
        assert run(log.session(tab).append([chunk("one")])).chunks[0].seq == 1


def test_a_loop_goes_on_while_the_writer_waits_for_a_lock(tmp_path: Path) -> None:
    with open_log(tmp_path, busy_ms=300) as log, _plain(tmp_path) as other:
        tab = new_tab(log, tmp_path)
        other.execute("BEGIN IMMEDIATE")

        async def both() -> int:
            turns = 0
            append = asyncio.ensure_future(log.session(tab).append([chunk("one")]))
            while not append.done():
                turns += 1
                await asyncio.sleep(0.005)
            with pytest.raises(StoreBusy):
                append.result()
            return turns

        assert run(both()) > 10
        other.execute("ROLLBACK")


def test_a_full_disk_leaves_nothing_half_written_and_the_retry_works(
    log: Log, tab: str, tmp_path: Path
) -> None:
    """FIELD F-S04, S04."""
    store = log.session(tab)
    big = [chunk(f"c{n}", "x" * 50_000) for n in range(20)]
    assert log._lanes._writer is not None  # pyright: ignore[reportPrivateUsage]
    writer = log._lanes._writer  # pyright: ignore[reportPrivateUsage]

    def limit(pages: int) -> None:
        writer.submit(
            lambda connection: connection.exec_driver_sql(f"PRAGMA max_page_count={pages}").close()
        ).result()

    run(store.append([chunk("first")]))
    limit(1)
    with pytest.raises(StoreFull, match=r"no room left for .*nacre\.db"):
        run(store.append(big))
    page = run(log.reader.page(tab, limit=9))
    assert (page.total, page.revision) == (1, 1)
    limit(1_000_000)
    assert [one.seq for one in run(store.append(big)).chunks] == list(range(2, 22))
    assert run(log.doctor())["ok"]


def test_a_blob_that_cant_be_kept_keeps_the_row_out(log: Log, tab: str, tmp_path: Path) -> None:
    attached = {"name": "a", "mediaType": "text/plain", "text": "abc", "size": 3}
    new = chunk("u", Text("see", attachments=(attached,)))
    (tmp_path / "blobs").write_text("a file stands in the way")
    with pytest.raises(StoreError):
        run(log.session(tab).append([new]))
    assert run(log.reader.page(tab, limit=9)).total == 0
    (tmp_path / "blobs").unlink()
    assert run(log.session(tab).append([new])).chunks[0].seq == 1


def test_several_processes_and_logs_append_without_a_gap(tmp_path: Path) -> None:
    """C14."""
    with (
        open_log(tmp_path, busy_ms=20_000) as log,
        open_log(tmp_path, busy_ms=20_000, prefix="b") as other,
    ):
        tab = new_tab(log, tmp_path)
        process = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path), tab, "40"],
            stdout=subprocess.PIPE,
            text=True,
        )

        async def here() -> None:
            appends = [log.session(tab).append([chunk(f"h{n}")]) for n in range(40)]
            appends += [other.session(tab).append([chunk(f"o{n}")]) for n in range(40)]
            await asyncio.gather(*appends)

        with process:
            assert process.stdout is not None
            assert process.stdout.readline() == "1\n"
            run(here())
            process.stdout.read()
        assert process.returncode == 0
        rows = run(log.reader.page(tab, limit=999)).rows
        assert [row.seq for row in rows] == list(range(1, 121))
        assert run(log.reader.revision(tab)) == 120
        own = [row.id for row in rows if row.id.startswith("h")]
        assert own == [f"h{n}" for n in range(40)]


@pytest.mark.skipif(sys.platform == "win32", reason="kills by signal")
def test_a_killed_process_leaves_every_sealed_row_and_a_lease_to_take_over(
    tmp_path: Path,
) -> None:
    """C15."""
    with open_log(tmp_path) as log:
        tab = new_tab(log, tmp_path)
        process = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path), tab, "100000", "lease"],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        for line in process.stdout:
            if int(line) >= 30:
                break
        with pytest.raises(LeaseHeld, match=str(process.pid)):
            run(log.session(tab).acquire_lease())
        os.kill(process.pid, signal.SIGKILL)
        printed = [int(line) for line in process.stdout if line.endswith("\n") and line.strip()]
        process.stdout.close()
        process.wait()
        run(log.session(tab).acquire_lease())
        assert run(log.doctor())["ok"]
        assert run(log.reader.page(tab, limit=1)).total >= max(printed, default=30)
        assert [path.name.partition("-")[0] for path in (tmp_path / "run").iterdir()] == [
            str(os.getpid())
        ]


def test_a_lease_is_held_until_it_is_released_or_its_log_closed(tmp_path: Path) -> None:
    with open_log(tmp_path) as first, open_log(tmp_path, prefix="b") as second:
        tab = new_tab(first, tmp_path)
        run(first.session(tab).acquire_lease())
        with pytest.raises(LeaseHeld):
            run(second.session(tab).acquire_lease())
        run(first.session(tab).release_lease())
        run(second.session(tab).acquire_lease())
        with pytest.raises(LeaseHeld):
            run(first.session(tab).acquire_lease())
        run(second.close())
        run(first.session(tab).acquire_lease())


def test_a_copy_taken_while_rows_are_written_opens_whole(
    log: Log, tab: str, tmp_path: Path
) -> None:
    """FIELD F-S02 a, c: a torn write-ahead log costs its last commits and nothing else."""
    for n in range(20):
        run(log.session(tab).append([chunk(f"c{n}", "x" * 3_000)]))
    other = tmp_path / "other"
    other.mkdir()
    for name in ("nacre.db", "nacre.db-wal"):
        shutil.copy(tmp_path / name, other)
    with (other / "nacre.db-wal").open("r+b") as wal:
        wal.seek(-4_096, os.SEEK_END)
        wal.write(b"\0" * 4_096)
    with open_log(other, prefix="b") as copy:
        assert run(copy.doctor())["ok"]
        assert run(copy.reader.page(tab, limit=1)).total == 19


def test_nothing_is_appended_to_a_purged_conversation(log: Log, tab: str, tmp_path: Path) -> None:
    with _plain(tmp_path) as plain:
        plain.execute("UPDATE tabs SET purged_at = 1")
    with pytest.raises(UnknownConversation):
        run(log.session(tab).append([chunk("one")]))
    assert run(log.catalogue.view()).tabs == ()


def test_a_closed_log_leaves_no_thread_and_says_so(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    with open_log(tmp_path) as log:
        tab = new_tab(log, tmp_path)
        run(log.reader.page(tab, limit=1))
        assert set(threading.enumerate()) - before
    assert set(threading.enumerate()) <= before
    with pytest.raises(StoreError, match="closed"):
        run(log.reader.page(tab, limit=1))


@pytest.mark.skipif(sys.platform == "win32", reason="kills by signal")
def test_u14_a_kill_costs_no_draft_that_was_saved_nor_what_is_attached_to_it(
    tmp_path: Path,
) -> None:
    """Text and attachments of one moment, whole, whenever the process dies."""
    with open_log(tmp_path) as log:
        tab = new_tab(log, tmp_path)
        process = subprocess.Popen(
            [sys.executable, "-c", DRAFTER, str(tmp_path), tab], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        for line in process.stdout:
            if int(line) >= 10:
                break
        os.kill(process.pid, signal.SIGKILL)
        printed = [int(line) for line in process.stdout if line.endswith("\n") and line.strip()]
        process.stdout.close()
        process.wait()
        draft = run(log.catalogue.draft(tab))
        number = int(draft.text)
        assert number >= max(printed, default=10)
        assert draft.caret == number
        (attached,) = draft.attachments
        assert attached["text"] in [f"{one} " * 5_000 for one in (number, number + 1)]
        assert run(log.doctor())["ok"]
