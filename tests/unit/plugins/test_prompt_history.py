"""The shipped plugin, as a process, against the host and a real log (SPEC R07, R14)."""

import sys
from pathlib import Path

import pytest

from desktop import paths
from desktop.core.chunks import NewChunk, System, ToolResult
from desktop.plugins.folders import read_named
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
