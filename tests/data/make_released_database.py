"""Makes the database of a released version, by the frozen revisions and plain SQL.

    python tests/data/make_released_database.py FILE [--schema N]

Nothing of today's store writes it: its rows are what that version wrote. A new schema gets an
entry in `SCHEMAS`; old ones are never changed.
"""

import argparse
import hashlib
import importlib.util
import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from types import ModuleType
from typing import Any

REVISIONS = Path(__file__).parents[2] / "desktop" / "store" / "migrations" / "versions"
COLUMNS = "id, tab_id, seq, turn_id, step, role, type, data_json, created_at, provider, model"

CHUNKS: tuple[tuple[str, str, int, dict[str, Any]], ...] = (
    ("system", "system", 0, {"kind": "prompt", "text": "You are…", "tools": []}),
    ("user", "text", 0, {"text": "what is in a.txt? 🐚"}),
    ("assistant", "thinking", 0, {"text": "", "metadata": {"signature": "c2ln"}}),
    ("assistant", "tool_call", 0, {"callId": "c1", "name": "read_file", "arguments": {"p": [1]}}),
    ("tool", "tool_result", 0, {"callId": "c1", "name": "read_file", "result": "a\u0000b"}),
    ("assistant", "text", 1, {"text": "two lines", "interrupted": True, "later": {"key": None}}),
    ("assistant", "opaque", 1, {"block": {"type": "of tomorrow"}}),
    ("system", "error", 0, {"message": "lone \ud800 surrogate", "statusCode": 529}),
    ("system", "system", 0, {"kind": "a kind of tomorrow", "text": "x"}),
    ("system", "system", 0, {"kind": "turn_end", "outcome": "done", "durationMs": 5}),
)
ATTACHED = ({"name": "b.txt", "mediaType": "text/plain", "size": 4},)


def make(file: Path, schema: int) -> Path:
    """Writes the database of this schema; its path."""
    with closing(sqlite3.connect(file)) as plain:
        plain.execute("PRAGMA auto_vacuum=INCREMENTAL")
        plain.execute("PRAGMA journal_mode=WAL")
        SCHEMAS[schema](plain)
        plain.commit()
    return file


def content(file: Path) -> tuple[int, str]:
    """The number of rows of every conversation, and a hash of all that is in them."""
    with closing(sqlite3.connect(file)) as plain:
        plain.text_factory = bytes
        rows = plain.execute(f"SELECT {COLUMNS} FROM chunks ORDER BY tab_id, seq").fetchall()
        return len(rows), hashlib.sha256(repr(rows).encode()).hexdigest()


def _first(plain: sqlite3.Connection) -> None:
    revision = _revision("0001_first.py")
    for script in (revision.KEPT_TABLES, revision.TABLES, revision.SEARCH):
        plain.executescript(script)
    plain.execute("CREATE TABLE alembic_version(version_num VARCHAR(32) NOT NULL PRIMARY KEY)")
    plain.execute("INSERT INTO alembic_version VALUES('0001')")
    plain.execute("INSERT INTO projects VALUES(1, '/w', 'W', 'directory', NULL, 1, 1, NULL)")
    plain.execute("INSERT INTO workspaces VALUES(1, 1, '/w', 'W', 'checkout', 1, 1, NULL)")
    tab = "INSERT INTO tabs VALUES(?, 1, ?, ?, ?, NULL, ?, ?, 1, 2, ?, ?, NULL)"
    for row in (
        ("open", "Open", 0, 1, None, None, None, None),
        ("closed", "", 1, 0, None, None, 5, None),
        ("fork", "A fork", 2, 1, "open", 6, None, None),
        ("binned", "In the bin", 3, 0, None, None, None, 9),
    ):
        plain.execute(tab, row)
    plain.executemany(
        f"INSERT INTO chunks({COLUMNS}, search_text) VALUES({', '.join('?' * 12)})", _rows()
    )
    plain.execute(
        "INSERT INTO chunks_search(rowid, search_text)"
        " SELECT ordinal, search_text FROM chunks WHERE search_text IS NOT NULL"
    )
    plain.execute("INSERT INTO settings VALUES('appearance.theme', 'dark'), ('of.tomorrow', '1')")
    plain.execute("INSERT INTO drafts VALUES('open', 'half a thought', 3)")
    plain.execute("PRAGMA user_version=1")


def _second(plain: sqlite3.Connection) -> None:
    _first(plain)
    second = _revision("0002_second.py")
    for statement in second.COLUMNS + second.INDEXES:
        plain.execute(statement)
    plain.execute("UPDATE alembic_version SET version_num = '0002'")
    plain.execute("UPDATE drafts SET caret = 4, attachments_json = ?", (json.dumps(ATTACHED),))
    plain.execute("PRAGMA user_version=2")


def _rows() -> Iterator[tuple[object, ...]]:
    for tab, first in (("open", 1), ("closed", 1), ("fork", 7), ("binned", 1)):
        for place, (role, kind, step, data) in enumerate(CHUNKS):
            yield (
                f"{tab}-{place}",
                tab,
                first + place,
                f"{tab}-turn",
                step,
                role,
                kind,
                json.dumps(data),
                1_700_000_000_000 + place,
                "anthropic:1a2b" if role != "system" else None,
                "model-1" if role != "system" else None,
                data.get("text"),
            )


def _revision(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name.partition(".")[0], REVISIONS / name)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SCHEMAS: dict[int, Callable[[sqlite3.Connection], None]] = {1: _first, 2: _second}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--schema", type=int, default=max(SCHEMAS))
    arguments = parser.parse_args()
    print(make(arguments.file, arguments.schema))


if __name__ == "__main__":
    main()
