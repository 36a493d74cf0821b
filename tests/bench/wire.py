"""What a request costs to build: a step's own work at any length, and the whole body's bytes.

The body is compared with a bare `json.dumps` of the same body in the same run; a step's work with
that of the same step in a short conversation.
"""

import asyncio
import gzip
import json
import time
from collections.abc import Sequence
from statistics import median

from desktop.core.chunks import LogChunk
from desktop.core.model import RequestOptions
from desktop.wire.growing import GrowingRequest
from desktop.wire.request import build, serialise
from desktop.wire.uploads import Uploads
from tests.bench import Figure
from tests.unit.wire.rows_of import ME, MODELS, ROOT, Log

SHORT, LONG = 100, 10_000
STEPS = 60
TEXT = "lorem ipsum dolor sit amet " * 38  # about 1 KiB
MEGABYTE = 1_000_000
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
        *_compressing(),
    ]


def _compressing() -> list[Figure]:
    """A megabyte of conversation that holds source code, as they do, against gzip as it comes.

    In the time of the processor: what else the machine does is not measured.
    """
    sources = sorted((ROOT / "desktop").rglob("*.py"))
    text = "".join(path.read_text("utf-8") for path in sources) * 2
    body = json.dumps(text[:MEGABYTE]).encode()
    ours: list[float] = []
    usual: list[float] = []
    size = 0
    for _ in range(9):
        start = time.thread_time()
        size = len(asyncio.run(Uploads(compresses=True).packed(body)).data)
        middle = time.thread_time()
        gzip.compress(body, compresslevel=6)
        ours.append(middle - start)
        usual.append(time.thread_time() - middle)
    return [
        Figure("wire.compress_vs_gzip_6", min(ours) / min(usual), "x", 0.6),
        Figure("wire.compress_1mb", 1_000 * min(ours), "ms", 40),
        Figure("wire.compressed_to", size / len(body), "x", 0.4),
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
