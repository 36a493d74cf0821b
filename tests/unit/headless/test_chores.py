"""What is done again and again beside the agents, with time by hand."""

import asyncio
import sqlite3
from collections.abc import Callable, Coroutine
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from desktop.core.errors import StoreError
from desktop.headless.chores import (
    FILE_CHECK_SECONDS,
    TIDY_SECONDS,
    TIDY_STEP_SECONDS,
    FileCheck,
    Tidying,
)
from desktop.headless.rounds import every
from tests.unit.store.builders import chunk, new_tab, open_log, run


class Loop:
    """Keeps what is to be called later, and runs at once what is started."""

    def __init__(self) -> None:
        self.waiting: list[tuple[float, Callable[[], None]]] = []
        self.names: list[str] = []
        self.failed: list[Exception] = []

    def later(self, seconds: float, call: Callable[[], None]) -> None:
        self.waiting.append((seconds, call))

    def start(self, work: Coroutine[Any, Any, None], name: str) -> None:
        self.names.append(name)
        try:
            asyncio.run(work)
        except StoreError as error:
            self.failed.append(error)

    def pass_by(self) -> float:
        """The one call that waits is made; the seconds that it waited."""
        ((seconds, call),) = self.waiting
        self.waiting = []
        call()
        return seconds


@pytest.mark.parametrize(("first", "before"), [(0.0, []), (90.0, [90.0])])
def test_a_chore_is_done_at_once_or_later_and_then_again_and_again(
    first: float, before: list[float]
) -> None:
    loop, done = Loop(), list[int]()

    async def chore() -> None:
        done.append(len(done))

    every(5.0, chore, "a chore", later=loop.later, start=loop.start, first=first)
    waits = [loop.pass_by() for _ in range(3)]
    assert waits == [*before, 5.0, 5.0, 5.0][:3]
    assert len(done) == len(loop.names) == 3 + (not before)
    assert set(loop.names) == {"a chore"}


def test_a_chore_that_failed_is_done_again_and_its_failure_is_told() -> None:
    loop = Loop()

    async def chore() -> None:
        raise StoreError("No room.")

    every(5.0, chore, "a chore", later=loop.later, start=loop.start)
    assert loop.pass_by() == 5.0
    assert [str(error) for error in loop.failed] == ["No room.", "No room."]
    assert len(loop.waiting) == 1


def test_the_log_is_tidied_in_steps_while_no_turn_runs_until_nothing_is_left(
    tmp_path: Path,
) -> None:
    loop, is_busy = Loop(), [True]
    with open_log(tmp_path) as log:
        tidying = Tidying(
            log.upkeep, is_busy=lambda: is_busy[0], later=loop.later, start=loop.start
        )
        tidying.begin_in()
        for number in range(40):  # each leaves a piece in the search index
            run(log.session(new_tab(log, tmp_path)).append([chunk(f"row-{number}", "words")]))
        assert loop.pass_by() == TIDY_SECONDS
        assert loop.names == [], "a turn runs"
        is_busy[0] = False
        assert loop.pass_by() == TIDY_SECONDS
        steps = 1
        while loop.waiting[0][0] == TIDY_STEP_SECONDS:
            loop.pass_by()
            steps += 1
        assert steps > 1, "there was more to do than one step does"
        assert not log.upkeep.is_untidy
        assert loop.pass_by() == TIDY_SECONDS
        assert len(loop.names) == steps, "nothing was written since"
        assert len(loop.waiting) == 1


def test_a_step_that_fails_is_tried_again_after_the_long_pause(tmp_path: Path) -> None:
    loop = Loop()
    with open_log(tmp_path) as log:
        tidying = Tidying(log.upkeep, is_busy=lambda: False, later=loop.later, start=loop.start)
        tidying.begin_in()
    loop.pass_by()  # the log is closed by now
    assert loop.names == ["tidy the log"]
    assert loop.failed == []
    assert [seconds for seconds, _ in loop.waiting] == [TIDY_SECONDS]


def test_a_sound_file_is_looked_over_once_and_nothing_is_said(tmp_path: Path) -> None:
    loop, said = Loop(), list[str]()
    with open_log(tmp_path) as log:
        FileCheck(log.upkeep, tmp_path / "nacre.db", report=said.append).watch(
            loop.later, loop.start
        )
        assert loop.pass_by() == FILE_CHECK_SECONDS
    assert loop.names == ["check the file"]
    assert (said, loop.waiting) == ([], [])


def test_a_damaged_file_is_told_with_the_way_out(tmp_path: Path) -> None:
    loop, said = Loop(), list[str]()
    database = tmp_path / "nacre.db"
    with open_log(tmp_path):
        pass
    with closing(sqlite3.connect(database)) as plain:
        (root,) = plain.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = 'drafts'"
        ).fetchone()
        (size,) = plain.execute("PRAGMA page_size").fetchone()
    with database.open("r+b") as file:
        file.seek((root - 1) * size)
        file.write(b"\xff" * size)
    with open_log(tmp_path, prefix="b") as log:
        FileCheck(log.upkeep, database, report=said.append).watch(loop.later, loop.start)
        loop.pass_by()
    (sentence,) = said
    assert f"{database} is damaged" in sentence
    assert "`nacre restore`" in sentence
