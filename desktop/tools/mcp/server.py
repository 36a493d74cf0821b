"""One tool server: connected, watched and brought back by one task of its own (API M1, M4).

Only its owner enters and leaves the connection; calls wait for it and never for long. A server that
fails is tried again after a growing pause, a few times; then when a call needs it.
"""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from desktop.core.errors import ToolFailed
from desktop.core.tool_servers import ServerEntry
from desktop.tools.mcp.contents import Reply
from desktop.tools.mcp.offers import CallRefused, Offer, Unreachable

Phase = Literal["off", "starting", "ready", "waiting", "failed"]

CONNECT_SECONDS = 30.0
FIRST_PAUSE = 1.0
LONGEST_PAUSE = 60.0
MOST_FAILURES = 5
STEADY_SECONDS = 60.0  # a connection that stood so long starts the count of failures anew
_LATE = f"it did not answer within {CONNECT_SECONDS:g} seconds"


class Connection(Protocol):
    """What `link.Link` is, for everyone who must not load it."""

    @property
    def lost(self) -> "asyncio.Future[str]": ...

    async def offers(self) -> list[Offer]: ...

    async def call(self, tool: str, arguments: Mapping[str, Any], seconds: float) -> Reply: ...


Connect = Callable[[ServerEntry, Callable[[], None]], AbstractAsyncContextManager[Connection]]


@dataclass(frozen=True, slots=True)
class State:
    """How a server is doing; `why` says what stands in the way (empty when nothing does), `said`
    are the last lines of its error output since it was started."""

    phase: Phase
    why: str = ""
    said: tuple[str, ...] = ()


class Server:
    """Lives on the loop of the tool servers; `state` may be read from any thread.

    `take` gets its list of tools at each connection and change, `tell` each new state.
    """

    def __init__(
        self,
        entry: ServerEntry,
        *,
        connect: Connect,
        take: Callable[[ServerEntry, Sequence[Offer]], None],
        tell: Callable[[ServerEntry, State], None],
        pause: float,
    ) -> None:
        self._entry = entry
        self._connect = connect
        self._take = take
        self._tell = tell
        self._pause = pause
        self._link: Connection | None = None
        self._wanted = asyncio.Event()
        self._changed = asyncio.Event()
        self._moved = asyncio.Event()  # of the state; a new one for each move
        self._attempt = 0
        self.state = State("starting")

    async def own(self) -> None:
        """The owner's task, until it is cancelled."""
        failures = 0
        while True:
            began = time.monotonic()
            self._attempt += 1
            self._now(State("starting"))
            why = await self._stand_until_lost()
            if _is_cancelled():
                raise asyncio.CancelledError
            lasted = time.monotonic() - began
            failures = 1 if lasted > STEADY_SECONDS else failures + 1
            await self._rest(failures, why)
            failures = 0 if failures >= MOST_FAILURES else failures

    async def call(self, tool: str, arguments: Mapping[str, Any], seconds: float) -> Reply:
        """From any task of the loop. Raises ToolFailed with words for the model."""
        link = await self._ready()
        name = self._entry.name
        try:
            return await link.call(tool, arguments, seconds)
        except CallRefused as error:
            raise ToolFailed(f"The tool server “{name}” could not do it: {error}.") from error
        except Unreachable as error:
            raise ToolFailed(
                f"The connection to the tool server “{name}” broke during the call, which may have"
                f" done part of its work: {error}."
            ) from error

    async def _stand_until_lost(self) -> str:
        """Why the connection is gone, or did not come about."""
        try:
            await self._stand()
        except Unreachable as error:
            return str(error)
        except TimeoutError:
            pass
        return _LATE

    async def _stand(self) -> None:
        """Connects and serves until the connection is gone, which is raised as Unreachable."""
        async with AsyncExitStack() as stack:
            async with asyncio.timeout(CONNECT_SECONDS):
                link = await stack.enter_async_context(
                    self._connect(self._entry, self._changed.set)
                )
                self._changed.clear()
                offers = await link.offers()
            self._take(self._entry, offers)
            self._link = link
            self._now(State("ready"))
            try:
                await self._serve(link)
            finally:
                self._link = None

    async def _serve(self, link: Connection) -> None:
        while True:
            changed = asyncio.ensure_future(self._changed.wait())
            try:
                await asyncio.wait({changed, link.lost}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                changed.cancel()
            if link.lost.done():
                raise Unreachable(link.lost.result())
            self._changed.clear()
            try:
                async with asyncio.timeout(CONNECT_SECONDS):
                    offers = await link.offers()
            except TimeoutError as error:
                raise Unreachable(_LATE) from error
            self._take(self._entry, offers)

    async def _rest(self, failures: int, why: str) -> None:
        """Waits before the next attempt: a while, or after too many until a call wants it."""
        is_last = failures >= MOST_FAILURES
        self._wanted.clear()
        self._now(State("failed" if is_last else "waiting", why))
        pause = min(LONGEST_PAUSE, self._pause * 2 ** (failures - 1))
        with suppress(TimeoutError):
            async with asyncio.timeout(None if is_last else pause):
                await self._wanted.wait()

    async def _ready(self) -> Connection:
        """The connection; waits for an attempt that is under way, or for one that begins now."""
        attempt = self._attempt if self.state.phase == "starting" else self._attempt + 1
        with suppress(TimeoutError):
            async with asyncio.timeout(CONNECT_SECONDS + 1.0):
                while self._link is None and not self._has_failed(attempt):
                    self._wanted.set()
                    await self._moved.wait()
        if self._link is None:
            why = self.state.why or "it does not answer"
            raise ToolFailed(f"The tool server “{self._entry.name}” is not connected: {why}.")
        return self._link

    def _has_failed(self, attempt: int) -> bool:
        return self._attempt >= attempt and self.state.phase in ("waiting", "failed")

    def _now(self, state: State) -> None:
        self.state = state
        moved, self._moved = self._moved, asyncio.Event()
        moved.set()
        self._tell(self._entry, state)


def _is_cancelled() -> bool:
    """Whether the owner is to end, also where another error took the cancellation's place."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
