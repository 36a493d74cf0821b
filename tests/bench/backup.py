"""What a running backup costs whoever writes at the same time, as a ratio to writing alone.

Rows are appended one after the other, each durable, while a scheduled backup of the same log is
made on its thread in the same process, and before it. The backup must never hold the write lock.
"""

import asyncio
import tempfile
import time
from pathlib import Path
from statistics import median

from desktop.core.chunks import NewChunk, Text
from desktop.headless.backups import Around, Backups
from desktop.paths import DataFolder
from desktop.settings import Preferences
from desktop.store.log import Log
from desktop.store.session import SqlSession
from tests.bench import Figure
from tests.bench.append import TEXT, new_tab, open_log

ROWS = 40_000
ALONE = 1_500
BATCH = 500


def figures() -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="nacre-bench-") as folder:
        alone, beside, seconds = asyncio.run(_measure(Path(folder)))
    return [
        Figure("backup.append_p50_vs_alone", median(beside) / median(alone), "x", 3),
        Figure("backup.append_p99_vs_alone", _p99(beside) / _p99(alone), "x", 5),
        Figure("backup.append_p99", _p99(beside) * 1_000, "ms", 50),
        Figure("backup.append_max", max(beside) * 1_000, "ms", 250),
        Figure("backup.appends_meanwhile", len(beside), "rows", 100, at_least=True),
        Figure("backup.seconds", seconds, "s", 60),
    ]


async def _measure(root: Path) -> tuple[list[float], list[float], float]:
    folder = DataFolder(root)
    folder.prepare()
    log = open_log(root)
    try:
        session = log.session(await new_tab(log, root))
        for first in range(0, ROWS, BATCH):
            await session.append([_chunk(number) for number in range(first, first + BATCH)])
        numbers = iter(range(ROWS, 10_000_000))
        alone = [await _append(session, next(numbers)) for _ in range(ALONE)]
        beside: list[float] = []
        start = time.perf_counter()
        making = asyncio.ensure_future(_schedule(folder, log).look())
        while not making.done():
            beside.append(await _append(session, next(numbers)))
        assert making.result() is not None
        return alone, beside, time.perf_counter() - start
    finally:
        await log.close()


def _schedule(folder: DataFolder, log: Log) -> Backups:
    def failed(_key: str, sentence: str, detail: str) -> None:
        raise AssertionError(f"{sentence} {detail}")

    around = Around(
        notes=log.backup_notes,
        preferences=Preferences,
        is_busy=lambda: False,
        stand=failed,
        now_ms=lambda: time.time_ns() // 1_000_000,
    )
    return Backups(folder, around)


def _chunk(number: int) -> NewChunk:
    return NewChunk(id=f"c{number}", turn_id="t", role="assistant", data=Text(TEXT))


async def _append(session: SqlSession, number: int) -> float:
    start = time.perf_counter()
    await session.append([_chunk(number)])
    return time.perf_counter() - start


def _p99(times: list[float]) -> float:
    return sorted(times)[len(times) * 99 // 100]
