"""What is asked of a whole conversation before each request, kept as its rows and records come.

Between two steps nothing may look through everything that was said: in a conversation of a day that
is a pause of the window in which the agent lives (SPEC U03). Each answer is the one that a function
over all rows would give, and no more is looked at than is new.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from desktop.agent import context
from desktop.agent.spending import Bill, Next, Tariff
from desktop.core.chunks import LogChunk, System
from desktop.core.conversation import is_compaction, told
from desktop.core.media import Media
from desktop.core.model import Spent
from desktop.core.records import RequestRecord
from desktop.core.rewrites import standing
from desktop.core.shown import Place, placed

# Rows by which others are told otherwise than they stand.
_ALTERING = frozenset({"retracted", "rewrite", "compaction"})
# And those of the head: system prompt and tools.
_HEAD = frozenset({"prompt", "tools"})
LOOK_BACK = 64  # rows, twice as many until an answer is among them


class Digest:
    """Told by its ledger of each load, row and record, in order."""

    def __init__(self, tariff: Tariff) -> None:
        self._tariff = tariff
        self.begin((), ())

    def begin(self, rows: Sequence[LogChunk], records: Iterable[RequestRecord]) -> None:
        """Everything was loaded anew; `rows` is the list that grows from now on."""
        self._rows = rows
        self.bill = Bill(self._tariff)
        self._showing: list[LogChunk] = []
        self._shows_media = False
        # Tokens that a provider counted, or of the head; and the bytes of what came after them.
        self._counted: int | None = None
        self._since = 0
        self.rows_came(rows)
        self.records_came(records)

    def rows_came(self, rows: Sequence[LogChunk]) -> None:
        """At the end of the list."""
        for row in rows:
            kind = row.data.kind if isinstance(row.data, System) else ""
            has_media = next(placed((row,)), None) is not None
            self._shows_media |= has_media
            if has_media or kind in _ALTERING:
                self._showing.append(row)
            if kind in _ALTERING or kind in _HEAD or self._is_counted(row):
                self._counted = None
            elif self._counted is not None:
                self._since += context.weight(row.data)

    def _is_counted(self, row: LogChunk) -> bool:
        """Whether it is of an answer that was counted already."""
        return row.role == "assistant" and bool(self.bill.usage_of(row.turn_id, row.step).prompt)

    def records_came(self, records: Iterable[RequestRecord]) -> None:
        """New ones, or others in the place of those of their ids."""
        for record in records:
            if self.bill.take(record).prompt:
                self._counted = None

    def size(self) -> int:
        """As `context.size`."""
        if self._counted is None:
            self._counted, self._since = self._measured()
        return self._counted + context.tokens_of(self._since)

    def spent(self, *, window: int, following: Next) -> Spent:
        """The sum; its `context` is what the next request holds."""
        found = self.bill.spent(window=window, following=following)
        return replace(found, context=self.size())

    def shown(self) -> dict[Place, tuple[LogChunk, Media]]:
        """The pictures and documents that the next request shows, the oldest first."""
        if not self._shows_media:
            return {}
        read = told(standing(self._showing))
        return {place: (row, media) for place, row, media in placed(read)}

    def _measured(self) -> tuple[int, int]:
        """The last answered request is near the end as a rule; rows that alter others stand behind
        them, so that a piece of the end says by itself what is told of it."""
        count = LOOK_BACK
        while count < len(self._rows):
            end = self._rows[-count:]
            if any(is_compaction(row.data) for row in end):
                break
            found = context.answered(standing(end), self.bill.usage_of)
            if found is not None:
                return found
            count *= 2
        return context.measured(self._rows, self.bill.usage_of)
