"""How long until Nacre's window is painted, as a ratio to two programs that do nothing.

Each value is the median of the ratios of paired runs: Nacre and the other program start one after
the other, in alternating order, so that a loud minute of the machine weighs on both.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from statistics import median

from tests.bench import Figure

PAIRS = 11
TIMEOUT = 60.0  # seconds for one start


def figures() -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="nacre-bench-") as folder:
        return [
            Figure("first_paint.vs_editor_window", ratio("editor_window", folder), "x", 1.3),
            Figure("first_paint.vs_bare_window", ratio("bare_window", folder), "x", 2.0),
        ]


def ratio(other: str, data_folder: str) -> float:
    """Nacre's time over the other's: the median of PAIRS runs after one that warms the caches."""
    ratios: list[float] = []
    for number in range(PAIRS + 1):
        drivers = ["nacre_window", other]
        if number % 2:
            drivers.reverse()
        times = {driver: seconds_to_paint(driver, data_folder) for driver in drivers}
        ratios.append(times["nacre_window"] / times[other])
    return median(ratios[1:])


def seconds_to_paint(driver: str, data_folder: str) -> float:
    """From just before the process starts to its first paint event."""
    environment = {"QT_QPA_PLATFORM": "offscreen", **os.environ}
    start = time.monotonic_ns()
    done = subprocess.run(
        [sys.executable, "-m", f"tests.bench.drivers.{driver}", data_folder],
        env=environment,
        capture_output=True,
        encoding="utf-8",
        timeout=TIMEOUT,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{driver} ended with {done.returncode}:\n{done.stderr}")
    return (json.loads(done.stdout.splitlines()[-1])["painted_ns"] - start) / 1e9
