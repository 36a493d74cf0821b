"""The last faults of the log, without the values in them: when, where in the code, of what kind.

A message of the log may hold a name or a piece of what was worked on. Whoever reads a report about
a fault needs the place of it; what was in it is left out, also where that costs a clue.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

MOST = 20  # faults
TAIL = 256_000  # bytes of each file that are looked at

_HEAD = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d),\d{3} ([A-Z]+) \d+ .*?(\S+\.\S+|root) (.*)")
_FRAME = re.compile(r'  File "[^"]+", line \d+, in \S+')
_KIND = re.compile(r"([A-Za-z_][\w.]*)(?::.*)?")
# Values stand behind a colon, in brackets or in quotes.
_VALUE = re.compile(r"\s*(?:: |[(\[<{\"“‘`]|'\S).*")


def last_errors(logs: Path) -> list[str]:
    """The last faults, the oldest first. Blocks; a log that can't be read has none."""
    lines = [line for name in ("nacre.log.1", "nacre.log") for line in _tail(logs / name)]
    return [line for fault in list(faults(lines))[-MOST:] for line in fault]


def faults(lines: Iterable[str]) -> Iterator[list[str]]:
    """Each warning or error of the log's lines, with the places of its traceback."""
    fault: list[str] = []
    for line in lines:
        head = _HEAD.fullmatch(line)
        if head is not None:
            if fault:
                yield fault
            fault = _begun(*head.groups())
        elif fault:
            fault += _kept(line)
    if fault:
        yield fault


def _begun(when: str, level: str, logger: str, message: str) -> list[str]:
    if level not in ("WARNING", "ERROR", "CRITICAL"):
        return []
    said = _VALUE.sub(" …", message) if logger.startswith("desktop.") else "…"
    return [f"{when} {level} {logger} {said}"]


def _kept(line: str) -> list[str]:
    """What of a traceback's line says where, and of what kind."""
    if line.startswith("Traceback ") or _FRAME.fullmatch(line):
        return [line]
    kind = _KIND.fullmatch(line)
    is_kind = kind is not None and kind[1].endswith(("Error", "Exception", "Interrupt", "Exit"))
    return [kind[1]] if kind is not None and is_kind else []


def _tail(path: Path) -> list[str]:
    try:
        with path.open("rb") as file:
            file.seek(max(0, file.seek(0, 2) - TAIL))
            return file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return []
