"""The requests of one conversation, each made from the last: what a step costs is what it added.

The bytes are those of `serialise(build(…))`, always (a property test compares them): messages that
no later row can change are kept as bytes, the rest is folded anew. A row that does change earlier
ones (`retracted`, `rewrite`, `tools`) starts from nothing. For one thread.
"""

from collections.abc import Sequence
from typing import Any

from desktop.core.chunks import LogChunk, Stamp, System, ToolCall
from desktop.core.conversation import (
    is_compaction,
    is_new_tools,
    kept_by,
    retracted_ids,
    tools_told,
)
from desktop.core.model import RequestOptions
from desktop.core.rewrites import Rewrites, rewrites_of
from desktop.wire import blocks, breakpoints
from desktop.wire.difference import (
    MessagePrint,
    Shape,
    first_difference,
    head_prints,
    print_of_message,
)
from desktop.wire.fold import Exchange, Fold, Message, final_count, messages_of
from desktop.wire.models import ModelTable
from desktop.wire.request import build, head_of, serialise
from desktop.wire.showing import NO_BYTES, Bytes, Showing

# Exchanges that stay open at the end: where the last request ended must stay among them.
OPEN = 3
_BEFORE: Message = {"role": "user", "content": []}


class GrowingRequest:
    """For one conversation, model and account; other `options` or another `stamp` start anew.

    `position` is where the last body left the one before it (`difference`), None for the first;
    `last` is that body, of its `count` messages those that can still change.
    """

    def __init__(self, models: ModelTable) -> None:
        self.position: str | None = None
        self.last: dict[str, Any] = {}
        self._models = models
        self._sent: Shape | None = None
        self._for: tuple[RequestOptions, Stamp] | None = None
        self._shown = Showing()
        self._start(Stamp())

    @property
    def call_ids(self) -> Sequence[str]:
        """The ids of all calls that were taken, as they lie in the log."""
        return self._call_ids

    @property
    def count(self) -> int:
        """The messages of the last body."""
        return 0 if self._sent is None else len(self._sent)

    @property
    def unsettled(self) -> Sequence[Exchange]:
        """What is folded anew for the next request."""
        return self._fold.exchanges

    @property
    def size(self) -> int:
        """The bytes that are kept for the next request."""
        return len(self._settled)

    def next(
        self,
        rows: Sequence[LogChunk],
        options: RequestOptions,
        stamp: Stamp,
        pictures: Bytes = NO_BYTES,
    ) -> bytes:
        """The body for all `rows`, of which those of the last time are the beginning."""
        self.take(rows, options, stamp, pictures)
        return self._body(rows, options, stamp)

    def take(
        self,
        rows: Sequence[LogChunk],
        options: RequestOptions,
        stamp: Stamp,
        pictures: Bytes = NO_BYTES,
    ) -> None:
        """Folds what is new in `rows`."""
        self._shown = Showing.to(self._models.find(options.model), pictures)
        self._fold.shown = self._shown
        told = RequestOptions(options.model, options.effort)
        if self._for != (told, stamp) or not self._continues(rows):
            self._for = (told, stamp)
            self._start(stamp)
        new = list(rows[self._taken :])
        if _changes_earlier_rows(new):
            self._start(stamp)
            self._gone = retracted_ids(rows)
            self._rewrites = rewrites_of([row for row in rows if row.id not in self._gone])
            new = list(rows)
        first = len(rows) - len(new)
        for at, row in enumerate(new, first):
            self._take(row, stamp)
            if is_compaction(row.data) and row.id not in self._gone:
                for kept in kept_by(row.data, rows[:at]):
                    self._add(kept)
        self._taken = len(rows)
        self._last = rows[-1] if rows else None
        self._settle()

    def _continues(self, rows: Sequence[LogChunk]) -> bool:
        if self._taken == 0:
            return True
        return len(rows) >= self._taken and rows[self._taken - 1] is self._last

    def _start(self, stamp: Stamp) -> None:
        self._taken = 0
        self._last: LogChunk | None = None
        self._gone: frozenset[str] = frozenset()
        self._rewrites: Rewrites | None = None
        self._call_ids: list[str] = []
        self._prompt: System | None = None
        self._tools: list[Any] = []
        self._refold(stamp)

    def _refold(self, stamp: Stamp) -> None:
        self._fold = Fold(stamp, self._shown)
        self._settled = bytearray()
        self._prints: list[MessagePrint] = []

    def _take(self, row: LogChunk, stamp: Stamp) -> None:
        if isinstance(row.data, ToolCall):
            self._call_ids.append(row.data.call_id)
        if row.id in self._gone:
            return
        if isinstance(row.data, System):
            if row.data.kind == "prompt":
                self._prompt = row.data
            self._tools = tools_told(row.data, self._tools)
            if row.data.kind == "compaction":
                self._refold(stamp)
        self._add(row)

    def _add(self, row: LogChunk) -> None:
        if row.id in self._gone:
            return
        told = row if self._rewrites is None else self._rewrites.row(row)
        if told is not None:
            self._fold.add(told)

    def _settle(self) -> None:
        """Turns what no later row can change into bytes."""
        exchanges = self._fold.exchanges
        cut = final_count(exchanges[: 1 - OPEN])
        if not cut:
            return
        messages = messages_of(exchanges[:cut], before=self._before())
        for message in messages:
            if self._settled:
                self._settled += b","
            cleaned = blocks.clean(message)
            self._prints.append(print_of_message(cleaned))
            self._settled += serialise(cleaned)
        del exchanges[:cut]

    def _before(self) -> Message | None:
        return _BEFORE if self._settled else None

    def _body(self, rows: Sequence[LogChunk], options: RequestOptions, stamp: Stamp) -> bytes:
        body = head_of(self._models, options, self._prompt, self._tools)
        body["messages"] = messages_of(
            self._fold.exchanges, resumed=options.resumed, before=self._before()
        )
        body = blocks.clean(body)
        self._compare(body)
        model = self._models.find(options.model)
        if model is not None and model.caches:
            if self._settled and not breakpoints.has_previous_end(body["messages"]):
                self.last = self._anew(rows, options, stamp)
                return serialise(self.last)
            breakpoints.place(body, options.ttl, most=options.marks)
        self.last = body
        whole = serialise(body)
        if not self._settled:
            return whole
        messages = serialise(body["messages"])
        return (
            whole[: -len(messages) - 1] + b"[" + bytes(self._settled) + b"," + messages[1:] + b"}"
        )

    def _anew(
        self, rows: Sequence[LogChunk], options: RequestOptions, stamp: Stamp
    ) -> dict[str, Any]:
        return build(rows, options, models=self._models, stamp=stamp, pictures=self._shown.bytes)

    def _compare(self, body: dict[str, Any]) -> None:
        sent = Shape(
            head=head_prints(body),
            settled=self._prints,
            count=len(self._prints),
            open=tuple(print_of_message(message) for message in body["messages"]),
        )
        self.position = None if self._sent is None else first_difference(self._sent, sent)
        self._sent = sent


def _changes_earlier_rows(new: Sequence[LogChunk]) -> bool:
    is_changed = bool(retracted_ids(new)) or rewrites_of(new) is not None
    return is_changed or any(is_new_tools(row.data) for row in new)
