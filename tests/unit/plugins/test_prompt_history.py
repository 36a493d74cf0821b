"""The shipped plugin, as a process, against the host and a real log (SPEC R07, R14)."""

import runpy
import sys
from pathlib import Path

import pytest

from desktop import paths
from desktop.core.chunks import NewChunk, System, ToolResult
from desktop.core.panels import Place
from desktop.plugins.folders import read_named
from desktop.plugins.limits import PING_SECONDS, Allowance
from tests.unit.plugins.hosts import Stage, play, until
from tests.unit.store.builders import chunk

SHIPPED = paths.resources() / "plugins" / "prompt-history"
MAIN = SHIPPED / "main.py"

if sys.platform == "win32":
    pytest.skip("the stage listens to a Unix socket", allow_module_level=True)


def turn(number: int, outcome: str = "done") -> list[NewChunk]:
    end = System("turn_end", fields={"outcome": outcome, "durationMs": 7})
    name = f"t{number}"
    return [
        chunk(f"u{number}", f"Prompt\n{number}", turn=name),
        chunk(f"a{number}", "An answer", role="assistant", turn=name),
        chunk(f"e{number}", end, role="system", turn=name),
    ]


def titles(stage: Stage) -> list[str]:
    return [row.title for row in stage.plugin.rows()]


def test_the_shipped_plugin_is_whole() -> None:
    manifest = read_named(SHIPPED, "prompt-history", host_version="0")
    assert manifest.name == "Prompt history"


def test_it_shows_every_prompt_the_newest_first_with_how_its_turn_went(tmp_path: Path) -> None:
    async def story(stage: Stage) -> None:
        for number in range(120):
            await stage.write(*turn(number))
        await stage.write(*turn(120, "failed"))
        stage.plugin.show(stage.tab)
        await until(lambda: [row.mark for row in stage.plugin.rows()][:1] == ["failed"])
        await until(lambda: len(titles(stage)) == 121)
        await until(lambda: all(row.duration_ms == 7 for row in stage.plugin.rows()))
        assert titles(stage) == [f"Prompt {number}" for number in range(120, -1, -1)]
        first = stage.plugin.rows()[0]
        assert first.place is not None
        assert (first.place.session_id, first.place.seq) == (stage.tab, 361)

    play(tmp_path, story, main=MAIN)


def test_it_follows_what_happens_and_leaves_out_what_is_taken_back(tmp_path: Path) -> None:
    async def story(stage: Stage) -> None:
        await stage.write(*turn(0))
        stage.plugin.show(stage.tab)
        await until(lambda: [row.duration_ms for row in stage.plugin.rows()] == [7])
        await stage.write(chunk("u1", "Another", turn="t1"))
        await until(lambda: [row.mark for row in stage.plugin.rows()] == ["running", ""])
        stage.time.advance(1)
        await stage.write(chunk("r", ToolResult("x", "shell", "no"), role="tool", turn="t1"))
        stage.time.advance(1)
        gone = System("retracted", fields={"chunkIds": ["u1"]})
        await stage.write(chunk("x", gone, role="system", turn="t1"))
        await until(lambda: titles(stage) == ["Prompt 0"])

    play(tmp_path, story, main=MAIN)


def test_what_it_was_not_told_it_reads_after_a_check(tmp_path: Path) -> None:
    async def story(stage: Stage) -> None:
        await stage.write(*turn(0))
        stage.plugin.show(stage.tab)
        await until(lambda: len(titles(stage)) == 1)
        await stage.session.append(turn(1))
        stage.time.advance(5)
        await until(lambda: titles(stage) == ["Prompt 1", "Prompt 0"])
        stage.plugin.show(None)
        assert titles(stage) == []
        stage.plugin.show(stage.tab)
        await until(lambda: titles(stage) == ["Prompt 1", "Prompt 0"])

    play(tmp_path, story, main=MAIN)


async def another(stage: Stage, *chunks: NewChunk, title: str = "") -> str:
    """One more conversation of the same workspace, with rows."""
    tab = await stage.log.catalogue.create_tab(1, title=title)
    await stage.log.session(tab.id).append(chunks)
    return tab.id


def test_it_shows_the_prompts_of_the_whole_workspace_and_each_leads_to_its_own_conversation(
    tmp_path: Path,
) -> None:
    async def story(stage: Stage) -> None:
        await stage.write(*turn(0))
        other = await another(stage, *turn(1), title="Shells")
        stage.plugin.show(stage.tab)
        await until(lambda: titles(stage) == ["Prompt 0"])
        assert [one.title for one in stage.plugin.choices] == [
            "This conversation",
            "This workspace",
        ]
        stage.plugin.choose("workspace")
        await until(lambda: set(titles(stage)) == {"Prompt 0", "Prompt 1"})
        (row,) = (one for one in stage.plugin.rows() if one.title == "Prompt 1")
        assert (row.subtitle, row.duration_ms) == ("Shells", 7)
        assert row.place == Place(other, 1)
        # What happens in any of them is followed.
        stage.hub.receipt(await stage.log.session(other).append([chunk("u2", "Two", turn="t2")]))
        await until(lambda: "Two" in titles(stage))
        # Beside another of them there is nothing to read anew.
        stage.plugin.show(other)
        await until(lambda: set(titles(stage)) == {"Prompt 0", "Prompt 1", "Two"})
        stage.plugin.choose("conversation")
        await until(lambda: titles(stage) == ["Two", "Prompt 1"])

    play(tmp_path, story, main=MAIN)


def test_what_comes_into_the_workspace_is_found_and_what_goes_into_the_bin_is_left_out(
    tmp_path: Path,
) -> None:
    async def story(stage: Stage) -> None:
        await stage.write(*turn(0))
        stage.plugin.show(stage.tab)
        await until(lambda: len(stage.plugin.choices) == 2)
        stage.plugin.choose("workspace")
        await until(lambda: titles(stage) == ["Prompt 0"])
        other = await another(stage, *turn(1))
        stage.time.advance(PING_SECONDS)
        await until(lambda: len(titles(stage)) == 2)
        await stage.log.catalogue.trash_tab(other)
        stage.time.advance(5)
        await until(lambda: titles(stage) == ["Prompt 0"])

    play(tmp_path, story, main=MAIN)


def test_a_prompt_that_a_fork_shares_is_shown_once(tmp_path: Path) -> None:
    async def story(stage: Stage) -> None:
        await stage.write(*turn(0))
        fork = (await stage.log.catalogue.fork_tab(stage.tab, at_seq=3)).id
        await stage.log.session(fork).append(turn(1))
        stage.plugin.show(fork)
        await until(lambda: titles(stage) == ["Prompt 1", "Prompt 0"])
        stage.plugin.choose("workspace")
        await until(lambda: set(titles(stage)) == {"Prompt 0", "Prompt 1"})
        places = {row.place.session_id for row in stage.plugin.rows() if row.place is not None}
        assert places == {fork}

    play(tmp_path, story, main=MAIN)


@pytest.mark.parametrize("size", [80, 20_000, 900_000])
def test_a_large_workspace_costs_time_and_not_the_plugin(size: int) -> None:
    """However fast it is answered, it stays below what would end it."""
    pace_type = runpy.run_path(str(MAIN))["Pace"]
    time = Clock()
    pace_type.take.__globals__["time"] = time
    pace, allowance = pace_type(), Allowance(time.monotonic)
    for _ in range(1_500):
        pace.take(size)
        allowance.take(size)


class Clock:
    """Time that passes only while one sleeps."""

    def __init__(self) -> None:
        self._now = 0.0

    def monotonic(self) -> float:
        return self._now

    def sleep(self, seconds: float) -> None:
        self._now += seconds
