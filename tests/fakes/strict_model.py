"""A model with the whole provider behind it and no network: rows become the bytes of a request, the
stand-in judges them by every rule, signatures included, and its answer comes back as a stream.

Whatever a test does with an agent, `complaints` says whether the provider would have refused a
request, whether one rewrote the last (`rows_told`), and whether the bytes depended on how the rows
came to be in memory (SPEC U21, U22, C02, C03).
"""

import asyncio
import itertools
import json
import time
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

from desktop.core.chunks import LogChunk, Stamp
from desktop.core.events import Failure, ModelEvent, ResponseFailed
from desktop.core.model import ModelInfo, RequestOptions
from desktop.wire.growing import GrowingRequest
from desktop.wire.models import ModelTable
from desktop.wire.request import build, serialise
from desktop.wire.stream import Reader
from tests.fakes.rows_told import Told
from tests.fakes.sim.answers import frame
from tests.fakes.sim.problems import Json, Refusal
from tests.fakes.sim.provider import Provider
from tests.fakes.sim.received import Received
from tests.fakes.sim.replies import Cut, Reply, Send

HEADERS = {"x-api-key": "key", "anthropic-version": "2026-10-21"}
SEARCH: Json = {"type": "web_search_20260318", "name": "web_search"}
Answering = Callable[[Received], Reply]


class StrictModel:
    """`answer` gives the reply to each request that the provider took; `turns` is how often the
    loop goes round between two of its events."""

    def __init__(self, models: ModelTable, answer: Answering, *, turns: int = 0) -> None:
        self.requests: list[Received] = []
        self.complaints: list[str] = []
        self.told = Told()
        self._models = models
        self._answer = answer
        self._turns = turns
        self._provider = Provider(
            time.time,
            strict=True,
            invalid_keys=(),
            binding="enforce",
            encodings="taken",
            threads="held",
        )
        self._growing: dict[str, GrowingRequest] = {}
        self._numbers = itertools.count(1)

    def stamp(self, model: str) -> Stamp:
        return Stamp("anthropic:strict", model)

    async def models(self) -> tuple[ModelInfo, ...]:
        return self._models.infos()

    async def respond(
        self, chunks: Sequence[LogChunk], options: RequestOptions
    ) -> AsyncIterator[Sequence[ModelEvent]]:
        growing = self._growing.setdefault(chunks[0].tab_id, GrowingRequest(self._models))
        body = growing.next(chunks, options, self.stamp(options.model))
        self._compare(body, chunks, options)
        received = Received("POST", "/v1/messages", HEADERS, _with_search(body), "req_1")
        self.requests.append(received)
        try:
            accepted = self._provider.accept(received)
        except Refusal as refusal:
            self.complaints.append(f"request {len(self.requests)} was refused: {refusal.message}")
            yield [ResponseFailed(Failure("bad_request", refusal.message, status_code=400))]
            return
        received.number = next(self._numbers)
        reply = self._answer(received)
        if reply.error is not None:
            yield [ResponseFailed(Failure("overloaded", reply.error[1], status_code=reply.status))]
            return
        filling = self._provider.filling(accepted, received)
        filling.expect(reply.events)
        reader = Reader(growing.call_ids)
        for step in reply.steps:
            for _ in range(self._turns):
                await asyncio.sleep(0)
            if isinstance(step, Cut):
                break
            filled = filling.fill(step.event) if isinstance(step, Send) else None
            events = reader.feed(frame(filled)) if filled is not None else ()
            if events:
                yield events
        ending = reader.end()
        if ending:
            yield ending

    def _compare(self, body: bytes, rows: Sequence[LogChunk], options: RequestOptions) -> None:
        stamp = self.stamp(options.model)
        built = serialise(build(rows, options, models=self._models, stamp=stamp))
        if built != body:
            self.complaints.append(
                f"request {len(self.requests) + 1} grew other than it is built:\n"
                f"  grown {body[-600:]!r}\n  built {built[-600:]!r}"
            )
        rewrite = self.told.rewrite(rows, options, stamp)
        if rewrite:
            self.complaints.append(f"request {len(self.requests) + 1}: {rewrite}")


def _with_search(body: bytes) -> bytes:
    """The body with a tool of the provider's own, which Nacre itself does not offer: what it calls
    and brings is in the answers."""
    asked: dict[str, Any] = json.loads(body)
    asked["tools"] = [*asked.get("tools", ()), SEARCH]
    return json.dumps(asked, ensure_ascii=False, separators=(",", ":")).encode()
