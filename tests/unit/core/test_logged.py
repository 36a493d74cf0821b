"""What a line of the log may say: no text that the code did not choose itself (F9)."""

import asyncio
import errno
import sqlite3
import traceback
import uuid
from enum import Enum
from pathlib import Path, PurePath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.core.errors import StoreFull
from desktop.core.logged import CHAIN, FRAMES, UNSAID, Word, told, trace_of

SAID = "canary of a prompt"
ROOT = Path("/home/anna/.local/share/nacre")


class Colour(Enum):
    RED = SAID


class Holds:
    def __repr__(self) -> str:
        return SAID


def fail(said: str) -> None:
    try:
        raise LookupError(said)
    except LookupError as error:
        error.add_note(said)
        raise StoreFull(said, detail=said) from error


def failed(said: str = SAID) -> Exception:
    try:
        fail(said)
    except StoreFull as error:
        return error
    raise AssertionError


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, None),
        (True, True),
        (3, 3),
        (0.5, 0.5),
        (Word("failed"), "failed"),
        ("4f0d2c2e-6f0b-4c0e-9a51-3c1f0e2b7a94", "4f0d2c2e-6f0b-4c0e-9a51-3c1f0e2b7a94"),
        (SAID, UNSAID),
        ("sk-ant-api03-abcd", UNSAID),
        (b"bytes", "<bytes>"),
        ([SAID], "<list>"),
        (Holds(), "<Holds>"),
        (Colour.RED, "Colour.RED"),
        (fail, "fail"),
        (ROOT / "nacre.db", "nacre.db"),
        (ROOT / "scratch" / "diary.txt", f"scratch/{UNSAID}"),
        (ROOT, UNSAID),
        (PurePath("/home/anna/diary.txt"), UNSAID),
        (OSError(errno.ENOSPC, SAID, SAID), "OSError (ENOSPC)"),
    ],
)
def test_f9_a_value_is_written_only_where_the_code_chose_its_words(
    value: object, written: object
) -> None:
    assert told(value, root=ROOT) == written


def test_f9_an_error_is_told_by_the_kinds_of_its_chain() -> None:
    assert told(failed()) == "desktop.core.errors.StoreFull < LookupError"


def test_f9_the_numbers_of_an_error_are_told() -> None:
    with pytest.raises(sqlite3.Error) as caught:
        sqlite3.connect("/nowhere/at/all.db")
    assert told(caught.value) == "sqlite3.OperationalError (SQLITE_CANTOPEN)"


def test_f9_a_task_is_told_by_its_code_and_not_by_its_name() -> None:
    async def work() -> object:
        task = asyncio.current_task()
        assert task is not None
        task.set_name(SAID)
        return told(task)

    assert str(asyncio.run(work())).endswith("work")


def test_f9_a_trace_says_kinds_and_places_and_nothing_else() -> None:
    lines = list(trace_of(failed()))
    assert lines[0] == "desktop.core.errors.StoreFull"
    assert any(line.startswith("  test_logged.py:") and line.endswith("in fail") for line in lines)
    assert "LookupError" in lines
    assert SAID not in "\n".join(lines)
    assert str(Path(__file__).parent) not in "\n".join(lines), "where it lies may name a person"


def test_f9_a_trace_within_libraries_names_the_library() -> None:
    def refuse() -> None:
        raise ValueError(SAID)

    try:
        given(st.none())(lambda _: refuse())()
    except ValueError as error:
        found = "\n".join(trace_of(error))
        assert "  hypothesis/core.py:" in found
        assert SAID not in found


@pytest.mark.parametrize(
    ("compiled_as", "told_as"),
    [
        ("desktop/store/log.py", "desktop/store/log.py"),
        ("/home/anna/x/site-packages/qasync/__init__.py", "qasync/__init__.py"),
        ("/usr/lib/python3.11/asyncio/events.py", "asyncio/events.py"),
        ("<string>", "<string>"),
    ],
)
def test_f9_a_place_is_told_without_where_it_lies(compiled_as: str, told_as: str) -> None:
    code = compile("raise KeyError", compiled_as, "exec")
    try:
        exec(code)
    except KeyError as error:
        assert list(trace_of(error))[-1] == f"  {told_as}:1 in <module>"


def test_f9_an_endless_chain_and_a_deep_one_come_to_an_end() -> None:
    one, two = ValueError(SAID), TypeError(SAID)
    one.__cause__, two.__cause__ = two, one
    assert list(trace_of(one)) == ["ValueError", "TypeError"]

    def deep(left: int) -> None:
        if not left:
            raise KeyError(SAID)
        deep(left - 1)

    try:
        deep(200)
    except KeyError as error:
        assert len(list(trace_of(error))) == FRAMES + 2
    group = ExceptionGroup(SAID, [ValueError(SAID) for _ in range(50)])
    assert len(list(trace_of(group))) == CHAIN


@given(said=st.text(min_size=8), depth=st.integers(0, 3))
def test_f9_no_words_of_an_error_reach_its_trace(said: str, depth: int) -> None:
    said = f"{uuid.UUID(int=0).hex}{said}"
    error: BaseException = ValueError(said)
    for _ in range(depth):
        outer = RuntimeError(said, error)
        outer.__context__ = error
        error = outer
    assert said in "".join(traceback.format_exception(error)) or not said.isprintable()
    assert said not in "\n".join(trace_of(error))
    assert said not in str(told(error))
