"""Compaction: a summary takes the place of what a model was told; every row stays in the log.

The summary is asked for with the last request plus one text, so it reads from the cache; a
conversation that does not fit is summarised in pieces, each with the summary of those before it.
Whatever goes wrong, nothing is written: the summary is one row at the end (DESIGN.md §5).
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from desktop.agent import context, repair
from desktop.agent.ledger import Ledger
from desktop.agent.listening import Haste, close, hasty, next_batch
from desktop.agent.rewriting import keep_within
from desktop.agent.step import NO_END, ended, retry_of
from desktop.agent.summary import Answer, Hearing
from desktop.agent.surroundings import Chosen, Surroundings
from desktop.core.chunks import LogChunk, NewChunk, Outcome, System, Text
from desktop.core.conversation import compaction, is_answer, split_dangling, told
from desktop.core.errors import StoreError
from desktop.core.events import ModelEvent, ResponseFailed, ResponseStarted, RetryScheduled
from desktop.core.model import Model, RequestOptions, Retry
from desktop.core.records import RequestRecord
from desktop.core.rewrites import standing
from desktop.core.status import Compacting

# Room that a summary may need, as a part of the window.
ANSWER_PART = 10
# Tokens of a piece: what any model that can use tools is able to read, and the last try.
LIKELY_PIECE = 4_000
LEAST_PIECE = 250
HALVINGS = 6
TOLD_EVERY = 25  # words between two counts that are shown

_log = logging.getLogger(__name__)

UNFORESEEN = "Something went wrong that Nacre did not foresee."
NOTHING = "There is nothing to compact yet."
RECORDED = "A recording can't be compacted."
NOT_SHORTER = "The summary is not shorter than what it would stand for."
STOPPED = "Compacting was stopped."
UNCHANGED = "The conversation is as it was."

ASK = """\
The conversation is about to be replaced by a summary, because it takes up too much room. Write \
that summary now, and nothing else: call no tool, answer no open question. Whoever goes on with \
this work will have read nothing but your summary, so begin it with the words "Summary of the \
conversation so far:" and tell what the person asked for, in their words where they matter; what \
was found out and decided, and why; which files were read, made or changed, with their paths, and \
what matters in them; commands and errors that still matter; what is done, what is under way, and \
the very next step. Messages that were not answered yet are kept as they are."""
ASK_TO_KEEP = "\n\nThe person asks that this in particular is kept:\n"


@dataclass(frozen=True, slots=True)
class Ties:
    """What a compaction is connected to: `fresh` makes the rows that the model must be told anew
    (the prompt if it changed, the facts), for a turn and step; the rest is told, and `haste` asks
    again at once."""

    fresh: Callable[[str, int], Awaitable[list[NewChunk]]]
    compacting: Callable[[Compacting | None], None]
    retrying: Callable[[Retry | None], None]
    haste: Haste


class Compaction:
    """Compacts one conversation once, for the request that `turn_id` and `step` name next.

    `stop` ends it from outside. The lease must be in hand.
    """

    def __init__(
        self,
        *,
        ledger: Ledger,
        around: Surroundings,
        tab_id: str,
        model: Model,
        chosen: Chosen,
        turn_id: str,
        step: int,
        stop: "asyncio.Future[None]",
        ties: Ties,
    ) -> None:
        self._ledger = ledger
        self._around = around
        self._tab_id = tab_id
        self._model = model
        self._chosen = chosen
        self._turn_id = turn_id
        self._step = step
        self._stop = stop
        self._ties = ties
        self._shown = Compacting()
        self._words = 0
        self._window = around.window(chosen.model)
        info = around.model_info(chosen.model)
        self._is_recorded = info is not None and info.recorded

    async def run(
        self, instruction: str = "", *, refused: bool = False, partial: Sequence[LogChunk] = ()
    ) -> str:
        """Lays a summary down; '' when it is done, else the sentence that says why not.

        `refused`: the request as it is was too long for the model; `partial` are rows of an answer
        that its window cut, which are taken back. Raises StoreError; then nothing of it is in the
        log.
        """
        await keep_within(self._ledger, turn_id=self._turn_id, new_id=self._around.new_id)
        left_out = {row.id for row in partial}
        rows = [row for row in standing(self._ledger.rows) if row.id not in left_out]
        read = told(rows)
        kept = split_dangling(read).dangling
        past = _without(read, kept)
        if self._is_recorded:
            return RECORDED
        if not any(is_answer(row, ()) for row in past):
            return NOTHING
        ask = _asking(instruction)
        try:
            self._ties.compacting(self._shown)
            answer = await self._summarised(rows, past, ask, refused=refused)
        finally:
            self._ties.compacting(None)
        if self._stop.done():
            return f"{STOPPED} {UNCHANGED}"
        problem = answer.problem or _complaint(answer.text, past)
        if problem:
            return f"{problem} {UNCHANGED}"
        await self._lay_down(answer.text, kept, partial)
        return ""

    async def _summarised(
        self, rows: Sequence[LogChunk], past: Sequence[LogChunk], ask: str, *, refused: bool
    ) -> Answer:
        size = context.size(rows, self._ledger.digest.bill.usage_of)
        asking = context.tokens([self._said(ask, rows)])
        fits = size + asking + self._window // ANSWER_PART <= self._window
        if fits and not refused:
            everything = self._ledger.rows
            answer = await self._ask((*everything, self._said(ask, everything)))
            if not answer.too_large:
                return answer
            refused = True
        limit = (self._window - context.head_tokens(rows) - asking) // 2
        if refused:
            # It is larger than what fits, whatever the window is said to be.
            limit = min(limit, max(LIKELY_PIECE, size // 2))
        return await self._in_pieces(rows, past, ask, limit=max(LEAST_PIECE, limit))

    async def _in_pieces(
        self, rows: Sequence[LogChunk], past: Sequence[LogChunk], ask: str, *, limit: int
    ) -> Answer:
        """One summary after the other, each of the last one and a piece more."""
        head = [row for row in rows if _is_head(row)]
        left = [row for row in past if context.weight(row.data)]
        answer = Answer()
        halvings = part = 0
        while left:
            piece, rest, is_cut = context.next_piece(left, limit)
            so_far = [self._row(compaction(answer.text, ()), "system")] if answer.text else []
            if so_far or is_cut:  # thinking is bound to the bytes that were before it
                piece = context.without_thinking(piece)
            parts = part + 1 + -(-context.tokens(rest) // limit)
            self._show(Compacting(self._words, part + 1, parts))
            asked = [*head, *so_far, *piece, self._said(ask, piece)]
            found = await self._ask(
                tuple(replace(row, seq=at) for at, row in enumerate(asked, start=1))
            )
            if found.too_large and halvings < HALVINGS and limit > LEAST_PIECE:
                halvings, limit = halvings + 1, max(LEAST_PIECE, limit // 2)
                continue
            if found.problem or self._stop.done():
                return found
            answer, left, part = found, rest, part + 1
        return answer

    async def _ask(self, rows: tuple[LogChunk, ...]) -> Answer:
        """One request, whose answer is heard and not laid down."""
        record = RequestRecord(
            id=self._around.new_id(),
            tab_id=self._tab_id,
            turn_id=self._turn_id,
            step=self._step,
            provider=self._model.stamp(self._chosen.model).provider,
            model=self._chosen.model,
            started_at=self._around.now_ms(),
        )
        await self._ledger.start_request(record)
        options = RequestOptions(self._chosen.model, self._chosen.effort, ttl=self._around.ttl())
        stream = hasty(lambda: self._model.respond(rows, options), self._ties.haste)
        hearing = Hearing(record)
        try:
            while not self._stop.done() and hearing.answer is None:
                batch = await next_batch(stream, self._stop)
                for event in (ResponseFailed(NO_END),) if batch is None else batch:
                    self._tell(event)
                    hearing.take(event)
                words = self._words + hearing.words
                self._show(replace(self._shown, words=words), every=TOLD_EVERY)
        finally:
            self._words += hearing.words
            self._ties.retrying(None)
            await close(stream)
            over = ended(hearing.record, hearing.failure, self._around.now_ms())
            with suppress(StoreError):  # the record waits in the ledger
                await self._ledger.finish_request(over)
        return hearing.answer or Answer()

    def _tell(self, event: ModelEvent) -> None:
        match event:
            case ResponseStarted():
                self._ties.retrying(None)
            case RetryScheduled():
                self._ties.retrying(retry_of(event, self._around.now_ms()))
            case _:
                pass

    def _show(self, now: Compacting, *, every: int = 0) -> None:
        if now != self._shown and abs(now.words - self._shown.words) >= every:
            self._shown = now
            self._ties.compacting(now)

    async def _lay_down(
        self, text: str, kept: Sequence[LogChunk], partial: Sequence[LogChunk]
    ) -> None:
        data = [compaction(text, kept)]
        if partial:
            retracted = System("retracted", fields={"chunkIds": [row.id for row in partial]})
            data.insert(0, retracted)
        chunks = [
            NewChunk(id=self._around.new_id(), turn_id=self._turn_id, role="system", data=one)
            for one in data
        ]
        fresh = await self._ties.fresh(self._turn_id, max(0, self._step - 1))
        await self._ledger.append([*chunks, *fresh])

    def _said(self, text: str, after: Sequence[LogChunk]) -> LogChunk:
        """A text of the person that is in a request only."""
        return replace(self._row(Text(text), "user"), seq=after[-1].seq + 1 if after else 1)

    def _row(self, data: System | Text, role: str) -> LogChunk:
        return LogChunk(
            id=self._around.new_id(),
            tab_id=self._tab_id,
            seq=1,
            turn_id=self._turn_id,
            step=self._step,
            role="user" if role == "user" else "system",
            data=data,
            created_at=self._around.now_ms(),
        )


class CompactionJob:
    """A compaction that the person asked for, in the place of a turn while it runs."""

    def __init__(
        self,
        make: Callable[["asyncio.Future[None]"], Compaction],
        *,
        turn_id: str,
        since: int,
        instruction: str,
    ) -> None:
        self.id = turn_id
        self.since = since
        self.problem = ""
        self._stop: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._compaction = make(self._stop)
        self._instruction = instruction

    @property
    def stopping(self) -> bool:
        return self._stop.done()

    def stop(self) -> None:
        if not self._stop.done():
            self._stop.set_result(None)

    async def run(self) -> Outcome:
        """`done` also where it failed: what waits goes out, for nothing was changed."""
        try:
            self.problem = await self._compaction.run(self._instruction)
        except StoreError as error:
            self.problem = str(error)
        except Exception:
            _log.exception("compacting %s", self.id)
            self.problem = f"{UNFORESEEN} {UNCHANGED}"
        return "stopped" if self.stopping else "done"


def is_due(ledger: Ledger, around: Surroundings, *, model: str) -> bool:
    """Whether what a model is told has reached the part of its window that the person set."""
    percent = around.compact_at()
    return bool(percent) and ledger.digest.size() * 100 >= around.window(model) * percent


def turn_of(rows: Sequence[LogChunk]) -> tuple[str, int]:
    """The turn that a compaction between turns belongs to, and the step of its request."""
    turn_id = repair.last_turn_id(rows)
    steps = [row.step for row in repair.turn_rows(rows, turn_id)]
    return turn_id, max(steps, default=-1) + 1


def _asking(instruction: str) -> str:
    wish = instruction.strip()
    return ASK + ASK_TO_KEEP + wish if wish else ASK


def _complaint(summary: str, past: Sequence[LogChunk]) -> str:
    """Why a summary is not taken; '' when it is."""
    before = sum(context.weight(row.data) for row in past if not _is_fact(row))
    return "" if context.weight(Text(summary)) < before else NOT_SHORTER


def _without(rows: Sequence[LogChunk], others: Sequence[LogChunk]) -> list[LogChunk]:
    ids = {row.id for row in others}
    return [row for row in rows if row.id not in ids]


def _is_head(row: LogChunk) -> bool:
    return isinstance(row.data, System) and row.data.kind in ("prompt", "tools")


def _is_fact(row: LogChunk) -> bool:
    return isinstance(row.data, System) and row.data.kind == "fact"
