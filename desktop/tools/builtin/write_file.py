"""The tool `write_file`: a new file, or a new content for one."""

from collections.abc import Callable

from desktop.core.chunks import Json
from desktop.core.permissions import Act
from desktop.core.tools import Scene, ToolOutcome, ToolSpec
from desktop.tools import arguments as given
from desktop.tools.builtin import changing
from desktop.tools.files import old_of
from desktop.tools.places import asked_path, find
from desktop.tools.texts import check_whole
from desktop.tools.threads import read_off_loop

_SPEC = ToolSpec(
    name="write_file",
    description="Writes a whole file in UTF-8; makes its folders. To change a part, use edit_file.",
    input_schema={
        "type": "object",
        "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
        "required": ["path", "content"],
    },
)


class WriteFile:
    @property
    def spec(self) -> ToolSpec:
        return _SPEC

    async def prepare(self, arguments: Json, scene: Scene) -> Act:
        asked = asked_path(arguments)
        content = given.text(arguments, "content")
        check_whole(content, "content")
        return await read_off_loop(lambda _: _prepared(asked, content, scene))

    async def run(self, act: Act, scene: Scene, report: Callable[[str], None]) -> ToolOutcome:
        return await changing.make(act, scene)


def _prepared(asked: str, content: str, scene: Scene) -> Act:
    place = find(asked, scene)
    old = old_of(place)
    data = content.encode("utf-8")
    verb = "Write" if old.mark else "Create"
    done = f"{'Wrote' if old.mark else 'Created'} {place.label} ({changing.size_of(data)})."
    return changing.act_of(_SPEC.name, f"{verb} {place.label}", place, old, data, done)
