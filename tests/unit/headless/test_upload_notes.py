"""Which servers take compressed requests is remembered from one start to the next (C5)."""

import asyncio
import threading
from pathlib import Path

import pytest

from desktop import settings
from desktop.headless.upload_notes import KEY, SERVERS, UploadNotes
from tests.fakes.stores import MemoryLog
from tests.unit.agent.stage import Stage


async def notes_of(log: MemoryLog) -> UploadNotes:
    notes = UploadNotes(log.catalogue)
    notes.read(await log.catalogue.settings())
    return notes


async def learned(notes: UploadNotes, server: str, manner: str) -> None:
    """As the transport's thread does it."""
    thread = threading.Thread(target=notes.learn, args=(server, manner))
    thread.start()
    thread.join()
    await asyncio.sleep(0)
    assert notes.known(server) == manner
    await notes.saved()


def test_c5_what_a_server_takes_is_known_at_the_next_start(tmp_path: Path):
    async def scenario() -> None:
        log = Stage(tmp_path).log
        notes = await notes_of(log)
        await learned(notes, "localhost:1", "plain")
        await learned(notes, "localhost:2", "gzip")
        again = await notes_of(log)
        assert [again.known(f"localhost:{at}") for at in (1, 2, 3)] == ["plain", "gzip", ""]

    asyncio.run(scenario())


def test_the_note_is_no_problem_among_the_settings(tmp_path: Path):
    async def scenario() -> None:
        log = Stage(tmp_path).log
        await learned(await notes_of(log), "localhost:1", "plain")
        read = settings.read(await log.catalogue.settings())
        assert not read.problems
        assert KEY in read.unknown

    asyncio.run(scenario())


@pytest.mark.parametrize(
    "row", ["", "[]", "{", '{"a": 3}', '{"a": []}', '{"a": "brotli"}', "[" * 100_000]
)
def test_a_damaged_note_is_no_note(tmp_path: Path, row: str):
    async def scenario() -> None:
        notes = UploadNotes(Stage(tmp_path).log.catalogue)
        notes.read({KEY: row})
        assert notes.known("a") == ""

    asyncio.run(scenario())


def test_only_the_last_servers_are_remembered(tmp_path: Path):
    async def scenario() -> None:
        notes = await notes_of(Stage(tmp_path).log)
        for at in range(SERVERS + 1):
            await learned(notes, f"localhost:{at}", "gzip")
        assert notes.known("localhost:0") == ""
        assert notes.known("localhost:1") == "gzip"

    asyncio.run(scenario())
