"""The tool `grep`: lines that match a regular expression.

The search runs in a process of its own, because a pattern can take for ever and only the end of a
process stops it. A packaged program starts itself with SEARCH_OPTION and calls `searching.main`.
"""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from desktop.core.chunks import Json
from desktop.core.errors import ToolFailed
from desktop.core.permissions import Act
from desktop.core.tools import Scene, ToolOutcome, ToolSpec
from desktop.tools import arguments as given
from desktop.tools import searching
from desktop.tools.builtin.looking import Look, act_of
from desktop.tools.output import cut_middle
from desktop.tools.places import asked_path, check_unmoved, find, show, unreachable
from desktop.tools.texts import check_whole, whole_characters
from desktop.tools.threads import Stop, read_off_loop
from desktop.tools.walking import Pattern, Walk

SEARCH_OPTION = "--search-worker"
_MOST = 500
_SECONDS = 30.0
_PATIENCE = 0.8  # a stopped search's process is gone well before

_SPEC = ToolSpec(
    name="grep",
    description=(
        "Searches text files line by line for a Python regular expression. "
        "Leaves out what .gitignore names."
    ),
    input_schema={
        "type": "object",
        "properties": {
            "pattern": {"type": "string"},
            "path": {"type": "string", "description": "File or folder; default: the workspace"},
            "glob": {"type": "string", "description": "Only files like this, such as `*.py`"},
            "ignore_case": {"type": "boolean"},
        },
        "required": ["pattern"],
    },
)


class Grep:
    """`seconds` bounds one search."""

    def __init__(self, *, seconds: float = _SECONDS) -> None:
        self._seconds = seconds

    @property
    def spec(self) -> ToolSpec:
        return _SPEC

    async def prepare(self, arguments: Json, scene: Scene) -> Act:
        pattern = given.text(arguments, "pattern")
        check_whole(pattern, "pattern")
        only = given.text(arguments, "glob", default="")
        if only:
            Pattern(only)
        asked = asked_path(arguments, default=".")
        place = await read_off_loop(lambda _: find(asked, scene))
        look = Look(
            place, pattern=pattern, only=only, ignore_case=given.flag(arguments, "ignore_case")
        )
        return act_of(_SPEC.name, f"Search {place.spoken} for {show(pattern)}", look)

    async def run(self, act: Act, scene: Scene, report: Callable[[str], None]) -> ToolOutcome:
        look = cast("Look", act.prepared)
        text = await read_off_loop(
            lambda stop: _search(look, scene, stop, self._seconds), patience=_PATIENCE
        )
        return ToolOutcome(cut_middle(text, scene.result_bytes))


def _search(look: Look, scene: Scene, stop: Stop, seconds: float) -> str:
    check_unmoved(look.place, scene)
    workspace = Path(os.path.realpath(scene.workspace))
    names, paths, cut = _files(look, workspace, stop)
    rows, end = _run(look, paths, scene, stop, seconds)
    lines = [f"{names[file]}:{line}: {whole_characters(text)}" for file, line, text in rows]
    if not lines:
        lines.append("[No line matches.]")
    if end.get("cut"):
        lines.append(f"[Only the first {_MOST} matches; use a narrower pattern or path.]")
    if cut:
        lines.append("[The folder is too large to be searched to its end; give a narrower path.]")
    return "\n".join(lines)


def _files(look: Look, workspace: Path, stop: Stop) -> tuple[list[str], list[str], bool]:
    """Names to show and paths to open. A link in a folder counts when it stays inside."""
    place = look.place
    try:
        is_folder = place.real.is_dir()
        place.real.lstat()
    except OSError as error:
        raise unreachable(place.label, error) from error
    if not is_folder:
        return [place.label], [str(place.real)], False
    only = Pattern(look.only) if look.only else None
    walk = Walk(place.real, workspace, stop)
    prefix = "" if place.label == "." else f"{place.label}/"
    found = sorted(
        (one.name, one.path)
        for one in walk
        if (only is None or only.matches(one.name))
        and not (one.is_link and not _stays(one.path, place.real))
    )
    return [prefix + show(name) for name, _ in found], [path for _, path in found], walk.cut


def _stays(path: str, root: Path) -> bool:
    return root in Path(os.path.realpath(path)).parents


def _run(
    look: Look, paths: Sequence[str], scene: Scene, stop: Stop, seconds: float
) -> tuple[list[tuple[int, int, str]], dict[str, Any]]:
    """Rows and the closing record of the search; ends the process when nobody waits any more."""
    head = {"pattern": look.pattern, "ignoreCase": look.ignore_case, "most": _MOST}
    asked = json.dumps(head).encode() + b"\n" + b"\0".join(os.fsencode(path) for path in paths)
    with subprocess.Popen(
        worker_command(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**scene.environment, "PYTHONIOENCODING": "utf-8"},
        cwd=look.place.real.anchor,
        start_new_session=os.name == "posix",
    ) as process:
        over, ended = threading.Event(), threading.Event()
        watch = threading.Thread(
            target=_end_when_stopped, args=(process, stop, over, ended, seconds), daemon=True
        )
        watch.start()
        try:
            answer, _ = process.communicate(asked)
        finally:
            over.set()
            with suppress(OSError):
                process.kill()
            watch.join()
    stop.check()
    return _parsed(answer, seconds, killed=ended.is_set())


def _end_when_stopped(
    process: "subprocess.Popen[bytes]",
    stop: Stop,
    over: threading.Event,
    ended: threading.Event,
    seconds: float,
) -> None:
    waited = 0.0
    while not over.wait(0.05):
        waited += 0.05
        if stop.is_set or waited >= seconds:
            ended.set()
            process.kill()
            return


def _parsed(
    answer: bytes, seconds: float, *, killed: bool
) -> tuple[list[tuple[int, int, str]], dict[str, Any]]:
    records = [json.loads(line) for line in answer.split(b"\n")[:-1]]
    end = records.pop() if records and isinstance(records[-1], dict) else None
    if end is None and not killed:
        raise ToolFailed("The search could not be done.")
    if end is None:
        raise ToolFailed(
            f"The search was ended after {seconds:.0f} seconds; its pattern takes too long here. "
            "Use a simpler pattern or a narrower path."
        )
    if "error" in end:
        raise ToolFailed(f"The pattern is not a regular expression: {end['error']}.")
    return [(file, line, text) for file, line, text in records], end


def worker_command() -> list[str]:
    """How this installation starts a search."""
    if getattr(sys, "frozen", False):
        return [sys.executable, SEARCH_OPTION]
    return [sys.executable, "-I", "-S", str(Path(searching.__file__))]
