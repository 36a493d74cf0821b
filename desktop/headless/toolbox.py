"""What the agents of one opened data folder can do, and where each of them does it.

The built-in tools, those of tool servers, and the sandbox and environment that both share.
"""

import asyncio
import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from desktop.agent import facts
from desktop.agent.surroundings import Place
from desktop.core.records import Tab, Workspace
from desktop.core.tool_servers import ToolServerList
from desktop.core.tools import Scene
from desktop.diagnostics import program_version
from desktop.headless.preferred import Preferred
from desktop.headless.sandboxing import private_places
from desktop.paths import DataFolder
from desktop.settings import SHELL_MEMORY_LIMIT, SHELL_TIME_LIMIT, TOOL_OUTPUT_LIMIT
from desktop.tools.environment import scrubbed_environment
from desktop.tools.mcp.enclosure import Enclosure
from desktop.tools.mcp.listing import ServerList
from desktop.tools.mcp.servers import ToolServers
from desktop.tools.registry import builtin_tools, close_tools
from desktop.tools.sandbox import Sandbox

MEGABYTE = 1024 * 1024


class Toolbox:
    """`own` are the built-in tools, `servers` gives the others; none of these runs before its
    `look`. `report` gets sentences for the person, on any thread."""

    def __init__(
        self, folder: DataFolder, preferred: Preferred, *, report: Callable[[str], None]
    ) -> None:
        self._folder = folder
        self._preferred = preferred
        self._environment = scrubbed_environment(os.environ)
        self.sandbox = Sandbox(
            environment=os.environ, private=lambda: private_places(folder, preferred.current)
        )
        self.own = builtin_tools(self.sandbox)
        self.servers = ToolServers(
            configured=folder.tool_servers,
            memory=folder.offered_tools,
            logs=folder.logs,
            environment=self._environment,
            version=program_version(),
            report=report,
            enclosure=Enclosure(self.sandbox, folder.tool_server_folders, report),
        )

    @property
    def server_list(self) -> ToolServerList:
        """The tool servers as a person sets them up."""
        return ServerList(self._folder.tool_servers, self._folder.logs, self.servers)

    def place_of(self, tab: Tab, workspace: Workspace) -> Place:
        """Where a conversation works, within the limits that are set now."""
        directory = Path(workspace.directory)
        now = self._preferred.current
        return Place(
            tab_id=tab.id,
            workspace_id=workspace.id,
            scene=Scene(
                workspace=directory,
                spool=self._folder.spool,
                environment=self._environment,
                time_limit=float(now.value(SHELL_TIME_LIMIT)),
                memory_bytes=now.value(SHELL_MEMORY_LIMIT) * MEGABYTE,
                spool_bytes=now.value(TOOL_OUTPUT_LIMIT) * MEGABYTE,
            ),
            facts=lambda: facts.observe(directory, today=datetime.now().astimezone().date()),
        )

    async def close(self) -> "asyncio.Task[None]":
        """Ends what the built-in tools left running; the task that ends the tool servers, which
        may take their time."""
        servers = asyncio.create_task(self.servers.close(), name="close the tool servers")
        await close_tools(self.own)
        return servers
