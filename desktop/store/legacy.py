"""Reads the JSON records of a legacy program; says of each thing it can't take what and why.

Nothing here knows the database. A file that can't be read, or an entry with a wrong field, becomes
a `Remark` and never stops the others (DESIGN.md §9, SPEC P03, P13). Only regular files inside the
folder are opened: a link that leads out of it is refused.
"""

import json
import os
import stat
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

from desktop.core.errors import UnknownFolder
from desktop.store.codec import clean
from desktop.store.folders import display_name, folder_kind, folder_name
from desktop.store.legacy_fields import (
    Refused,
    Times,
    entry_name,
    fields_of,
    flag,
    identifier,
    one_of,
    optional_text,
    text,
    times,
)

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
                raise Refused("is not a list of entries")
        except Refused as error:
            self._skip(kind, path, str(error))
            return
        for number, entry in enumerate(cast("list[object]", found), start=1):
            try:
                yield read(fields_of(entry))
            except Refused as error:
                self._skip(kind, path, str(error), entry=entry_name(entry, id_field, number))

    def _agents(self) -> Iterator[LegacyAgent]:
        """One file, one agent; of two with the same id the first by path is taken."""
        taken: dict[str, str] = {}
        for file in self._walk(self._root / AGENTS_FOLDER, depth=0, seen=set()):
            path = file.relative_to(self._root).as_posix()
            entry = ""
            try:
                found = fields_of(_json_of(self._root, file))
                entry = entry_name(found, "id", 0)
                agent = self._agent(found)
                if agent.tab_id in taken:
                    raise Refused(f"has the same id as {taken[agent.tab_id]}")
            except Refused as error:
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
                raise Refused(f"lies more than {DEEPEST} folders deep")
            with os.scandir(folder) as listing:
                entries = sorted((one.name, one.is_dir()) for one in listing)
        except Refused as error:
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
            id=identifier(entry, "projectId"),
            place=place,
            kind=one_of(entry, "kind", _PROJECT_KINDS),
            display_name=text(entry, "displayName").strip() or place.name,
            times=times(entry),
        )

    def _workspace(self, entry: Mapping[str, Any]) -> LegacyWorkspace:
        place = self._place(entry, "cwd")
        return LegacyWorkspace(
            id=identifier(entry, "workspaceId"),
            project_id=identifier(entry, "projectId"),
            place=place,
            kind=one_of(entry, "kind", _WORKSPACE_KINDS),
            display_name=text(entry, "displayName").strip() or place.name,
            times=times(entry),
        )

    def _agent(self, entry: Mapping[str, Any]) -> LegacyAgent:
        legacy_id = identifier(entry, "id")
        reason = optional_text(entry, "attentionReason")
        return LegacyAgent(
            tab_id=tab_id_of(legacy_id),
            id=clean(legacy_id),
            place=self._place(entry, "cwd"),
            provider=text(entry, "provider"),
            title=optional_text(entry, "title"),
            model=optional_text(entry, "model"),
            status=optional_text(entry, "lastStatus"),
            attention=(reason or "finished") if flag(entry, "requiresAttention") else None,
            times=times(entry),
        )

    def _place(self, entry: Mapping[str, Any], field: str) -> Place:
        """The folder by the catalogue's rule; one that is gone keeps its name (SPEC P02)."""
        written = identifier(entry, field)
        if written not in self._places:
            self._places[written] = _place_of(written)
        found = self._places[written]
        if isinstance(found, str):
            raise Refused(f"{field}: {found}")
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
        raise Refused(f"can't be read: {reason}") from error
    if not real.is_relative_to(root):
        raise Refused("is a link that leads out of the folder")
    return real


def _json_of(root: Path, file: Path) -> object:
    real = _inside(root, file)
    try:
        found = real.stat()
        if not stat.S_ISREG(found.st_mode):
            raise Refused("is no regular file")
        if found.st_size > LARGEST:
            raise Refused(f"is larger than {LARGEST // 1024 // 1024} MB")
        content = real.read_bytes()
    except OSError as error:
        raise Refused(f"can't be read: {error.strerror}") from error
    try:
        return json.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise Refused(f"is not UTF-8 text (byte {error.start})") from error
    except json.JSONDecodeError as error:
        raise Refused(f"is not JSON: {error}") from error
    except (ValueError, RecursionError) as error:
        raise Refused("is not JSON that can be read: a number or a nesting is too large") from error
