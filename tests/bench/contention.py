"""Many processes on one log (SPEC U16): eight write, eight read pages, one reads for long.

For `--seconds`. Every writer seals twenty blocks a second in a conversation of its own. What a
person would see of it are errors, of which there must be none, and how long a write takes; the
write-ahead log must stay bounded though somebody always reads.
"""

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from tests.bench import Figure, Options
from tests.bench._corpus import corpus, new_tab, open_log

WRITERS = READERS = 8
ROWS = 50_000
MEGABYTE = 1024 * 1024


def figures(options: Options) -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="nacre-bench-") as name:
        made = corpus(ROWS).copy(Path(name) / "data")
        tabs = asyncio.run(_tabs(made.folder))
        crowd = [_start("writer", made.folder, tab, options.seconds, n) for n, tab in tabs]
        crowd += [
            _start("reader", made.folder, made.tab, options.seconds, n) for n in range(READERS)
        ]
        crowd.append(_start("long", made.folder, made.tab, options.seconds, 0))
        largest = _largest_while(crowd, made.folder / "nacre.db-wal")
        found = [json.loads(process.communicate()[0] or "{}") for process in crowd]
    for error in [error for one in found for error in one.get("errors", ["it died"])][:5]:
        print(error, file=sys.stderr)
    return _figures(found, largest)


def _figures(found: Sequence[dict[str, Any]], largest: int) -> list[Figure]:
    errors = sum(len(one.get("errors", ["it died"])) for one in found)
    writes = [ms for one in found[:WRITERS] for ms in one.get("times", ())]
    reads = [ms for one in found[WRITERS : WRITERS + READERS] for ms in one.get("times", ())]
    return [
        Figure("contention.errors", errors, "errors", 0),
        Figure("contention.wal", largest / MEGABYTE, "MB", 64),
        Figure("contention.write_p50", median(writes), "ms", 50),
        Figure("contention.write_p99", quantiles(writes, n=100)[-1], "ms", 50),
        Figure("contention.write_max", max(writes), "ms", 5_000),
        Figure("contention.read_p99", quantiles(reads, n=100)[-1], "ms", 100),
        Figure("contention.writes", len(writes), "rows", 100, at_least=True),
        Figure("contention.long_reads", found[-1].get("done", 0), "reads", 1, at_least=True),
    ]


async def _tabs(folder: Path) -> list[tuple[int, str]]:
    log = open_log(folder, "tab")
    try:
        return [(n, await new_tab(log, folder)) for n in range(WRITERS)]
    finally:
        await log.close()


def _start(
    role: str, folder: Path, tab: str, seconds: float, number: int
) -> "subprocess.Popen[str]":
    words = [role, str(folder), tab, str(seconds), f"{role}{number}"]
    return subprocess.Popen(
        [sys.executable, "-m", "tests.bench.drivers.crowd", *words],
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )


def _largest_while(crowd: "Sequence[subprocess.Popen[str]]", wal: Path) -> int:
    """The most bytes that the write-ahead log had while anybody of the crowd lived."""
    largest = 0
    while any(process.poll() is None for process in crowd):
        if wal.exists():
            largest = max(largest, wal.stat().st_size)
        time.sleep(0.05)
    return largest
