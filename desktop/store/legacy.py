"""Reads the JSON records of a legacy program; says of each thing it can't take what and why.

Nothing here knows the database. A file that can't be read, or an entry with a wrong field, becomes
a `Remark` and never stops the others (DESIGN.md §9, SPEC P03, P13). Only regular files inside the
folder are opened: a link that leads out of it is refused.
"""

import json
import math
import os
import re
import stat
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

from desktop.core.errors import UnknownFolder
from desktop.store.codec import clean
from desktop.store.folders import display_name, folder_kind, folder_name

T = TypeVar("T")
RecordKind = Literal["projects", "workspaces", "agents"]

LARGEST = 16 * 1024 * 1024
DEEPEST = 8

# A legacy id that is no uuid becomes this one's child, so that a second import finds it again.
AGENTS = uuid.UUID("5d0a8f3e-6f0b-5c0e-9a51-3c1f0e2b7a94")

_PROJECT_KINDS = {"git": "git", "directory": "directory", "non_git": "directory"}
_WORKSPACE_KINDS = {
    "checkout": "checkout",
    "local_checkout": "checkout",
    "directory": "checkout",
    "worktree": "worktree",
}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST_MS = 253_402_300_799_999  # the end of the year 9999
# Fewer is a count of seconds: as milliseconds it would be before 1973.
_FIRST_MS = 100_000_000_000
_DIGITS = re.compile(r"[0-9]{9,18}")


@dataclass(frozen=True, slots=True)
class Remark:
    """Something the person is told about one entry (or, with an empty `entry`, a whole file).

    `path` is relative to the folder of the records, with forward slashes.
    """

    kind: RecordKind
    path: str
    entry: str
    reason: str


@dataclass(frozen=True, slots=True)
class Place:
    """A folder by its one name; `holds` is what a project there would be."""

    directory: str
    holds: Literal["git", "directory"]

    @property
    def name(self) -> str:
        return display_name(self.directory)


@dataclass(frozen=True, slots=True)
class Times:
    """ms UTC."""

    created_at: int
    updated_at: int
    archived_at: int | None


@dataclass(frozen=True, slots=True)
class LegacyProject:
    id: str
    place: Place
    kind: str
    display_name: str
    times: Times


@dataclass(frozen=True, slots=True)
class LegacyWorkspace:
    id: str
    project_id: str
    place: Place
    kind: str
    display_name: str
    times: Times


@dataclass(frozen=True, slots=True)
class LegacyAgent:
    """`status` is the legacy one, as it was; `tab_id` is uuid text."""

    tab_id: str
    id: str
    place: Place
    provider: str
    title: str
    model: str
    status: str
    attention: str | None
    times: Times


@dataclass(frozen=True, slots=True)
class LegacyFiles:
    """What a folder holds, and what of it can't be taken. No two agents have one `tab_id`."""

    projects: tuple[LegacyProject, ...]
    workspaces: tuple[LegacyWorkspace, ...]
    agents: tuple[LegacyAgent, ...]
    skips: tuple[Remark, ...]


class _Refused(Exception):
    """This file or entry can't be taken; the text says why."""


PROJECTS_FILE = "projects/projects.json"
WORKSPACES_FILE = "projects/workspaces.json"
AGENTS_FOLDER = "agents"


def read_files(folder: Path) -> LegacyFiles:
    """Everything below `folder`. Blocks; raises UnknownFolder where there are no records at all."""
    root = folder_name(folder)
    if not any(_is_there(root / one) for one in (PROJECTS_FILE, WORKSPACES_FILE, AGENTS_FOLDER)):
        raise UnknownFolder(
            f"{clean(str(folder))} holds no records: there is neither {PROJECTS_FILE} nor"
            f" {WORKSPACES_FILE} nor a folder {AGENTS_FOLDER}.",
            way_out="Give the folder that holds them.",
        )
    return _Reading(root).all()


def time_of(value: object) -> int:
    """ms UTC of an ISO 8601 text (without a zone: UTC) or a count of ms or s since 1970.

    Raises ValueError with words for the person.
    """
    if isinstance(value, str) and _DIGITS.fullmatch(value.strip()):
        value = int(value)
    if isinstance(value, str):
        found = _of_iso(value)
    elif isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value):
        found = int(value if abs(value) >= _FIRST_MS else value * 1000)
    else:
        raise ValueError("is no time")
    if not 0 <= found <= _LAST_MS:
        raise ValueError("is a time that can't be: before 1970 or after 9999")
    return found


def tab_id_of(legacy_id: str) -> str:
    """The id itself where it is a uuid, else a uuid that always comes out the same."""
    try:
        found = str(uuid.UUID(legacy_id))
    except ValueError:
        found = ""
    # `UUID` also takes braces and other forms; two of those must not become one conversation.
    return found if found == legacy_id.lower() else str(uuid.uuid5(AGENTS, clean(legacy_id)))


class _Reading:
    """One pass over the files; gathers the skips, and asks for each folder's name once."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._skips: list[Remark] = []
        self._places: dict[str, Place | str] = {}

    def all(self) -> LegacyFiles:
        projects = self._entries("projects", PROJECTS_FILE, "projectId", self._project)
        workspaces = self._entries("workspaces", WORKSPACES_FILE, "workspaceId", self._workspace)
        agents = self._agents()
        return LegacyFiles(tuple(projects), tuple(workspaces), tuple(agents), tuple(self._skips))

    def _skip(self, kind: RecordKind, path: str, reason: str, *, entry: str = "") -> None:
        self._skips.append(Remark(kind, clean(path), clean(entry), clean(reason)))

    def _entries(
        self, kind: RecordKind, path: str, id_field: str, read: Callable[[Mapping[str, Any]], T]
    ) -> Iterator[T]:
        """The entries of a list file that can be taken; a file that is not there has none."""
        if not _is_there(self._root / path):
            return
        try:
            found = _json_of(self._root, self._root / path)
            if not isinstance(found, list):
                raise _Refused("is not a list of entries")
        except _Refused as error:
            self._skip(kind, path, str(error))
            return
        for number, entry in enumerate(cast("list[object]", found), start=1):
            try:
                yield read(_object(entry))
            except _Refused as error:
                self._skip(kind, path, str(error), entry=_entry_name(entry, id_field, number))

    def _agents(self) -> Iterator[LegacyAgent]:
        """One file, one agent; of two with the same id the first by path is taken."""
        taken: dict[str, str] = {}
        for file in self._walk(self._root / AGENTS_FOLDER, depth=0, seen=set()):
            path = file.relative_to(self._root).as_posix()
            entry = ""
            try:
                found = _object(_json_of(self._root, file))
                entry = _entry_name(found, "id", 0)
                agent = self._agent(found)
                if agent.tab_id in taken:
                    raise _Refused(f"has the same id as {taken[agent.tab_id]}")
            except _Refused as error:
                self._skip("agents", path, str(error), entry=entry)
                continue
            taken[agent.tab_id] = path
            yield agent

    def _walk(self, folder: Path, *, depth: int, seen: set[Path]) -> Iterator[Path]:
        """The `.json` files below, by name; no folder twice, whatever links there are."""
        if not _is_there(folder):
            return
        try:
            real = _inside(self._root, folder)
            if real in seen:
                return
            seen.add(real)
            if depth > DEEPEST:
                raise _Refused(f"lies more than {DEEPEST} folders deep")
            with os.scandir(folder) as listing:
                entries = sorted((one.name, one.is_dir()) for one in listing)
        except _Refused as error:
            self._skip("agents", folder.relative_to(self._root).as_posix(), str(error))
            return
        except OSError as error:
            reason = f"can't be read: {error.strerror}"
            self._skip("agents", folder.relative_to(self._root).as_posix(), reason)
            return
        for name, is_folder in entries:
            if is_folder:
                yield from self._walk(folder / name, depth=depth + 1, seen=seen)
            elif name.endswith(".json"):
                yield folder / name

    def _project(self, entry: Mapping[str, Any]) -> LegacyProject:
        place = self._place(entry, "rootPath")
        return LegacyProject(
            id=_identifier(entry, "projectId"),
            place=place,
            kind=_one_of(entry, "kind", _PROJECT_KINDS),
            display_name=_text(entry, "displayName").strip() or place.name,
            times=_times(entry),
        )

    def _workspace(self, entry: Mapping[str, Any]) -> LegacyWorkspace:
        place = self._place(entry, "cwd")
        return LegacyWorkspace(
            id=_identifier(entry, "workspaceId"),
            project_id=_identifier(entry, "projectId"),
            place=place,
            kind=_one_of(entry, "kind", _WORKSPACE_KINDS),
            display_name=_text(entry, "displayName").strip() or place.name,
            times=_times(entry),
        )

    def _agent(self, entry: Mapping[str, Any]) -> LegacyAgent:
        legacy_id = _identifier(entry, "id")
        reason = _optional_text(entry, "attentionReason")
        return LegacyAgent(
            tab_id=tab_id_of(legacy_id),
            id=clean(legacy_id),
            place=self._place(entry, "cwd"),
            provider=_text(entry, "provider"),
            title=_optional_text(entry, "title"),
            model=_optional_text(entry, "model"),
            status=_optional_text(entry, "lastStatus"),
            attention=(reason or "finished") if _flag(entry, "requiresAttention") else None,
            times=_times(entry),
        )

    def _place(self, entry: Mapping[str, Any], field: str) -> Place:
        """The folder by the catalogue's rule; one that is gone keeps its name (SPEC P02)."""
        written = _identifier(entry, field)
        if written not in self._places:
            self._places[written] = _place_of(written)
        found = self._places[written]
        if isinstance(found, str):
            raise _Refused(f"{field}: {found}")
        return found


def _place_of(written: str) -> Place | str:
    """The place, or why there is none."""
    if not Path(written).is_absolute():
        return f"{written} is not the full path of a folder on this system"
    try:
        real = folder_name(Path(written), must_exist=False)
        return Place(str(real), folder_kind(real))
    except UnknownFolder as error:
        return error.sentence


def _is_there(path: Path) -> bool:
    """Whether the name is there, be it a broken link or behind a closed door."""
    try:
        path.lstat()
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return True


def _inside(root: Path, path: Path) -> Path:
    """The real path; refused where a link leads out of `root`."""
    try:
        real = path.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "a link that leads to itself"
        raise _Refused(f"can't be read: {reason}") from error
    if not real.is_relative_to(root):
        raise _Refused("is a link that leads out of the folder")
    return real


def _json_of(root: Path, file: Path) -> object:
    real = _inside(root, file)
    try:
        found = real.stat()
        if not stat.S_ISREG(found.st_mode):
            raise _Refused("is no regular file")
        if found.st_size > LARGEST:
            raise _Refused(f"is larger than {LARGEST // 1024 // 1024} MB")
        content = real.read_bytes()
    except OSError as error:
        raise _Refused(f"can't be read: {error.strerror}") from error
    try:
        return json.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise _Refused(f"is not UTF-8 text (byte {error.start})") from error
    except json.JSONDecodeError as error:
        raise _Refused(f"is not JSON: {error}") from error
    except (ValueError, RecursionError) as error:
        raise _Refused(
            "is not JSON that can be read: a number or a nesting is too large"
        ) from error


def _object(entry: object) -> Mapping[str, Any]:
    if not isinstance(entry, dict):
        raise _Refused("is not an object with fields")
    return cast("Mapping[str, Any]", entry)


def _entry_name(entry: object, id_field: str, number: int) -> str:
    """How the person finds the entry: its id, else its place in the list (from 1)."""
    found = cast("dict[str, object]", entry).get(id_field) if isinstance(entry, dict) else None
    if isinstance(found, str) and found:
        return found[:200]
    return f"entry {number}" if number else ""


def _text(entry: Mapping[str, Any], field: str) -> str:
    if entry.get(field) is None:
        raise _Refused(f"{field} is missing")
    return _optional_text(entry, field)


def _optional_text(entry: Mapping[str, Any], field: str) -> str:
    found = entry.get(field)
    if found is None:
        return ""
    if not isinstance(found, str):
        raise _Refused(f"{field} is not a text")
    return clean(found)


def _identifier(entry: Mapping[str, Any], field: str) -> str:
    """A text that says something, unmended: another id or path would be another thing's."""
    if not _text(entry, field).strip():
        raise _Refused(f"{field} is empty")
    return str(entry[field])


def _flag(entry: Mapping[str, Any], field: str) -> bool:
    found = entry.get(field)
    if found is not None and not isinstance(found, bool):
        raise _Refused(f"{field} is neither true nor false")
    return bool(found)


def _one_of(entry: Mapping[str, Any], field: str, meanings: Mapping[str, str]) -> str:
    found = _text(entry, field)
    if found not in meanings:
        raise _Refused(f"{field} is {found[:80]!r}, which has no meaning here")
    return meanings[found]


def _times(entry: Mapping[str, Any]) -> Times:
    return Times(
        created_at=_time(entry, "createdAt"),
        updated_at=_time(entry, "updatedAt"),
        archived_at=None if entry.get("archivedAt") is None else _time(entry, "archivedAt"),
    )


def _time(entry: Mapping[str, Any], field: str) -> int:
    if entry.get(field) is None:
        raise _Refused(f"{field} is missing")
    try:
        return time_of(entry[field])
    except ValueError as error:
        raise _Refused(f"{field} {error}") from error


def _of_iso(text: str) -> int:
    try:
        found = datetime.fromisoformat(text.strip())
        moment = found if found.tzinfo else found.replace(tzinfo=UTC)
        return (moment - _EPOCH) // timedelta(milliseconds=1)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"is {text[:80]!r}, which is no time") from error
