"""Server-sent events from bytes, however the network cut them.

Lines end at LF, CR LF or CR and nowhere else: the other separators that Unicode knows occur inside
answers. Comments and unknown fields are skipped.
"""

import re
from dataclasses import dataclass

_LINE_END = re.compile(rb"\r\n|\n|\r")
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event: its name ('' when it has none) and its data lines joined."""

    name: str
    data: str


class EventDecoder:
    """Takes bytes as they come and gives the events that are whole."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._after_cr = False
        self._begun = False
        self._name = ""
        self._data: list[str] = []

    def feed(self, piece: bytes) -> list[ServerEvent]:
        """The events that this piece completes."""
        if self._after_cr and piece:
            self._after_cr = False
            piece = piece.removeprefix(b"\n")
        if not piece:
            return []
        self._after_cr = piece.endswith(b"\r")
        if b"\n" not in piece and b"\r" not in piece:
            self._parts.append(piece)
            return []
        lines = _LINE_END.split(b"".join((*self._parts, piece)))
        rest = lines.pop()
        self._parts = [rest] if rest else []
        return [event for line in lines if (event := self._line(line)) is not None]

    def finish(self) -> list[ServerEvent]:
        """The last event, where a server closed without the empty line after it."""
        rest, self._parts = b"".join(self._parts), []
        events = [event for line in (rest, b"") if (event := self._line(line)) is not None]
        return events[:1]

    def _line(self, line: bytes) -> ServerEvent | None:
        if not self._begun:
            self._begun = True
            line = line.removeprefix(_BOM)
        if not line:
            return self._dispatch()
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            self._data.append(value.decode("utf-8", "replace"))
        elif field == b"event":
            self._name = value.decode("utf-8", "replace")
        return None

    def _dispatch(self) -> ServerEvent | None:
        name, data = self._name, self._data
        self._name, self._data = "", []
        if not name and not data:
            return None
        return ServerEvent(name, "\n".join(data))
