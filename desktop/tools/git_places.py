"""What of a repository must not be written by a command, since git runs it later, unconfined.

Hooks and configuration run programs of their choice the next time the person uses git. The rest of
a repository stays writable, or nothing could be committed. Its folder becomes a mount of its own,
so that it can't be moved away and be replaced by another one.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_MOST = 500
_GUARDED = ("hooks", "config", "config.worktree", "commondir", "gitdir")


@dataclass(frozen=True, slots=True)
class GitPlaces:
    """`absent` are folders that are not there and must stay as empty as that."""

    writable: tuple[Path, ...] = ()
    guarded: tuple[Path, ...] = ()
    absent: tuple[Path, ...] = ()


def git_places(workspace: Path) -> GitPlaces:
    """Of the repository whose working tree begins at this (real) folder, and its submodules.

    A linked working tree has its repository elsewhere: that is writable when the repository says
    so too, since anything can be written in the workspace. Others elsewhere stay read-only.
    """
    dot = workspace / ".git"
    try:
        if dot.is_symlink():
            return GitPlaces(guarded=_inside(Path(os.path.realpath(dot)), workspace))
        if dot.is_dir():
            return _of_repository(dot)
        if dot.is_file():
            return _of_link(dot, workspace)
    except OSError:
        pass
    return GitPlaces()


def _of_repository(git: Path) -> GitPlaces:
    guarded = [git / "worktrees"]
    absent: list[Path] = []
    for one in (git, *_submodules(git)):
        places = [one / name for name in _GUARDED]
        if any(place.is_symlink() for place in places):
            return GitPlaces(guarded=(git,))  # a link can't be kept from being replaced
        guarded += places
        if not (one / "hooks").exists():
            absent.append(one / "hooks")
    return GitPlaces((git,), _there(guarded), tuple(absent))


def _of_link(dot: Path, workspace: Path) -> GitPlaces:
    """`.git` is a file that says where the repository is."""
    own = _said(dot, "gitdir:", workspace)
    if own is None:
        return GitPlaces(guarded=(dot,))
    back, common = _said(own / "gitdir", "", own), _said(own / "commondir", "", own)
    belongs = (
        back == Path(os.path.realpath(dot))
        and common is not None
        and own.parent == common / "worktrees"
        and workspace not in own.parents
    )
    if not belongs or common is None:
        return GitPlaces(guarded=(dot,))
    of_all = _of_repository(common)
    return GitPlaces(
        writable=(*of_all.writable, own),
        guarded=(dot, *of_all.guarded, *_there(own / name for name in _GUARDED)),
        absent=of_all.absent,
    )


def _inside(place: Path, workspace: Path) -> tuple[Path, ...]:
    return (place,) if workspace in place.parents and place.exists() else ()


def _submodules(git: Path) -> list[Path]:
    """The folders of submodules' repositories, wherever they lie below `modules`."""
    found: list[Path] = []
    for count, (folder, names, files) in enumerate(os.walk(git / "modules")):
        if count > _MOST:
            break
        if "HEAD" in files and "objects" in names:
            found.append(Path(folder))
            names[:] = [name for name in names if name == "modules"]
    return found


def _said(file: Path, word: str, base: Path) -> Path | None:
    """The real path that a file of git names, from `base`; None where it names none."""
    try:
        if file.stat().st_size > 8192:
            return None
        text = file.read_bytes().decode("utf-8", "surrogateescape").rstrip("\n")
    except OSError:
        return None
    if not text.startswith(word) or "\0" in text or "\n" in text:
        return None
    return Path(os.path.realpath(base / text.removeprefix(word).strip()))


def _there(places: Iterator[Path] | list[Path]) -> tuple[Path, ...]:
    """Those that exist and are no links: a mount can't lie on a link."""
    return tuple(one for one in places if one.exists() and not one.is_symlink())
