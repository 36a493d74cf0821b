"""Runs commands as the program's shell does, in its sandbox, as a process that can be killed.

`sandboxed_shell.py SOURCE WORKSPACE PLAN`: SOURCE is where the package `desktop` lies (another user
may not be able to read the checkout), PLAN is JSON: `commands`, and perhaps `timeout`, `memory`,
`stop` (at the first word that a command says), `private` (folders to hide), `bare` (no sandbox). A
line of JSON for each outcome, and one for each piece of live output. It is closed to others as
Nacre is.
"""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, sys.argv[1])

from desktop.core.printed import Growth
from desktop.core.tools import Scene, Stopped, ToolOutcome
from desktop.credentials.closed_process import close_this_process
from desktop.tools.builtin.shell import Shell
from desktop.tools.environment import scrubbed_environment
from desktop.tools.sandbox import Sandbox


async def play(workspace: Path, plan: dict[str, Any]) -> None:
    private = tuple(Path(one) for one in plan.get("private", ()))
    find = (lambda: None) if plan.get("bare") else None
    shell = Shell(Sandbox(environment=os.environ, private=lambda: private, find=find))
    scene = Scene(
        workspace,
        workspace.parent / "spool",
        scrubbed_environment(os.environ),
        memory_bytes=plan.get("memory", 4_294_967_296),
    )
    for command in plan["commands"]:
        arguments = {"command": command, "network": plan.get("network", False)}
        if "timeout" in plan:
            arguments["timeout"] = plan["timeout"]
        act = await shell.prepare(arguments, scene)
        spoke = asyncio.Event()

        def hear(growth: Growth, spoke: asyncio.Event = spoke) -> None:
            print(json.dumps({"live": growth.text}), flush=True)
            spoke.set()

        running = asyncio.ensure_future(shell.run(act, scene, hear))
        if plan.get("stop"):
            await spoke.wait()
            running.cancel()
        print(json.dumps(await told(running)), flush=True)
    await shell.close()


async def told(running: "asyncio.Future[ToolOutcome]") -> dict[str, Any]:
    try:
        outcome = await running
    except Stopped as stopped:
        outcome = stopped.outcome
    return {"text": outcome.text, "isError": outcome.is_error, **(outcome.shell or {})}


close_this_process()
asyncio.run(play(Path(sys.argv[2]), json.loads(sys.argv[3])))
