"""The rows that open a turn: what is taken back, what is new for the model, and the message.

Nothing is written here: an opening is a value, made from the rows of the ledger as they are.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from desktop.agent import facts, repair, ways
from desktop.agent.branching import PlaceGone, Resend
from desktop.agent.ledger import Ledger
from desktop.agent.surroundings import Place, Surroundings
from desktop.core.chunks import Json, LogChunk, NewChunk, Stamp, System, Text
from desktop.core.conversation import (
    bound_to_open_calls,
    open_server_calls,
    prompt_of,
    split_dangling,
    tools_of,
)
from desktop.core.permissions import PermissionMode


@dataclass(frozen=True, slots=True)
class Opening:
    """A turn's id, the step it begins with, and the rows to lay down before it.

    `resumed`: an answer that the provider paused stands last, and is continued.
    """

    turn_id: str
    step: int
    chunks: tuple[NewChunk, ...]
    resumed: bool = False


class Openings:
    """Makes the openings of one conversation. `mode` is its permission mode now."""

    def __init__(
        self,
        ledger: Ledger,
        *,
        place: Place,
        around: Surroundings,
        mode: Callable[[], PermissionMode],
    ) -> None:
        self._ledger = ledger
        self._place = place
        self._around = around
        self._mode = mode
        # What a subagent begins with: the same beginning as its parent's (API C43).
        self.inherited: System | None = None

    async def with_text(self, text: str, attachments: Sequence[Json], stamp: Stamp) -> Opening:
        """Begins with a message; an unanswered one sent unchanged goes on in its own turn."""
        dangling = self._ledger.dangling
        if repair.is_same_text(dangling, text, attachments):
            return await self._unchanged(dangling, stamp)
        return await self._with_messages([Text(text, attachments=tuple(attachments))], stamp)

    async def anew(self, resend: Resend, stamp: Stamp) -> Opening:
        """Begins with messages in place of what is unanswered, also of what was sent just now.

        Unchanged, they go on in their own turn. Raises PlaceGone.
        """
        dangling = split_dangling(self._ledger.rows).dangling
        if resend.instead_of and resend.instead_of != frozenset(row.id for row in dangling):
            raise PlaceGone("This message has been answered meanwhile.")
        self._ledger.dangling = dangling
        if dangling and [row.data for row in dangling] == list(resend.messages):
            return await self._unchanged(dangling, stamp)
        return await self._with_messages(resend.messages, stamp)

    async def _unchanged(self, dangling: Sequence[LogChunk], stamp: Stamp) -> Opening:
        turn_id = dangling[-1].turn_id
        step, _ = repair.next_step(self._ledger.rows, turn_id)
        return Opening(turn_id, step, tuple(await self.news(turn_id, stamp)))

    async def _with_messages(self, messages: Sequence[Text], stamp: Stamp) -> Opening:
        turn_id = self._around.new_id()
        news = await self._fresh(turn_id, stamp)
        said = [
            NewChunk(id=self._around.new_id(), turn_id=turn_id, role="user", data=data, stamp=stamp)
            for data in messages
        ]
        return Opening(turn_id, 0, (*news, *said))

    async def with_queue(self, stamp: Stamp) -> Opening:
        """Begins with the queue, which the store itself moves into the log."""
        turn_id = self._around.new_id()
        return Opening(turn_id, 0, tuple(await self._fresh(turn_id, stamp)))

    def to_retry(self) -> str:
        """The turn whose last step can be sent again; '' when there is nothing to do again."""
        rows, dangling = self._ledger.rows, self._ledger.dangling
        if dangling:
            return dangling[-1].turn_id
        return repair.last_turn_id(rows) if "retry" in ways.ways_on(rows) else ""

    async def again(self, turn_id: str, stamp: Stamp, *, began_here: bool) -> Opening:
        """Sends a turn's failed step again: the same bytes go out, so there are no news, but in a
        log from elsewhere, in which nothing went out before."""
        step, partial = repair.next_step(self._ledger.rows, turn_id)
        resumed = ways.is_resumed(self._ledger.rows, partial)
        chunks: tuple[NewChunk, ...] = ()
        if partial:
            chunks = (self.system(turn_id, _retracted(partial)),)
        if prompt_of(self._ledger.rows) is None:
            chunks += tuple(await self.news(turn_id, stamp))
        if step and not began_here:
            # A turn is not continued after a restart (DESIGN.md §1).
            return Opening(self._around.new_id(), 0, chunks, resumed)
        return Opening(turn_id, step, chunks, resumed)

    async def news(self, turn_id: str, stamp: Stamp, *, step: int = 0) -> list[NewChunk]:
        """What must stand before the next user text: the prompt, a change of model, new facts."""
        surroundings = await self._place.facts()
        rows = self._ledger.rows
        mode = self._mode()
        if prompt_of(rows) is None:
            found = [self.inherited or self._prompt(), facts.opening(surroundings, mode)]
        else:
            changes = [self._model_change(stamp), facts.news(rows, surroundings, mode)]
            found = [one for one in changes if one is not None]
        return [self.system(turn_id, data, step=step) for data in found]

    async def fresh(self, turn_id: str, step: int) -> list[NewChunk]:
        """What a model must be told anew after a compaction: a prompt or tools that have changed
        (nothing of the old prefix is left to be kept), and where it is (SPEC C29)."""
        surroundings = await self._place.facts()
        prompt = self._prompt()
        told = facts.opening(surroundings, self._mode())
        before = told_prompt(self._ledger.rows)
        is_told = before is not None and _as_sent(before) == _as_sent(prompt)
        found = [told] if is_told else [prompt, told]
        return [self.system(turn_id, data, step=step) for data in found]

    def _prompt(self) -> System:
        return System("prompt", self._around.prompt, {"tools": self._tools()})

    def _tools(self) -> list[Json]:
        return [tool.spec.as_json() for tool in self._around.tools]

    def other_tools(self) -> list[NewChunk]:
        """The tools of the moment, for a conversation that has begun with others (DESIGN §6)."""
        rows = self._ledger.rows
        tools = self._tools()
        if prompt_of(rows) is None or json.dumps(tools_of(rows)) == json.dumps(tools):
            return []
        return [self.system(repair.last_turn_id(rows), System("tools", fields={"tools": tools}))]

    def system(self, turn_id: str, data: System, *, step: int = 0) -> NewChunk:
        """A row of the program's own."""
        return NewChunk(
            id=self._around.new_id(), turn_id=turn_id, role="system", data=data, step=step
        )

    def waits_for_server(self, turn_id: str) -> bool:
        """Whether the provider is to go on with a call of its own before anything is said: until
        then it takes nothing but results (API V21)."""
        return bool(open_server_calls(repair.turn_rows(self._ledger.rows, turn_id)))

    async def _fresh(self, turn_id: str, stamp: Stamp) -> list[NewChunk]:
        return [*self._retraction(), *self._left_waiting(), *await self.news(turn_id, stamp)]

    def _left_waiting(self) -> list[NewChunk]:
        """Takes back what the provider was about to do by itself when the last turn ended: behind
        another text it can't go back any more (API V21, F-W07)."""
        turn_id = repair.last_turn_id(self._ledger.rows)
        bound = bound_to_open_calls(repair.turn_rows(self._ledger.rows, turn_id))
        return [self.system(turn_id, _retracted(bound))] if bound else []

    def _retraction(self) -> list[NewChunk]:
        """Takes the unanswered texts back, and ends their turn if nobody did (SPEC S03)."""
        dangling = self._ledger.dangling
        if not dangling:
            return []
        turn_id = dangling[-1].turn_id
        chunks = [self.system(turn_id, _retracted([row.id for row in dangling]))]
        if repair.is_open(self._ledger.rows, turn_id):
            chunks.append(repair.ended(self._around.new_id(), turn_id, "interrupted", 0))
        return chunks

    def _model_change(self, stamp: Stamp) -> System | None:
        last = next((row.stamp.model for row in reversed(self._ledger.rows) if row.stamp.model), "")
        if not last or last == stamp.model:
            return None
        return System("model", fields={"from": last, "to": stamp.model})


def _retracted(ids: Sequence[str]) -> System:
    return System("retracted", fields={"chunkIds": list(ids)})


def told_prompt(rows: Sequence[LogChunk]) -> System | None:
    """The prompt that a model is told, with the tools that it is told of now."""
    prompt = prompt_of(rows)
    if prompt is None:
        return None
    return System("prompt", prompt.text, {**prompt.fields, "tools": tools_of(rows)})


def _as_sent(prompt: System) -> tuple[str, str]:
    return prompt.text, json.dumps(prompt.fields.get("tools"))
