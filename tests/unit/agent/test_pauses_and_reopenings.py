"""What lies between two requests of one conversation changes nothing of the first: pauses of the
provider, stops and deaths in them, other days, modes, folders and tools (F-W07, U25, C29)."""

from itertools import pairwise
from pathlib import Path
from typing import Any

from desktop.agent.surroundings import Chosen
from desktop.core.chunks import ErrorNote
from desktop.wire.request import serialise
from tests.fakes.messages_api import Received, assert_extends
from tests.fakes.strict_model import StrictModel
from tests.fakes.tools import ScriptedTool
from tests.unit.agent.answering import Answer, answering
from tests.unit.agent.stage import played
from tests.unit.agent.test_any_script import Life
from tests.unit.agent.test_interleavings import Pause
from tests.unit.wire.rows_of import MODELS, OPUS

PAUSE = Answer(("text",), stop="pause_turn")


async def begun(folder: Path, *answers: Answer, turns: int = 0) -> Life:
    model = StrictModel(MODELS, answering(list(answers)), turns=turns)
    life = Life(folder, model, compact_at=0)
    await life.begin(())
    return life


async def said(life: Life, words: str) -> None:
    await life.stage.supervisor.send(life.tab, words)
    await life.stage.idle(life.tab)


def roles(request: Received) -> list[str]:
    return [message["role"] for message in request.messages]


def kinds(request: Received, at: int) -> list[str]:
    return [block["type"] for block in request.messages[at]["content"]]


@played
async def test_f_w07_three_pauses_in_a_row_are_one_answer_with_no_word_of_the_user_between(
    tmp_path: Path,
) -> None:
    life = await begun(tmp_path, PAUSE, PAUSE, PAUSE, Answer(("text",)))
    await said(life, "Search.")
    await said(life, "And?")
    assert life.model.complaints == []
    assert [roles(one) for one in life.model.requests[:4]] == [["user"]] + [
        ["user", "assistant"]
    ] * 3
    last = life.model.requests[-1]
    assert roles(last) == ["user", "assistant", "user"]
    one_pause = ["text", "server_tool_use", "web_search_tool_result"]
    assert kinds(last, 1) == [*one_pause * 3, "text"]
    for before, after in pairwise(life.model.requests):
        assert_extends(before.json, after.json)


@played
async def test_f_w07_a_provider_that_pauses_for_ever_is_told_and_the_next_message_goes_out(
    tmp_path: Path,
) -> None:
    life = await begun(tmp_path, *[PAUSE] * 9, Answer(("text",)))
    await said(life, "Search.")
    rows = life.stage.log.chunks(life.tab)
    assert [row.data.message for row in rows if isinstance(row.data, ErrorNote)]
    await said(life, "Never mind.")
    assert life.model.complaints == []
    assert "server_tool_use" not in kinds(life.model.requests[-1], 1)[-1:]


@played
async def test_f_w07_stopped_or_dead_between_two_pauses_the_next_message_goes_out(
    tmp_path: Path,
) -> None:
    for deed in ("stop", "crash"):
        life = await begun(tmp_path, PAUSE, PAUSE, turns=3)
        await life.stage.supervisor.send(life.tab, "Search.")
        while len(life.model.requests) < 2:
            await Pause(1).wait()
        await life.do(deed)
        await said(life, "Something else.")
        await said(life, "And on.")
        assert life.model.complaints == [], deed
        await life.stage.supervisor.shutdown()


@played
async def test_u25_c29_another_day_mode_folder_and_tool_set_change_no_byte_of_what_was_sent(
    tmp_path: Path,
) -> None:
    """The head too: the next request begins with the very bytes of the last one's."""
    life = await begun(tmp_path, Answer(("thinking", "look")), Answer(("thinking", "text")))
    await said(life, "Look.")
    await life.stage.supervisor.choose(life.tab, mode="auto")
    await said(life, "Again.")
    await life.stage.supervisor.shutdown()

    new = ScriptedTool("newer", kind="write")
    (tmp_path / "moved").mkdir()
    later = life.stage.again(life.model, [new, ScriptedTool("look")])
    later.folder = tmp_path / "moved"
    later.today = "2027-01-01"
    later.chosen = Chosen(OPUS)
    life.stage = later
    await later.supervisor.open(life.tab)
    await said(life, "Today?")
    await said(life, "And on.")
    assert life.model.complaints == []
    for before, after in pairwise(life.model.requests):
        assert_extends(before.json, after.json)
        assert _head(after.json) == _head(before.json)
    assert any("2027-01-01" in str(one.messages[-1]) for one in life.model.requests)


def _head(body: dict[str, Any]) -> bytes:
    return serialise({key: value for key, value in body.items() if key != "messages"})
