"""Every tool call is answered at once, and nothing else is answered (V18 to V21)."""

from __future__ import annotations

from itertools import takewhile

from tests.fakes.sim.problems import Refusal
from tests.fakes.sim.rules.turns import Turn


def check(turns: list[Turn]) -> None:
    """Calls and results of the whole conversation, turn by turn."""
    _check_unique(turns)
    previous: Turn | None = None
    for turn in (turn for turn in turns if turn.role != "system"):
        if previous is not None and previous.role == "assistant":
            _check_answered(previous, turn)
        if turn.role == "user":
            _check_results(turn, previous)
        previous = turn
    if previous is not None and previous.role == "assistant":
        _check_answered(previous, None)


def _calls(turn: Turn | None) -> list[str]:
    if turn is None or turn.role != "assistant":
        return []
    return [block["id"] for _, block in turn.blocks if block["type"] == "tool_use"]


def _check_unique(turns: list[Turn]) -> None:
    seen: set[str] = set()
    for turn in turns:
        for call in _calls(turn):
            if call in seen:
                raise Refusal("messages: `tool_use` ids must be unique")
            seen.add(call)


def _check_answered(asked: Turn, answer: Turn | None) -> None:
    """The results stand at the front of the next message, before any text (V19)."""
    _check_server_calls(asked, resumed=answer is None)
    answered = answer.blocks if answer is not None and answer.role == "user" else []
    leading = takewhile(lambda item: item[1]["type"] == "tool_result", answered)
    ids = {block["tool_use_id"] for _, block in leading}
    missing = [call for call in _calls(asked) if call not in ids]
    if missing:
        raise Refusal(
            f"messages.{asked.at}: `tool_use` ids were found without `tool_result` blocks "
            f"immediately after: {', '.join(missing)}. Each `tool_use` block must have a "
            "corresponding `tool_result` block in the next message."
        )


def _check_results(turn: Turn, previous: Turn | None) -> None:
    calls = set(_calls(previous))
    seen: set[str] = set()
    for path, block in turn.blocks:
        if block["type"] != "tool_result":
            continue
        call = block["tool_use_id"]
        if call not in calls:
            raise Refusal(
                f"{path}: unexpected `tool_use_id` found in `tool_result` blocks: {call}. Each "
                "`tool_result` block must have a corresponding `tool_use` block in the previous "
                "message."
            )
        if call in seen:
            raise Refusal(
                f"{path}: each tool_use must have a single result. Found multiple `tool_result` "
                f"blocks with id: {call}"
            )
        seen.add(call)


def _check_server_calls(turn: Turn, *, resumed: bool) -> None:
    """The provider's own calls carry their result in the same turn (V21)."""
    results = {block.get("tool_use_id") for _, block in turn.blocks}
    waits = resumed or bool(_calls(turn))
    for path, block in turn.blocks:
        if block["type"] == "server_tool_use" and block["id"] not in results and not waits:
            raise Refusal(
                f"{path}: `{block['name']}` tool use with id `{block['id']}` was found without a "
                f"corresponding `{block['name']}_tool_result` block"
            )
