"""A tool that does as it is told: it answers, raises, waits at a gate, or won't be stopped."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from desktop.core.chunks import Json
from desktop.core.permissions import Act, ActKind
from desktop.core.tools import Scene, Stopped, ToolOutcome, ToolSpec
from tests.fakes.models import Gate

Answer = Callable[[Json], ToolOutcome | Exception]


class ScriptedTool:
    """`ran` holds the arguments of every run, `ended` the names of how they ended.

    `gates` waits by the value of the argument `at`; `deaf` ignores being cancelled until its gate
    opens. `half` is what it has brought when it is cancelled.
    """

    def __init__(
        self,
        name: str = "look",
        *,
        kind: ActKind = "read",
        answer: Answer | None = None,
        gates: dict[str, Gate] | None = None,
        deaf: bool = False,
        outside: bool = False,
        coverable_by: tuple[str, ...] = (),
        prepare_fails: Exception | None = None,
        says: tuple[str, ...] = (),
        half: ToolOutcome | None = None,
    ) -> None:
        self._name = name
        self._kind: ActKind = kind
        self._answer = answer or self._echo
        self._gates = gates or {}
        self._deaf = deaf
        self._outside = outside
        self._coverable_by = coverable_by
        self._prepare_fails = prepare_fails
        self._says = says
        self._half = half
        self.ran: list[Json] = []
        self.cancelled = 0

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(self._name, f"Does {self._name}.", {"type": "object"})

    def _echo(self, arguments: Json) -> ToolOutcome:
        return ToolOutcome(f"{self._name} {dict(arguments)}")

    async def prepare(self, arguments: Json, scene: Scene) -> Act:
        del scene
        if self._prepare_fails is not None:
            raise self._prepare_fails
        return Act(
            tool=self._name,
            kind=self._kind,
            sentence=f"{self._name} {dict(arguments)}",
            detail=str(dict(arguments)),
            outside=self._outside,
            coverable_by=self._coverable_by,
            offer=self._coverable_by[-1] if self._coverable_by else "",
            prepared=arguments,
        )

    async def run(self, act: Act, scene: Scene, report: Callable[[str], None]) -> ToolOutcome:
        del scene
        self.ran.append(act.prepared)
        for words in self._says:
            report(words)
        gate = self._gates.get(str(act.prepared.get("at", "")))
        try:
            if gate is not None:
                await gate.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            if self._half is not None:
                raise Stopped(self._half) from None
            if not self._deaf or gate is None:
                raise
            await gate.wait()
        answer = self._answer(act.prepared)
        if isinstance(answer, Exception):
            raise answer
        return answer


def scene(folder: Path) -> Scene:
    return Scene(workspace=folder, spool=folder, environment={})
