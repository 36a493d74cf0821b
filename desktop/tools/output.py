"""The output of a command: constant memory however much it prints, and text without litter.

Raw bytes are kept as a head, a tail and (once they do not fit) a spool file; only what will be
shown is ever decoded. Colours, titles, links and overwritten lines are resolved on whole pieces,
so it makes no difference where a read happened to cut them (FIELD F-R11, F-T09).
"""

import re
import shutil
import threading
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

LIVE_BYTES = 4096
LIVE_TOTAL = 200_000
UNFINISHED_AFTER = 1.0
_TAIL_FACTOR = 4  # raw bytes kept for each byte of tail shown: progress bars shrink when resolved

_ERASE = "\0"  # "erase to the end of the line" within this module; real NULs are made visible first
_SCREEN_LEFT_OUT = "\n[full-screen output left out]\n"
_RAW_CSI = "\udc9b"  # the byte 0x9B, no UTF-8, which a terminal takes for ESC [

_ALTERNATE = re.compile(r"\x1b\[\?(?:1049|1047|47)h.*?(?:\x1b\[\?(?:1049|1047|47)l|\Z)", re.DOTALL)
_LINK = re.compile(
    r"\x1b\]8;[^;\x07\x1b]*;([^\x07\x1b]+)(?:\x07|\x1b\\)"
    r"(.{0,2000}?)\x1b\]8;[^;\x07\x1b]*;(?:\x07|\x1b\\)",
    re.DOTALL,
)
_STRING = re.compile(
    r"(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c|(?=[\x1b\n])|\Z)"
)
_CSI = re.compile(rf"(?:\x1b\[|\x9b|{_RAW_CSI})([0-?]*)[ -/]*([@-~]|\Z|(?=[^ -~]))")
_ESCAPE = re.compile(r"\x1b(?:[ -/]+[0-~]?|[0-~])?")
_CONTROL = re.compile(r"[\x01-\x07\x0b-\x1f\x7f-\x9f]")
_BEGINS = re.compile(rf"[\x1b\x80-\x9f{_RAW_CSI}]")
_MOVES = re.compile(r"[\r\b\0]")
_LINE_END = re.compile(rb"[\r\n]+")
_SURROGATE = re.compile("[\ud800-\udfff]")


def plain(data: bytes) -> str:
    """The text that stands on the screen once these bytes are printed, without any sequence.

    Invalid UTF-8 becomes U+FFFD, a NUL a visible sign; a carriage return overwrites its line.
    """
    text = data.decode("utf-8", "surrogateescape").replace("\0", "␀")
    text = text.replace("\r\n", "\n")
    if _BEGINS.search(text):
        text = _without_sequences(text)
    if _MOVES.search(text):
        text = "\n".join(_overwritten(line) for line in text.split("\n"))
    text = _CONTROL.sub(_visible, text)
    return _SURROGATE.sub("\ufffd", text)


def _without_sequences(text: str) -> str:
    text = _ALTERNATE.sub(_SCREEN_LEFT_OUT, text)
    text = _LINK.sub(_with_target, text)
    text = _STRING.sub("", text)
    text = _CSI.sub(_moved, text)
    return _ESCAPE.sub("", text)


def _with_target(match: re.Match[str]) -> str:
    target, label = match.group(1), match.group(2)
    return label if label == target else f"{label} ({target})"


def _moved(match: re.Match[str]) -> str:
    """What is left of a CSI sequence: the line's rest erased, a new line, or nothing."""
    match match.group(2), match.group(1):
        case "K", "" | "0":
            return _ERASE
        case "K", "2":
            return f"\r{_ERASE}"
        case (("H" | "f" | "E"), _):
            return "\n"
        case "G", "" | "1":
            return "\r"
        case _:
            return ""


def _overwritten(line: str) -> str:
    if not _MOVES.search(line):
        return line
    shown = ""
    # What was overwritten a thousand times over has nothing left to show.
    for piece in line.split("\r")[-1000:]:
        shown = _laid_over(shown, piece)
    return shown


def _laid_over(shown: str, piece: str) -> str:
    if "\b" not in piece:
        first, *rest = piece.split(_ERASE)
        if not rest:
            return first + shown[len(first) :]
        return first + "".join(rest)
    cells, column = list(shown), 0
    for char in piece:
        if char == "\b":
            column = max(0, column - 1)
        elif char == _ERASE:
            del cells[column:]
        else:
            cells[column : column + 1] = [char]
            column += 1
    return "".join(cells)


def _visible(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code == 0x07 or code >= 0x80:
        return ""
    return "␡" if code == 0x7F else chr(0x2400 + code)


@dataclass(frozen=True, slots=True)
class Kept:
    """What is left of an output: text for the model, and where all of it is if that is less."""

    text: str
    size: int
    full: Path | None


class Live:
    """What a person sees while a command runs: pieces of text, each to be added to the last.

    Whole lines, resolved; a line that is not finished within a second is shown as it stands. Of a
    flood the newest few KB, and after LIVE_TOTAL characters only a count now and then.
    """

    def __init__(self) -> None:
        self._pending = bytearray()
        self._lost = False
        self._size = 0
        self._shown = 0
        self._last = float("-inf")
        self._lock = threading.Lock()

    def feed(self, chunk: bytes) -> None:
        with self._lock:
            self._size += len(chunk)
            self._lost = self._lost or len(self._pending) + len(chunk) > LIVE_BYTES
            self._pending += chunk[-LIVE_BYTES:]
            del self._pending[:-LIVE_BYTES]

    def take(self, now: float, *, final: bool = False) -> str:
        """What has come since the last call; `now` is in seconds of any clock that never steps."""
        with self._lock:
            late = now - self._last >= UNFINISHED_AFTER
            if self._shown > LIVE_TOTAL:
                return self._count(now) if late or final else ""
            end = len(self._pending) if final else self._pending.rfind(b"\n") + 1
            unfinished = not end and late and bool(self._pending)
            if unfinished:
                end = _whole_end(self._pending)
            ready = bytes(self._pending[:end])
            if not ready:
                return ""
            del self._pending[:end]
            lost, self._lost = self._lost, False
            self._last = now
            text = plain(_from_line_start(ready) if lost else ready)
            mark, end_of_line = "[…]\n" if lost else "", "\n" if unfinished else ""
            text = f"{mark}{text}{end_of_line}"
            self._shown += len(text)
            return text

    def _count(self, now: float) -> str:
        self._last = now
        return f"[… {readable(self._size)} so far …]\n"


def _whole_end(data: bytearray) -> int:
    """Where the last whole character or sequence ends."""
    escape = data.rfind(b"\x1b", max(0, len(data) - 64))
    if escape >= 0 and not re.search(rb"[@-~]", data[escape + 2 :]):
        return escape
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte >= 0xC0:
            return len(data) - back if back < _length_of(byte) else len(data)
        if byte < 0x80:
            break
    return len(data)


def _length_of(first: int) -> int:
    """Bytes of a character in UTF-8, by its first one."""
    return 2 if first < 0xE0 else 3 if first < 0xF0 else 4


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
                text = cut_middle(plain(head + tail), limit)
            else:
                ends = plain(head), plain(_from_line_start(tail))
                text = _joined(*ends, limit, lines=self._lines + head.count(b"\n"), size=self.size)
            kept_all = not skipped and self.size <= self._cap
            return Kept(text, self.size, None if kept_all else self._kept_spool())

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
    if len(text) <= limit and len(text.encode("utf-8", "replace")) <= limit:
        return text
    size = len(text.encode("utf-8", "replace"))
    return _joined(text, text, limit, lines=text.count("\n"), size=size)


def _joined(head: str, tail: str, limit: int, *, lines: int, size: int) -> str:
    """The start of `head`, a mark, the end of `tail`; `lines` and `size` are those of the whole."""
    first, last = _start(head, limit // 2), _end(tail, limit // 2)
    lines -= first.count("\n") + last.count("\n")
    size -= len(first.encode("utf-8", "replace")) + len(last.encode("utf-8", "replace"))
    counted = f"{lines:,} {'line' if lines == 1 else 'lines'}, " if lines > 0 else ""
    between = "" if first.endswith("\n") or not first else "\n"
    return f"{first}{between}[… {counted}{readable(max(0, size))} left out …]\n{last}"


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


def _from_line_start(data: bytes) -> bytes:
    """Drops what was cut off at the front: the rest of a line, or of one character."""
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
