"""Colours of code (TRANSCRIPT §6.5)."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
import qasync

from desktop.ui.transcript.highlight import CODE_LIMIT, Highlighter, spans


def test_kinds_of_code_have_colours_by_token() -> None:
    code = 'def f():\n    return "x"  # note\n'
    found = {
        code[span.start : span.start + span.length]: span.token for span in spans(code, "python")
    }
    assert found["def"] == "link"
    assert found["f"] == "accent"
    assert "success" in found.values()
    assert found["# note"] == "muted"


def test_places_count_as_qt_does() -> None:
    code = "a = '😀'\ndef f(): pass\n"
    span = next(one for one in spans(code, "python") if one.token == "link")
    assert span.start == len("a = '😀'\n".encode("utf-16-le")) // 2


@pytest.mark.parametrize(
    ("code", "language"),
    [("x = 1", "no such language"), ("x" * (CODE_LIMIT + 1), "python"), ("y" * 6_000, "python")],
)
def test_what_can_t_be_coloured_stays_as_it_is(code: str, language: str) -> None:
    assert spans(code, language) == ()


def test_colours_come_from_a_thread_and_the_second_time_at_once(
    loop: qasync.QEventLoop, until: Callable[..., Coroutine[Any, Any, None]]
) -> None:
    tasks: list[asyncio.Task[None]] = []
    highlighter = Highlighter(lambda work, name: tasks.append(loop.create_task(work)))
    got: list[object] = []
    highlighter.request("x = 1", "python", got.append)
    assert got == []
    loop.run_until_complete(until(lambda: got))
    highlighter.request("x = 1", "python", got.append)
    assert len(got) == 2 and len(tasks) == 1
