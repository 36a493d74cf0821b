"""The tool `shell`: one command line in the workspace, kept from hanging and growing."""

import os
import shutil
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from desktop.core.chunks import Json
from desktop.core.confinement import Confinement
from desktop.core.errors import ToolFailed
from desktop.core.permissions import Act
from desktop.core.printed import Growth
from desktop.core.tools import Scene, Stopped, ToolOutcome, ToolSpec
from desktop.tools import arguments as given
from desktop.tools import commands
from desktop.tools.family import Family
from desktop.tools.launching import Launch
from desktop.tools.limits import limited
from desktop.tools.output import Drain, Kept
from desktop.tools.places import find, show, workspace_gone
from desktop.tools.processes import Command, Ended
from desktop.tools.sandbox import Sandbox, writable
from desktop.tools.sandbox_words import hint
from desktop.tools.threads import read_off_loop, write_off_loop

_LONGEST = 100_000  # a single argument of a program has a limit of about 128 KB on Linux
_MOST_SECONDS = 600
_QUIT_GRACE = 1.0

_SPEC = ToolSpec(
    name="shell",
    description=(
        "Runs a command with bash (PowerShell on Windows) in the workspace. No input, no "
        "terminal; each call is a new shell. In a sandbox only the workspace and a fresh /tmp can "
        "be written, and there is no network unless asked for. Long output is cut in the middle."
    ),
    input_schema={
        "type": "object",
        "properties": {
            "command": {"type": "string"},
            "timeout": {"type": "integer", "description": "Seconds, at most 600; default 120"},
            "network": {"type": "boolean", "description": "Asks for the network; default false"},
        },
        "required": ["command"],
    },
)


@dataclass(frozen=True, slots=True)
class _Prepared:
    command: str
    argv: tuple[str, ...]
    seconds: float
    confined: bool
    network: bool


class Shell:
    """Runs commands and remembers what they left running, so that `close` can end it.

    In a sandbox where `sandbox` has one. Without, no kept "always" answers for a command, for what
    it could do is no longer what the person was shown (PLATFORM.md §4.3).
    """

    def __init__(self, sandbox: Sandbox | None = None) -> None:
        self._sandbox = sandbox
        self._left: list[Family] = []

    @property
    def spec(self) -> ToolSpec:
        return _SPEC

    async def prepare(self, arguments: Json, scene: Scene) -> Act:
        command = given.text(arguments, "command")
        _check(command)
        limit = round(scene.time_limit)
        seconds = given.number(arguments, "timeout", default=limit, least=1, most=_MOST_SECONDS)
        wants_network = given.flag(arguments, "network")
        argv, place = await read_off_loop(
            lambda _: (_argv(scene.environment.get("PATH"), command), find(".", scene))
        )
        confinement = await self._confinement()
        confined = confinement.is_sandboxed
        writes = await read_off_loop(lambda _: writable(place.real)) if confined else ()
        return Act(
            tool=_SPEC.name,
            kind="execute",
            sentence="Run a command with the network" if wants_network else "Run a command",
            detail=command,
            detail_kind="command",
            where=place.shown,
            writes=tuple(show(str(one)) for one in writes) if confined else ("",),
            network=wants_network or not confined,
            confined=confined,
            caution=" ".join(one for one in (confinement.why, confinement.way_out) if one),
            coverable_by=(
                commands.coverable_by(command, network=wants_network) if confined else ()
            ),
            offer=commands.offer(command, network=wants_network) if confined else "",
            prepared=_Prepared(command, argv, float(seconds), confined, wants_network),
        )

    async def run(self, act: Act, scene: Scene, report: Callable[[Growth], None]) -> ToolOutcome:
        prepared = cast("_Prepared", act.prepared)
        mark = uuid.uuid4().hex
        drain = Drain(
            scene.spool / f"{mark}.out",
            cap=scene.result_bytes,
            spool_cap=scene.spool_bytes,
            least_free=scene.least_free,
        )
        await self._forget_ended()
        try:
            launch = await read_off_loop(lambda _: self._launch(prepared, scene))
            command = Command(launch, mark=mark, drain=drain)
            ended, left = await command.run(limit=prepared.seconds, report=report)
        except (OSError, ValueError) as error:
            drain.discard()
            if getattr(error, "filename", None) == str(scene.workspace):
                raise ToolFailed(workspace_gone(scene)) from error
            raise ToolFailed(
                "The command could not be started.", detail=f"{type(error).__name__}: {error}"
            ) from error
        if left is not None:
            self._left.append(left)
        outcome = _outcome(drain, ended, scene, prepared)
        if ended.stopped:
            raise Stopped(outcome)
        return outcome

    async def _confinement(self) -> Confinement:
        if self._sandbox is None:
            return Confinement(False, "Commands run without a sandbox here.")
        return await self._sandbox.state()

    def _launch(self, prepared: _Prepared, scene: Scene) -> Launch:
        """On a thread: looks at the disk for what there is to hide and to guard."""
        argv = limited(prepared.argv, memory=scene.memory_bytes)
        if not prepared.confined or self._sandbox is None:
            return Launch(argv, scene.environment, scene.workspace)
        return self._sandbox.around(
            argv,
            workspace=scene.workspace,
            environment=scene.environment,
            network=prepared.network,
        )

    async def close(self) -> None:
        """Ends what commands left running; for the program's end. Takes about a second at most."""
        left, self._left = self._left, []
        if left:
            await write_off_loop(lambda: _end_all(left))

    async def _forget_ended(self) -> None:
        gone = await read_off_loop(lambda _: [one for one in self._left if not one.is_alive()])
        for family in gone:
            family.release()
            self._left.remove(family)


def _end_all(left: list[Family]) -> None:
    for family in left:
        family.end(_QUIT_GRACE / len(left))
        family.release()


def _check(command: str) -> None:
    if not command.strip():
        raise ToolFailed("The command is empty.")
    if "\0" in command:
        raise ToolFailed("The command holds a NUL character; no shell can run that.")
    if len(command.encode("utf-8", "surrogatepass")) > _LONGEST:
        raise ToolFailed("The command is too long; write it into a file and run that.")
    try:
        command.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ToolFailed("The command holds half a character (a lone surrogate).") from error


def _argv(path: str | None, command: str) -> tuple[str, ...]:
    """The shell of this system, without the person's start-up files."""
    if os.name != "posix":
        program = shutil.which("pwsh", path=path) or shutil.which("powershell", path=path)
        if program is None:
            return ("cmd.exe", "/d", "/s", "/c", command)
        return (program, "-NoLogo", "-NoProfile", "-NonInteractive", "-Command", command)
    bash = shutil.which("bash", path=path)
    if bash is None:
        return ("/bin/sh", "-c", command)
    return (bash, "--noprofile", "--norc", "-c", command)


def _outcome(drain: Drain, ended: Ended, scene: Scene, prepared: _Prepared) -> ToolOutcome:
    kept = drain.close(limit=scene.result_bytes)
    text = kept.text
    failed = ended.exit_code != 0 or ended.timed_out or ended.stopped
    hints = hint(text, network=prepared.network) if failed and prepared.confined else ""
    notes = [note for note in (*_notes(ended, prepared.seconds), hints, drain.spool_note) if note]
    colours = kept.colours
    if not text.strip():
        text = "[no output]" if not kept.size else "[nothing visible in the output]"
        colours = ()
    separator = "" if text.endswith("\n") else "\n"
    if notes:
        text = f"{text}{separator}[{' '.join(notes)}]"
    facts = _facts(ended, kept)
    return ToolOutcome(text, is_error=failed, shell=facts, full=kept.full, colours=colours)


def _facts(ended: Ended, kept: Kept) -> Json:
    return {
        "exitCode": ended.exit_code if ended.exit_code >= 0 else 128 - ended.exit_code,
        "durationMs": round(ended.seconds * 1000),
        "timedOut": ended.timed_out,
        "stopped": ended.stopped,
        "stillRunning": ended.still_running,
        "bytes": kept.size,
    }


def _notes(ended: Ended, seconds: float) -> list[str]:
    notes: list[str] = []
    if ended.stopped:
        notes.append("Stopped by the person.")
    elif ended.timed_out:
        notes.append(f"Ended: it ran longer than its limit of {seconds:g} seconds.")
    elif ended.exit_code < 0:
        notes.append(f"Ended by signal {-ended.exit_code}.")
    elif ended.exit_code:
        notes.append(f"Exit code {ended.exit_code}.")
    if ended.still_running:
        notes.append("A process that it started goes on in the background.")
    return notes
