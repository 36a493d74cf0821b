"""Changing `mcp.json`: one entry at a time, whole or not at all (SPEC U33, FIELD F-S05).

The file belongs to the person and to other programs. So what is not understood stays, in its order
and indentation; a file that can't be read is never written; an entry that is no longer the one that
was seen is left alone. One file before the last change is kept beside it. All functions block.
"""

import hashlib
import json
import os
import re
import stat
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from filelock import FileLock, Timeout

from desktop.core.errors import ServersFileError
from desktop.core.tool_servers import ServerEntry
from desktop.paths import sync_folder
from desktop.tools.mcp import config
from desktop.tools.mcp.config import SERVERS, Config

LOCK_SECONDS = 10.0
PRIVATE = 0o600
_BOM = b"\xef\xbb\xbf"
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
_INDENT = re.compile(rb"\n([ \t]+)\"")

Objects = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Document:
    """The file as read: its bytes (None: not there), what it says, its entries as they stand."""

    data: bytes | None
    config: Config
    whole: Objects = field(default_factory=dict[str, Any])
    entries: Mapping[str, object] = field(default_factory=dict[str, object])

    @property
    def problem(self) -> str:
        """Why the file as a whole can't be used; '' where it can."""
        return "" if self.config.is_read else self.config.problems[0]


def mark_of(entry: object) -> str:
    """Tells an entry from any other; holds nothing of it."""
    return hashlib.sha256(json.dumps(entry).encode()).hexdigest()[:16]


def read(path: Path) -> Document:
    """Never raises: what is wrong with the file is its `problem`."""
    try:
        data = path.read_bytes() if path.stat().st_size <= config.MOST_BYTES else None
    except OSError:
        data = None
    if data is None:
        return Document(None, config.read(path))
    found = config.parse(data, path)
    if not found.is_read:
        return Document(data, found)
    try:
        whole = json.loads(data.decode("utf-8-sig"), object_pairs_hook=_once)
    except _Twice as error:
        problem = f"{path} names “{error}” twice in one place, so it is not written."
        return Document(data, Config(problems=(problem,), is_read=False))
    return Document(data, found, whole, whole.get(SERVERS, {}))


def check(entry: ServerEntry) -> None:
    """Raises ServersFileError, as all that follow, where an entry could not be used."""
    _with(entry, {})


def add(path: Path, entry: ServerEntry) -> None:
    def change(entries: Objects) -> Objects:
        _refuse_taken(entries, entry.name)
        return {**entries, entry.name: _with(entry, {})}

    _change(path, change)


def replace(path: Path, name: str, mark: str, entry: ServerEntry) -> None:
    """Keeps its place, and the keys that a person does not set here."""

    def change(entries: Objects) -> Objects:
        _refuse_other(entries, name, mark)
        if entry.name != name:
            _refuse_taken(entries, entry.name)
        fresh = _with(entry, entries[name])
        return {
            (entry.name if one == name else one): (fresh if one == name else value)
            for one, value in entries.items()
        }

    _change(path, change)


def turn(path: Path, name: str, mark: str, *, on: bool) -> None:
    def change(entries: Objects) -> Objects:
        _refuse_other(entries, name, mark)
        return {**entries, name: _turned(_object(entries[name]), on=on)}

    _change(path, change)


def remove(path: Path, name: str, mark: str) -> None:
    def change(entries: Objects) -> Objects:
        _refuse_other(entries, name, mark)
        return {one: value for one, value in entries.items() if one != name}

    _change(path, change)


def set_aside(path: Path) -> Path:
    """Gives a file that can't be read another name, which nothing has; a link keeps its target."""
    with _alone(path):
        if not read(path).problem:
            raise ServersFileError(f"{path} can be read again, so it was left where it is.")
        number = 1
        while True:
            aside = path.with_name(f"{path.stem}.broken{f'-{number}' if number > 1 else ''}.json")
            if not os.path.lexists(aside):
                path.rename(aside)
                return aside
            number += 1


# -- what an entry becomes ------------------------------------------------------------------------


def _with(entry: ServerEntry, before: object) -> Objects:
    """The entry as it stands in the file. Raises ServersFileError where it could not be used."""
    found = _object(before)
    local: Objects = {
        "command": entry.command,
        "args": list(entry.args),
        "env": dict(entry.env),
        "cwd": entry.cwd,
    }
    remote: Objects = {"url": entry.url, "headers": dict(entry.headers)}
    wanted, others = (local, remote) if entry.command else (remote, local)
    if bool(found.get("url")) == bool(entry.command):
        found.pop("type", None)  # it said which of the two it was
    for key in others:
        found.pop(key, None)
    for key, value in wanted.items():
        if value or key in found:
            found[key] = value
    found = _turned(found, on=entry.is_enabled)
    read_back = config.parse(json.dumps({SERVERS: {entry.name: found}}).encode(), Path("mcp.json"))
    if not read_back.entries:
        why = read_back.broken.get(entry.name, "it can't be read back")
        raise ServersFileError(f"The tool server can't be kept like this: {why}.")
    return found


def _turned(found: Objects, *, on: bool) -> Objects:
    """Whichever of the two keys that programs use is there is the one that is set."""
    if "enabled" in found:
        found["enabled"] = on
    if "disabled" in found or not (on or "enabled" in found):
        found["disabled"] = not on
    return found


def _object(value: object) -> Objects:
    return dict(cast("Objects", value)) if isinstance(value, dict) else {}


def _refuse_taken(entries: Objects, name: str) -> None:
    if name in entries:
        raise ServersFileError(
            f"There is a tool server named “{name}” already.", way_out="Choose another name."
        )


def _refuse_other(entries: Objects, name: str, mark: str) -> None:
    if name not in entries:
        raise ServersFileError(f"“{name}” was taken out of the file meanwhile.")
    if mark_of(entries[name]) != mark:
        raise ServersFileError(
            f"“{name}” was changed in the file meanwhile, so nothing was written.",
            way_out="Look at it as it is now, and change it again.",
        )


# -- how the file is written ----------------------------------------------------------------------


def _change(path: Path, change: Callable[[Objects], Objects]) -> None:
    with _alone(path):
        document = read(path)
        if document.problem:
            raise ServersFileError(document.problem, way_out="Mend it or set it aside first.")
        whole = {**document.whole, SERVERS: change(dict(document.entries))}
        _put(path, document.data, _serialised(whole, document.data or b"", path))


def _put(path: Path, before: bytes | None, after: bytes) -> None:
    """The new bytes in the place of the old ones, which are kept beside it; a link stays one."""
    target = Path(os.path.realpath(path))
    mode = PRIVATE
    if before is not None:
        mode = stat.S_IMODE(target.stat().st_mode)
        if not mode & 0o222:
            raise ServersFileError(
                f"{target} is read-only, so it was not changed.", way_out="Allow writing to it."
            )
    fresh = _beside(target, after, mode)
    try:
        if before is not None:
            kept = path.with_name(f"{path.name}.bak")
            _beside(kept, before, PRIVATE).replace(kept)
        if _bytes_of(target) != before:
            raise ServersFileError(
                f"{target} was changed by another program meanwhile, so nothing was written.",
                way_out="Try again.",
            )
        fresh.replace(target)
    finally:
        with suppress(OSError):
            fresh.unlink(missing_ok=True)
    sync_folder(target.parent)


def _beside(target: Path, data: bytes, mode: int) -> Path:
    """A new file beside another one, written through to the disk."""
    fresh = target.with_name(f"{target.name}.new")
    fresh.unlink(missing_ok=True)  # of a process that was killed here
    with os.fdopen(os.open(fresh, _NEW, PRIVATE), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    fresh.chmod(mode)
    return fresh


def _bytes_of(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _serialised(whole: Objects, before: bytes, path: Path) -> bytes:
    """In the manner of the file before: indentation, ends of lines, signs beyond ASCII, BOM."""
    indent = _INDENT.search(before)
    is_compact = bool(before) and b"\n" not in before.strip()
    try:
        text = json.dumps(
            whole,
            indent=None if is_compact else indent.group(1).decode() if indent else 2,
            ensure_ascii=before.isascii() and b"\\u" in before,
            allow_nan=False,
        )
        data = text.encode("utf-8")
    except UnicodeEncodeError:  # half a character, which only an escape can hold
        data = json.dumps(whole, indent=2).encode()
    except ValueError as error:
        raise ServersFileError(f"{path} holds a number that JSON has no form for.") from error
    if not before or before.endswith(b"\n"):
        data += b"\n"
    if b"\r\n" in before:
        data = data.replace(b"\n", b"\r\n")
    data = _BOM + data if before.startswith(_BOM) else data
    if len(data) > config.MOST_BYTES:
        raise ServersFileError(f"{path} would become too large to be read again.")
    return data


class _Twice(ValueError):
    """A name that stands twice in one object: of the two, a program would lose one."""


def _once(pairs: list[tuple[str, Any]]) -> Objects:
    found: Objects = {}
    for name, value in pairs:
        if name in found:
            raise _Twice(name[:100])
        found[name] = value
    return found


@contextmanager
def _alone(path: Path) -> Generator[None]:
    """No other process of Nacre writes meanwhile, nor another thread of this one."""
    try:
        lock = path.with_name(f"{path.name}.lock")
        with FileLock(lock, timeout=LOCK_SECONDS, mode=PRIVATE, thread_local=False):
            yield
    except Timeout as error:
        raise ServersFileError(
            f"{path} is being written by another Nacre, and does not come free.",
            way_out="Try again.",
        ) from error
    except OSError as error:
        raise _unwritable(path, error) from error


def _unwritable(path: Path, error: OSError) -> ServersFileError:
    return ServersFileError(
        f"{path} can't be written: {error.strerror or error}.",
        way_out="Look whether its folder can be written and the disk has room.",
    )
