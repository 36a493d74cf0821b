"""The sandbox around a tool server that is started by a command (PLATFORM.md §4.3.7).

Servers are shared by all conversations, so none has a workspace: each can write a folder of its own
in Nacre's data and what its entry in `mcp.json` names. It has the network unless the entry says
no, since most servers are there to reach something. Secrets and the rest of Nacre's data are
hidden as they are from commands.
"""

import hashlib
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from desktop.core.tool_servers import ServerEntry
from desktop.tools.launching import Launch
from desktop.tools.limits import limited
from desktop.tools.mcp.offers import Unreachable
from desktop.tools.sandbox import Sandbox

# Where programs that fetch a server at its start keep what they fetched.
_CACHES = {"XDG_CACHE_HOME": "cache", "npm_config_cache": "npm"}


class Enclosure:
    """`folders` holds the servers' own folders. Everything is for threads that may wait."""

    def __init__(self, sandbox: Sandbox, folders: Path, report: Callable[[str], None]) -> None:
        self._sandbox = sandbox
        self._folders = folders
        self._report = report
        self._told: set[str] = set()

    def around(self, entry: ServerEntry, launch: Launch) -> Launch:
        """What to start instead. Raises Unreachable where it must not be started at all.

        Where there is no sandbox a server runs without one, unless its entry asks for one: the
        person wrote its command down. That is told, once.
        """
        if not entry.sandbox.is_wanted:
            return launch
        state = self._sandbox.state_now()
        if not state.is_sandboxed and entry.sandbox.is_asked_for:
            raise Unreachable(f"it is to run in a sandbox, and there is none ({state.why})")
        if not state.is_sandboxed:
            if entry.name not in self._told:
                self._told.add(entry.name)
                self._report(
                    f"The tool server “{entry.name}” runs without a sandbox. {state.why}"
                    ' With "sandbox": false in its entry this is not told again.'
                )
            return launch
        return self._enclosed(entry, launch)

    def _enclosed(self, entry: ServerEntry, launch: Launch) -> Launch:
        own = self._folders / _folder_name(entry.name)
        try:
            own.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise Unreachable(f"its folder {own} can't be made ({error.strerror})") from error
        writable = [Path(one).expanduser() for one in entry.sandbox.write]
        for one in writable:
            if not one.is_dir():
                raise Unreachable(f"the folder {one} that it may write is not there")
        caches = {name: str(own / part) for name, part in _CACHES.items()}
        return self._sandbox.around_server(
            launch.argv,
            folder=Path(entry.cwd) if entry.cwd else own,
            writable=(own, *writable),
            environment={**launch.environment, **caches, **entry.env},
            network=entry.sandbox.network,
        )


def launched(
    entry: ServerEntry, environment: Mapping[str, str], enclosure: Enclosure | None
) -> Launch:
    """How a server is started. Looks at the disk; raises Unreachable."""
    told = {**environment, **entry.env}
    program = shutil.which(entry.command, path=told.get("PATH"))
    if program is None:
        raise Unreachable(f"its command “{entry.command}” was not found")
    bare = Launch((program, *entry.args), told, Path(entry.cwd) if entry.cwd else None)
    if enclosure is None:
        return bare
    return enclosure.around(
        entry, Launch(limited(bare.argv, memory=0), bare.environment, bare.folder)
    )


def _folder_name(server: str) -> str:
    mark = hashlib.sha256(server.encode("utf-8", "replace")).hexdigest()[:8]
    return f"{re.sub(r'[^A-Za-z0-9_-]+', '_', server)[:40]}-{mark}"
