"""Answers that break, and long answers of many kinds of blocks, with the real store and wire and a
server that is as strict as the provider (F-W02, F-W04, F-W10, C17)."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from desktop.core.chunks import LogChunk, Text
from desktop.core.tools import ToolOutcome
from tests.fakes.messages_api import (
    Block,
    MessagesServer,
    Received,
    Reply,
    fails,
    redacted_thinking,
    reply,
    text,
    thinking,
    tool_use,
)
from tests.fakes.sim.replies import Cut, Raw
from tests.fakes.tools import ScriptedTool
from tests.unit.agent.stage import played
from tests.unit.headless.test_compacting import life
from tests.unit.wire.asking import load_sdk

STEPS = 50


@pytest.fixture(scope="module", autouse=True)
def _sdk() -> None:  # pyright: ignore[reportUnusedFunction]
    """Loaded before the first test is timed."""
    load_sdk()


def interleaved() -> list[Block]:
    """24 blocks as they come from a model that thinks between its calls."""
    found: list[Block] = []
    for at in range(6):
        call = tool_use("look", {"z": at, "a": [{"b": None}]})
        found += [thinking(f"thought {at}"), call, text("") if at % 2 else redacted_thinking()]
        found.append(text(f"so {at}"))
    return found


def first_answer(request: Received) -> list[str]:
    """The blocks of the first answer in a request, byte for byte, markers apart."""
    said = next(one["content"] for one in request.messages if one["role"] == "assistant")
    return [_bytes(block) for block in said]


def _bytes(block: dict[str, Any]) -> str:
    return json.dumps({key: value for key, value in block.items() if key != "cache_control"})


@played
async def test_f_w02_24_interleaved_blocks_go_back_as_they_came_whatever_happens_between(
    tmp_path: Path,
) -> None:
    """After a look at another conversation, a failed request, its retry, and a reopening."""
    script = [
        reply(*interleaved()),
        reply("Done."),
        reply("Elsewhere."),
        *[fails(529)] * 4,
        reply("After the retry."),
        reply("After the reopening."),
    ]
    with MessagesServer(script) as server:
        async with life(tmp_path, server) as now:
            await now.begin()
            await now.run("Look at all of it.")
            tab_id = now.tab_id
            await now.begin()
            await now.run("Something else.")
            now.tab_id = tab_id
            status = await now.run("And?")
            assert status.last_outcome == "failed"
            await now.supervisor.retry(tab_id)
            assert (await now.idle()).last_outcome == "done"
        async with life(tmp_path, server) as later:
            later.tab_id = tab_id
            await later.run("And now?")
    assert server.rejected == []
    sent = [
        _bytes(block)
        for block in server.requests[0].message["content"]
        if block["type"] != "text" or block["text"]
    ]
    assert len(sent) == 21
    held = [one for one in server.requests if "look" in str(one.messages[1:2])]
    assert len(held) == 7
    assert all(first_answer(one) == sent for one in held)


HALF_A_LINE = (
    b'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,'
    b'"delta":{"type":"text_delta","text":"\xf0\x9f'
)
LONG = reply(text("pearl " * 300, chunk=6))
BROKEN: dict[str, tuple[Reply, str]] = {
    "a: after the head": (LONG.cut_after(0), ""),
    "b: after the message began": (LONG.cut_after(1), ""),
    "c: after 300 deltas": (LONG.cut_after(303), "pearl " * 300),
    "d: inside a character": (
        reply(text("Ahoi")).insert_after(4, Raw(HALF_A_LINE), Cut()),
        "Ahoi",
    ),
    "e: in a call's arguments": (
        reply(text("I look."), tool_use("look", {"at": "x" * 80})).cut_after(8),
        "I look.",
    ),
    "a reset": (LONG.cut_after(40, reset=True), "pearl " * 37),
}


@pytest.mark.parametrize("name", BROKEN)
def test_f_w10_a_dropped_connection_leaves_what_was_shown_and_a_conversation_that_goes_on(
    name: str, tmp_path: Path
) -> None:
    """Also after a restart; nothing was run, and no half character is kept."""

    @played
    async def lives() -> None:
        broken, shown = BROKEN[name]
        tool = ScriptedTool("look")
        # What broke before anything was shown is asked for again by itself, four times in all.
        tries = [broken] * (1 if shown else 4)
        with MessagesServer([*tries, reply("Gladly."), reply("Again.")]) as server:
            async with life(tmp_path, server, tool=tool) as now:
                await now.begin()
                status = await now.run("Begin.")
                assert status.last_outcome == "failed"
                texts = _said(await now.rows())
                # A reset also takes what was still on its way.
                came = "".join(texts)
                assert (came and shown.startswith(came)) if "reset" in name else came == shown
                await now.run("Go on.")
            async with life(tmp_path, server, tool=tool) as later:
                later.tab_id = now.tab_id
                assert (await later.run("And on.")).last_outcome == "done"
                assert _said(await later.rows()) == [*texts, "Gladly.", "Again."]
        assert tool.ran == []
        assert server.rejected == []

    lives()


@played
async def test_f_w10f_an_answer_whose_end_was_told_is_complete_without_its_last_event(
    tmp_path: Path,
) -> None:
    tool = ScriptedTool("look")
    script = [reply(tool_use("look", {})).unfinished(), reply("Seen.").unfinished()]
    with MessagesServer(script) as server:
        async with life(tmp_path, server, tool=tool) as now:
            await now.begin()
            assert (await now.run("Look.")).last_outcome == "done"
            assert _said(await now.rows()) == ["Seen."]
    assert len(tool.ran) == 1


@played
async def test_f_w04_a_block_that_closes_empty_and_a_tool_that_says_nothing_are_not_sent(
    tmp_path: Path,
) -> None:
    script = [
        reply(text(""), tool_use("look", {})),
        reply(text(" \n\t"), tool_use("look", {"n": 2})),
        reply("Nothing there."),
        reply("Yes."),
    ]
    with MessagesServer(script) as server:
        tool = ScriptedTool("look", answer=lambda _: ToolOutcome(""))
        async with life(tmp_path, server, tool=tool) as now:
            await now.begin()
            await now.run("Look.")
            await now.run("Sure?")
            rows = await now.rows()
    assert server.rejected == []
    assert _said(rows) == ["Nothing there.", "Yes."]
    kinds = [
        [block["type"] for block in message["content"]]
        for message in server.requests[-1].messages[1:5]
    ]
    assert kinds == [["tool_use"], ["tool_result"], ["tool_use"], ["tool_result"]]


@played
async def test_c17_the_share_that_is_read_rises_over_fifty_steps_and_nothing_is_lost(
    tmp_path: Path,
) -> None:
    steps = [
        reply(thinking(f"thought {at}"), text("Looking. " * 20), tool_use("look", {"n": at}))
        for at in range(STEPS)
    ]
    with MessagesServer([*steps, reply("Done.")]) as server:
        async with life(tmp_path, server) as now:
            await now.begin()
            await now.run("Look at it all. " * 200)
    accounts = [one.account for one in server.requests if one.account]
    assert len(accounts) == STEPS + 1
    shares = [one.read / one.total for one in accounts]
    assert shares == sorted(shares)
    assert shares[-1] == max(shares) > 0.9
    for before, after in pairwise(accounts):
        assert after.read >= 0.99 * (before.read + before.write_5m)


def _said(rows: list[LogChunk]) -> list[str]:
    return [row.data.text for row in rows if row.role == "assistant" and isinstance(row.data, Text)]
