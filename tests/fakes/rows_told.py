"""The rule that a request extends the one before it, for models that are asked with rows.

Rows say by themselves why a request leaves its conversation's course: a retraction, a summary,
another prompt or tool set, another model. For any other reason there is none. A retraction takes
its rows away and nothing else.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from desktop.core.chunks import LogChunk, Stamp, System
from desktop.core.conversation import retracted_ids
from desktop.core.model import RequestOptions
from desktop.wire.fold import GO_ON
from desktop.wire.models import ModelTable
from desktop.wire.request import build
from tests.fakes.sim.extends import assert_extends
from tests.fakes.sim.problems import Json

REASONS = frozenset({"compaction", "prompt", "tools", "rewrite", "model"})
_PLAIN = ModelTable(())


@dataclass(frozen=True, slots=True)
class _Request:
    rows: tuple[LogChunk, ...]
    stamp: Stamp


@dataclass(slots=True)
class Told:
    """What one model was told, conversation by conversation."""

    _last: dict[str, list[_Request]] = field(default_factory=dict[str, list[_Request]])

    def rewrite(self, rows: Sequence[LogChunk], options: RequestOptions, stamp: Stamp) -> str:
        """How this request rewrote the last one; empty when it did not, or rows say why."""
        earlier = self._last.setdefault(rows[-1].tab_id, [])
        # What was asked beside the log, as for a summary, has left no row and is not gone on from.
        while earlier and not _is_in(earlier[-1].rows[-1], rows):
            earlier.pop()
        now = _Request(tuple(rows), stamp)
        complaint = _complaint(earlier[-1], now, resumed=options.resumed) if earlier else ""
        earlier.append(now)
        return complaint


def _complaint(before: _Request, now: _Request, *, resumed: bool) -> str:
    new = now.rows[len(before.rows) :]
    is_excused = before.stamp != now.stamp or any(
        isinstance(row.data, System) and row.data.kind in REASONS for row in new
    )
    if is_excused:
        return ""
    gone = retracted_ids(now.rows)
    kept = _body([row for row in before.rows if row.id not in gone], now.stamp, resumed=resumed)
    if kept["messages"][-1]["content"][-1].get("text") == GO_ON:
        kept["messages"].pop()  # stands there only for want of another end
    try:
        assert_extends(kept, _body(now.rows, now.stamp, resumed=resumed))
    except AssertionError as error:
        return str(error)
    return ""


def _body(rows: Sequence[LogChunk], stamp: Stamp, *, resumed: bool) -> Json:
    return build(rows, RequestOptions(stamp.model, resumed=resumed), models=_PLAIN, stamp=stamp)


def _is_in(row: LogChunk, rows: Sequence[LogChunk]) -> bool:
    return row.seq <= len(rows) and rows[row.seq - 1].id == row.id
