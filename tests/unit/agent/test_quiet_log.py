"""What breaks in a turn is logged with its place and its kind, and with no word of it (F9)."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy.exc import OperationalError

from desktop.core.events import BlockDelta, BlockStarted
from desktop.core.tools import ToolOutcome
from desktop.diagnostics import LogFile, Redaction
from tests.fakes.models import ScriptedModel, begins, call, calls, says
from tests.fakes.tools import ScriptedTool
from tests.unit.agent.stage import Stage, played

PROMPT, KEY, OUTPUT = "canary-of-the-prompt", "canary-of-the-key", "canary-of-the-output"
NAME = "canary_of_a_name"
CANARIES = (PROMPT, KEY, OUTPUT, NAME)


@pytest.fixture
def log(tmp_path: Path) -> Iterator[LogFile]:
    (tmp_path / "data" / "logs").mkdir(parents=True)
    log = LogFile(tmp_path / "data" / "logs", Redaction())
    yield log
    log.close()


def written(log: LogFile) -> str:
    text = log.path.read_text("utf-8")
    assert [one for one in CANARIES if one in text] == []
    return text


def breaks(arguments: object) -> ToolOutcome:
    raise RuntimeError(arguments, OUTPUT, PROMPT)


@played
async def test_f9_a_model_that_breaks_says_no_word_of_the_prompt(
    tmp_path: Path, log: LogFile
) -> None:
    broken = [
        [*begins(), BlockStarted(0, "text"), BlockDelta(0, OUTPUT)],
        ZeroDivisionError(PROMPT, KEY, OUTPUT),
    ]
    stage = Stage(tmp_path, ScriptedModel([broken, says("Fine.")]))
    await stage.tab()
    await stage.run(PROMPT)
    text = written(log)
    assert "  ZeroDivisionError\n" in text
    assert "desktop/agent/loop.py:" in text


@played
async def test_f9_a_tool_that_breaks_says_no_word_of_what_it_had(
    tmp_path: Path, log: LogFile
) -> None:
    tool = ScriptedTool(NAME, answer=breaks)
    model = ScriptedModel([calls(call("c1", NAME, {"at": "1", "path": OUTPUT}))])
    model.then(says("K"))
    stage = Stage(tmp_path, model, [tool])
    await stage.tab()
    await stage.run(PROMPT)
    assert "a tool broke" in written(log)


@played
async def test_f9_a_store_that_breaks_says_no_word_of_its_rows(
    tmp_path: Path, log: LogFile
) -> None:
    stage = Stage(tmp_path, ScriptedModel([says(OUTPUT), says("Fine.")]))
    await stage.tab()
    stage.store(stage.tab_id)
    fault = OperationalError(f"INSERT '{PROMPT}'", {"data": OUTPUT}, ValueError(PROMPT))
    times = iter([None, fault])

    def trouble(name: str, args: tuple[object, ...]) -> Exception | None:
        del args
        return next(times, None) if name == "append" else None

    stage.stores[stage.tab_id].trouble = trouble
    await stage.run(PROMPT)
    assert "sqlalchemy.exc.OperationalError" in written(log)


def test_f9_a_library_says_where_it_complains_and_nothing_else(log: LogFile) -> None:
    logging.getLogger("httpx2").warning("POST %s with %s", PROMPT, KEY)
    logging.getLogger("anyio.streams").error(f"{OUTPUT}", exc_info=ValueError(OUTPUT))
    text = written(log)
    assert "httpx2: test_quiet_log.py:" in text
    assert "  ValueError" in text
