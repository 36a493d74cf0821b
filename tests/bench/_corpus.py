"""Long conversations for measurements, made in a minute at a million rows.

A plain connection inserts in bulk with the triggers of `chunks` away; what they would have done
(the revision, the search index) is then done at once, and they are made again. The words are spread
evenly: the rare one over one row in ten thousand, the common one over nine in ten, and the prefix
begins words of which every row has one.
"""

import asyncio
import atexit
import itertools
import json
import random
import shutil
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from desktop.store.log import Log

RARE, COMMON, PREFIX = "zebrafish", "common", "pre"
# A thousand made-up words.
VOCABULARY = [f"w{number * 7919 % 1000:03d}ord" for number in range(1_000)]
_SENTENCE_WORDS = 12
_SENTENCES = 5_000
_INSERT = (
    "INSERT INTO chunks(id, tab_id, seq, turn_id, step, role, type, data_json, created_at,"
    " provider, model, search_text)"
    " VALUES (?, ?, ?, ?, 0, ?, ?, ?, ?, 'anthropic:1a2b', 'model-1', ?)"
)
_REVISION = "INSERT INTO conversation_session_revisions(session_id, revision) VALUES (?, ?)"


@dataclass(frozen=True, slots=True)
class Corpus:
    """A closed data folder with one conversation of so many rows."""

    folder: Path
    tab: str
    rows: int

    def copy(self, folder: Path) -> "Corpus":
        """The same database in a folder of its own."""
        folder.mkdir(parents=True)
        shutil.copyfile(self.folder / "nacre.db", folder / "nacre.db")
        return Corpus(folder, self.tab, self.rows)


@cache
def corpus(rows: int, *, letters: int = 600) -> Corpus:
    """Made once and kept until this process ends; `letters` is the length of a text, about."""
    folder = until_the_end(Path(tempfile.mkdtemp(prefix="nacre-bench-corpus-")))
    return made(folder, rows, letters=letters)


def until_the_end(folder: Path) -> Path:
    """The folder, which goes when this process ends."""
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def made(folder: Path, rows: int, *, letters: int = 600) -> Corpus:
    """The same in a folder of the caller's."""
    tab = empty_log(folder)
    records = (
        (
            f"c{n:012d}-{n:016x}",
            tab,
            n,
            f"turn-{n // 8:08d}",
            "assistant",
            "text",
            json.dumps({"text": text}),
            n,
            text,
        )
        for n, text in enumerate(texts(rows, letters), start=1)
    )
    with closing(sqlite3.connect(folder / "nacre.db", isolation_level=None)) as connection:
        bulk(connection, tab, records, rows)
    return Corpus(folder, tab, rows)


def open_log(folder: Path, prefix: str = "id", *, busy_ms: int = 5_000) -> Log:
    """A log whose ids and times are counted."""
    ids, times = itertools.count(), itertools.count()
    return Log.open(
        folder / "nacre.db",
        blobs=folder / "blobs",
        run=folder / "run",
        new_id=lambda: f"{prefix}-{next(ids)}",
        now_ms=lambda: next(times),
        busy_ms=busy_ms,
    )


async def new_tab(log: Log, folder: Path) -> str:
    workspace = await log.catalogue.open_workspace(folder)
    return (await log.catalogue.create_tab(workspace.id)).id


def empty_log(folder: Path) -> str:
    """A new log with one conversation without rows; its id."""

    async def make() -> str:
        log = open_log(folder)
        try:
            return await new_tab(log, folder)
        finally:
            await log.close()

    return asyncio.run(make())


def bulk(
    connection: sqlite3.Connection, tab: str, records: Iterable[tuple[object, ...]], rows: int
) -> None:
    """Inserts (id, tab, seq, turn, role, type, data, created_at, searched) so many times."""
    connection.execute("PRAGMA synchronous=OFF")
    triggers = connection.execute(
        "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'chunks'"
    ).fetchall()
    connection.execute("BEGIN")
    for name, _ in triggers:
        connection.execute(f"DROP TRIGGER {name}")
    connection.executemany(_INSERT, records)
    connection.execute(_REVISION, (tab, rows))
    connection.execute("INSERT INTO chunks_search(chunks_search) VALUES ('rebuild')")
    for _, sql in triggers:
        connection.execute(sql)
    connection.execute("COMMIT")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def texts(rows: int, letters: int) -> Iterator[str]:
    """The texts of a corpus, the same each time."""
    dice = random.Random(7)
    sentences = [" ".join(dice.choices(VOCABULARY, k=_SENTENCE_WORDS)) for _ in range(_SENTENCES)]
    count = max(1, letters // len(sentences[0]))
    for number in range(1, rows + 1):
        words = [*dice.choices(sentences, k=count), f"{PREFIX}{dice.randrange(500)}"]
        if number % 10:
            words.append(COMMON)
        if number % 10_000 == 5_000:
            words.append(RARE)
        yield " ".join(words)
