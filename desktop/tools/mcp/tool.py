"""A server's tool as an agent uses it: asked for like a command, its answer kept like an output."""

import base64
import json
import uuid
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast

from desktop.core.chunks import Json
from desktop.core.errors import ToolFailed
from desktop.core.permissions import Act
from desktop.core.tools import Scene, ToolOutcome, ToolSpec
from desktop.tools.attachments.checking import LARGEST
from desktop.tools.attachments.showing import shown
from desktop.tools.mcp.contents import Reply, Sent
from desktop.tools.output import Drain
from desktop.tools.texts import whole_characters
from desktop.tools.threads import write_off_loop

Call = Callable[[str, str, Mapping[str, Any], float], Awaitable[Reply]]


def rule_for(server: str, tool: str) -> str:
    """The rule that covers every call of one tool of one server."""
    return f"{tool} of the tool server {server}"


class ServerTool:
    """`call` is (server, tool, arguments, seconds) and raises ToolFailed.

    What a server says of its tool (that it only reads) is a hint and answers no question: every
    call is asked for unless the person has said "always".
    """

    def __init__(self, server: str, tool: str, spec: ToolSpec, call: Call) -> None:
        self._server = server
        self._tool = tool
        self._spec = spec
        self._call = call

    @property
    def spec(self) -> ToolSpec:
        return self._spec

    async def prepare(self, arguments: Json, scene: Scene) -> Act:
        rule = rule_for(self._server, self._tool)
        detail = json.dumps(dict(arguments), ensure_ascii=False, indent=2)
        return Act(
            tool=self._spec.name,
            kind="execute",
            sentence=f"Use {self._tool} of the tool server {self._server}",
            detail=whole_characters(detail),
            detail_kind="command",
            writes=("",),
            network=True,
            coverable_by=(rule,),
            offer=rule,
            prepared=dict(arguments),
        )

    async def run(self, act: Act, scene: Scene, report: Callable[[str], None]) -> ToolOutcome:
        arguments = cast("dict[str, Any]", act.prepared)
        reply = await self._call(self._server, self._tool, arguments, scene.time_limit)
        return await write_off_loop(lambda: _kept(reply, scene))


class GoneTool:
    """Stands for a tool that a conversation was offered and that is there no more."""

    def __init__(self, name: str) -> None:
        self._spec = ToolSpec(name, "", {"type": "object"})

    @property
    def spec(self) -> ToolSpec:
        return self._spec

    async def prepare(self, arguments: Json, scene: Scene) -> Act:
        raise ToolFailed(
            f"The tool {self._spec.name} is not there any more: its tool server was taken out or"
            " turned off, could not be reached yet, or offers it no longer."
        )

    async def run(self, act: Act, scene: Scene, report: Callable[[str], None]) -> ToolOutcome:
        raise ToolFailed(f"The tool {self._spec.name} is not there any more.")


def _kept(reply: Reply, scene: Scene) -> ToolOutcome:
    """Head and tail for the model, all of it in a file where it is longer; pictures checked like
    those of anybody (FIELD F-W12)."""
    drain = Drain(
        scene.spool / f"{uuid.uuid4().hex}.out",
        cap=scene.result_bytes,
        spool_cap=scene.spool_bytes,
        least_free=scene.least_free,
    )
    drain.feed(reply.text.encode("utf-8", "replace"))
    kept = drain.close(limit=scene.result_bytes)
    notes = [f"[{drain.spool_note}]"] if drain.spool_note else []
    images: list[Json] = []
    for number, sent in enumerate(reply.shown, 1):
        try:
            found = shown(_decoded(sent), f"picture {number}")
        except ToolFailed as error:
            notes.append(f"[{sent.words} is left out: {error.sentence}]")
        else:
            notes.append(found.text)
            images.extend(found.images)
    text = "\n".join(part for part in (kept.text, *notes) if part)
    return ToolOutcome(
        text, is_error=reply.is_error, full=kept.full, images=images, colours=kept.colours
    )


def _decoded(sent: Sent) -> bytes:
    """Raises ToolFailed where it is no base64, or more than is looked at."""
    if len(sent.data) > LARGEST * 4 // 3 + 4:
        raise ToolFailed("it is too large.")
    try:
        return base64.b64decode(sent.data)
    except ValueError as error:
        raise ToolFailed("it is no base64.") from error
