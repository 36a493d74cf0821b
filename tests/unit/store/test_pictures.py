"""What rows refer to lives as long as a row, a fork or a waiting message names it (DESIGN §4)."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from desktop.core.chunks import LogChunk, Payload, Text, ToolResult
from desktop.core.media import media_of
from desktop.core.rewrites import replacing
from desktop.core.shown import entries
from desktop.core.status import QueuedMessage
from desktop.store import sweeping
from desktop.store.jsonl import FSJSONLStore
from desktop.store.log import Log
from tests.unit.store.builders import chunk, new_tab, open_log, run
from tests.unit.wire.rows_of import Kept, paper, picture

LONG_AGO = 1_000_000.0
CAT, DOG, PAPER = picture(1, name="cat.png"), picture(2, name="dog.png"), paper(2)


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    with open_log(tmp_path) as made:
        yield made


def keep(log: Log, tab: str, folder: Path, *found: Kept) -> None:
    for one in found:
        path = folder / "x.part"
        path.write_bytes(one.content)
        sha256, size = run(log.session(tab).keep_file(path, one.entry["mediaType"]))
        assert (sha256, size) == (one.sha256, len(one.content))


def left(log: Log, folder: Path) -> set[str]:
    """The blobs that are there after a sweep, long after they were kept."""
    for file in (folder / "blobs").rglob("*"):
        if file.is_file():
            os.utime(file, (LONG_AGO, LONG_AGO))
    run(sweeping.sweep(log._lanes, log._blobs))  # pyright: ignore[reportPrivateUsage]
    return {file.name for file in (folder / "blobs").rglob("*") if file.is_file()}


def showing(*found: Kept, **more: Any) -> Text:
    return Text("look", attachments=tuple(one.entry | more for one in found))


def test_a_fork_shows_the_pictures_of_a_parent_that_was_purged(log: Log, tmp_path: Path) -> None:
    tab = new_tab(log, tmp_path)
    original = {"original": {"sha256": DOG.sha256, "mediaType": "image/png", "size": 1}}
    keep(log, tab, tmp_path, CAT, DOG, PAPER)
    result = ToolResult("c", "read_file", "fine", extra={"images": [PAPER.entry]})
    rows = [chunk("a", showing(CAT, **original)), chunk("b", result, role="tool")]
    run(log.session(tab).append([*rows, chunk("end", Text("Done"), role="assistant")]))
    run(log.session(tab).append([chunk("later", showing(picture(9)))]))
    fork = run(log.catalogue.fork_tab(tab, at_seq=3)).id
    run(log.catalogue.trash_tab(tab))
    run(log.catalogue.purge_tab(tab))
    assert left(log, tmp_path) == {CAT.sha256, DOG.sha256, PAPER.sha256}
    loaded = run(log.session(fork).load())
    shown = [media_of(one) for row in loaded.chunks for one in entries(row.data)]
    assert [one.sha256 for one in shown if one is not None] == [CAT.sha256, PAPER.sha256]
    run(log.catalogue.trash_tab(fork))
    run(log.catalogue.purge_tab(fork))
    assert left(log, tmp_path) == set()


def test_a_waiting_message_keeps_its_picture(log: Log, tmp_path: Path) -> None:
    tab = new_tab(log, tmp_path)
    keep(log, tab, tmp_path, CAT)
    message = QueuedMessage("q", tab, "look", 1, attachments=(CAT.entry,))
    run(log.session(tab).enqueue(message))
    assert left(log, tmp_path) == {CAT.sha256}


PAYLOADS: list[Payload] = [
    showing(CAT, PAPER),
    showing(CAT, original={"sha256": DOG.sha256, "mediaType": "image/bmp", "size": 9}),
    ToolResult("c", "read_file", "fine", extra={"images": [CAT.entry], "later": {"a": 1}}),
    replacing([("a", 0), ("b", 2)], "Left out."),
    Text("odd", attachments=({"kind": "hologram", "sha256": 7}, {"kind": "image"})),
]


@pytest.mark.parametrize("kind", ["sql", "jsonl"])
def test_pictures_and_rewrites_come_back_as_they_went_in(
    log: Log, tmp_path: Path, kind: str
) -> None:
    tab = new_tab(log, tmp_path)
    files = FSJSONLStore(tmp_path / "files", tab, now_ms=lambda: 1)
    store = log.session(tab) if kind == "sql" else files
    new = [
        chunk(f"r{number}", data, role="tool" if isinstance(data, ToolResult) else "system")
        if not isinstance(data, Text)
        else chunk(f"r{number}", data)
        for number, data in enumerate(PAYLOADS)
    ]
    run(store.append([*new, chunk("end", Text("Done"), role="assistant")]))
    found: list[LogChunk] = list(run(store.load()).chunks)
    run(files.close())
    assert [row.data for row in found[:-1]] == PAYLOADS
