"""What tool servers offer that a conversation was not told, and what telling it would cost.

A conversation keeps the tools that it began with (API C36): another set stands before all that was
said and has it sent anew. So the person is told what is there, and decides.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, cast

from desktop.agent.context import tool_tokens
from desktop.agent.ledger import Ledger
from desktop.agent.spending import Next, sent_anew
from desktop.agent.surroundings import Surroundings
from desktop.core.chunks import LogChunk
from desktop.core.conversation import tools_told
from desktop.core.status import NewTools
from desktop.core.tools import Tool


class LateTools:
    """For one conversation; each look costs what is new in its rows and in the tools."""

    def __init__(self, ledger: Ledger, around: Surroundings) -> None:
        self._ledger = ledger
        self._around = around
        self._read = 0
        self._last: LogChunk | None = None
        self._told: list[Any] = []
        self._compared: tuple[list[Any], tuple[Tool, ...]] | None = None
        self._new: tuple[Tool, ...] = ()

    def to_take(self, context: int, following: Next) -> NewTools | None:
        """What could be told now, where `context` tokens were said; None where that is nothing."""
        new = self._found()
        if not new:
            return None
        counts = Counter(self._around.server_of(tool.spec.name) for tool in new)
        tokens = context + tool_tokens([tool.spec.as_json() for tool in new])
        dollars = sent_anew(tokens, self._around.tariff, following)
        return NewTools(tuple(sorted(counts.items())), tokens, dollars)

    def _found(self) -> tuple[Tool, ...]:
        """The tools of servers that are new to the conversation, or other than it was told."""
        self._read_on()
        tools = tuple(self._around.tools)
        if self._compared != (self._told, tools):
            self._compared = (self._told, tools)
            told = _by_name(self._told)
            self._new = tuple(
                tool
                for tool in (tools if self._told else ())
                if self._around.server_of(tool.spec.name)
                and json.dumps(told.get(tool.spec.name)) != json.dumps(tool.spec.as_json())
            )
        return self._new

    def _read_on(self) -> None:
        rows = self._ledger.rows
        if self._read > len(rows) or (self._read and rows[self._read - 1] is not self._last):
            self._read, self._told = 0, []
        for row in rows[self._read :]:
            if row.role == "system":
                self._told = tools_told(row.data, self._told)
        self._read, self._last = len(rows), rows[-1] if rows else None


def _by_name(told: Sequence[Any]) -> Mapping[str, Any]:
    tools = [cast("Mapping[str, Any]", one) for one in told if isinstance(one, Mapping)]
    return {str(one.get("name")): one for one in tools}
