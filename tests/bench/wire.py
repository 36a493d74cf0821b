"""What a request costs to build: a step's own work at any length, and the whole body's bytes.

The body is compared with a bare `json.dumps` of the same body in the same run; a step's work with
that of the same step in a short conversation.
"""

import json
import time
from collections.abc import Sequence
from statistics import median

from desktop.core.chunks import LogChunk
from desktop.core.model import RequestOptions
from desktop.wire.growing import GrowingRequest
from desktop.wire.request import build, serialise
from tests.bench import Figure
from tests.unit.wire.rows_of import ME, MODELS, Log

SHORT, LONG = 100, 10_000
STEPS = 60
TEXT = "lorem ipsum dolor sit amet " * 38  # about 1 KiB
OPTIONS = RequestOptions(ME.model)


def figures() -> list[Figure]:
    short, long = _Conversation(SHORT), _Conversation(LONG)
    times = [(short.step(), long.step()) for _ in range(STEPS)]
    work = median(after for _, after in times) / median(before for before, _ in times)
    whole = median(long.whole() for _ in range(9))
    return [
        Figure("wire.step_at_10k_vs_100", work, "x", 1.3),
        Figure("wire.step_at_10k", 1_000 * median(after for _, after in times), "ms", 16),
        Figure("wire.body_vs_json_dumps", whole, "x", 1.2),
    ]


class _Conversation:
    """Steps of one call each; `chunks` of them are there before the first is timed."""

    def __init__(self, chunks: int) -> None:
        self._log = Log()
        self._growing = GrowingRequest(MODELS)
        self._log.prompt()
        self._log.user("begin")
        while len(self._log.rows) < chunks:
            self._add()
        self._growing.next(self._log.rows, OPTIONS, ME)

    def step(self) -> float:
        """Seconds for what one more step adds, the joining of the bytes left out."""
        self._add()
        rows: Sequence[LogChunk] = self._log.rows
        start = time.perf_counter()
        self._growing.take(rows, OPTIONS, ME)
        return time.perf_counter() - start

    def whole(self) -> float:
        """The time for a whole body, in that of `json.dumps` for the same."""
        rows = self._log.rows
        body = build(rows, OPTIONS, models=MODELS, stamp=ME)
        start = time.perf_counter()
        grown = self._growing.next(rows, OPTIONS, ME)
        ours = time.perf_counter() - start
        start = time.perf_counter()
        json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
        plain = time.perf_counter() - start
        assert grown == serialise(body)
        return ours / plain

    def _add(self) -> None:
        number = len(self._log.rows)
        self._log.step = number
        self._log.thinks(TEXT, f"s{number}")
        self._log.calls(f"c{number}", path=TEXT)
        self._log.result(f"c{number}", TEXT)
