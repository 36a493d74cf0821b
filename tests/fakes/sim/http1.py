"""Just enough HTTP/1.1 to be a server on loopback: requests in, answers and broken answers out."""

from __future__ import annotations

import asyncio
import gzip
import os
import socket
import struct
import zlib
from dataclasses import dataclass, field
from http import HTTPStatus

HEAD_LIMIT = 1024 * 1024
REASONS = {529: "Overloaded"}


class Closed(Exception):
    """The connection is over: the client went, or a script cut it."""


class Cutoff(Closed):
    """The script cut the connection, not the client."""


class TooLarge(Exception):
    """The body is larger than the server takes."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it came: header names in lower case, the body still in its encoding."""

    method: str
    target: str
    headers: dict[str, str] = field(repr=False)
    body: bytes = field(repr=False)

    @property
    def path(self) -> str:
        """The target without its query."""
        return self.target.partition("?")[0]


class WatchedReader(asyncio.StreamReader):
    """A reader that says at once when the other side goes, even while nobody reads."""

    def __init__(self, limit: int = HEAD_LIMIT) -> None:
        super().__init__(limit=limit)
        self.gone = asyncio.Event()

    def feed_eof(self) -> None:
        super().feed_eof()
        self.gone.set()

    def set_exception(self, exc: BaseException) -> None:
        super().set_exception(exc)  # type: ignore[arg-type]
        self.gone.set()


async def read_request(reader: asyncio.StreamReader, *, limit: int) -> Request | None:
    """The next request of a connection, None when there is no more. Raises `TooLarge`."""
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError):
        return None
    first, *lines = head.rstrip("\r\n").split("\r\n")
    method, _, rest = first.partition(" ")
    target = rest.partition(" ")[0]
    headers: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    try:
        body = await _read_body(reader, headers, limit)
    except (asyncio.IncompleteReadError, ConnectionError, ValueError):
        return None
    return Request(method, target, headers, body)


async def _read_body(reader: asyncio.StreamReader, headers: dict[str, str], limit: int) -> bytes:
    if headers.get("transfer-encoding", "").lower() == "chunked":
        return await _read_chunks(reader, limit)
    length = int(headers.get("content-length", "0"))
    if length > limit:
        raise TooLarge
    return await reader.readexactly(length)


async def _read_chunks(reader: asyncio.StreamReader, limit: int) -> bytes:
    parts = bytearray()
    while True:
        size = int((await reader.readuntil(b"\r\n")).split(b";")[0], 16)
        parts += await reader.readexactly(size)
        await reader.readexactly(2)
        if len(parts) > limit:
            raise TooLarge
        if size == 0:
            return bytes(parts)


def decoded(body: bytes, encoding: str) -> bytes:
    """The body without its content encoding: gzip and no other, as the provider has it.

    LookupError when it is another, ValueError when the body is broken."""
    if encoding in ("", "identity"):
        return body
    try:
        if encoding == "gzip":
            return gzip.decompress(body)
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"the body is not {encoding}") from error
    raise LookupError(encoding)


class Answer:
    """Writes one answer: a status line, then a whole body or a stream of chunks."""

    def __init__(
        self,
        writer: asyncio.StreamWriter,
        *,
        cut_at: tuple[int, bool] | None = None,
        split: int = 0,
        compress: bool = False,
    ) -> None:
        self._writer = writer
        self._cut_at = cut_at
        self._split = split
        self._zip = zlib.compressobj(wbits=31) if compress else None
        self._sent = 0
        self._chunked = False

    async def whole(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        """A complete answer with its length."""
        if self._zip is not None:
            body = self._zip.compress(body) + self._zip.flush()
        headers = self._encoded(headers)
        await self._head(status, [*headers, ("content-length", str(len(body)))])
        await self._body(body)

    async def start(self, status: int, headers: list[tuple[str, str]]) -> None:
        """The head of a stream."""
        await self._head(status, [*self._encoded(headers), ("transfer-encoding", "chunked")])
        self._chunked = True

    async def write(self, data: bytes) -> None:
        """A piece of the stream."""
        if self._zip is not None:
            data = self._zip.compress(data) + self._zip.flush(zlib.Z_SYNC_FLUSH)
        await self._body(data)

    async def finish(self) -> None:
        """The clean end of a stream."""
        if self._zip is not None:
            await self._body(self._zip.flush())
        await self._raw(b"0\r\n\r\n")

    async def cut(self, *, reset: bool) -> None:
        """End the connection in the middle. Raises `Cutoff`."""
        if reset:
            connection: socket.socket = self._writer.get_extra_info("socket")
            linger = struct.pack("hh" if os.name == "nt" else "ii", 1, 0)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self._writer.transport.abort()
        else:
            self._writer.close()
        raise Cutoff

    def _encoded(self, headers: list[tuple[str, str]]) -> list[tuple[str, str]]:
        return [*headers, ("content-encoding", "gzip")] if self._zip is not None else headers

    async def _head(self, status: int, headers: list[tuple[str, str]]) -> None:
        lines = [f"HTTP/1.1 {status} {_reason(status)}"]
        lines += [f"{name}: {value}" for name, value in headers]
        await self._raw(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))
        if self._cut_at is not None and self._cut_at[0] == 0:
            await self.cut(reset=self._cut_at[1])

    async def _body(self, data: bytes) -> None:
        room = len(data) if self._cut_at is None else self._cut_at[0] - self._sent
        step = self._split or max(len(data), 1)
        kept = data[:room]
        for at in range(0, len(kept), step):
            piece = kept[at : at + step]
            self._sent += len(piece)
            if self._chunked:
                piece = b"%x\r\n%s\r\n" % (len(piece), piece)
            await self._raw(piece)
        if self._cut_at is not None and self._sent >= self._cut_at[0]:
            await self.cut(reset=self._cut_at[1])

    async def _raw(self, data: bytes) -> None:
        if self._writer.is_closing():
            raise Closed
        try:
            self._writer.write(data)
            await self._writer.drain()
        except ConnectionError as error:
            raise Closed from error
        if self._split:
            await asyncio.sleep(0)


def _reason(status: int) -> str:
    try:
        return REASONS.get(status) or HTTPStatus(status).phrase
    except ValueError:
        return "Status"
