"""A model for families of agents: it answers a conversation by what it was asked first, and keeps
count of how many are at work.

`answers` maps a task (or the person's text) to the responses of that conversation, one a request.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field

from desktop.core.chunks import LogChunk, Stamp, Text, ToolCall
from desktop.core.model import ModelInfo, RequestOptions
from tests.fakes.models import Asked, Batch, Gate, Response, check_request


@dataclass(slots=True)
class FamilyModel:
    """`asked` are the requests of each task in their order; `order` the tasks as they were asked.
    `most` is how many requests were open at one time. A response takes `pace` rounds of the loop.
    """

    answers: dict[str, list[Response]]
    asked: dict[str, list[Asked]] = field(default_factory=dict[str, list[Asked]])
    order: list[str] = field(default_factory=list[str])
    open: int = 0
    most: int = 0
    pace: Callable[[], int] = lambda: 0

    def stamp(self, model: str) -> Stamp:
        return Stamp("scripted:account", model)

    async def models(self) -> tuple[ModelInfo, ...]:
        return (ModelInfo("scripted-1", "Scripted"),)

    async def respond(
        self, chunks: Sequence[LogChunk], options: RequestOptions
    ) -> AsyncIterator[Batch]:
        check_request(chunks, options)
        task = task_of(chunks)
        self.asked.setdefault(task, []).append(Asked(tuple(chunks), options))
        self.order.append(task)
        self.open += 1
        self.most = max(self.most, self.open)
        try:
            for _ in range(self.pace()):
                await asyncio.sleep(0)
            for item in self.answers[task][len(self.asked[task]) - 1]:
                if isinstance(item, Gate):
                    await item.wait()
                elif isinstance(item, Exception):
                    raise item
                else:
                    yield item
        finally:
            self.open -= 1


def task_of(rows: Sequence[LogChunk]) -> str:
    """The last line of what a conversation was asked first."""
    first = next(row.data for row in rows if row.role == "user" and isinstance(row.data, Text))
    return first.text.splitlines()[-1]


def asks(task: str, *, title: str = "", call_id: str = "") -> ToolCall:
    """A call that begins a subagent."""
    arguments = {"task": task, **({"title": title} if title else {})}
    return ToolCall(call_id or f"call {task}", "agent", arguments)
