"""The output of a command: constant memory however much it prints, and text without litter.

Raw bytes are kept as a head, a tail and (once they do not fit) a spool file; only what will be
shown is ever decoded. Colours, titles, links and overwritten lines are resolved on whole pieces
(`core.terminal`), so it makes no difference where a read happened to cut them (FIELD F-T09).
"""

import re
import shutil
import threading
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from desktop.core.printed import Printed, Span
from desktop.core.terminal import printed

_TAIL_FACTOR = 4  # raw bytes kept for each byte of tail shown: progress bars shrink when resolved

_LINE_END = re.compile(rb"[\r\n]+")


def plain(data: bytes) -> str:
    """The text that stands on the screen once these bytes are printed, without any sequence.

    Invalid UTF-8 becomes U+FFFD, a NUL a visible sign; a carriage return overwrites its line.
    """
    return printed(data).text


@dataclass(frozen=True, slots=True)
class Kept:
    """What is left of an output: text for the model, and where all of it is if that is less.

    `colours` are for the person: what of the text is not plain.
    """

    text: str
    size: int
    full: Path | None
    colours: tuple[Span, ...] = ()


class Drain:
    """Takes the bytes of one command, from any thread; after `close` it takes no more.

    Up to `cap` bytes stay in memory; from then on everything goes to `spool` too, up to
    `spool_cap` bytes; what comes after is counted only. A disk with less than `least_free` bytes
    free gets no new spool, and none takes more than what is above that (SPEC U08).
    """

    def __init__(self, spool: Path, *, cap: int, spool_cap: int, least_free: int = 0) -> None:
        self._spool = spool
        self._cap = cap
        self._spool_cap = spool_cap
        self._least_free = least_free
        self._is_refused = False
        self._head = bytearray()
        self._tail = bytearray()
        self._file: BinaryIO | None = None
        self._spooled = 0
        self._spool_failed = False
        self._lines = 0
        self._closed = False
        self._lock = threading.Lock()
        self.size = 0

    def feed(self, chunk: bytes) -> None:
        with self._lock:
            if self._closed:
                return
            self.size += len(chunk)
            room = self._cap - len(self._head)
            self._head += chunk[: max(0, room)]
            rest = chunk[max(0, room) :]
            if rest:
                self._keep_tail(rest)
                self._write(rest)

    def close(self, *, limit: int) -> Kept:
        """Ends it. `text` has at most about `limit` bytes; the spool stays if that is less."""
        with self._lock:
            self._closed = True
            self._close_spool()
            head, tail = bytes(self._head), bytes(self._tail[-_TAIL_FACTOR * self._cap :])
            skipped = self.size - len(head) - len(tail)
            if not skipped:
                shown = _cut_middle(printed(head + tail), limit)
            else:
                ends = printed(head), printed(from_line_start(tail))
                lines = self._lines + head.count(b"\n")
                shown = _joined(*ends, limit, lines=lines, size=self.size)
            kept_all = not skipped and self.size <= self._cap
            full = None if kept_all else self._kept_spool()
            return Kept(shown.text, self.size, full, shown.spans)

    def discard(self) -> None:
        """Takes the spool file away."""
        with self._lock:
            self._closed = True
            self._close_spool()
            self._spool.unlink(missing_ok=True)

    @property
    def spool_note(self) -> str:
        """A sentence when the file does not hold all of it; empty otherwise."""
        if self._is_refused:
            return (
                f"Less than {readable(self._least_free)} are free on the disk, so the middle of"
                " the output was not kept."
            )
        if self._spool_failed:
            return "The disk could not take all of the output."
        if self._spooled and self._spooled < self.size:
            return f"The kept file holds the first {readable(self._spooled)} only."
        return ""

    def _keep_tail(self, chunk: bytes) -> None:
        self._lines += chunk.count(b"\n")
        self._tail += chunk
        if len(self._tail) > 2 * _TAIL_FACTOR * self._cap:
            del self._tail[: -_TAIL_FACTOR * self._cap]

    def _write(self, chunk: bytes) -> None:
        if self._spool_failed or self._is_refused:
            return
        try:
            if self._file is None:
                self._spool.parent.mkdir(parents=True, exist_ok=True)
                room = shutil.disk_usage(self._spool.parent).free - self._least_free
                if room < 0:
                    self._is_refused = True
                    return
                self._spool_cap = min(self._spool_cap, room)
                self._file = self._spool.open("xb", buffering=0)
                self._put(bytes(self._head))
            self._put(chunk)
        except OSError:
            self._spool_failed = True

    def _put(self, data: bytes) -> None:
        room = self._spool_cap - self._spooled
        if room <= 0 or self._file is None:
            return
        view = memoryview(data)[:room]
        while view:
            written = self._file.write(view) or 0
            self._spooled += written
            view = view[written:]

    def _close_spool(self) -> None:
        if self._file is None:
            return
        try:
            self._file.close()
        except OSError:
            self._spool_failed = True
        self._file = None

    def _kept_spool(self) -> Path | None:
        return self._spool if self._spooled else None


def cut_middle(text: str, limit: int) -> str:
    """Head and tail of a text with a marked middle, at most about `limit` UTF-8 bytes."""
    return _cut_middle(Printed(text), limit).text


def _cut_middle(whole: Printed, limit: int) -> Printed:
    text = whole.text
    if len(text) <= limit and len(text.encode("utf-8", "replace")) <= limit:
        return whole
    size = len(text.encode("utf-8", "replace"))
    return _joined(whole, whole, limit, lines=text.count("\n"), size=size)


def _joined(head: Printed, tail: Printed, limit: int, *, lines: int, size: int) -> Printed:
    """The start of `head`, a mark, the end of `tail`; `lines` and `size` are those of the whole."""
    first = head.head(len(_start(head.text, limit // 2)))
    last = tail.tail(len(_end(tail.text, limit // 2)))
    lines -= first.text.count("\n") + last.text.count("\n")
    size -= sum(len(one.text.encode("utf-8", "replace")) for one in (first, last))
    counted = f"{lines:,} {'line' if lines == 1 else 'lines'}, " if lines > 0 else ""
    between = "" if first.text.endswith("\n") or not first.text else "\n"
    start = f"{first.text}{between}[… {counted}{readable(max(0, size))} left out …]\n"
    return Printed(start + last.text, first.spans + last.after(start))


def _start(text: str, limit: int) -> str:
    piece = text.encode("utf-8", "replace")[:limit].decode("utf-8", "ignore")
    line_end = piece.rfind("\n") + 1
    if line_end > len(piece) // 2:
        return piece[:line_end]
    end = len(piece)
    while 0 < end < len(text) and _joins(text, end):
        end -= 1
    return text[:end]


def _end(text: str, limit: int) -> str:
    piece = text.encode("utf-8", "replace")[-limit:].decode("utf-8", "ignore")
    line_start = piece.find("\n") + 1
    if 0 < line_start < len(piece) // 2:
        return piece[line_start:]
    start = len(text) - len(piece)
    while 0 < start < len(text) and _joins(text, start):
        start += 1
    return text[start:]


def _joins(text: str, at: int) -> bool:
    """Whether the character at this place belongs to the one before (accents, joined emoji)."""
    char = text[at]
    return (
        unicodedata.combining(char) != 0
        or char in "\u200d\ufe0e\ufe0f"
        or "\U0001f3fb" <= char <= "\U0001f3ff"
        or text[at - 1] == "\u200d"
    )


def from_line_start(data: bytes) -> bytes:
    """Without what was cut off at the front: the rest of a line, or of one character."""
    line_end = _LINE_END.search(data)
    if line_end is not None and line_end.end() < len(data):
        return data[line_end.end() :]
    start = 0
    while start < min(4, len(data)) and 0x80 <= data[start] < 0xC0:
        start += 1
    return data[start:]


def readable(size: int) -> str:
    """A number of bytes in the words a person uses: `512 bytes`, `3.1 MB`."""
    if size < 1000:
        return f"{size} {'byte' if size == 1 else 'bytes'}"
    value = float(size)
    for unit in ("KB", "MB", "GB"):
        value /= 1000
        if value < 999.95:
            return f"{value:,.1f} {unit}"
    return f"{value / 1000:,.1f} TB"
