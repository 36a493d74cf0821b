"""How long a sealed chunk takes to be durable, as a ratio to plain `sqlite3` doing the same.

Both append the same payloads to copies of one log, in turns, so that a loud minute of the machine
weighs on both: the same codec, triggers, `synchronous=FULL`, a thread that the loop waits for and a
checkpointing thread. The store adds its checks, the revisions and the receipt. At ten thousand rows
and at `--rows` (a million).
"""

import asyncio
import itertools
import sqlite3
import tempfile
import time
from collections.abc import Awaitable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from statistics import median, quantiles

from desktop.core.chunks import NewChunk, Text
from desktop.store import codec
from desktop.store.checkpoints import Checkpoints
from tests.bench import Figure, Options
from tests.bench._corpus import Corpus, corpus, new_tab, open_log, texts

APPENDS = 3_000
WARM_UP = 100
SMALL = 10_000
TEXT = "lorem ipsum dolor sit amet " * 38  # about 1 KiB

__all__ = ["TEXT", "figures", "new_tab", "open_log"]


def figures(options: Options) -> list[Figure]:
    found: list[Figure] = []
    for rows in sorted({SMALL, options.rows}):
        with tempfile.TemporaryDirectory(prefix="nacre-bench-") as folder:
            ours, plain = asyncio.run(_measure(corpus(rows), Path(folder)))
        found += [
            Figure(f"append.p50_vs_plain_at_{rows}", median(ours) / median(plain), "x", 2),
            Figure(f"append.p99_vs_plain_at_{rows}", _p99(ours) / _p99(plain), "x", 2),
            Figure(f"append.p50_at_{rows}", median(ours) * 1_000, "ms", 16),
            Figure(f"append.p99_at_{rows}", _p99(ours) * 1_000, "ms", 50),
        ]
    return found


async def _measure(made: Corpus, folder: Path) -> tuple[list[float], list[float]]:
    log = open_log(made.copy(folder / "ours").folder, prefix="a")
    plain = Plain(made.copy(folder / "plain"))
    session = log.session(made.tab)
    ours: list[float] = []
    theirs: list[float] = []
    try:
        for number, text in enumerate(itertools.islice(texts(APPENDS, 600), APPENDS)):
            new = NewChunk(id=f"a{number}", turn_id="t", role="assistant", data=Text(text))
            ours.append(await _timed(session.append([new])))
            theirs.append(await _timed(plain.append(new)))
    finally:
        plain.close()
        await log.close()
    return ours[WARM_UP:], theirs[WARM_UP:]


async def _timed(work: Awaitable[object]) -> float:
    start = time.perf_counter()
    await work
    return time.perf_counter() - start


def _p99(times: list[float]) -> float:
    return quantiles(times, n=100)[-1]


class Plain:
    """A connection on a thread, and nothing else."""

    def __init__(self, made: Corpus) -> None:
        self._tab = made.tab
        self._checkpoints = Checkpoints(made.folder / "nacre.db")
        self._connection = sqlite3.connect(
            made.folder / "nacre.db", isolation_level=None, check_same_thread=False
        )
        self._connection.execute("PRAGMA synchronous=FULL")
        self._connection.execute("PRAGMA foreign_keys=ON")
        self._connection.execute("PRAGMA cache_size=-16384")
        self._connection.execute("PRAGMA wal_autocheckpoint=10000")
        self._thread = ThreadPoolExecutor(1)

    async def append(self, new: NewChunk) -> None:
        await asyncio.get_running_loop().run_in_executor(self._thread, self._append, new)

    def close(self) -> None:
        self._thread.shutdown()
        self._checkpoints.close()
        with closing(self._connection):
            pass

    def _append(self, new: NewChunk) -> None:
        connection = self._connection
        connection.execute("BEGIN IMMEDIATE")
        (head,) = connection.execute(
            "SELECT max(seq) FROM chunks WHERE tab_id = ?", (self._tab,)
        ).fetchone()
        encoded = codec.encode(new.data)
        connection.execute(
            "INSERT INTO chunks(id, tab_id, seq, turn_id, step, role, type, data_json, created_at,"
            " search_text) VALUES (?, ?, ?, ?, 0, 'assistant', 'text', ?, 1, ?)",
            (new.id, self._tab, head + 1, new.turn_id, encoded.data_json, encoded.search_text),
        )
        connection.execute("COMMIT")
        self._checkpoints.wake()
