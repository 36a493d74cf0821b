"""Answers of every shape, as values that a property test can draw and shrink."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from tests.fakes.messages_api import Block, Received, Reply, fails, reply, text
from tests.fakes.messages_api import redacted_thinking as redacted
from tests.fakes.messages_api import thinking as thought
from tests.fakes.messages_api import tool_use as call
from tests.fakes.sim.problems import Json

BLOCKS: dict[str, Callable[[int], Block]] = {
    "text": lambda n: text(f"Answer {n}, with a pearl in it."),
    "empty": lambda n: text(""),
    "blank": lambda n: text(" \n\t"),
    "thinking": lambda n: thought(f"thought {n}"),
    "silent": lambda n: thought(""),
    "redacted": lambda n: redacted(),
    "look": lambda n: call("look", {"n": n % 3}),
    "same": lambda n: call("look", {"n": 0}),
    "write": lambda n: call("write", {"n": n % 3}),
    "boom": lambda n: call("boom", {"n": n}),
    "unknown": lambda n: call("fly", {"n": n}),
    "malformed": lambda n: call("look", '{"n": '),
    "half": lambda n: call("look", '{"n": "\\ud83d"}'),
    "search": lambda n: Block(_searching(n), ({"type": "input_json_delta", "partial_json": "{}"},)),
    "searched": lambda n: Block(_searching(n)),  # its result follows at once
}
STOPS = ("", "pause_turn", "refusal", "max_tokens", "model_context_window_exceeded", "odd")
FAULTS = ("", "", "", "", "fin", "error", "unfinished", "overloaded")


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer: its blocks by name, how it ends, and what happens to it at an event."""

    blocks: tuple[str, ...] = ("text",)
    stop: str = ""
    fault: str = ""
    at: int = 0

    def reply(self, number: int, waiting: Iterable[str]) -> Reply:
        """As a reply; `waiting` are the provider's own calls that its result must come for."""
        if self.fault == "overloaded":
            return fails(529)
        made = [_result(id_) for id_ in waiting]
        # A provider pauses where a call of its own is still at work (API §1.6).
        names = (*self.blocks, "search") if self.stop == "pause_turn" else self.blocks
        for at, name in enumerate(names):
            block = BLOCKS[name](number * 20 + at)
            made.append(block)
            if name == "searched":
                made.append(_result(block.start["id"]))
        whole = reply(*made, stop_reason=self.stop or None)
        at = min(self.at, len(whole.events))
        match self.fault:
            case "fin":
                return whole.cut_after(at)
            case "error":
                return whole.error_after(at)
            case "unfinished":
                return whole.unfinished()
            case _:
                return whole


ANSWERS = st.builds(
    Answer,
    blocks=st.lists(st.sampled_from(sorted(BLOCKS)), max_size=7).map(tuple),
    stop=st.sampled_from(("", "", "", *STOPS)),
    fault=st.sampled_from(FAULTS),
    at=st.integers(0, 30),
)


def answering(answers: list[Answer]) -> Callable[[Received], Reply]:
    """Plays the answers in order, then plain texts for ever; a summary when one is asked for."""
    left = list(enumerate(answers))

    def answer(received: Received) -> Reply:
        if "write that summary" in received.last_text.lower():
            return reply(text("Summary of the conversation so far: pearls."))
        number, one = left.pop(0) if left else (received.number, Answer())
        return one.reply(number, waiting_calls(received.messages))

    return answer


def waiting_calls(messages: list[Json]) -> list[str]:
    """The provider's own calls of the last assistant message that have no result yet."""
    said: list[Any] = next(
        (one["content"] for one in reversed(messages) if one["role"] == "assistant"), []
    )
    is_last = messages[-1]["role"] == "assistant"
    only_results = all(block["type"] == "tool_result" for block in messages[-1]["content"])
    if not (is_last or only_results):
        return []
    calls = [block["id"] for block in said if block["type"] == "server_tool_use"]
    done = {block.get("tool_use_id") for block in said}
    return [id_ for id_ in calls if id_ not in done]


def _searching(number: int) -> Json:
    return {
        "type": "server_tool_use",
        "id": f"srvtoolu_{number}",
        "name": "web_search",
        "input": {},
    }


def _result(call_id: str) -> Block:
    return Block({"type": "web_search_tool_result", "tool_use_id": call_id, "content": []})
