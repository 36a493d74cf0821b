"""The rule that a request extends the one before it, for models that are asked with rows.

Rows say by themselves why a request leaves its conversation's course: a retraction, a summary,
another prompt or tool set, another model. For any other reason there is none.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from desktop.core.chunks import LogChunk, System
from desktop.core.model import RequestOptions
from desktop.wire.models import ModelTable
from desktop.wire.request import build
from tests.fakes.sim.extends import assert_extends
from tests.fakes.sim.problems import Json

REASONS = frozenset({"retracted", "compaction", "prompt", "tools", "rewrite", "model"})
_PLAIN = ModelTable(())


@dataclass(frozen=True, slots=True)
class _Told:
    rows: tuple[LogChunk, ...]
    model: str
    body: Json


@dataclass(slots=True)
class Told:
    """What one model was told, conversation by conversation."""

    _last: dict[str, list[_Told]] = field(default_factory=dict[str, list[_Told]])

    def rewrite(self, rows: Sequence[LogChunk], options: RequestOptions) -> str:
        """How this request rewrote the last one; empty when it did not, or rows say why."""
        body = build(rows, options, models=_PLAIN, stamp=rows[-1].stamp)
        now = _Told(tuple(rows), options.model, body)
        earlier = self._last.setdefault(rows[-1].tab_id, [])
        # What was asked beside the log, as for a summary, has left no row and is not gone on from.
        while earlier and not _is_in(earlier[-1].rows[-1], rows):
            earlier.pop()
        complaint = _complaint(earlier[-1], now) if earlier else ""
        earlier.append(now)
        return complaint


def _complaint(before: _Told, now: _Told) -> str:
    new = now.rows[len(before.rows) :]
    is_excused = before.model != now.model or any(
        isinstance(row.data, System) and row.data.kind in REASONS for row in new
    )
    if is_excused:
        return ""
    try:
        assert_extends(before.body, now.body)
    except AssertionError as error:
        return str(error)
    return ""


def _is_in(row: LogChunk, rows: Sequence[LogChunk]) -> bool:
    return row.seq <= len(rows) and rows[row.seq - 1].id == row.id
