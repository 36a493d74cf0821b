"""How long until Nacre's window is painted, as a ratio to two programs that do nothing.

Each value is the median of the ratios of paired runs: Nacre and the other program start one after
the other, in alternating order, so that a loud minute of the machine weighs on both.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

from tests.bench import Figure, _homes
from tests.e2e.nacre import Home

PAIRS = 11
TIMEOUT = 180.0  # seconds for one start


def figures() -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="nacre-bench-") as folder:
        home = _homes.empty(Path(folder))
        return [
            Figure("first_paint.vs_editor_window", ratio("editor_window", home), "x", 1.3),
            Figure("first_paint.vs_bare_window", ratio("bare_window", home), "x", 2.0),
        ]


def ratio(other: str, home: Home) -> float:
    """Nacre's time over the other's: the median of PAIRS runs after one that warms the caches."""
    ratios: list[float] = []
    for number in range(PAIRS + 1):
        drivers = ["nacre_window", other]
        if number % 2:
            drivers.reverse()
        times = {driver: started(driver, home).seconds("painted_ns") for driver in drivers}
        ratios.append(times["nacre_window"] / times[other])
    return median(ratios[1:])


class Started:
    """A driver's report; moments are counted from just before its process began."""

    def __init__(self, began_ns: int, report: Mapping[str, Any]) -> None:
        self._began_ns = began_ns
        self.report = report

    def seconds(self, moment: str) -> float:
        return (self.report[moment] - self._began_ns) / 1e9


def started(driver: str, home: Home, *arguments: str, limit: float = TIMEOUT) -> Started:
    """Runs a driver of `tests.bench.drivers` in a home to its end, which comes within `limit` (s).

    The environment says nothing of Python: what was compiled once is read compiled, as it is of a
    program that was installed.
    """
    began = time.monotonic_ns()
    done = subprocess.run(
        [sys.executable, "-m", f"tests.bench.drivers.{driver}", str(home.data), *arguments],
        env=home.environment(),
        capture_output=True,
        encoding="utf-8",
        timeout=limit,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    if done.returncode:
        raise RuntimeError(f"{driver} ended with {done.returncode}:\n{done.stderr}")
    return Started(began, json.loads(done.stdout.splitlines()[-1]))
