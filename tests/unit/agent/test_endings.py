"""Every way in which an answer can end, over real HTTP from the strict stand-in for the provider.

Each is shown in words and stored as its story says, and neither the next request nor the first one
of a later process is refused (API §1.3, §1.6, §4.4; SPEC A02, A05, A06, U21, U22, U29; F-W).
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from desktop.agent import loop
from desktop.agent.refusals import REFUSED
from desktop.agent.surroundings import Chosen
from desktop.core.chunks import ErrorNote, System, ToolResult
from tests.fakes.messages_api import (
    Block,
    MessagesServer,
    Raw,
    Reply,
    Send,
    fails,
    redacted_thinking,
    reply,
    text,
    thinking,
    tool_use,
)
from tests.fakes.sim.demo import echo
from tests.fakes.tools import ScriptedTool
from tests.unit.agent.stage import Stage, played
from tests.unit.wire.asking import Asking, asking, load_sdk
from tests.unit.wire.rows_of import OPUS

LOOK = tool_use("look", {"n": 1})
DETAILS = {"type": "refusal", "category": "bio", "explanation": "This \u202easks for\na recipe."}


def search(number: int) -> Block:
    """A call of the provider's own tool."""
    start = {"type": "server_tool_use", "id": f"srvtoolu_{number}", "name": "web_search"}
    query = {"type": "input_json_delta", "partial_json": '{"query": "nacre"}'}
    return Block({**start, "input": {}}, (query,))


def found(number: int) -> Block:
    """Its result."""
    id_ = f"srvtoolu_{number}"
    return Block({"type": "web_search_tool_result", "tool_use_id": id_, "content": []})


def paused(*blocks: Block | str) -> Reply:
    return reply(*blocks, stop_reason="pause_turn")


@dataclass(frozen=True, slots=True)
class Case:
    """What the server answers, and how the story of the turn ends; `told` is said in words."""

    name: str
    replies: Sequence[Reply]
    story: Sequence[str]
    told: str = ""
    ran: int = 0


CASES = (
    Case("end_turn", [reply("Hello.")], ["assistant: Hello.", "end done"]),
    Case("stop_sequence", [reply("H", stop_reason="stop_sequence")], ["assistant: H", "end done"]),
    Case(
        "F-W07 three pauses in a row are one answer",
        [
            paused("Looking.", search(1)),
            paused(found(1), "More.", search(2)),
            paused(found(2), search(3)),
            reply(found(3), "So."),
        ],
        ["assistant: More.", "opaque", "opaque", "opaque", "opaque", "assistant: So.", "end done"],
    ),
    Case(
        "F-W07 a pause for ever is bounded",
        [paused(search(1)), *[paused(found(n), search(n + 1)) for n in range(1, loop.PAUSES + 1)]],
        ["error", "end failed"],
        loop.PAUSED_TOO_OFTEN,
    ),
    Case(
        "refusal before any output",
        [reply(stop_reason="refusal", stop_details=DETAILS)],
        ["end refused"],
        "about biological or chemical dangers. It says: This asks for a recipe.",
    ),
    Case(
        "refusal in mid-stream",
        [
            reply(
                "How to", stop_reason="refusal", stop_details={"type": "refusal", "category": None}
            )
        ],
        ["retracted 1", f"notice {REFUSED}", "end refused"],
        REFUSED,
    ),
    Case(
        "A05 max_tokens in mid-text",
        [reply("So far", stop_reason="max_tokens")],
        ["assistant: So far", f"notice {loop.CUT_OFF}", "end failed"],
        loop.CUT_OFF,
    ),
    Case(
        "A05 max_tokens in the middle of a call",
        [reply("Let me.", tool_use("look", '{"n": '), stop_reason="max_tokens")],
        ["assistant: Let me.", f"notice {loop.CUT_OFF}", "end failed"],
        loop.CUT_OFF,
    ),
    Case(
        "max_tokens in mid-thinking",
        [reply(thinking("Hm"), stop_reason="max_tokens")],
        ["thinking", f"notice {loop.CUT_OFF}", "end failed"],
        loop.CUT_OFF,
    ),
    Case(
        "an unknown reason",
        [reply("Hello.", stop_reason="eclipse")],
        [
            "assistant: Hello.",
            "notice The model ended its answer for a reason that Nacre does not know: eclipse.",
            "end done",
        ],
        "eclipse",
    ),
    Case(
        "tool_use while the provider's own call waits",
        [reply(search(1), LOOK), reply(found(1), "Found.")],
        ["opaque", "assistant: Found.", "end done"],
        ran=1,
    ),
    Case("A06 empty once", [reply(), reply("Hello.")], ["assistant: Hello.", "end done"]),
    Case("A06 empty for ever", [reply()] * 3, ["error", "end failed"], loop.EMPTY),
    Case("F1 no end", [reply("Hello.").ending_after(4)], ["error", "end failed"], "kept"),
    Case(
        "F-W10f a stop reason and no message_stop",
        [reply("Hello.").unfinished()],
        ["assistant: Hello.", "end done"],
    ),
    Case(
        "F3 a reset in mid-text",
        [reply(text("Hello.", chunk=1)).cut_after(6, reset=True)],
        ["error", "end failed"],
    ),
    Case(
        "F-W03b an error in mid-text",
        [reply(text("Hello", chunk=2)).error_after(5)],
        ["error", "end failed"],
        "overloaded",
    ),
    Case(
        "F-W03c an error in mid-call",
        [reply("Let me.", LOOK).error_after(8)],
        ["assistant: Let me.", "error", "end failed"],
        "overloaded",
    ),
    Case(
        "F-W03c an error after a whole call",
        [reply("Let me.", LOOK).error_after(9)],
        ["assistant: Let me.", "error", "end failed"],
    ),
    Case("400", [fails(400, message="messages: odd")], ["error", "end failed"], "refused"),
    Case(
        "V18 the same call id twice",
        [
            reply(tool_use("look", {"n": 1}, id="toolu_same")),
            reply(tool_use("look", {"n": 2}, id="toolu_same")),
            reply("Done."),
        ],
        ["call toolu_same_2", "result toolu_same_2", "assistant: Done.", "end done"],
        ran=2,
    ),
    Case(
        "a tool that is not there",
        [reply(tool_use("fly", {}, id="toolu_1")), reply("So not.")],
        ["error toolu_1", "assistant: So not.", "end done"],
        "There is no tool named fly",
    ),
    Case(
        "C10 arguments that are no JSON",
        [reply(tool_use("look", '{"n": oops', id="toolu_1")), reply("Sorry.")],
        ["error toolu_1", "assistant: Sorry.", "end done"],
    ),
    Case("one huge delta", [reply(text("x" * 1_000_000, chunk=0))], ["end done"]),
    Case("CR LF", [reply("Hello.").crlf()], ["assistant: Hello.", "end done"]),
    Case("comments", [reply("Hello.").with_comments()], ["assistant: Hello.", "end done"]),
    Case("gzip", [reply("Hello.").gzipped()], ["assistant: Hello.", "end done"]),
    Case(
        "bytes one by one", [reply("Grüße 🌊").split_every(1)], ["assistant: Grüße 🌊", "end done"]
    ),
    Case(
        "unknown events",
        [reply("Hello.").insert_after(3, Send({"type": "eclipse"}), Raw(b": hm\n\n"))],
        ["assistant: Hello.", "end done"],
    ),
    Case(
        "F-W04 an empty text before a call",
        [reply(text(""), LOOK), reply("Done.")],
        ["assistant: Done.", "end done"],
        ran=1,
    ),
    Case(
        "F-W02 thinking between calls",
        [
            reply(
                thinking("a"),
                tool_use("look", {"n": 1}),
                thinking("b"),
                tool_use("look", {"n": 2}),
                redacted_thinking(),
                text("So."),
                tool_use("look", {"n": 3}),
            ),
            reply("Done."),
        ],
        ["assistant: Done.", "end done"],
        ran=3,
    ),
)


@pytest.fixture(autouse=True, scope="module")
def _sdk() -> None:  # pyright: ignore[reportUnusedFunction]
    """Loaded once, outside of what a test may take: it takes seconds on a busy machine."""
    load_sdk()


def process(folder: Path, one: Asking, tool: ScriptedTool, before: Stage | None = None) -> Stage:
    """A process with the real wire; a later one on the log of the one before."""
    stage = before.again(one.model, [tool]) if before else Stage(folder, one.model, [tool])
    stage.chosen = Chosen(OPUS, mode="auto")
    return stage


def words_of(stage: Stage) -> str:
    """All that the person can read of what went wrong."""
    said: list[str] = []
    for row in stage.rows:
        match row.data:
            case ErrorNote():
                said += [row.data.message, *(str(one) for one in row.data.extra.values())]
            case System(kind="notice"):
                said.append(row.data.text)
            case ToolResult():
                said.append(row.data.result)
            case _:
                pass
    return "\n".join(said)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_each_ending_is_told_and_stored_and_the_conversation_goes_on(
    tmp_path: Path, case: Case
) -> None:
    tool = ScriptedTool("look")

    @played
    async def scenario() -> None:
        stage = process(tmp_path, one, tool)
        await stage.tab()
        await stage.run("Hi")
        assert stage.story[-len(case.story) :] == list(case.story), words_of(stage)
        assert case.told in words_of(stage)
        assert len(tool.ran) == case.ran
        later = process(tmp_path, again, tool, stage)
        for number, each in enumerate((stage, later)):
            await each.supervisor.open(each.tab_id)
            await each.run(f"And then {number}")
            assert each.story[-1] == "end done"

    with (
        MessagesServer(case.replies, otherwise=echo) as server,
        asking(server.base_url) as one,
        asking(server.base_url) as again,
    ):
        scenario()
        assert [one.error for one in server.rejected] == []


@pytest.mark.parametrize("where", ["between", "in the answer", "killed"])
def test_f_w07_a_paused_answer_that_is_stopped_or_killed_leaves_a_valid_conversation(
    tmp_path: Path, where: str
) -> None:
    """FIELD F-W07: Stop between two of its rounds, in the second, and a kill between them."""
    second = reply(text("More of it.", chunk=1))
    gated = second.gate_after(8, "here") if where == "in the answer" else None

    @played
    async def scenario() -> None:
        stage = process(tmp_path, one, ScriptedTool("look"))
        await stage.tab()
        await stage.send("Hi")
        await stage.published.until(lambda: "opaque" in stage.story)
        await asyncio.to_thread(server.wait_at_gate, "here")
        if gated is not None:
            await stage.published.until(lambda: "More" in stage.published.grown())
        later = process(tmp_path, again, ScriptedTool("look"), stage)
        if where == "killed":
            await later.supervisor.open(later.tab_id)
        else:
            await stage.supervisor.stop(stage.tab_id)
            assert stage.story[-1] == "end stopped"
        await later.run("And then")
        assert later.story[-1] == "end done"
        await later.run("And again")
        await stage.supervisor.shutdown()

    held = gated or second.gate_before_head("here")
    with (
        MessagesServer([paused("Looking.", search(1)), held], otherwise=echo) as server,
        asking(server.base_url) as one,
        asking(server.base_url) as again,
    ):
        server.may_rewrite("a call of the provider's that has no result goes back no more (V21)")
        scenario()
        assert server.rejected == []
