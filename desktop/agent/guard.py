"""Finds a model that runs in circles: the same calls with the same results, over and over.

Limits are our own (SPEC U27): five identical steps, five rounds of two steps that alternate, eight
steps in a row that fail with the same words.
"""

import json
from collections.abc import Sequence
from typing import Literal

from desktop.core.chunks import LogChunk, ToolCall, ToolResult

IDENTICAL = 5
SAME_ERRORS = 8

Calls = tuple[tuple[str, str], ...]
Results = tuple[str, ...]
Shape = Literal["same", "back_and_forth", "same_error"]


def signature(call: ToolCall) -> tuple[str, str]:
    """What makes two calls the same: name and arguments, whatever the order of their keys."""
    arguments = json.dumps(dict(call.arguments), sort_keys=True, default=str)
    return call.name, arguments + str(call.extra.get("malformed", ""))


class Circles:
    """The steps of one turn with calls, as far as they matter for telling a circle."""

    def __init__(self) -> None:
        self._steps: list[tuple[Calls, Results]] = []
        self._errors: list[Results | None] = []

    def shape(self, calls: Sequence[LogChunk]) -> Shape | None:
        """The circle of which running these calls would be one more round; None for no circle."""
        new = _signatures(calls)
        if self._is_round(new, 1):
            return "same"
        if self._is_round(new, 2):
            return "back_and_forth"
        return "same_error" if self._fails_alike() else None

    def add(self, calls: Sequence[LogChunk], results: Sequence[LogChunk]) -> None:
        """A step has run."""
        texts = {row.data.call_id: row.data for row in results if isinstance(row.data, ToolResult)}
        answers = [
            texts[call.data.call_id]
            for call in calls
            if isinstance(call.data, ToolCall) and call.data.call_id in texts
        ]
        self._steps.append((_signatures(calls), tuple(sorted(one.result for one in answers))))
        failed = bool(answers) and all(one.is_error for one in answers)
        self._errors.append(tuple(sorted({one.result for one in answers})) if failed else None)
        del self._steps[: -2 * IDENTICAL]
        del self._errors[:-SAME_ERRORS]

    def _is_round(self, new: Calls, period: int) -> bool:
        needed = IDENTICAL * period
        if len(self._steps) < needed:
            return False
        last = self._steps[-needed:]
        return last[0][0] == new and all(
            one == later for one, later in zip(last, last[period:], strict=False)
        )

    def _fails_alike(self) -> bool:
        errors = self._errors
        return len(errors) == SAME_ERRORS and errors[0] is not None and len(set(errors)) == 1


def _signatures(calls: Sequence[LogChunk]) -> Calls:
    return tuple(sorted(signature(call.data) for call in calls if isinstance(call.data, ToolCall)))
