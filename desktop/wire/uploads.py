"""How the bodies of requests go up to one server: compressed where it takes that, else as they are.

The provider takes gzip and nothing else. Of any other server it is believed only when it says so,
in an `Accept-Encoding` of its own answers (RFC 9110 §12.5.3). A server that refuses is sent the
same body plain at once, and is not tried again. For one server; on the transport's thread.
"""

import asyncio
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from desktop.core.caching import Upload
from desktop.core.events import Failure

# Less than this goes out in the same packets either way.
LEAST = 4096
# Level 1 takes 15 ms for a megabyte of conversation and leaves a third; 6 takes 47 ms, a quarter.
LEVEL = 1
GZIP_FORMAT = 31
# Between two pieces other conversations' answers are read.
PIECE = 256 * 1024
CODE = "request_body_encoding"
# What servers answer that take the compressed bytes for broken JSON, or fall over them.
DOUBTFUL = frozenset({400, 411, 415, 422, 500, 501, 502})


@dataclass(frozen=True, slots=True)
class Parcel:
    """A body as it goes out. `size` is that of the whole request without any saving."""

    data: bytes
    size: int
    headers: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def is_compressed(self) -> bool:
        return "Content-Encoding" in self.headers

    @property
    def upload(self) -> Upload:
        return Upload(self.size, len(self.data))


def nobody(manner: str) -> None:
    """For who need not remember what was learned."""
    del manner


class Uploads:
    """`compresses`: without knowing more. `known` is what an earlier run learned: `gzip`, `plain`
    or ''; `learned` is told the same."""

    def __init__(
        self, *, compresses: bool, known: str = "", learned: Callable[[str], None] = nobody
    ) -> None:
        self._compresses = known == "gzip" or (compresses and known != "plain")
        self._known = known
        self._learned = learned
        self._doubts = 0  # the status that a compressed body met, while that may be the reason

    async def packed(
        self, body: bytes, *, size: int = 0, headers: Mapping[str, str] | None = None
    ) -> Parcel:
        """The body as this server is sent it; `size` where it stands for a longer one."""
        size, headers = size or len(body), headers or {}
        if not self._compresses or len(body) < LEAST:
            return Parcel(body, size, headers)
        return Parcel(await _compressed(body), size, {**headers, "Content-Encoding": "gzip"})

    def heard(self, accepted: str) -> None:
        """What the server says in an answer that it takes."""
        if not self._known and not self._doubts and _names_gzip(accepted):
            self._compresses = True

    def took(self, parcel: Parcel) -> None:
        """The server has answered this body."""
        if parcel.is_compressed:
            self._learn("gzip")
        elif 0 < self._doubts < 500:
            self._learn("plain")
        else:  # a server may break for a moment: that is no reason for longer than this run
            self._doubts = 0

    def refused(self, parcel: Parcel, failure: Failure) -> bool:
        """Whether the same body is to go out once more, as it is."""
        if not parcel.is_compressed:
            # It was not the compression that was refused before.
            self._compresses, self._doubts = self._compresses or self._doubts > 0, 0
            return False
        if CODE in failure.detail or failure.status_code == 415:
            self._learn("plain")
        elif self._known == "gzip" or (failure.status_code or 0) not in DOUBTFUL:
            return False
        else:
            self._doubts = failure.status_code or 0
        self._compresses = False
        return True

    def _learn(self, manner: str) -> None:
        self._doubts = 0
        if manner != self._known:
            self._known = manner
            self._learned(manner)


async def _compressed(body: bytes) -> bytes:
    work = zlib.compressobj(LEVEL, zlib.DEFLATED, GZIP_FORMAT)
    pieces: list[bytes] = []
    for at in range(0, len(body), PIECE):
        if at:
            await asyncio.sleep(0)
        pieces.append(work.compress(memoryview(body)[at : at + PIECE]))
    pieces.append(work.flush())
    return b"".join(pieces)


def _names_gzip(accepted: str) -> bool:
    for one in accepted.lower().split(","):
        name, _, weight = one.partition(";")
        if name.strip() == "gzip":
            return weight.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False
