"""Two processes and a third on one log, for `--seconds`: what one seals, the others see.

Two neighbours each write at random times into a conversation of their own, and follow it, the
other's, and a third one, into which this process writes by plain SQL. Counts are exact: no row may
be lost, shown twice or shown before an earlier one. How soon a row is seen is from its commit to
its first showing in the other process; the bounds are those of a machine that is idle otherwise.
"""

import asyncio
import json
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from tests.bench import Figure, Options
from tests.bench._corpus import new_tab, open_log

NAMES = ("left", "right")
PAUSES = (0.005, 0.3)  # seconds between two writes by plain SQL
INSERT = (
    "INSERT INTO chunks(id, tab_id, seq, turn_id, role, type, data_json, created_at)"
    " SELECT ?, ?, coalesce(max(seq), 0) + 1, 't', 'assistant', 'text', '{\"text\": \"sql\"}', 1"
    " FROM chunks WHERE tab_id = ?"
)
Process = subprocess.Popen[str]
Found = dict[str, Any]


def figures(options: Options) -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="nacre-bench-between-") as name:
        folder = Path(name)
        left, right, shared = asyncio.run(_tabs(folder))
        lines = {"left": (left, shared, right), "right": (right, shared, left)}
        both = [_start(folder, lines[one], options.seconds, one) for one in NAMES]
        _all(both, say="ready")
        by_sql = _write(folder / "nacre.db", shared, options.seconds)
        _all(both, say="written", answer=False)
        logged = {tab: _ids(folder / "nacre.db", tab) for tab in (left, right, shared)}
        rows = sum(map(len, logged.values()))
        found = [json.loads(process.communicate(f"{rows}\n")[0]) for process in both]
    return _figures(found, by_sql, logged)


def _figures(
    found: Sequence[Found], by_sql: dict[str, float], logged: dict[str, list[str]]
) -> list[Figure]:
    written = by_sql | found[0]["written"] | found[1]["written"]
    rows = sum(map(len, logged.values()))
    lost = [
        id_
        for one in found
        for tab, ids in logged.items()
        for id_ in ids
        if id_ not in one["seen"][tab]
    ]
    order = [tab for one in found for tab, ids in logged.items() if list(one["seen"][tab]) != ids]
    faults = [fault for one in found for fault in one["faults"]]
    times = [
        max(at - written[id_], 0.0) * 1_000
        for one in found
        for tab in one["seen"]
        for id_, at in one["seen"][tab].items()
        if id_ not in one["written"]
    ]
    asked = max(one["asked"] for one in found)
    return [
        Figure("between.lost", len(lost) + len(written) - rows, "rows", 0),
        Figure("between.doubled", faults.count("doubled"), "rows", 0),
        Figure("between.out_of_order", len(order) + faults.count("order"), "rows", 0),
        Figure("between.seen_p50", median(times), "ms", 250),
        Figure("between.seen_p99", quantiles(times, n=100)[-1], "ms", 250),
        Figure("between.seen_max", max(times), "ms", 5_500),
        Figure("between.asked", asked, "/s", 10),
        Figure("between.rows", rows, "rows", 10, at_least=True),
    ]


async def _tabs(folder: Path) -> list[str]:
    log = open_log(folder, "tab")
    try:
        return [await new_tab(log, folder) for _ in range(3)]
    finally:
        await log.close()


def _start(folder: Path, tabs: Sequence[str], seconds: float, name: str) -> Process:
    return subprocess.Popen(
        [
            sys.executable,
            "-m",
            "tests.bench.drivers.neighbour",
            str(folder),
            *tabs,
            str(seconds),
            name,
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )


def _all(both: Sequence[Process], *, say: str, answer: bool = True) -> None:
    """Waits until both say this; then, together, they may go on."""
    for process in both:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.strip() == say, line
    for process in both if answer else ():
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()


def _write(database: Path, tab: str, seconds: float) -> dict[str, float]:
    """By plain SQL, a row at a time; when each was durable."""
    dice, written = random.Random("sql"), dict[str, float]()
    until = time.monotonic() + seconds
    with closing(sqlite3.connect(database, timeout=5)) as plain:
        while time.monotonic() < until:
            id_ = f"sql-{len(written)}"
            with plain:
                plain.execute("BEGIN IMMEDIATE")
                plain.execute(INSERT, (id_, tab, tab))
            written[id_] = time.monotonic()
            time.sleep(dice.uniform(*PAUSES))
    return written


def _ids(database: Path, tab: str) -> list[str]:
    with closing(sqlite3.connect(database)) as plain:
        sql = "SELECT id FROM chunks WHERE tab_id = ? ORDER BY seq"
        return [row[0] for row in plain.execute(sql, (tab,))]
