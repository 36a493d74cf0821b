"""The last faults of the log: when, where in the code, of what kind.

A line of the log says nothing of what was worked on (`core/logged`), so faults are given on as they
stand. Lines of another form, an older version's among them, are left out.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

MOST = 20  # faults
TAIL = 256_000  # bytes of each file that are looked at

_HEAD = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00 ([A-Z]+) \d+ \[.*?\] \S+: .*")
_PLACE = re.compile(r"  \S.*|    \S.*")


def last_errors(logs: Path) -> list[str]:
    """The last faults, the oldest first. Blocks; a log that can't be read has none."""
    lines = [line for name in ("nacre.log.1", "nacre.log") for line in _tail(logs / name)]
    return [line for fault in list(faults(lines))[-MOST:] for line in fault]


def faults(lines: Iterable[str]) -> Iterator[list[str]]:
    """Each warning or error of the log's lines, with the places of its traceback."""
    fault: list[str] = []
    for line in lines:
        head = _HEAD.fullmatch(line)
        if fault and head is None and _PLACE.fullmatch(line):
            fault.append(line)
            continue
        if fault:
            yield fault
        is_fault = head is not None and head[1] in ("WARNING", "ERROR", "CRITICAL")
        fault = [line] if is_fault else []
    if fault:
        yield fault


def _tail(path: Path) -> list[str]:
    try:
        with path.open("rb") as file:
            file.seek(max(0, file.seek(0, 2) - TAIL))
            return file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return []
