"""Walks a folder as a programmer means it: bounded, in a stable order, without ignored files.

Links to folders are never entered. `.git` is left out, and what `.gitignore` files of the folder
and of those above it (up to the workspace) say.
"""

import fnmatch
import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pathspec

from desktop.core.errors import ToolFailed
from desktop.tools.threads import Stop

MOST_ENTRIES = 200_000
MOST_SECONDS = 20.0
_IGNORE_FILE_BYTES = 1_000_000
_MOST_ALTERNATIVES = 64


@dataclass(frozen=True, slots=True)
class Found:
    """A file under the folder that is walked; `name` is its path from there with `/`."""

    name: str
    path: str
    is_link: bool


@dataclass(frozen=True, slots=True)
class _Rules:
    """One `.gitignore`: `prefix` leads from its folder to the folder that is walked."""

    depth: int
    prefix: str
    spec: pathspec.GitIgnoreSpec


class Walk:
    """One walk. `cut` tells afterwards that the bounds ended it."""

    def __init__(self, root: Path, workspace: Path, stop: Stop) -> None:
        self._root = root
        self._workspace = workspace
        self._stop = stop
        self._seen = 0
        self._until = time.monotonic() + MOST_SECONDS
        self.cut = False

    def __iter__(self) -> Iterator[Found]:
        yield from self._folder(str(self._root), (), self._rules_above())

    def _folder(
        self, folder: str, parts: tuple[str, ...], rules: tuple[_Rules, ...]
    ) -> Iterator[Found]:
        # A stack instead of recursion: a folder may be nested deeper than Python's stack.
        stack = [(folder, parts, rules)]
        while stack and not self.cut:
            folder, parts, rules = stack.pop()
            own = _read_rules(folder, len(parts), "")
            rules = (*rules, own) if own else rules
            folders: list[tuple[str, tuple[str, ...], tuple[_Rules, ...]]] = []
            for entry in self._entries(folder):
                here = (*parts, entry.name)
                is_folder = entry.is_dir(follow_symlinks=False)
                if entry.name == ".git" or _ignored(here, rules, is_folder=is_folder):
                    continue
                if is_folder:
                    folders.append((entry.path, here, rules))
                else:
                    yield Found("/".join(here), entry.path, entry.is_symlink())
            stack.extend(reversed(folders))

    def _entries(self, folder: str) -> list["os.DirEntry[str]"]:
        try:
            with os.scandir(folder) as scan:
                entries = []
                for entry in scan:
                    self._stop.check()
                    self._seen += 1
                    if self._seen > MOST_ENTRIES or time.monotonic() > self._until:
                        self.cut = True
                        break
                    entries.append(entry)
        except OSError:
            return []
        return sorted(entries, key=lambda entry: entry.name)

    def _rules_above(self) -> tuple[_Rules, ...]:
        """The rules of the folders between the workspace and the one that is walked."""
        if self._root == self._workspace or self._workspace not in self._root.parents:
            return ()
        steps = self._root.relative_to(self._workspace).parts
        found: list[_Rules] = []
        for length in range(len(steps)):
            folder = self._workspace.joinpath(*steps[:length])
            rules = _read_rules(str(folder), 0, "/".join(steps[length:]) + "/")
            if rules:
                found.append(rules)
        return tuple(found)


def _read_rules(folder: str, depth: int, prefix: str) -> _Rules | None:
    path = Path(folder, ".gitignore")
    try:
        if not path.is_file() or path.stat().st_size > _IGNORE_FILE_BYTES:
            return None
        lines = path.read_text("utf-8", "replace").splitlines()
    except OSError:
        return None
    try:
        return _Rules(depth, prefix, pathspec.GitIgnoreSpec.from_lines(lines))
    except ValueError:
        good = [line for line in lines if _is_pattern(line)]
        return _Rules(depth, prefix, pathspec.GitIgnoreSpec.from_lines(good))


def _is_pattern(line: str) -> bool:
    try:
        pathspec.GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True


def _ignored(parts: tuple[str, ...], rules: tuple[_Rules, ...], *, is_folder: bool) -> bool:
    """The deepest file with an opinion decides, as in git."""
    for one in reversed(rules):
        name = one.prefix + "/".join(parts[one.depth :]) + ("/" if is_folder else "")
        verdict = one.spec.check_file(name).include
        if verdict is not None:
            return verdict
    return False


class Pattern:
    """A glob: `*` and `?` within a name, `**` over folders, `{a,b}` and `[…]`.

    Without a `/` it is a name at any depth. Raises ToolFailed for one that can't be understood.
    """

    def __init__(self, text: str) -> None:
        if not text.strip("/."):
            raise ToolFailed("The pattern is empty.")
        self._alternatives = [
            tuple(_part(part) for part in one.split("/") if part not in ("", "."))
            for one in _expanded(text if "/" in text else f"**/{text}")
        ]
        if any(not one for one in self._alternatives):
            raise ToolFailed("The pattern is empty.")

    def matches(self, name: str) -> bool:
        parts = name.split("/")
        return any(_matches(one, parts) for one in self._alternatives)


def _part(text: str) -> re.Pattern[str] | None:
    """None stands for `**`."""
    if text == "**":
        return None
    if text == "..":
        raise ToolFailed("A pattern can't lead upwards; give the folder as path instead.")
    return re.compile(fnmatch.translate(text))


def _matches(pattern: tuple[re.Pattern[str] | None, ...], parts: list[str]) -> bool:
    """Whether all parts are covered; each step keeps the places that the pattern can be at."""
    places = _skip(pattern, {0})
    for part in parts:
        after: set[int] = set()
        for place in places:
            if place == len(pattern):
                continue
            one = pattern[place]
            if one is None:
                after.add(place)
            elif one.match(part):
                after.add(place + 1)
        places = _skip(pattern, after)
    return len(pattern) in places


def _skip(pattern: tuple[re.Pattern[str] | None, ...], places: set[int]) -> set[int]:
    """`**` also stands for no folder at all."""
    todo = list(places)
    while todo:
        place = todo.pop()
        if place < len(pattern) and pattern[place] is None and place + 1 not in places:
            places.add(place + 1)
            todo.append(place + 1)
    return places


def _expanded(text: str) -> list[str]:
    """The alternatives of `{a,b}`, nested ones too."""
    done: list[str] = []
    todo = [text]
    while todo:
        one = todo.pop()
        match = re.search(r"\{([^{}]*,[^{}]*)\}", one)
        if match is None:
            done.append(one)
        else:
            todo.extend(
                one[: match.start()] + part + one[match.end() :] for part in match[1].split(",")
            )
        if len(done) + len(todo) > _MOST_ALTERNATIVES:
            raise ToolFailed("The pattern has too many alternatives in braces.")
    return done
