"""The tool `list_dir`: what is in a folder."""

import os
from collections.abc import Callable
from typing import cast

from desktop.core.chunks import Json
from desktop.core.permissions import Act
from desktop.core.tools import Scene, ToolOutcome, ToolSpec
from desktop.tools.builtin.looking import Look, act_of
from desktop.tools.output import cut_middle, readable
from desktop.tools.places import asked_path, check_unmoved, find, show, unreachable
from desktop.tools.threads import Stop, read_off_loop

_MOST = 1000
_MOST_SEEN = 200_000

_SPEC = ToolSpec(
    name="list_dir",
    description="Lists a folder: folders end with /, links show their target, files their size.",
    input_schema={
        "type": "object",
        "properties": {"path": {"type": "string", "description": "Default: the workspace"}},
    },
)


class ListDir:
    @property
    def spec(self) -> ToolSpec:
        return _SPEC

    async def prepare(self, arguments: Json, scene: Scene) -> Act:
        asked = asked_path(arguments, default=".")
        place = await read_off_loop(lambda _: find(asked, scene))
        return act_of(_SPEC.name, f"List {place.spoken}", Look(place))

    async def run(self, act: Act, scene: Scene, report: Callable[[str], None]) -> ToolOutcome:
        look = cast("Look", act.prepared)
        text = await read_off_loop(lambda stop: _listed(look, scene, stop))
        return ToolOutcome(cut_middle(text, scene.result_bytes))


def _listed(look: Look, scene: Scene, stop: Stop) -> str:
    check_unmoved(look.place, scene)
    entries: list[os.DirEntry[str]] = []
    try:
        with os.scandir(look.place.real) as scan:
            for entry in scan:
                stop.check()
                entries.append(entry)
                if len(entries) == _MOST_SEEN:
                    break
    except OSError as error:
        raise unreachable(look.place.label, error) from error
    if not entries:
        return "[The folder is empty.]"
    entries.sort(key=lambda entry: entry.name)
    lines = [_line(entry) for entry in entries[:_MOST]]
    if len(entries) > _MOST:
        more = "at least " if len(entries) == _MOST_SEEN else ""
        lines.append(f"[… {more}{len(entries) - _MOST:,} more left out; use glob …]")
    return "\n".join(lines)


def _line(entry: "os.DirEntry[str]") -> str:
    name = show(entry.name)
    try:
        if entry.is_symlink():
            return f"{name} -> {show(os.readlink(entry.path))}"  # noqa: PTH115 (bytes stay)
        if entry.is_dir(follow_symlinks=False):
            return f"{name}/"
        return f"{name}  {readable(entry.stat(follow_symlinks=False).st_size)}"
    except OSError:
        return name
