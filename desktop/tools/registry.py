"""The tools that a conversation has, in a stable order."""

from collections.abc import Callable, Iterator, Sequence
from typing import overload

from desktop.core.tools import Tool
from desktop.tools.builtin.edit_file import EditFile
from desktop.tools.builtin.glob import Glob
from desktop.tools.builtin.grep import Grep
from desktop.tools.builtin.list_dir import ListDir
from desktop.tools.builtin.read_file import ReadFile
from desktop.tools.builtin.shell import Shell
from desktop.tools.builtin.write_file import WriteFile
from desktop.tools.sandbox import Sandbox


def builtin_tools(sandbox: Sandbox | None = None) -> tuple[Tool, ...]:
    """New tools, sorted by name: the order is part of the request and must never change."""
    return (EditFile(), Glob(), Grep(), ListDir(), ReadFile(), Shell(sandbox), WriteFile())


class Offered(Sequence[Tool]):
    """Tools of Nacre's own and then those of tool servers, as they are at the moment."""

    def __init__(self, own: Sequence[Tool], of_servers: Callable[[], Sequence[Tool]]) -> None:
        self._own = tuple(own)
        self._of_servers = of_servers

    def __len__(self) -> int:
        return len(self._now())

    @overload
    def __getitem__(self, index: int) -> Tool: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Tool]: ...

    def __getitem__(self, index: int | slice) -> Tool | Sequence[Tool]:
        return self._now()[index]

    def __iter__(self) -> Iterator[Tool]:
        # One look: a list that changes meanwhile is either the old one or the new one.
        return iter(self._now())

    def _now(self) -> tuple[Tool, ...]:
        return (*self._own, *self._of_servers())


async def close_tools(tools: tuple[Tool, ...]) -> None:
    """Ends what the tools left running; for the end of the program."""
    for tool in tools:
        if isinstance(tool, Shell):
            await tool.close()
