"""What Nacre writes down about itself, and what it says when something unforeseen happens.

The log holds what the program did and where it failed, in words that the code itself chose
(`core/logged`): nothing of a conversation, a file or a server, and never a key. An unforeseen error
is logged and told as one sentence; the person never sees a traceback.
"""

import asyncio
import importlib.metadata
import json
import logging
import logging.handlers
import os
import platform
import re
import shutil
import sys
import threading
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import quote

from desktop.core.errors import NacreError
from desktop.core.logged import Word, told, trace_of
from desktop.paths import DataFolder

REMOVED = "[removed]"
UNFORESEEN = "Something in Nacre went wrong that it did not foresee."
LOG_BYTES = 1_000_000
LOG_FILES = 4
LINE_LIMIT = 20_000
OWN = "desktop"

Tell = Callable[[str, str], None]
"""Called with (sentence, detail), on whatever thread the error happened."""

LIBRARIES = (
    "anthropic",
    "httpx2",
    "sqlmodel",
    "SQLAlchemy",
    "alembic",
    "PySide6_Essentials",
    "shiboken6",
    "qasync",
    "keyring",
    "SecretStorage",
    "markdown-it-py",
    "Pygments",
    "platformdirs",
    "filelock",
    "pathspec",
)

_KEY_SHAPES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\b(?:sk|pk|rk)-[A-Za-z0-9_\-]{4,}"), REMOVED),
    (re.compile(r"(?i)\b(bearer|basic)(\s+)[A-Za-z0-9._~+/=\-]{4,}"), rf"\1\2{REMOVED}"),
    (
        re.compile(
            r"(?i)(x-api-key|api[_-]?key|authorization|auth[_-]?token|access[_-]?token"
            r"|refresh[_-]?token|password|passwd|secret)"
            r"([\"']?\]?\s*(?:[:=,]|=>)\s*(?:b?[\"'])?)"
            r"(?!(?:bearer|basic)\b|\[removed\])[^\s\"',;)}\]&]+"
        ),
        rf"\1\2{REMOVED}",
    ),
    (re.compile(r"(?i)\b([a-z][a-z0-9+.\-]*://)[^/\s@\"']+@"), rf"\1{REMOVED}@"),
)
# Libraries put the values they choked on into their messages; those are pieces of conversations.
_VALUE_SHAPES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"(?m)\[parameters: .*$"), f"[parameters: {REMOVED}]"),
    (re.compile(r"(?s)input_value=.*?, input_type="), f"input_value={REMOVED}, input_type="),
)


class Redaction:
    """Takes out of a text whatever is, or looks like, a secret.

    `forget` registers a secret of which no log line may hold a copy, in the spellings in which
    it could travel. Texts below four characters are not registered: they are no secrets, and
    taking them out would spoil every line.
    """

    __slots__ = ("_lock", "_spellings")

    def __init__(self) -> None:
        self._spellings: tuple[str, ...] = ()
        self._lock = threading.Lock()

    def forget(self, secret: str) -> None:
        if len(secret) < 4:
            return
        quoted = {quote(secret, safe=safe, errors="surrogatepass") for safe in ("", "/")}
        spellings = {secret, *quoted, json.dumps(secret)[1:-1], repr(secret)[1:-1]}
        with self._lock:
            # The longest first: a key that holds another one goes out whole.
            self._spellings = tuple(sorted({*self._spellings, *spellings}, key=len, reverse=True))

    def clean(self, text: str) -> str:
        for spelling in self._spellings:
            text = text.replace(spelling, REMOVED)
        for shape, instead in (*_KEY_SHAPES, *_VALUE_SHAPES):
            text = shape.sub(instead, text)
        return text

    def __repr__(self) -> str:
        return "Redaction()"


class LogFile:
    """The log of this process, in the folder `logs` of a data folder; `close` takes it off again.

    Nacre's own lines are kept from INFO on, those of libraries from WARNING on: below that,
    libraries write down requests and rows.
    """

    def __init__(self, folder: Path, redaction: Redaction) -> None:
        self.path = folder / "nacre.log"
        self._handler = _RotatingFile(self.path)
        self._handler.setFormatter(_PlainLines(folder.parent, redaction))
        self._root = logging.getLogger()
        self._own = logging.getLogger(OWN)
        self._levels = (self._root.level, self._own.level)
        self._root.setLevel(logging.WARNING)
        self._own.setLevel(logging.INFO)
        self._root.addHandler(self._handler)

    def close(self) -> None:
        self._root.removeHandler(self._handler)
        self._handler.close()
        root_level, own_level = self._levels
        self._root.setLevel(root_level)
        self._own.setLevel(own_level)


class _PlainLines(logging.Formatter):
    """Writes of a record what `told` lets pass. The sentences of the program's own modules are
    constants (a test reads the code), those of libraries are not: of theirs the place is written.
    The `Redaction` goes over the result all the same."""

    def __init__(self, root: Path, redaction: Redaction) -> None:
        super().__init__()
        self._root = root
        self._redaction = redaction

    def format(self, record: logging.LogRecord) -> str:
        when = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        thread = "".join(one if one.isprintable() else "?" for one in str(record.threadName))
        head = f"{when} {record.levelname} {record.process} [{thread}] {record.name}"
        error = record.exc_info[1] if record.exc_info else None
        trace = ("Traceback:", *trace_of(error)) if error is not None else ()
        text = "\n".join((f"{head}: {self._sentence(record)}", *(f"  {line}" for line in trace)))
        return self._redaction.clean(text)[:LINE_LIMIT]

    def _sentence(self, record: logging.LogRecord) -> str:
        if record.name != OWN and not record.name.startswith(f"{OWN}."):
            return f"{record.filename}:{record.lineno} in {record.funcName}"
        try:
            return str(record.msg) % self._values(record.args)
        except (TypeError, ValueError, KeyError):
            return str(record.msg)

    def _values(self, values: Any) -> Any:
        if isinstance(values, Mapping):
            return {name: told(value, root=self._root) for name, value in values.items()}
        return tuple(told(value, root=self._root) for value in values or ())


class _RotatingFile(logging.handlers.RotatingFileHandler):
    """A log that never gets in the way: a full disk, or a file that another process holds,
    costs lines and nothing else."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            path,
            maxBytes=LOG_BYTES,
            backupCount=LOG_FILES - 1,
            encoding="utf-8",
            errors="backslashreplace",
            delay=True,
        )

    def rotate(self, source: str, dest: str) -> None:
        try:
            super().rotate(source, dest)
        except OSError:
            return  # on Windows a second process keeps the file open; it grows a little longer

    def close(self) -> None:
        with suppress(OSError):  # what a full disk did not take is lost, and only that
            super().close()

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 (logging's name)
        """Nothing: logging would print a traceback to the person's screen."""


class Hooks:
    """Catches what nobody caught: logs it and tells the person one sentence.

    `install` puts the hooks of the interpreter and its threads in place, `watch` that of a loop,
    `remove` takes all of them out again.
    """

    def __init__(self, tell: Tell, redaction: Redaction) -> None:
        self._tell = tell
        self._redaction = redaction
        self._log = logging.getLogger("desktop.unforeseen")
        self._before: tuple[Any, Any, Any] | None = None
        self._loops: list[asyncio.AbstractEventLoop] = []

    def install(self) -> None:
        if self._before is not None:
            return
        self._before = (sys.excepthook, threading.excepthook, sys.unraisablehook)
        sys.excepthook = self._uncaught
        threading.excepthook = self._uncaught_in_thread
        sys.unraisablehook = self._unraisable

    def watch(self, loop: asyncio.AbstractEventLoop) -> None:
        loop.set_exception_handler(self._uncaught_in_loop)
        self._loops.append(loop)

    def remove(self) -> None:
        for loop in self._loops:
            loop.set_exception_handler(None)
        self._loops.clear()
        if self._before is None:
            return
        sys.excepthook, threading.excepthook, sys.unraisablehook = self._before
        self._before = None

    def report(self, error: BaseException, *, where: str) -> None:
        """Log `error` and tell it. Never raises: this is the last place that can catch it.

        `where` is a word of the program's own.
        """
        try:
            self._log.error("in %s", Word(where), exc_info=error)
            self._tell(*in_words(error, self._redaction))
        except Exception:
            self._log.exception("telling an error failed")

    def _uncaught(
        self,
        kind: type[BaseException],
        error: BaseException,
        trace: TracebackType | None,
    ) -> None:
        if issubclass(kind, KeyboardInterrupt):
            return
        self.report(error.with_traceback(trace), where="the program")

    def _uncaught_in_thread(self, args: threading.ExceptHookArgs) -> None:
        if args.exc_value is None or issubclass(args.exc_type, SystemExit):
            return
        name = args.thread.name if args.thread is not None else "a thread"
        self.report(args.exc_value, where=f"thread {name}")

    def _unraisable(self, args: "sys.UnraisableHookArgs") -> None:
        # An error in a destructor: worth a line, not worth the person's attention.
        self._log.error("while tidying up", exc_info=args.exc_value)

    def _uncaught_in_loop(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        del loop
        error = context.get("exception")
        if isinstance(error, BaseException):
            self.report(error, where="the loop")
            return
        about = context.get("task") or context.get("future") or context.get("handle")
        self._log.error("the loop complains of %s", about)


def in_words(error: BaseException, redaction: Redaction) -> tuple[str, str]:
    """(sentence, detail) for any error: its own words if it has some, else a plain general one.

    The detail is one technical line with the place in our code, not a traceback.
    """
    if isinstance(error, NacreError):
        return redaction.clean(str(error)), redaction.clean(error.detail)
    last_line = traceback.format_exception_only(error)[-1].strip()
    return UNFORESEEN, redaction.clean(f"{last_line}{_place(error)}")[:LINE_LIMIT]


def _place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return ""
    own = [frame for frame in frames if f"{os.sep}desktop{os.sep}" in frame.filename]
    frame = (own or frames)[-1]
    return f" ({Path(frame.filename).name}:{frame.lineno} in {frame.name})"


@dataclass(frozen=True, slots=True)
class Disk:
    """Free and total bytes of the disk that holds a folder."""

    free: int
    total: int


def environment_report(folder: DataFolder, *, sqlite: str) -> dict[str, object]:
    """What `nacre doctor` says about this machine and installation; JSON-ready, no secrets.

    Versions come from the packages' metadata: nothing is imported for it. The version of SQLite
    is handed in, because only the store knows the library.
    """
    disk = _disk(folder.root)
    return {
        "nacre": _version("nacre"),
        "python": platform.python_version(),
        "executable": sys.executable,
        "frozen": bool(getattr(sys, "frozen", False)),
        "sqlite": sqlite,
        "qt": _version("PySide6_Essentials") or _version("PySide6"),
        "libraries": {name: _version(name) for name in LIBRARIES},
        "platform": platform.platform(),
        "machine": platform.machine(),
        "desktop": _desktop(os.environ),
        "dataFolder": str(folder.root),
        "dataFolderExists": folder.root.is_dir(),
        "dataFolderWritable": os.access(folder.root, os.W_OK),
        "databaseBytes": _size(folder.database),
        "freeBytes": None if disk is None else disk.free,
        "totalBytes": None if disk is None else disk.total,
    }


def program_version() -> str:
    """The installed version; a bare checkout has none."""
    return _version("nacre") or "0 (not installed)"


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _desktop(environment: Mapping[str, str]) -> dict[str, str]:
    names = ("XDG_CURRENT_DESKTOP", "XDG_SESSION_TYPE", "QT_QPA_PLATFORM", "LANG")
    return {name: environment[name] for name in names if name in environment}


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None


def _disk(folder: Path) -> Disk | None:
    for place in (folder, *folder.parents):
        try:
            usage = shutil.disk_usage(place)
        except OSError:
            continue
        return Disk(usage.free, usage.total)
    return None
