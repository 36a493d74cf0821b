"""How long the first hits take while a person types: a rare word, a common one, a prefix.

The words are spread evenly: the rare one over one row in ten thousand, the common one over nine in
ten, and the prefix begins words of which every row has some. `NACRE_BENCH_ROWS` sets the number of
rows (100,000 without it; 1,000,000 is what the goal is about).
"""

import asyncio
import os
import random
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from statistics import median

from desktop.store.log import Log
from tests.bench import Figure
from tests.bench.append import new_tab, open_log

ROWS = int(os.environ.get("NACRE_BENCH_ROWS", "100000"))
FIRST = 20
ROUNDS = 15
GOAL_MS = 20
# A thousand made-up words, 150 to a row: some 1 KiB.
VOCABULARY = [f"w{number * 7919 % 1000:03d}ord" for number in range(1_000)]
TYPED = {"rare": "zebrafish", "common": "common", "prefix": "pre", "look": "ebrafis"}


def figures() -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="nacre-bench-") as folder:
        return asyncio.run(_measure(Path(folder)))


async def _measure(folder: Path) -> list[Figure]:
    log = open_log(folder)
    try:
        tab = await new_tab(log, folder)
        await asyncio.to_thread(_fill, folder / "nacre.db", tab)
        return [figure for name, text in TYPED.items() for figure in await _find(log, name, text)]
    finally:
        await log.close()


async def _find(log: Log, name: str, text: str) -> list[Figure]:
    """Processor time of all threads, and time on the clock, which a busy machine stretches."""
    work: list[float] = []
    wall: list[float] = []
    for _ in range(ROUNDS):
        cpu, start = time.process_time(), time.perf_counter()
        page = await log.search.find(text, limit=FIRST)
        wall.append(time.perf_counter() - start)
        work.append(time.process_time() - cpu)
        assert page.hits or page.next
    return [
        Figure(f"search.{name}.work", median(work) * 1_000, "ms", GOAL_MS),
        Figure(f"search.{name}.p50", median(wall) * 1_000, "ms", GOAL_MS),
    ]


def _fill(database: Path, tab: str) -> None:
    """Writes by a plain connection with the triggers on; one append at a time would take hours."""
    with closing(sqlite3.connect(database)) as connection:
        connection.executemany(
            "INSERT INTO chunks(id, tab_id, seq, turn_id, role, type, data_json, created_at,"
            " search_text) VALUES (?, ?, ?, 't', 'assistant', 'text', '{\"text\":\"\"}', 1, ?)",
            ((f"c{number}", tab, number, text) for number, text in enumerate(_texts(), start=1)),
        )
        connection.commit()


def _texts() -> Iterator[str]:
    dice = random.Random(7)
    for number in range(1, ROWS + 1):
        words = dice.choices(VOCABULARY, k=150)
        words.append(f"pre{dice.randrange(500)}")
        if number % 10:
            words.append("common")
        if number % 10_000 == 5_000:
            words.append("zebrafish")
        yield " ".join(words)
