"""The one name of a folder, however it was written (SPEC P02).

It is the folder's real path, spelled as the file system's own listings spell it. Whether two
spellings are one folder is asked of the file system and never guessed from the system's name: a
volume that ignores case may be mounted anywhere.
"""

import unicodedata
from collections.abc import Callable, Collection
from pathlib import Path, PurePath
from typing import Literal, TypeVar

from desktop.core.errors import UnknownFolder
from desktop.store.codec import clean

P = TypeVar("P", bound=PurePath)

_LONG, _LONG_SHARE = "\\\\?\\", "\\\\?\\UNC\\"


def folder_name(directory: Path, *, must_exist: bool = True) -> Path:
    """The folder's one name; raises UnknownFolder.

    A folder that is gone keeps its name where `must_exist` is False; the part of it that is gone
    stays as it was written. A name that is no Unicode text can't be kept, and a mended one would be
    another folder's: it is refused on the spot (F-S07).
    """
    try:
        real = plain(directory.resolve(strict=must_exist))
        is_folder = real.is_dir() or not (must_exist or real.exists())
    except (OSError, ValueError, RuntimeError) as error:
        raise UnknownFolder(
            f"There is no folder {clean(str(directory))} that Nacre may look into.",
            way_out="Choose another folder.",
            detail=f"{type(error).__name__}: {clean(str(error))}",
        ) from error
    if not is_folder:
        raise UnknownFolder(f"{clean(str(real))} is not a folder.", way_out="Choose a folder.")
    if clean(str(real)) != str(real):
        raise UnknownFolder(
            f"The name of {clean(str(real))} has characters that Nacre can't keep.",
            way_out="Rename the folder or choose another one.",
        )
    return spelled(real, names=_names, is_same=_is_same)


def folder_kind(real: Path) -> Literal["git", "directory"]:
    """A project's kind by what its folder holds; raises UnknownFolder where it can't be seen."""
    try:
        return "git" if (real / ".git").exists() else "directory"
    except OSError as error:
        raise UnknownFolder(
            f"There is no folder {real} that Nacre may look into.",
            way_out="Choose another folder.",
            detail=f"{type(error).__name__}: {clean(str(error))}",
        ) from error


def display_name(directory: str) -> str:
    """What a folder is called until the person says otherwise."""
    return Path(directory).name or directory


def plain(path: P) -> P:
    """A full path without the ways to write its root that mean nothing.

    Of Windows: the prefix for long paths, the case of a drive's letter and of a share. Of POSIX:
    a second slash at the front.
    """
    text = str(path)
    if text.upper().startswith(_LONG_SHARE):
        path = type(path)(f"\\\\{text[len(_LONG_SHARE) :]}")
    elif text.startswith(_LONG):
        path = type(path)(text[len(_LONG) :])
    anchor = path.anchor
    if anchor == "//":
        root = "/"
    elif len(path.drive) == 2:
        root = anchor.upper()
    else:
        root = anchor.lower()
    return type(path)(root, *path.parts[1:])


def spelled(
    path: P, *, names: Callable[[P], Collection[str]], is_same: Callable[[P, P], bool]
) -> P:
    """The path with each of its names as its folder lists it; what is not there stays as it is.

    `names` lists a folder (nothing where it may not be listed), `is_same` says whether two paths
    lead to one thing that is there.
    """
    found = type(path)(path.anchor)
    for name in path.parts[1:]:
        found /= _listed(found, name, names=names, is_same=is_same)
    return found


def _listed(
    folder: P, name: str, *, names: Callable[[P], Collection[str]], is_same: Callable[[P, P], bool]
) -> str:
    others = {_other_case(name)} | {unicodedata.normalize(form, name) for form in ("NFC", "NFD")}
    if not any(is_same(folder / name, folder / other) for other in others - {name}):
        return name  # spellings are told apart here, so this is the only one
    listed = names(folder)
    if name in listed:
        return name
    alike = (one for one in listed if _folded(one) == _folded(name))
    return next((one for one in alike if is_same(folder / name, folder / one)), name)


def _other_case(name: str) -> str:
    """The name with one letter in its other case: one that all agree on, where there is one."""
    letters = [at for at, one in enumerate(name) if one.swapcase() != one]
    for at in sorted(letters, key=lambda at: not name[at].isascii()):
        other = name[:at] + name[at].swapcase() + name[at + 1 :]
        if _folded(other) == _folded(name):
            return other
    return name


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def _names(folder: Path) -> Collection[str]:
    try:
        return {one.name for one in folder.iterdir()}
    except OSError:
        return ()


def _is_same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except (OSError, ValueError):
        return False
