"""What a tool is, for the agent that runs it and for the request that offers it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from desktop.core.chunks import Json
from desktop.core.permissions import Act
from desktop.core.printed import Growth, Span

# Bytes on the disk that outputs of tools leave alone, for what must be kept (SPEC U08).
LEAST_FREE = 500_000_000


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """How a model sees a tool; nothing in it may change while a conversation lives."""

    name: str
    description: str
    input_schema: Json

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "description": self.description,
            "input_schema": dict(self.input_schema),
        }


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a call stands: its conversation, turn and step, and its own id."""

    tab_id: str = ""
    turn_id: str = ""
    step: int = 0
    call_id: str = ""


@dataclass(frozen=True, slots=True)
class Scene:
    """Where a tool works: the real path of the workspace, a folder for long outputs, the caps.

    `environment` is what a child process gets, already scrubbed (no keys, no packager's paths).
    `least_free` are bytes that long outputs leave free on the disk, `memory_bytes` what each
    process of a command may take (0: as much as there is). `origin` is the call's.
    """

    workspace: Path
    spool: Path
    environment: Mapping[str, str]
    time_limit: float = 120.0
    result_bytes: int = 65_536
    spool_bytes: int = 1_073_741_824
    least_free: int = LEAST_FREE
    memory_bytes: int = 4_294_967_296
    origin: Origin = Origin()


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """What a run brought: `text` is what the model sees (head and tail where it was longer),
    `full` the file that holds everything (to be kept as a blob), `shell` a command's facts,
    `images` what the model is shown: entries (`core.media`) with their bytes as `content`,
    `colours` what of the text is not plain and `diff` what was changed, for the person alone."""

    text: str
    is_error: bool = False
    shell: Json | None = None
    full: Path | None = None
    images: Sequence[Json] = ()
    colours: Sequence[Span] = ()
    diff: str = ""


class Stopped(Exception):
    """A run that was cancelled ends with what it had brought until then, when it can say it."""

    def __init__(self, outcome: ToolOutcome) -> None:
        super().__init__("stopped")
        self.outcome = outcome


class Tool(Protocol):
    """A thing the model may do. `prepare` touches nothing; `run` does just what was prepared."""

    @property
    def spec(self) -> ToolSpec: ...

    async def prepare(self, arguments: Json, scene: Scene) -> Act:
        """Checks and resolves; raises ToolFailed with a sentence for the model."""
        ...

    async def run(
        self, act: Act, scene: Scene, report: Callable[[str | Growth], None]
    ) -> ToolOutcome:
        """Does it. `report` takes live output, from the loop's thread, as whole pieces of text or
        as a terminal would have it. Raises ToolFailed.

        Cancelling the task ends it within a second and leaves no child process; it may then raise
        Stopped instead of CancelledError.
        """
        ...
