"""Tool servers as a person sees and sets them up: what the settings talk to, by values.

Values of `env` and `headers` may be keys: they are in no text that these values give of themselves.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

# `starting`: it is being connected; `waiting`: it failed and is tried again; `failed`: only when
# a call or the person wants it; `broken`: its entry can't be used.
ServerPhase = Literal["off", "starting", "ready", "waiting", "failed", "broken"]


@dataclass(frozen=True, slots=True)
class ServerSandbox:
    """What an entry says of its sandbox: `"sandbox": false`, true or `{"network", "write"}`.

    `write` are folders that it can write besides its own.
    """

    is_wanted: bool = True
    is_asked_for: bool = False
    network: bool = True
    write: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ServerEntry:
    """A server as it is set up: a command to start, or (`url`) an address to talk to."""

    name: str
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    cwd: str = ""
    url: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    is_enabled: bool = True
    sandbox: ServerSandbox = ServerSandbox()

    @property
    def fingerprint(self) -> str:
        """Tells whether a list of tools was this server's; holds no secret."""
        told = [self.command, self.args, self.cwd, self.url]
        return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class ServerTool:
    """A tool in the server's own words, which are nobody's but the server's."""

    name: str
    description: str


@dataclass(frozen=True, slots=True)
class ServerView:
    """A server of the list. `why` says what stands in its way, `said` are the last lines of its
    error output since it was started, `left_out` sentences about tools of its that can't be used;
    `mark` tells this entry from a later one of its name."""

    entry: ServerEntry
    phase: ServerPhase
    why: str = ""
    said: tuple[str, ...] = ()
    tools: tuple[ServerTool, ...] = ()
    left_out: tuple[str, ...] = ()
    mark: str = ""


@dataclass(frozen=True, slots=True)
class ServersView:
    """The list, in the order of the file at `path`. `problem` is a sentence about the file as a
    whole: then it is not written, and `servers` are those that were known before."""

    path: str
    servers: tuple[ServerView, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of connecting once: the tools, or why there are none and what the server said."""

    tools: tuple[ServerTool, ...] = ()
    left_out: tuple[str, ...] = ()
    problem: str = ""
    said: tuple[str, ...] = ()


class ToolServerList(Protocol):
    """The page of tool servers talks to this. What changes the file raises ServersFileError, and
    then the file is as it was; another process' changes of other servers are kept."""

    def view(self) -> ServersView:
        """As it is now, without looking at the file."""
        ...

    def on_change(self, changed: Callable[[], None]) -> Callable[[], None]:
        """Calls `changed` on the caller's loop when the view is another; what is returned ends
        that."""
        ...

    async def look(self) -> None:
        """Reads the file if it was changed."""
        ...

    async def add(self, entry: ServerEntry) -> None: ...

    async def change(self, before: ServerView, entry: ServerEntry) -> None:
        """Puts an entry in the place of another, under the same name or a new one. Keys that are
        not set here stay as they are."""
        ...

    async def remove(self, before: ServerView) -> None: ...

    async def turn(self, before: ServerView, *, on: bool) -> None: ...

    async def test(self, entry: ServerEntry) -> Tried:
        """Connects once, beside what runs, and ends it again; cancelling it ends it too."""
        ...

    async def restart(self, name: str) -> None:
        """Ends the server and starts it anew; returns at once."""
        ...

    async def log(self, name: str) -> tuple[str, str]:
        """Where its error output is kept, and the newest of it."""
        ...

    async def set_aside(self) -> str:
        """Gives a file that can't be read another name; its path."""
        ...
