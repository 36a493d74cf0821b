"""The tools that every conversation has, in a stable order."""

from desktop.core.tools import Tool
from desktop.tools.builtin.edit_file import EditFile
from desktop.tools.builtin.glob import Glob
from desktop.tools.builtin.grep import Grep
from desktop.tools.builtin.list_dir import ListDir
from desktop.tools.builtin.read_file import ReadFile
from desktop.tools.builtin.shell import Shell
from desktop.tools.builtin.write_file import WriteFile


def builtin_tools() -> tuple[Tool, ...]:
    """New tools, sorted by name: the order is part of the request and must never change."""
    return (EditFile(), Glob(), Grep(), ListDir(), ReadFile(), Shell(), WriteFile())


async def close_tools(tools: tuple[Tool, ...]) -> None:
    """Ends what the tools left running; for the end of the program."""
    for tool in tools:
        if isinstance(tool, Shell):
            await tool.close()
