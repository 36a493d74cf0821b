"""Long conversations of every kind of row, inserted in bulk: made in seconds at a million rows.

They are not searchable; nothing else tells them from such as were lived.
"""

import itertools
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from functools import cache
from pathlib import Path

from desktop.core.chunks import Payload, Role, System, Text, Thinking, ToolCall, ToolResult, type_of
from desktop.store.codec import encode
from tests.bench._corpus import Corpus, bulk, empty_log, until_the_end

PROSE = "A paragraph with **bold** words, `code` and a [link](https://example.org/a). " * 3
CODE = "```python\n" + "".join(f"line_{n} = call({n}, 'two')  # words\n" for n in range(12)) + "```"
TABLE = "| name | number | words |\n|---|--:|---|\n" + "".join(
    f"| row {n} | {n * 37} | some *words* here |\n" for n in range(8)
)
_CALL = "CALL-ID"
_TURN: tuple[tuple[Role, Payload], ...] = (
    ("user", Text("What is in the file, and what should be done about it?\n\nPlease say why.")),
    ("assistant", Thinking("The file has to be read first. " * 8)),
    ("assistant", Text(PROSE)),
    ("assistant", ToolCall(_CALL, "read_file", {"path": "notes.txt"})),
    ("tool", ToolResult(_CALL, "read_file", "a line of the file\n" * 30)),
    ("assistant", Text(f"{PROSE}\n\n- one\n- two\n- three\n\n{CODE}\n\n{PROSE}")),
    ("assistant", Text(f"## What follows\n\n{TABLE}\n\n{PROSE}\n\n{PROSE}")),
    ("system", System("turn_end", "", {"outcome": "done", "durationMs": 1_200})),
)


@cache
def mixed(rows: int) -> Corpus:
    """Made once and kept until this process ends."""
    folder = until_the_end(Path(tempfile.mkdtemp(prefix="nacre-bench-mixed-")))
    tab = empty_log(folder)
    with closing(sqlite3.connect(folder / "nacre.db", isolation_level=None)) as connection:
        bulk(connection, tab, _records(tab, rows), rows)
    return Corpus(folder, tab, rows)


def _records(tab: str, rows: int) -> Iterator[tuple[object, ...]]:
    kinds = [(role, type_of(data), encode(data).data_json) for role, data in _TURN]
    # Every conversation ends with a whole turn, so that the ends of all look alike.
    turns = itertools.islice(itertools.cycle(kinds), -rows % len(kinds), None)
    for n, (role, type_, data) in zip(range(1, rows + 1), turns, strict=False):
        turn = (n - 1 - rows) // len(kinds) + rows
        said = data.replace(_CALL, f"call-{turn}") if _CALL in data else data
        yield f"c{n:012d}-{n:016x}", tab, n, f"turn-{turn:08d}", role, type_, said, n, None
