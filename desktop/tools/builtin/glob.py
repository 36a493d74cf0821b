"""The tool `glob`: files by their names."""

from collections.abc import Callable
from pathlib import Path
from typing import cast

from desktop.core.chunks import Json
from desktop.core.errors import ToolFailed
from desktop.core.permissions import Act
from desktop.core.tools import Scene, ToolOutcome, ToolSpec
from desktop.tools import arguments as given
from desktop.tools.builtin.looking import Look, act_of
from desktop.tools.places import asked_path, check_unmoved, find, show
from desktop.tools.threads import Stop, read_off_loop
from desktop.tools.walking import Pattern, Walk

_MOST = 1000

_SPEC = ToolSpec(
    name="glob",
    description=(
        "Finds files by name, such as `*.py` (at any depth) or `src/**/test_*.{c,h}`. "
        "Leaves out what .gitignore names."
    ),
    input_schema={
        "type": "object",
        "properties": {
            "pattern": {"type": "string"},
            "path": {"type": "string", "description": "Folder; default: the workspace"},
        },
        "required": ["pattern"],
    },
)


class Glob:
    @property
    def spec(self) -> ToolSpec:
        return _SPEC

    async def prepare(self, arguments: Json, scene: Scene) -> Act:
        pattern = given.text(arguments, "pattern")
        Pattern(pattern)
        asked = asked_path(arguments, default=".")
        place = await read_off_loop(lambda _: find(asked, scene))
        sentence = f"Find {show(pattern)} in {place.spoken}"
        return act_of(_SPEC.name, sentence, Look(place, pattern=pattern))

    async def run(self, act: Act, scene: Scene, report: Callable[[str], None]) -> ToolOutcome:
        look = cast("Look", act.prepared)
        return ToolOutcome(await read_off_loop(lambda stop: _found(look, scene, stop)))


def _found(look: Look, scene: Scene, stop: Stop) -> str:
    check_unmoved(look.place, scene)
    if not look.place.real.is_dir():
        raise ToolFailed(f"{look.place.label} is not a folder.")
    pattern = Pattern(look.pattern)
    walk = Walk(look.place.real, Path(scene.workspace).resolve(), stop)
    names = sorted(found.name for found in walk if pattern.matches(found.name))
    prefix = "" if look.place.label == "." else f"{look.place.label}/"
    lines = [prefix + show(name) for name in names[:_MOST]]
    if len(names) > _MOST:
        lines.append(f"[… {len(names) - _MOST:,} more left out; use a narrower pattern …]")
    if walk.cut:
        lines.append("[The folder is too large to be walked to its end; give a narrower path.]")
    return "\n".join(lines) or "[No file matches.]"
