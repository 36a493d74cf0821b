"""What the store's tests build: logs over real files, chunks, and a loop to run a coroutine on."""

import asyncio
import itertools
import sqlite3
import tempfile
import uuid
from collections.abc import Callable, Coroutine, Generator
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from desktop.core.chunks import NewChunk, Payload, Role, Stamp, System, Text, ToolCall, ToolResult
from desktop.core.records import CatalogueReceipt
from desktop.store.codec import encode
from desktop.store.log import Log
from tests.fakes.stores import MemoryLog

T = TypeVar("T")
AnyLog = Log | MemoryLog

STAMP = Stamp("anthropic:1a2b", "model-1")


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(coroutine)


def counter(prefix: str = "id") -> Callable[[], str]:
    numbers = itertools.count(1)
    return lambda: f"{prefix}-{next(numbers)}"


def clock(start: int = 1_000) -> Callable[[], int]:
    times = itertools.count(start)
    return lambda: next(times)


@contextmanager
def open_log(
    folder: Path,
    *,
    busy_ms: int = 500,
    read_only: bool = False,
    prefix: str = "id",
    on_catalogue_change: Callable[[CatalogueReceipt], None] | None = None,
    now_ms: Callable[[], int] | None = None,
    is_made_here: bool = False,
) -> Generator[Log]:
    """A log in the folder; where there is none yet, an empty one that was made once before.

    To make a database takes four times as long as to open one, and is the subject of few:
    `is_made_here` is for those.
    """
    database = folder / "nacre.db"
    if not (is_made_here or read_only or database.exists()):
        database.write_bytes(_empty_database())
        database.chmod(0o600)
    log = Log.open(
        database,
        blobs=folder / "blobs",
        run=folder / "run",
        new_id=counter(prefix),
        now_ms=now_ms or clock(),
        read_only=read_only,
        busy_ms=busy_ms,
        on_catalogue_change=on_catalogue_change,
    )
    try:
        yield log
    finally:
        run(log.close())


@cache
def _empty_database() -> bytes:
    """The bytes of a database that this program has just made, all in one file."""
    with tempfile.TemporaryDirectory(prefix="nacre-empty-") as name:
        folder = Path(name)
        log = Log.open(
            folder / "nacre.db",
            blobs=folder / "blobs",
            run=folder / "run",
            new_id=counter(),
            now_ms=clock(),
        )
        run(log.close())
        assert [path.name for path in folder.glob("nacre.db*")] == ["nacre.db"]
        return (folder / "nacre.db").read_bytes()


@contextmanager
def open_any(
    kind: str, folder: Path, *, now_ms: Callable[[], int] | None = None
) -> Generator[AnyLog]:
    """A log of a backend: `sql` or `memory`."""
    if kind == "sql":
        (folder / "data").mkdir(exist_ok=True)
        with open_log(folder / "data", now_ms=now_ms) as made:
            yield made
        return
    (folder / "blobs").mkdir()
    yield MemoryLog(
        now_ms=now_ms or clock(),
        new_id=counter(),
        scratch=folder / "scratch",
        blobs=folder / "blobs",
    )


def new_tab(log: Log | MemoryLog, folder: Path) -> str:
    """A conversation in a workspace of its own; its id."""

    async def make() -> str:
        workspace = await log.catalogue.open_workspace(folder)
        return (await log.catalogue.create_tab(workspace.id)).id

    return run(make())


def chunk(
    id_: str,
    data: Payload | str = "hello",
    *,
    role: Role = "user",
    turn: str = "turn-1",
    step: int = 0,
    stamp: Stamp = STAMP,
) -> NewChunk:
    payload = Text(data) if isinstance(data, str) else data
    return NewChunk(id=id_, turn_id=turn, role=role, data=payload, step=step, stamp=stamp)


def tool_turn() -> list[NewChunk]:
    """A whole turn: a question, a call, its result, an answer, the turn's end."""
    return [
        chunk("u", "what is in a.txt?"),
        chunk("c", ToolCall("call-1", "read_file", {"path": "a.txt"}), role="assistant"),
        chunk("r", ToolResult("call-1", "read_file", "one\ntwo"), role="tool"),
        chunk("a", "two lines", role="assistant", step=1),
        chunk("e", System("turn_end", fields={"outcome": "done", "durationMs": 5}), role="system"),
    ]


def fill(log: Log, tab: str, *, rows: int, size: int) -> None:
    """Lays down so many texts of about `size` bytes, as fast as SQLite takes them; the ids are
    random, as they are in use."""
    with closing(sqlite3.connect(log.database)) as plain, plain:
        query = "SELECT coalesce(max(seq), 0) FROM chunks WHERE tab_id = ?"
        last = plain.execute(query, (tab,)).fetchone()[0]
        for seq in range(last + 1, last + 1 + rows):
            text = encode(Text(f"row {seq} of many words to look for ".ljust(size, "x")))
            role = "assistant" if seq % 2 else "user"
            plain.execute(
                "INSERT INTO chunks(id, tab_id, seq, turn_id, role, type, data_json, created_at,"
                " search_text) VALUES (?, ?, ?, ?, ?, 'text', ?, 1, ?)",
                (str(uuid.uuid4()), tab, seq, "turn", role, text.data_json, text.search_text),
            )


def put_in_bin(log: AnyLog, tab: str) -> None:
    """As trashing a conversation leaves it."""
    _set_tab(log, tab, "trashed_at", 7)


def take_out_of_bin(log: AnyLog, tab: str) -> None:
    _set_tab(log, tab, "trashed_at", None)


def hide(log: AnyLog, tab: str) -> None:
    """As the first moment of a purge leaves it."""
    if isinstance(log, MemoryLog):
        log.find(tab).purged = True
    else:
        _set_tab(log, tab, "purged_at", 8)


def _set_tab(log: AnyLog, tab: str, column: str, value: int | None) -> None:
    if isinstance(log, MemoryLog):
        held = log.find(tab)
        held.tab = replace(held.tab, trashed_at=value)
        return
    with closing(sqlite3.connect(log.database)) as connection, connection:
        connection.execute(f"UPDATE tabs SET {column} = ? WHERE id = ?", (value, tab))
