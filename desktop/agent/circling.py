"""A model that runs in circles is a question for the person: let it go on, stop it, or tell it
something else (SPEC U27). Without a person there is nobody to let it go on."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from desktop.agent.approvals import Approvals, Asker
from desktop.agent.guard import IDENTICAL, SAME_ERRORS, Shape
from desktop.core.chunks import LogChunk, ToolCall
from desktop.core.permissions import Circle

LONGEST_CALL = 400
CALLS_SHOWN = 20

IN_CIRCLES = (
    "The agent repeated the same step without getting any further, so it was stopped. Write what "
    "it should do instead."
)
NOT_RUN_AGAIN = (
    "Not run: the same call was made several times in a row with the same result. Nothing was done."
)
TOLD = f"{NOT_RUN_AGAIN} The person says what to do instead: {{words}}"

_SENTENCES: dict[Shape, str] = {
    "same": f"The agent has done the same thing {IDENTICAL} times in a row, with the same result "
    "each time, and is about to do it again.",
    "back_and_forth": f"The agent has gone back and forth between the same two steps {IDENTICAL} "
    "times, with the same results each time, and is about to go on with it.",
    "same_error": f"The last {SAME_ERRORS} steps of the agent failed for the same reason, and it is"
    " about to try once more.",
}


@dataclass(frozen=True, slots=True)
class Decision:
    """What becomes of a circle. `words` are what the agent is told instead."""

    kind: Literal["on", "no", "told", "stopped", "nobody"]
    words: str = ""


async def decided(
    shape: Shape,
    calls: Sequence[LogChunk],
    *,
    approvals: Approvals,
    asker: Asker,
    stop: "asyncio.Future[None]",
) -> Decision:
    """Asks the person before the calls run once more; `stop` takes the question back."""
    if not approvals.has_person:
        return Decision("nobody")
    first = calls[0].data
    asking = asyncio.ensure_future(
        approvals.denial(
            Circle(_SENTENCES[shape], _detail(calls)),
            call_id=first.call_id if isinstance(first, ToolCall) else "",
            asker=asker,
        )
    )
    try:
        await asyncio.wait({asking, stop}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        if not asking.done():
            asking.cancel()
            await asyncio.wait({asking})
    if stop.done() or asking.cancelled():
        return Decision("stopped")
    words = asking.result()
    if words is None:
        return Decision("on")
    return Decision("told", words) if words else Decision("no")


def _detail(calls: Sequence[LogChunk]) -> str:
    """What it would do: a line a call."""
    lines = [_line(call.data) for call in calls if isinstance(call.data, ToolCall)]
    more = len(lines) - CALLS_SHOWN
    return "\n".join([*lines[:CALLS_SHOWN], *([f"… {more} more"] if more > 0 else [])])


def _line(call: ToolCall) -> str:
    arguments = json.dumps(dict(call.arguments), ensure_ascii=False, default=str)
    line = f"{call.name} {arguments}"
    return line if len(line) <= LONGEST_CALL else line[: LONGEST_CALL - 1] + "…"
