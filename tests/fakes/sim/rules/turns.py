"""Messages joined into turns, and the order of roles (V8 to V12, V14)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.sim.models import Model
from tests.fakes.sim.problems import Json, Refusal
from tests.fakes.sim.rules import blocks

PREFILL = (
    "This model does not support assistant message prefill. The conversation must end with a "
    "user message."
)
THINKING = ("thinking", "redacted_thinking")


@dataclass(frozen=True, slots=True)
class Turn:
    """Neighbouring messages of one role, taken together (V9). `at` is the first message's index."""

    role: str
    at: int
    blocks: list[tuple[str, Json]] = field(default_factory=list)

    def kinds(self) -> list[str]:
        """The types of the blocks, in order."""
        return [block["type"] for _, block in self.blocks]


def join(messages: list[Json]) -> list[Turn]:
    """The turns of a conversation; string content counts as one text block."""
    turns: list[Turn] = []
    for index, message in enumerate(messages):
        if not turns or turns[-1].role != message["role"]:
            turns.append(Turn(message["role"], index))
        turns[-1].blocks.extend(_located(message["content"], f"messages.{index}.content"))
    return turns


def _located(content: Any, path: str) -> Iterator[tuple[str, Json]]:
    if isinstance(content, str):
        if content:
            yield path, {"type": "text", "text": content}
        return
    for index, block in enumerate(content):
        yield f"{path}.{index}", block


def check(messages: list[Json], turns: list[Turn], model: Model, *, thinks: bool) -> None:
    """Who speaks when, and that everybody says something."""
    if messages[0]["role"] != "user":
        raise Refusal('messages: first message must use the "user" role')
    _check_filled(messages)
    for index, message in enumerate(messages):
        if message["role"] == "system":
            _check_system(index, messages, model)
    for turn in turns:
        if turn.role == "assistant":
            _check_thinking_place(turn)
    if turns[-1].role == "assistant":
        _check_prefill(turns[-1], model, thinks=thinks)


def _check_filled(messages: list[Json]) -> None:
    for index, message in enumerate(messages):
        content = message["content"]
        final = index == len(messages) - 1 and message["role"] == "assistant"
        if not content and not final:
            raise Refusal(
                f"messages.{index}: all messages must have non-empty content except for the "
                "optional final assistant message"
            )
        if isinstance(content, str) and content:
            blocks.check_text(content, "messages")
        blocks.check_texts(content, "messages")


def _check_thinking_place(turn: Turn) -> None:
    """A message may not end in thinking, nor be thinking alone."""
    kinds = turn.kinds()
    if kinds and kinds[-1] in THINKING:
        raise Refusal(
            f"messages.{turn.at}: The final block in an assistant message cannot be `{kinds[-1]}`."
        )


def _check_prefill(turn: Turn, model: Model, *, thinks: bool) -> None:
    kinds = turn.kinds()
    resumed = bool(kinds) and (kinds[-1] == "server_tool_use" or kinds[-1].endswith("_tool_result"))
    if resumed:
        return
    if not model.prefill or thinks:
        raise Refusal(PREFILL)
    if kinds and kinds[-1] == "text" and turn.blocks[-1][1]["text"][-1:].isspace():
        raise Refusal("messages: final assistant content cannot end with trailing whitespace")


def _check_system(index: int, messages: list[Json], model: Model) -> None:
    """A system message follows the user and is last or followed by the assistant (V12)."""
    if not model.system_role:
        raise Refusal(f"messages.{index}: role 'system' is not supported on this model")
    before = next(m for m in reversed(messages[:index]) if m["role"] != "system")
    if before["role"] == "assistant" and not _ends_in_server_result(before["content"]):
        raise Refusal(
            f"messages.{index}: role 'system' must follow a user message or an assistant message "
            "that ends in a server tool result"
        )
    after = next((m for m in messages[index:] if m["role"] != "system"), None)
    if after is not None and after["role"] != "assistant":
        raise Refusal(
            f"messages.{index}: role 'system' must be the last message or be followed by an "
            "assistant message"
        )


def _ends_in_server_result(content: Any) -> bool:
    return isinstance(content, list) and content[-1]["type"] in blocks.SERVER_RESULTS
