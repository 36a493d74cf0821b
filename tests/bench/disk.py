"""What the log takes on disk beside what was said (SPEC U08).

Rows of three sizes as the store lays them down, with what every turn adds; what searching costs is
told apart: the same rows without their searchable text are what is left of the file. Then a
thousand turns as an agent streams them, over the bytes of all their payloads: short texts, calls of
a line, results of some 3 KB, and the small rows and records that every turn brings.
"""

import asyncio
import itertools
import json
import random
import sqlite3
import tempfile
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from desktop.core.chunks import (
    NewChunk,
    Payload,
    Role,
    Stamp,
    System,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from desktop.core.records import RequestRecord
from desktop.store.session import SqlSession
from tests.bench import Figure
from tests.bench._corpus import new_tab, open_log, texts

ROWS = 20_000
BATCH = 50
SIZES = (150, 600, 4_000)
ALLOWED = 350  # bytes a row beside its payload
TURNS = 1_000
STAMP = Stamp("anthropic:1a2b3c4d", "claude-some-model-5")
SIGNATURE = "Er" + "s" * 330
# As much on disk again, at most, for finding a word in a second.
SEARCH = 2.0


def figures() -> list[Figure]:
    found: list[Figure] = []
    for size in SIZES:
        with tempfile.TemporaryDirectory(prefix="nacre-bench-") as folder:
            found += asyncio.run(_rows(Path(folder), size))
    with tempfile.TemporaryDirectory(prefix="nacre-bench-") as folder:
        found += asyncio.run(_turns(Path(folder)))
    return found


async def _rows(folder: Path, size: int) -> list[Figure]:
    log = open_log(folder)
    try:
        session = log.session(await new_tab(log, folder))
        empty = len(json.dumps({"text": ""}))
        said = (text[: size - empty].ljust(size - empty, ".") for text in texts(ROWS, size + 200))
        for start in range(0, ROWS, BATCH):
            await session.append(
                [
                    NewChunk(
                        f"{n:08d}-0000-4000-8000-{n:012d}",
                        _turn(n),
                        "assistant",
                        Text(text),
                        stamp=STAMP,
                    )
                    for n, text in enumerate(itertools.islice(said, BATCH), start=start)
                ]
            )
    finally:
        await log.close()
    weighed = _Weighed(folder / "nacre.db")
    return [
        Figure(f"disk.beside_payload_of_{size}", weighed.beside / ROWS, "bytes", ALLOWED),
        Figure(f"disk.search_over_payload_of_{size}", weighed.search, "x", SEARCH),
    ]


async def _turns(folder: Path) -> list[Figure]:
    """The rows and records that an agent lays down in a turn with two requests and two calls."""
    log = open_log(folder)
    dice = random.Random(7)
    said = texts(TURNS * 8, 900)
    try:
        session = log.session(await new_tab(log, folder))
        for number in range(TURNS):
            await _one_turn(session, number, [_cut(next(said), dice) for _ in range(8)], dice)
    finally:
        await log.close()
    weighed = _Weighed(folder / "nacre.db")
    return [
        Figure("disk.streamed_turns_over_payload", weighed.log / weighed.payload, "x", 1.5),
        Figure("disk.search_over_streamed_turns", weighed.search, "x", SEARCH),
    ]


async def _one_turn(session: SqlSession, number: int, said: list[str], dice: random.Random) -> None:
    turn = _turn(number)
    calls = [ToolCall(f"toolu_{number:016d}_{n}", "shell", {"command": said[n]}) for n in (4, 5)]
    steps: list[list[tuple[Role, int, Payload]]] = [
        [("user", 0, Text(said[0]))],
        [
            (
                "assistant",
                0,
                Thinking(said[1], metadata={"type": "thinking", "signature": SIGNATURE}),
            )
        ],
        [("assistant", 0, Text(said[2])), *(("assistant", 0, call) for call in calls)],
        [("system", 0, System("notice", fields={"started": [one.call_id for one in calls]}))],
        [
            ("tool", 0, ToolResult(one.call_id, "shell", said[6] * dice.randrange(1, 12)))
            for one in calls
        ],
        [("assistant", 1, Text(said[7]))],
        [("system", 0, System("turn_end", fields={"outcome": "done", "durationMs": 4_321}))],
    ]
    for place, rows in enumerate(steps):
        if place in (1, 5):
            await _request(session, turn, place)
        await session.append(
            [
                NewChunk(
                    f"{number:08d}-{place}-{n}-4000-8000-abcdefabcdef",
                    turn,
                    role,
                    data,
                    step,
                    STAMP if role in ("user", "assistant") else Stamp(),
                )
                for n, (role, step, data) in enumerate(rows)
            ]
        )


async def _request(session: SqlSession, turn: str, step: int) -> None:
    record = RequestRecord(f"{turn}-{step}", session.session_id, turn, step, "anthropic:1a", "m", 1)
    await session.start_request(record)
    usage = {"input_tokens": 12, "output_tokens": 345, "cache_read_input_tokens": 67_890}
    await session.finish_request(replace(record, usage=usage, stop_reason="tool_use", ended_at=2))


def _turn(number: int) -> str:
    return f"{number // 8:08d}-1111-4111-8111-111111111111"


def _cut(text: str, dice: random.Random) -> str:
    """Most texts are short, some are not."""
    return text[: 1 + int(dice.triangular(10, 900, 150))]


class _Weighed:
    """A closed database on the scales. `log` is what it takes without its searchable text."""

    def __init__(self, database: Path) -> None:
        with closing(sqlite3.connect(database, isolation_level=None)) as connection:
            self.payload = int(
                connection.execute("SELECT sum(length(data_json)) FROM chunks").fetchone()[0]
            )
            file = _bytes(connection)
            bare = database.with_name("bare.db")
            connection.execute("VACUUM INTO ?", (str(bare),))
        with closing(sqlite3.connect(bare, isolation_level=None)) as connection:
            for trigger in ("chunks_no_update", "chunks_search_delete", "chunks_search_insert"):
                connection.execute(f"DROP TRIGGER {trigger}")
            connection.execute("DROP TABLE chunks_search")
            connection.execute("UPDATE chunks SET search_text = NULL")
            connection.execute("VACUUM")
            self.log = _bytes(connection)
        self.beside = self.log - self.payload
        self.search = (file - self.log) / self.payload


def _bytes(connection: sqlite3.Connection) -> int:
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    (size,) = connection.execute("PRAGMA page_size").fetchone()
    return pages * size
