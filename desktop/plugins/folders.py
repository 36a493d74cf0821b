"""Folders of plugins on the disk: copied in whole or not at all, checked on the way, swept away.

A copy is `PROGRAMS/ID/GENERATION`. What makes it count is a note in the log that names its
generation, so whatever a kill leaves here is nothing, and is swept. For threads that may wait.
"""

import os
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from desktop.core.errors import PluginError
from desktop.paths import sync_folder
from desktop.plugins.manifest import FILE, MOST_BYTES, BadManifest, Manifest, manifest_of

MOST_FILES = 2_000
MOST_TOTAL = 64 * 1024 * 1024
DEEPEST = 16
NEW = ".new"
_PIECE = 1024 * 1024
# Not every system has each of them.
_FLAGS = [getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY")]
_OPEN = os.O_RDONLY | sum(_FLAGS)


Check = Callable[[], None]


@dataclass(slots=True)
class Copied:
    files: int = 0
    size: int = 0


def read_manifest(folder: Path, *, host_version: str) -> Manifest:
    """Raises PluginError."""
    try:
        with (folder / FILE).open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        words = f"There is no {FILE} in this folder that can be read, so it is no plugin."
        raise PluginError(words, detail=f"{folder}: {error}") from error
    return manifest_of(data, host_version=host_version)


def shipped(folder: Path) -> list[Path]:
    """The folders of plugins below a folder."""
    return sorted(path.parent for path in folder.glob(f"*/{FILE}"))


def read_named(folder: Path, id_: str, *, host_version: str) -> Manifest:
    """Of a plugin that is to have this id. Raises PluginError."""
    manifest = read_manifest(folder, host_version=host_version)
    if manifest.id != id_:
        raise BadManifest(f"id is not {id_}")
    return manifest


def put_aside(source: Path, programs: Path, *, check: Check = lambda: None) -> Copied:
    """Copies a folder to `PROGRAMS/.new`, in the place of what was there. Raises PluginError, or
    what `check` raises, which is called all the while; then there is nothing."""
    target = programs / NEW
    try:
        if programs.resolve().is_relative_to(source.resolve()):
            raise PluginError("This folder holds what Nacre itself keeps, so it is no plugin.")
        programs.mkdir(mode=0o700, parents=True, exist_ok=True)
        remove(target)
        return _Copying(source.resolve(strict=True), target, check).run()
    except OSError as error:
        remove(target)
        raise PluginError(f"The folder could not be copied: {error}.") from error
    except BaseException:
        remove(target)
        raise


def take_in(programs: Path, id_: str, generation: int) -> Path:
    """What was put aside gets its place. Raises PluginError."""
    place = placed(programs, id_, generation)
    try:
        place.parent.mkdir(mode=0o700, exist_ok=True)
        remove(place)
        (programs / NEW).rename(place)
        sync_folder(place.parent)
        sync_folder(programs)
    except OSError as error:
        raise PluginError(f"It could not be kept: {error}.") from error
    return place


def placed(programs: Path, id_: str, generation: int) -> Path:
    return programs / id_ / str(generation)


def sweep(programs: Path, generations: Mapping[str, int]) -> None:
    """Takes away all but the generation of each id that counts. A folder that is a link is not
    Nacre's own and stays as it is."""
    if programs.is_symlink():
        return
    with suppress(OSError):
        for one in list(programs.iterdir()):
            generation = generations.get(one.name)
            if generation is None:
                remove(one)
                continue
            for copy in list(one.iterdir()):
                if copy.name != str(generation):
                    remove(copy)


def remove(place: Path) -> None:
    """Whatever it is; a link goes alone. What can't be removed stays, and is swept another time."""
    with suppress(OSError):
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place, ignore_errors=True)
        else:
            place.unlink(missing_ok=True)


@dataclass(slots=True)
class _Copying:
    """One copy: every byte is counted as it is copied, whatever the source said of its size."""

    source: Path
    target: Path
    check: Check
    copied: Copied = field(default_factory=Copied)
    things: int = 0

    def run(self) -> Copied:
        self._folder(self.source, self.target, 0)
        return self.copied

    def _folder(self, source: Path, target: Path, depth: int) -> None:
        if depth > DEEPEST:
            raise PluginError(f"The folder is nested more than {DEEPEST} deep.")
        target.mkdir(mode=0o700)
        for entry in self._entries(source):
            place, name = source / entry.name, target / entry.name
            if entry.is_symlink():
                self._file(self._inside(place), name)
            elif entry.is_dir(follow_symlinks=False):
                self._folder(place, name, depth + 1)
            else:
                self._file(place, name)
        sync_folder(target)

    def _entries(self, folder: Path) -> Iterator["os.DirEntry[str]"]:
        with os.scandir(folder) as found:
            for entry in found:
                self.check()
                self.things += 1
                if self.things > MOST_FILES:
                    raise PluginError(f"The folder holds more than {MOST_FILES:,} files.")
                yield entry

    def _inside(self, link: Path) -> Path:
        """The file of the folder that a link leads to."""
        name = link.relative_to(self.source)
        try:
            real = link.resolve(strict=True)
        except (OSError, RuntimeError) as error:
            raise PluginError(f"The link {name} leads nowhere.", detail=str(error)) from error
        if not real.is_relative_to(self.source):
            raise PluginError(f"The link {name} leads out of the folder.")
        if not real.is_file():
            raise PluginError(f"The link {name} does not lead to a file.")
        return real

    def _file(self, source: Path, target: Path) -> None:
        handle = os.open(source, _OPEN)
        with os.fdopen(handle, "rb") as file:
            found = os.fstat(handle)
            if not stat.S_ISREG(found.st_mode):
                raise PluginError(f"{source.relative_to(self.source)} is no file and no folder.")
            with target.open("xb") as copy:
                while piece := file.read(_PIECE):
                    self.check()
                    self.copied.size += len(piece)
                    if self.copied.size > MOST_TOTAL:
                        raise PluginError(
                            f"The folder holds more than {MOST_TOTAL // 1024 // 1024} MB."
                        )
                    copy.write(piece)
                copy.flush()
                os.fsync(copy.fileno())
        target.chmod(0o700 if found.st_mode & stat.S_IXUSR else 0o600)
        self.copied.files += 1
