"""A conversation in one file: what is kept, and what happens to a damaged one."""

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from desktop.core.chunks import LogChunk, NewChunk, Stamp, Text, ToolResult
from desktop.core.conversation import LoadedSession
from desktop.core.errors import (
    LeaseHeld,
    NewerSchema,
    StoreDamaged,
    StoreError,
    StoreReadOnly,
)
from desktop.core.records import RequestRecord
from desktop.core.status import QueuedMessage
from desktop.store.jsonl import FSJSONLStore
from tests.unit.store.builders import STAMP, chunk, clock, run, tool_turn

T = TypeVar("T")

WRITER = """
import asyncio, sys
from pathlib import Path
from tests.unit.store.builders import chunk
from desktop.store.jsonl import FSJSONLStore

async def main():
    store = FSJSONLStore(Path(sys.argv[1]), "s", now_ms=lambda: 1)
    await store.acquire_lease()
    for n in range(int(sys.argv[2]), 10_000):
        await store.append([chunk(f"{n}-{k}", "x" * 50_000) for k in range(5)])
        print(n, flush=True)

asyncio.run(main())
"""


RIVAL = """
import asyncio, sys
from pathlib import Path
from tests.unit.store.builders import chunk
from desktop.core.errors import LeaseHeld
from desktop.store.jsonl import FSJSONLStore

async def main():
    store = FSJSONLStore(Path(sys.argv[1]), "s", now_ms=lambda: 1)
    for n in range(60):
        name = f"{sys.argv[2]}-{n}"
        try:
            rows = [chunk(f"{name}/{k}", "x" * 5_000, role="assistant") for k in range(3)]
            await store.append(rows)
            print("kept", name)
        except LeaseHeld as error:
            print("refused", error)

asyncio.run(main())
"""

BATCH_WRITER = """
import asyncio, sys
from pathlib import Path
from tests.unit.store.builders import chunk
from desktop.store.jsonl import FSJSONLStore

async def main():
    store = FSJSONLStore(Path(sys.argv[1]), "s", now_ms=lambda: 1)
    await store.acquire_lease()
    await store.append([chunk(f"after-{sys.argv[2]}-alive")])
    batch = [chunk(f"{sys.argv[2]}-{n}", "x" * 200_000, role="assistant") for n in range(200)]
    print(flush=True)
    await store.append(batch)

asyncio.run(main())
"""


@asynccontextmanager
async def opened(
    folder: Path, name: str = "s", report: Callable[[str], None] | None = None
) -> AsyncGenerator[FSJSONLStore]:
    store = FSJSONLStore(folder, name, now_ms=clock(), report=report)
    try:
        yield store
    finally:
        await store.close()


def with_store(
    folder: Path,
    work: Callable[[FSJSONLStore], Awaitable[T]],
    report: Callable[[str], None] | None = None,
) -> T:
    """What `work` brings with a store that is opened for it alone."""

    async def whole() -> T:
        async with opened(folder, report=report) as store:
            return await work(store)

    return run(whole())


def append(folder: Path, *chunks: NewChunk, reports: list[str] | None = None) -> None:
    told = None if reports is None else reports.append
    with_store(folder, lambda store: store.append(chunks), report=told)


def load(folder: Path, reports: list[str] | None = None) -> LoadedSession:
    told = None if reports is None else reports.append
    return with_store(folder, lambda store: store.load(), report=told)


def ids(loaded: LoadedSession) -> list[str]:
    return [row.id for row in (*loaded.chunks, *loaded.dangling)]


def answers(*names: str) -> list[NewChunk]:
    return [chunk(name, f"text of {name}", role="assistant") for name in names]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "sessions"


@pytest.fixture
def file(folder: Path) -> Path:
    return folder / "s.jsonl"


def test_the_file_is_a_header_and_a_json_line_for_each_row(folder: Path, file: Path) -> None:
    append(folder, *tool_turn())
    lines = file.read_bytes().split(b"\n")
    assert lines.pop() == b""
    header, *rows = [json.loads(line) for line in lines]
    assert header == {"format": "nacre-session", "version": 1, "session": "s", "created": 1_000}
    assert [(row["kind"], row["seq"], row["id"]) for row in rows] == [
        ("row", place, one.id) for place, one in enumerate(tool_turn(), start=1)
    ]


@pytest.mark.parametrize(
    "text",
    [
        "a\u2028b\u2029c\x85d",
        "a\ud800b\udfff",
        "a\0b\0",
        "\r\n\n\r\x1c\x1d\x1e\x0b\x0c",
        bytes(range(256)).decode("latin-1") * 256,
        pytest.param("é\n" * 1_300_000, id="10 MB"),
        "\\u0000\\n",
        "😀",
    ],
)
def test_s09_f_s07_any_text_comes_back_as_it_was(folder: Path, text: str) -> None:
    append(folder, chunk("a", text, role="assistant"), *answers("after"))
    result = ToolResult("c", "shell", text, extra={"k": [text, None, 1.5, {"z": True}]})
    append(folder, chunk("r", result, role="tool"))
    loaded = load(folder)
    assert [row.data for row in loaded.chunks] == [
        Text(text),
        Text("text of after"),
        result,
    ]
    assert loaded.damaged == 0


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_s09_a_file_cut_anywhere_keeps_its_whole_lines_and_goes_on(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """S09, F-S02: the cut piece is set aside byte for byte, and reported once."""
    folder = tmp_path_factory.mktemp("cut")
    file = folder / "s.jsonl"
    for one in answers("a", "b", "c", "d"):
        append(folder, one)
    whole = file.read_bytes()
    size = data.draw(st.integers(0, len(whole)))
    nuls = data.draw(st.sampled_from([0, 1, 1206]))
    file.write_bytes(whole[:size] + bytes(nuls))
    reports: list[str] = []
    ends = [place for place, byte in enumerate(whole) if byte == ord("\n")]
    expected = ["a", "b", "c", "d"][: max(sum(end <= size for end in ends) - 1, 0)]
    assert ids(load(folder, reports)) == expected
    append(folder, *answers("new"), reports=reports)
    assert ids(load(folder, reports)) == [*expected, "new"]
    good = max([0, *(end for end in ends if end <= size)])
    behind = (whole[:size] + bytes(nuls))[good:].removeprefix(b"\n")
    torn = list(folder.glob("s.jsonl.torn-*"))
    assert [one.read_bytes() for one in torn] == ([behind] if behind else [])
    assert len(reports) == len(torn)
    assert file.read_bytes().startswith(whole[:good])
    assert all(one.name in report for one, report in zip(torn, reports, strict=True))


def test_s04_a_batch_cut_at_any_byte_is_whole_or_not_there(tmp_path: Path) -> None:
    """S04, S09, F-S02: what is left of it is set aside byte for byte, and reported once."""
    source = tmp_path / "whole"
    append(source, *answers("before"))
    begin = (source / "s.jsonl").stat().st_size
    append(source, *answers("a", "b", "c"))
    whole = (source / "s.jsonl").read_bytes()
    for size in range(begin, len(whole) + 1):
        folder = tmp_path / str(size)
        folder.mkdir()
        file = folder / "s.jsonl"
        file.write_bytes(whole[:size])
        # The last byte is the newline behind a record that is whole without it.
        batch = ["a", "b", "c"] if size >= len(whole) - 1 else []
        reports: list[str] = []
        assert ids(load(folder, reports)) == ["before", *batch]
        assert file.read_bytes() == whole[:size]
        append(folder, *answers("after"), reports=reports)
        loaded = load(folder, reports)
        assert ids(loaded) == ["before", *batch, "after"]
        assert [row.seq for row in loaded.chunks] == list(range(1, len(batch) + 3))
        torn = [one.read_bytes() for one in folder.glob("s.jsonl.torn-*")]
        is_torn = begin < size < len(whole) - 1
        assert torn == [whole[begin:size]] * is_torn
        assert len(reports) == is_torn


def test_s04_a_file_of_before_the_batches_keeps_every_whole_line(folder: Path, file: Path) -> None:
    """Its lines do not say what was written together."""
    append(folder, *answers("a", "b", "c"))
    lines = [json.loads(line) for line in file.read_bytes().split(b"\n")[:-1]]
    for line in lines:
        line.pop("more", None)
    old = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    file.write_bytes(old[:-20])
    append(folder, *answers("d"))
    assert ids(load(folder)) == ["a", "b", "d"]


@pytest.mark.parametrize("torn", [1, 2])
def test_a_torn_batch_that_an_older_nacre_went_on_behind_hides_no_row(
    folder: Path, file: Path, torn: int
) -> None:
    append(folder, *answers("a", "b", "c"))
    lines = file.read_bytes().split(b"\n")
    later = (
        lines[1].replace(b'"id":"a","seq":1,', b'"id":"later","seq":9,').replace(b',"more":2', b"")
    )
    file.write_bytes(b"\n".join([*lines[: torn + 1], later, b""]))
    assert ids(load(folder)) == [*["a", "b"][:torn], "later"]
    append(folder, *answers("d"))
    assert ids(load(folder)) == [*["a", "b"][:torn], "later", "d"]


@pytest.mark.parametrize("place", [1, 2, 3])
def test_c12_a_damaged_line_inside_of_a_batch_hides_no_other(
    folder: Path, file: Path, place: int
) -> None:
    append(folder, *answers("a", "b", "c"))
    append(folder, *answers("d"))
    lines = file.read_bytes().split(b"\n")
    lines[place] = b"}{"
    file.write_bytes(b"\n".join(lines))
    names = ["a", "b", "c", "d"]
    del names[place - 1]
    loaded = load(folder)
    assert (ids(loaded), loaded.damaged) == (names, 1)


@pytest.mark.parametrize("nuls", [0, 1206])
@pytest.mark.parametrize("names", [[], ["a", "b"]], ids=["the header", "a row"])
def test_a_whole_last_line_without_its_newline_is_kept(
    folder: Path, file: Path, names: list[str], nuls: int
) -> None:
    """F-S02: only what is behind it is set aside."""
    append(folder, *answers("a", "b"))
    whole = b"\n".join(file.read_bytes().split(b"\n")[: len(names) + 1])
    file.write_bytes(whole + bytes(nuls))
    reports: list[str] = []
    assert ids(load(folder, reports)) == names
    append(folder, *answers("c"), reports=reports)
    assert file.read_bytes().startswith(whole + b"\n{")
    assert ids(load(folder, reports)) == [*names, "c"]
    assert [one.read_bytes() for one in folder.glob("*.torn-*")] == [bytes(nuls)] * bool(nuls)
    assert len(reports) == bool(nuls)


def test_s09_an_empty_file_is_recovered_with_a_header(folder: Path, file: Path) -> None:
    folder.mkdir()
    file.touch()
    assert load(folder) == LoadedSession()
    append(folder, *answers("a"))
    assert ids(load(folder)) == ["a"]
    assert file.read_bytes().startswith(b'{"format":"nacre-session"')


def test_f_s02_a_file_of_nuls_alone_is_set_aside(folder: Path, file: Path) -> None:
    folder.mkdir()
    file.write_bytes(bytes(200_000))
    reports: list[str] = []
    append(folder, *answers("a"), reports=reports)
    assert ids(load(folder)) == ["a"]
    assert (folder / "s.jsonl.torn-1").read_bytes() == bytes(200_000)
    assert len(reports) == 1


def test_each_damaged_tail_gets_a_name_of_its_own(folder: Path, file: Path) -> None:
    append(folder, *answers("a"))
    for piece in (b'{"kind', b"\xff\xfe"):
        with file.open("ab") as end:
            end.write(piece)
        append(folder, *answers(piece.hex()))
    assert (folder / "s.jsonl.torn-1").read_bytes() == b'{"kind'
    assert (folder / "s.jsonl.torn-2").read_bytes() == b"\xff\xfe"
    assert ids(load(folder))[0] == "a"


@pytest.mark.parametrize(
    "content",
    [
        b"hello\n",
        b"hello",
        b'{"type":"user","text":"hi"}\n',
        b'{"format":"other","version":1,"session":"s"}\n',
        b'[1,2]\n{"kind":"row"}\n',
        b"\x00\x00hello",
        b"\n",
        b"SQLite format 3\x00" + bytes(100_000),
        bytes(70_000) + b"x",
        b"\xff\xfe{\x00",
    ],
)
def test_s09_a_foreign_file_is_refused_untouched(folder: Path, file: Path, content: bytes) -> None:
    folder.mkdir()
    file.write_bytes(content)
    before = file.stat().st_mtime_ns
    for work in (lambda s: s.load(), lambda s: s.append(answers("a")), lambda s: s.queued()):
        with pytest.raises(StoreDamaged, match="left alone") as error:
            with_store(folder, work)
        assert str(file) in error.value.sentence
    assert file.read_bytes() == content
    assert file.stat().st_mtime_ns == before
    assert [one.name for one in folder.iterdir() if "lock" not in one.name] == ["s.jsonl"]


def test_a09_a_file_of_a_newer_version_is_refused_untouched(folder: Path, file: Path) -> None:
    append(folder, *answers("a"))
    newer = file.read_bytes().replace(b'"version":1', b'"version":2')
    file.write_bytes(newer)
    for work in (lambda s: s.load(), lambda s: s.append(answers("b"))):
        with pytest.raises(NewerSchema, match="newer Nacre"):
            with_store(folder, work)
    assert file.read_bytes() == newer


def test_a_file_of_another_conversation_is_refused(folder: Path, file: Path) -> None:
    append(folder, *answers("a"))
    file.rename(folder / "t.jsonl")

    async def work() -> None:
        async with opened(folder, "t") as store:
            await store.load()

    with pytest.raises(StoreDamaged, match="another conversation"):
        run(work())


@pytest.mark.parametrize(
    "bad",
    [
        b"}{",
        b"\x00" * 40,
        b'{"kind":"row","id":"b"}',
        b'{"kind":"future"}',
        b'"text"',
        b"[" * 100_000,
        b"\xff\xfe",
    ],
)
def test_a_damaged_line_in_the_middle_is_counted_named_and_skipped(
    folder: Path, file: Path, bad: bytes
) -> None:
    """F-S02, C12: never a blank view, never a silent skip; the line stays in the file."""
    append(folder, *answers("a", "b", "c"))
    lines = file.read_bytes().split(b"\n")
    lines[2] = bad
    file.write_bytes(b"\n".join(lines))
    reports: list[str] = []

    async def twice(store: FSJSONLStore) -> LoadedSession:
        await store.load()
        return await store.load()

    loaded = with_store(folder, twice, report=reports.append)
    assert [(row.id, row.seq) for row in loaded.chunks] == [("a", 1), ("c", 3)]
    assert loaded.damaged == 1
    assert len(reports) == 1
    assert f"Line 3 of {file}" in reports[0]
    append(folder, *answers("d"))
    assert [row.seq for row in load(folder).chunks] == [1, 3, 4]
    assert file.read_bytes().startswith(b"\n".join(lines))


def test_a_damaged_last_row_does_not_lose_its_place_to_the_next(folder: Path, file: Path) -> None:
    append(folder, *answers("a", "b"))
    lines = file.read_bytes().split(b"\n")
    lines[2] = b"}{"
    file.write_bytes(b"\n".join(lines))
    append(folder, *answers("c"))
    assert [(row.id, row.seq) for row in load(folder).chunks] == [("a", 1), ("c", 3)]


def test_a_damaged_header_hides_no_row(folder: Path, file: Path) -> None:
    append(folder, *answers("a", "b"))
    lines = file.read_bytes().split(b"\n")
    lines[0] = b"\x00" * len(lines[0])
    file.write_bytes(b"\n".join(lines))
    append(folder, *answers("c"))
    loaded = load(folder)
    assert (ids(loaded), loaded.damaged) == (["a", "b", "c"], 1)


def test_a_row_that_stands_there_twice_is_told_once_and_read_once(folder: Path, file: Path) -> None:
    append(folder, *answers("a", "b"))
    with file.open("ab") as end:
        end.write(file.read_bytes().split(b"\n")[2] + b"\n")
    loaded = load(folder)
    assert (ids(loaded), loaded.damaged) == (["a", "b"], 1)


def test_everything_is_there_again_for_the_next_process(folder: Path) -> None:
    """C05, C06, S11: rows, requests, the queue and the model."""
    record = RequestRecord("q", "s", "t", 0, "anthropic:1", "m", 5, usage={"output_tokens": 3})
    other = Stamp("anthropic:9", "model-2")

    async def first(store: FSJSONLStore) -> tuple[LogChunk, ...]:
        await store.enqueue(QueuedMessage("m0", "s", "zero\ud800", 1, ({"name": "a.png"},)))
        await store.enqueue(QueuedMessage("m1", "s", "one", 2))
        await store.enqueue(QueuedMessage("m2", "s", "two", 3))
        await store.cancel_queued("m1")
        rows = (await store.append([*tool_turn(), *answers("z")])).chunks
        taken = await store.take_queued(turn_id="t", step=1, stamp=other)
        assert taken is not None
        await store.start_request(record)
        for n in (3, 4, 5):
            await store.enqueue(QueuedMessage(f"m{n}", "s", "more", 4))
        await store.order_queued(["m3", "m5"])
        return (*rows, *taken.chunks)

    rows = with_store(folder, first)

    async def second(store: FSJSONLStore) -> None:
        loaded = await store.load()
        assert (*loaded.chunks, *loaded.dangling) == rows
        assert await store.requests() == (record,)
        assert [one.id for one in await store.queued()] == ["m3", "m5", "m4"]
        assert await store.active_model() == other
        empty = await store.append([])
        assert empty.revision == len(rows) + 1
        assert (await store.append(answers("next"))).chunks[0].seq == len(rows) + 1

    with_store(folder, second)


def test_s04_messages_leave_the_queue_together_with_their_rows(folder: Path, file: Path) -> None:
    """C05: cut off anywhere in that write, all of them still wait and none is a row."""

    async def wait(store: FSJSONLStore) -> None:
        for n in range(2):
            await store.enqueue(QueuedMessage(f"m{n}", "s", f"text {n}", n))

    with_store(folder, wait)
    begin = file.stat().st_size
    with_store(folder, lambda store: store.take_queued(turn_id="t", step=0, stamp=STAMP))
    whole = file.read_bytes()
    for size in (*range(begin, len(whole) - 1, 7), len(whole) - 2):
        file.write_bytes(whole[:size])
        assert ids(load(folder)) == []
        waiting = with_store(folder, lambda store: store.queued())
        assert [one.id for one in waiting] == ["m0", "m1"]
    file.write_bytes(whole)
    assert ids(load(folder)) == ["m0", "m1"]
    assert with_store(folder, lambda store: store.queued()) == ()


def test_s10_a_second_holder_is_refused_with_a_sentence(folder: Path, file: Path) -> None:
    async def work() -> None:
        async with opened(folder) as first, opened(folder) as second:
            await first.acquire_lease()
            await first.append(answers("a"))
            before = file.read_bytes()  # noqa: ASYNC240
            for attempt in (
                second.acquire_lease(),
                second.append(answers("b")),
                second.enqueue(QueuedMessage("m", "s", "x", 1)),
            ):
                with pytest.raises(LeaseHeld, match="Another Nacre") as error:
                    await attempt
            assert error.value.detail == str(os.getpid())
            assert file.read_bytes() == before  # noqa: ASYNC240
            assert ids(await second.load()) == ["a"]
            await first.release_lease()
            await second.acquire_lease()
            assert (await second.append(answers("b"))).chunks[0].seq == 2

    run(work())


def test_s10_two_that_take_turns_see_each_others_rows(folder: Path) -> None:
    async def work() -> None:
        async with opened(folder) as first, opened(folder) as second:
            for n in range(6):
                store = (first, second)[n % 2]
                receipt = await store.append(answers(f"r{n}"))
                assert (receipt.base_revision, receipt.chunks[0].seq) == (n, n + 1)
            with pytest.raises(StoreError, match="already in the log"):
                await first.append(answers("r5"))
            assert ids(await first.load()) == [f"r{n}" for n in range(6)]

    run(work())


@pytest.mark.skipif(sys.platform == "win32", reason="reads the lock's error words")
def test_s10_c14_processes_that_append_to_one_file_leave_every_line_whole(
    folder: Path, file: Path
) -> None:
    """S10, C14: each append is refused with a word or in the file, in its own place."""
    append(folder, *answers("first"))
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", RIVAL, str(folder), name],
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[3],
        )
        for name in ("one", "two", "three")
    ]
    told = [line for writer in writers for line in writer.communicate()[0].splitlines()]
    assert [writer.returncode for writer in writers] == [0, 0, 0]
    kept = {line.removeprefix("kept ") for line in told if line.startswith("kept ")}
    assert all(line.startswith(("kept ", "refused Another Nacre")) for line in told)
    loaded = load(folder)
    assert loaded.damaged == 0
    assert [row.seq for row in loaded.chunks] == list(range(1, len(loaded.chunks) + 1))
    assert {row.id.rpartition("/")[0] for row in loaded.chunks if "/" in row.id} == kept
    assert len(loaded.chunks) == 1 + 3 * len(kept)
    places = [row.id.rpartition("/")[0] for row in loaded.chunks[1:]]
    assert all(len(set(places[n : n + 3])) == 1 for n in range(0, len(places), 3))
    assert not list(folder.glob("*.torn-*"))


def test_s10_a_tail_that_another_is_writing_is_left_alone_by_readers(
    folder: Path, file: Path
) -> None:
    append(folder, *answers("a"))
    with file.open("ab") as end:
        end.write(b'{"kind":"row"')
    before = file.read_bytes()
    reports: list[str] = []
    assert ids(load(folder, reports)) == ["a"]
    assert (file.read_bytes(), reports) == (before, [])
    assert not list(folder.glob("*.torn-*"))


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_c15_a_process_killed_while_it_appends_loses_nothing_it_was_told_is_kept(
    folder: Path,
) -> None:
    """S09, F-S02 (e): and the lock of a dead process blocks nobody."""
    kept = 0
    for attempt in range(3):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(folder), str(kept)],
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[3],
        )
        assert writer.stdout is not None
        lines = random.Random(attempt).randint(1, 6)
        told = [int(writer.stdout.readline()) for _ in range(lines)]
        writer.send_signal(signal.SIGKILL)
        rest, _ = writer.communicate()
        told += [int(line) for line in rest.splitlines()]
        append(folder, *answers(f"after-{attempt}"))
        found = ids(load(folder))
        assert load(folder).damaged == 0
        assert found[-1] == f"after-{attempt}"
        for n in told:
            assert {f"{n}-{k}" for k in range(5)} <= set(found)
        started = [name for name in found if not name.startswith("after")]
        last = max(int(name.partition("-")[0]) for name in started)
        assert started == sorted(started, key=lambda one: [int(p) for p in one.split("-")])
        kept = last + 1


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_s04_a_process_killed_in_the_middle_of_a_write_leaves_all_of_the_batch_or_nothing(
    folder: Path, file: Path
) -> None:
    """S04, C15, F-S02: killed until a write was really cut in its middle."""
    whole = 0
    for attempt in range(40):
        writer = subprocess.Popen(
            [sys.executable, "-c", BATCH_WRITER, str(folder), str(attempt)],
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[3],
        )
        assert writer.stdout is not None
        writer.stdout.readline()
        begin = file.stat().st_size
        while file.stat().st_size <= begin and writer.poll() is None:
            pass
        writer.send_signal(signal.SIGKILL)
        writer.communicate()
        before = ids(load(folder))
        whole += f"{attempt}-0" in before
        append(folder, *answers(f"after-{attempt}"))
        assert ids(load(folder)) == [*before, f"after-{attempt}"]
        counts = [name.partition("-")[0] for name in before if not name.startswith("after")]
        assert len(counts) == whole * 200
        if list(folder.glob("s.jsonl.torn-*")):
            break
    (torn,) = folder.glob("s.jsonl.torn-*")
    # The tear may be anywhere, in the middle of the first line too.
    assert torn.read_bytes().startswith(b'{"kind":"row"')


def test_f_s02_a_lock_file_of_a_dead_process_does_not_block(folder: Path) -> None:
    folder.mkdir()
    (folder / "s.jsonl.lock").write_text("999999999")
    append(folder, *answers("a"))
    assert ids(load(folder)) == ["a"]


@pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="counts the bytes Linux counts")
def test_p11_an_append_reads_and_writes_the_same_whatever_stands_before(
    folder: Path, file: Path
) -> None:
    def moved() -> int:
        fields = dict(line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())
        return int(fields["rchar"]) + int(fields["wchar"])

    async def work(store: FSJSONLStore) -> list[int]:
        await store.acquire_lease()
        costs: list[int] = []
        for size in (1, 20):
            await store.append([chunk(f"big-{size}", "x" * (size * 1_000_000), role="assistant")])
            await store.append(answers(f"warm-{size:02}"))
            before = moved()
            await store.append(answers(f"one-{size:02}"))
            costs.append(moved() - before)
        return costs

    small, large = with_store(folder, work)
    assert file.stat().st_size > 20_000_000
    assert large <= small + 1_000


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="limits of POSIX")
def test_a_full_disk_leaves_nothing_of_the_batch_and_the_next_try_is_whole(folder: Path) -> None:
    """S04, A08: RLIMIT_FSIZE cuts the write in its middle, as a full disk does."""
    code = """
import asyncio, resource, signal, sys
from pathlib import Path
from desktop.core.errors import StoreError
from desktop.store.jsonl import FSJSONLStore
from tests.unit.store.builders import chunk

async def main():
    store = FSJSONLStore(Path(sys.argv[1]), "s", now_ms=lambda: 1)
    await store.append([chunk("a")])
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4_000, resource.RLIM_INFINITY))
    batch = [chunk(f"b{n}", "x" * 900) for n in range(9)]
    before = store.path.read_bytes()
    try:
        await store.append(batch)
    except StoreError as error:
        print("told", error)
    assert store.path.read_bytes() == before
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    await store.append(batch)
    await store.close()

asyncio.run(main())
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder)],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[3],
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("told")
    assert len(ids(load(folder))) == 10


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_what_is_no_plain_file_is_refused(folder: Path, file: Path) -> None:
    folder.mkdir()
    for make in (file.mkdir, lambda: file.symlink_to("/dev/full"), lambda: os.mkfifo(file)):
        make()
        for work in (lambda s: s.load(), lambda s: s.append(answers("a"))):
            with pytest.raises(StoreError, match="is not a file"):
                with_store(folder, work)
        file.rmdir() if file.is_dir() else file.unlink()


def test_a_folder_that_is_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "sessions").write_text("mine")
    with pytest.raises(StoreError, match="is not a folder") as error:
        append(tmp_path / "sessions", *answers("a"))
    assert str(tmp_path / "sessions") in error.value.sentence
    assert (tmp_path / "sessions").read_text() == "mine"


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")
def test_a08_a_read_only_folder_is_read_and_not_written(folder: Path, file: Path) -> None:
    append(folder, *answers("a"))
    file.chmod(0o400)
    folder.chmod(0o500)
    try:
        assert ids(load(folder)) == ["a"]
        with pytest.raises(StoreReadOnly, match="not write"):
            append(folder, *answers("b"))
    finally:
        folder.chmod(0o700)


def test_a_file_that_was_cut_off_meanwhile_is_told_and_left_alone(folder: Path, file: Path) -> None:
    async def work(store: FSJSONLStore) -> None:
        await store.append(answers("a"))
        await store.append(answers("b"))
        whole = file.read_bytes()  # noqa: ASYNC240
        file.write_bytes(whole[:-20])  # noqa: ASYNC240
        with pytest.raises(StoreDamaged, match="was cut off while Nacre worked in it"):
            await store.append(answers("c"))
        assert file.read_bytes() == whole[:-20]  # noqa: ASYNC240

    with_store(folder, work)


def test_a_file_that_was_taken_away_is_told_and_not_begun_anew(folder: Path, file: Path) -> None:
    async def work(store: FSJSONLStore) -> None:
        await store.append(answers("a", "b"))
        file.rename(folder / "moved")  # noqa: ASYNC240
        for attempt in (store.append(answers("c")), store.load(), store.acquire_lease()):
            with pytest.raises(StoreError, match=f"kept in the file {file}, which is not there"):
                await attempt
        assert not file.exists()  # noqa: ASYNC240
        (folder / "moved").rename(file)
        assert (await store.append(answers("c"))).chunks[0].seq == 3

    with_store(folder, work)


@pytest.mark.parametrize("name", ["", "..", "a/b", "a\\b", "a\0b", ".hidden", "x" * 300, "a\n"])
def test_an_id_that_can_be_no_files_name_is_refused(folder: Path, name: str) -> None:
    with pytest.raises(StoreError, match="name of a file"):
        FSJSONLStore(folder, name, now_ms=clock())
    assert not folder.exists()


def test_looking_makes_nothing(folder: Path) -> None:
    assert load(folder) == LoadedSession()
    assert with_store(folder, lambda store: store.append([])).revision == 0
    assert not folder.exists()


def test_kept_files_lie_beside_the_conversations(folder: Path, tmp_path: Path) -> None:
    async def work(store: FSJSONLStore) -> None:
        spooled = tmp_path / "out.txt"
        spooled.write_bytes(b"x" * 1000)
        sha256, size = await store.keep_file(spooled, "text/plain")
        assert (size, spooled.exists()) == (1000, False)
        path = await store.blob_path(sha256)
        assert path is not None
        assert path.is_relative_to(folder / "blobs")
        assert path.read_bytes() == b"x" * 1000

    with_store(folder, work)


def test_a_closed_store_says_so_and_lets_the_lock_go(folder: Path) -> None:
    async def work() -> None:
        async with opened(folder) as first, opened(folder) as second:
            await first.acquire_lease()
            await asyncio.gather(*(first.append(answers(f"r{n}")) for n in range(5)))
            await first.close()
            await first.close()
            for attempt in (first.load(), first.append(answers("x"))):
                with pytest.raises(StoreError, match="closed"):
                    await attempt
            await second.acquire_lease()
            assert len(ids(await second.load())) == 5

    run(work())


def test_a_cancelled_caller_does_not_cut_a_write(folder: Path) -> None:
    async def work(store: FSJSONLStore) -> list[str]:
        big = [chunk(f"b{n}", "x" * 500_000, role="assistant") for n in range(8)]
        task = asyncio.ensure_future(store.append(big))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait({task})
        await store.append(answers("after"))
        return ids(await store.load())

    found = with_store(folder, work)
    assert found in (["after"], [*(f"b{n}" for n in range(8)), "after"])
