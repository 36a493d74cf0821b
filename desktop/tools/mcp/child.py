"""The process of a server that is started by a command, and lines of JSON to and from it.

It has a process group and a watcher like every command (`tools.family`), so nothing of it
outlives Nacre (SPEC U32). A line that is no message goes to the errors file and breaks nothing
(FIELD F-T07).
"""

import asyncio
import threading
import uuid
from collections.abc import Callable, Mapping
from typing import cast

from desktop.core.tool_servers import ServerEntry
from desktop.tools import threads
from desktop.tools.family import MARK, Family
from desktop.tools.launching import Launch, Reporting
from desktop.tools.mcp.enclosure import Enclosure, launched
from desktop.tools.mcp.errors_file import ErrorsFile
from desktop.tools.mcp.offers import Unreachable

LONGEST_LINE = 64_000_000
LINGER = 0.3  # how long the pipe of a process that is gone is still listened to
CLOSE_GRACE = 0.4  # for a server that ends by itself when its input closes
TERM_GRACE = 0.4


class Child(asyncio.SubprocessProtocol):
    """One process. `on_line` gets each line that it prints, `on_end` is called once at its end."""

    def __init__(self, errors: ErrorsFile, on_line: Callable[[bytes], None]) -> None:
        self._errors = errors
        self._on_line = on_line
        self._mark = uuid.uuid4().hex
        self._family = Family(self._mark)
        self._pending = bytearray()
        self._exited = threading.Event()
        self._is_ending = False
        self._transport: asyncio.SubprocessTransport | None = None
        self.ended: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def start(
        self, entry: ServerEntry, environment: Mapping[str, str], enclosure: Enclosure | None
    ) -> None:
        """Raises Unreachable. Once it returns, `end` must be awaited."""
        launch = await threads.start(
            lambda: launched(entry, environment, enclosure), "tool-server-find"
        )
        try:
            await threads.start(self._family.watch, "tool-server-watch")
            await self._start(launch)
        except BaseException as error:
            await self.end()
            if not isinstance(error, OSError | ValueError):
                raise
            words = getattr(error, "strerror", None) or error
            raise Unreachable(f"its command could not be started ({words})") from error

    async def _start(self, launch: Launch) -> None:
        with Reporting(launch) as reporting:
            await asyncio.get_running_loop().subprocess_exec(
                lambda: self,
                *reporting.argv,
                env={**launch.environment, MARK: self._mark},
                cwd=launch.folder,
                start_new_session=True,
                pass_fds=reporting.inherited,
            )
            finding = threads.start(reporting.root, "tool-server-root")
            # The pipe must not be closed under the thread that reads it.
            is_cancelled = await threads.outlast(finding)
            self._family.take_root(finding.result())
        if is_cancelled:
            raise asyncio.CancelledError

    def write(self, line: bytes) -> None:
        """Hands a line to its input; what a dead process no longer reads is dropped."""
        pipe = None if self._transport is None else self._transport.get_pipe_transport(0)
        if pipe is not None and not pipe.is_closing():
            cast("asyncio.WriteTransport", pipe).write(line + b"\n")

    async def end(self) -> None:
        """Ends it and everything that it started, within a second; whatever happens meanwhile."""
        if self._transport is not None and not self._exited.is_set():
            pipe = self._transport.get_pipe_transport(0)
            if pipe is not None:
                pipe.close()
        await threads.outlast(threads.start(self._end_family, "tool-server-end"))
        if self._transport is not None:
            self._transport.close()
        self._settle("it was ended")

    def _end_family(self) -> None:
        if self._transport is not None:
            self._exited.wait(CLOSE_GRACE)
            if self._family.is_alive():
                self._family.end(TERM_GRACE, self._exited)
        self._family.release()

    # -- what asyncio calls ------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.SubprocessTransport", transport)
        self._family.begin(self._transport.get_pid())

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd != 1:
            self._errors.feed(data)
            return
        *lines, rest = data.split(b"\n")
        for line in lines:
            self._pending += line
            whole = bytes(self._pending).strip()
            self._pending.clear()
            if whole:
                self._on_line(whole)
        self._pending += rest
        if len(self._pending) > LONGEST_LINE:
            self._pending.clear()
            self._settle("it sent a message of more than 64 MB")

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == 1:
            self._settle_soon()

    def process_exited(self) -> None:
        self._exited.set()
        self._family.lose_leader()
        self._settle_soon()

    def _settle_soon(self) -> None:
        """Its exit and the end of its output belong together, but either may stay away: something
        that it started may hold its pipe open, and it may close its output and go on."""
        if self._is_ending:
            self._settle_exited()
        else:
            self._is_ending = True
            asyncio.get_running_loop().call_later(LINGER, self._settle_exited)

    def _settle_exited(self) -> None:
        code = None if self._transport is None else self._transport.get_returncode()
        how = "it closed its output" if code is None else f"it ended with exit code {code}"
        said = self._errors.last_line
        self._settle(f"{how}; its last words: {said}" if said else how)

    def _settle(self, why: str) -> None:
        if not self.ended.done():
            self.ended.set_result(why)
