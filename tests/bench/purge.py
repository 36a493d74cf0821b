"""How long the purge of a long conversation keeps others from writing.

Seen twice: from inside, slice by slice with its commit, and by another process that asks for the
write lock all the time and also says how long the machine did not let it run. `--purge-rows` sets
the length (300,000; the suite takes few).
"""

import asyncio
import gc
import os
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from statistics import quantiles

from desktop.store.log import Log
from desktop.store.purging import Purging
from tests.bench import Figure, Options
from tests.bench._corpus import made, open_log

GOAL_MS = 50
ROOT = Path(__file__).parents[2]


def figures(options: Options) -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="nacre-bench-") as folder:
        corpus = made(Path(folder), options.purge_rows)
        _settle(corpus.folder / "nacre.db")
        with closing(Watch(corpus.folder / "nacre.db")) as watch:
            held, seconds = asyncio.run(_purge(corpus.folder, corpus.tab))
            seen, stalled = watch.longest()
    return [
        Figure("purge.longest_inside", max(held) * 1_000, "ms", GOAL_MS),
        Figure("purge.longest_seen", seen * 1_000, "ms", GOAL_MS),
        Figure("purge.machine_stalled", stalled * 1_000, "ms", GOAL_MS),
        Figure("purge.p99_inside", quantiles(held, n=100)[-1] * 1_000, "ms", GOAL_MS / 2),
        Figure("purge.rows", options.purge_rows / seconds, "1/s", 2_000, at_least=True),
    ]


def _settle(database: Path) -> None:
    """The corpus was made without waiting for the disk; the first commit would pay for that."""
    with database.open("rb+") as file:
        os.fsync(file.fileno())


async def _purge(folder: Path, tab: str) -> tuple[list[float], float]:
    """What each slice took, and the whole in seconds."""
    log = open_log(folder)
    held: list[float] = []
    gc.freeze()  # as the window does after its imports
    try:
        await log.catalogue.trash_tab(tab)
        start = time.perf_counter()
        await _purging(log, held).purge(tab, now=1)
        seconds = time.perf_counter() - start
        doctor = await log.doctor()
        assert doctor["ok"]
        assert doctor["counts"]["chunks"] == doctor["counts"]["tabs"] == 0
    finally:
        await log.close()
    return held, seconds


def _purging(log: Log, held: list[float]) -> Purging:
    return Purging(log._lanes, told=held.append)  # pyright: ignore[reportPrivateUsage]


class Watch:
    """The other process."""

    def __init__(self, database: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.bench.drivers.lock_watch", str(database)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "ready\n"

    def longest(self) -> tuple[float, float]:
        """Ends it; the longest time in which it could not have written, or did not run at all."""
        out, _ = self._process.communicate("", timeout=60)
        count, longest, late = out.split()
        assert int(count) > 0
        return float(longest), float(late)

    def close(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.communicate()
