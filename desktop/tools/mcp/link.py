"""One connection to a tool server: the only door to the package `mcp`.

Loaded late, on the thread of the tool servers. A connection is entered and left by one task (M1,
M2); calls may come from any other task of that thread. What the library raises becomes
`Unreachable` or `CallRefused` with words.
"""

import asyncio
import logging
import math
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.message import SessionMessage
from mcp_types import (
    CONNECTION_CLOSED,
    REQUEST_TIMEOUT,
    ImageContent,
    Implementation,
    JSONRPCResponse,
    TextContent,
    ToolListChangedNotification,
    jsonrpc_message_adapter,
)

from desktop.core.tool_servers import ServerEntry
from desktop.tools.mcp.child import Child
from desktop.tools.mcp.contents import Reply, Sent
from desktop.tools.mcp.enclosure import Enclosure
from desktop.tools.mcp.errors_file import ErrorsFile
from desktop.tools.mcp.offers import CallRefused, Offer, Unreachable
from desktop.tools.mcp.taming import SCHEMA, tame

MOST_PAGES = 50
MOST_TOOLS = 1_000
_SESSION_GONE = "Session terminated"

# Each broken line and each lost connection is told by the server's state; the library's log would
# tell it again, with traces.
logging.getLogger("mcp").setLevel(logging.CRITICAL)


class Link:
    """A connection that stands. `lost` settles with the reason when it does no more."""

    def __init__(self, client: Client, lost: "asyncio.Future[str]") -> None:
        self._client = client
        self.lost = lost

    async def offers(self) -> list[Offer]:
        """All tools of the server. Raises Unreachable."""
        found: list[Offer] = []
        seen: set[str] = set()
        cursor: str | None = None
        for _ in range(MOST_PAGES):
            try:
                page = await self._client.list_tools(cursor=cursor, cache_mode="bypass")
            except Exception as error:
                raise Unreachable(f"its list of tools can't be read ({words(error)})") from error
            found.extend(
                Offer(tool.name, tool.description or "", (tool.meta or {}).get(SCHEMA))
                for tool in page.tools
            )
            cursor = page.next_cursor
            if cursor is None or cursor in seen or len(found) >= MOST_TOOLS:
                break
            seen.add(cursor)
        return found[:MOST_TOOLS]

    async def call(self, tool: str, arguments: Mapping[str, Any], seconds: float) -> Reply:
        """Raises Unreachable when the connection broke, CallRefused for any other trouble."""
        try:
            result = await self._client.call_tool(tool, dict(arguments), seconds)
        except MCPError as error:
            if error.code == REQUEST_TIMEOUT:
                raise CallRefused(f"it did not answer within {seconds:g} seconds") from error
            if error.code == CONNECTION_CLOSED or error.message == _SESSION_GONE:
                raise Unreachable(await self._why(words(error))) from error
            raise CallRefused(words(error)) from error
        except Exception as error:
            raise Unreachable(await self._why(words(error))) from error
        text = "".join(one.text for one in result.content if isinstance(one, TextContent))
        shown = [
            Sent(one.data, one.mime_type) for one in result.content if isinstance(one, ImageContent)
        ]
        return Reply(text, result.is_error, tuple(shown))

    async def _why(self, otherwise: str) -> str:
        """The connection's own reason, which comes a moment after the calls have failed."""
        await asyncio.wait({self.lost}, timeout=0.5)
        if not self.lost.done():
            self.lost.set_result(otherwise)
        return self.lost.result()


@asynccontextmanager
async def connect(
    entry: ServerEntry,
    *,
    environment: Mapping[str, str],
    errors: Path,
    on_change: Callable[[], None],
    version: str,
    enclosure: Enclosure | None = None,
) -> AsyncGenerator[Link]:
    """Connects and shakes hands. Raises Unreachable; `on_change` hears of another list of tools."""

    async def hear(message: object) -> None:
        if isinstance(message, ToolListChangedNotification):
            on_change()

    lost: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    streams = (
        _started(entry, environment, enclosure, errors, lost)
        if entry.command
        else _reached(entry, lost)
    )
    client = Client(
        streams,
        message_handler=hear,
        client_info=Implementation(name="nacre", version=version),
        cache=None,
    )
    try:
        # The library's groups of tasks must see what ends them, or they cancel whoever is near.
        async with client:
            listening = asyncio.create_task(_listen(client, on_change), name=f"hear {entry.name}")
            try:
                yield Link(client, lost)
            finally:
                listening.cancel()
                await asyncio.wait({listening})
    except Exception as error:
        raise Unreachable(lost.result() if lost.done() else words(error)) from error


async def _listen(client: Client, on_change: Callable[[], None]) -> None:
    """Hears of other tools where the protocol has a stream for it; else it is a notification."""
    with suppress(Exception):
        async with client.listen(tools_list_changed=True) as changes:
            async for _ in changes:
                on_change()


@asynccontextmanager
async def _started(
    entry: ServerEntry,
    environment: Mapping[str, str],
    enclosure: Enclosure | None,
    errors: Path,
    lost: "asyncio.Future[str]",
) -> AsyncGenerator[Any]:
    """The streams of a server that is started by a command."""
    incoming, received = anyio.create_memory_object_stream[SessionMessage | Exception](math.inf)
    outgoing, to_send = anyio.create_memory_object_stream[SessionMessage](math.inf)
    file = ErrorsFile(errors)

    def hear(line: bytes) -> None:
        try:
            message = jsonrpc_message_adapter.validate_json(
                line.decode("utf-8", "replace"), by_name=False
            )
        except ValueError:
            file.feed(b"[no message] " + line[:1_000] + b"\n")
            return
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            incoming.send_nowait(_tamed(SessionMessage(message)))

    async def say() -> None:
        async for one in to_send:
            json = one.message.model_dump_json(by_alias=True, exclude_unset=True)
            child.write(json.encode())

    def close(ended: "asyncio.Future[str]") -> None:
        if not lost.done():
            lost.set_result(ended.result())
        incoming.close()

    child = Child(file, hear)
    try:
        await child.start(entry, environment, enclosure)
        child.ended.add_done_callback(close)
        speaking = asyncio.create_task(say(), name=f"words to {entry.name}")
        try:
            yield received, outgoing
        finally:
            speaking.cancel()
            await child.end()
    finally:
        for stream in (incoming, received, outgoing, to_send):
            stream.close()
        file.close()


@asynccontextmanager
async def _reached(entry: ServerEntry, lost: "asyncio.Future[str]") -> AsyncGenerator[Any]:
    """The streams of a server that is reached over HTTP."""
    incoming, received = anyio.create_memory_object_stream[SessionMessage | Exception](math.inf)
    async with (
        create_mcp_http_client(headers=dict(entry.headers)) as http,
        streamable_http_client(entry.url, http_client=http) as (heard, outgoing),
    ):

        async def hear() -> None:
            async with incoming:
                async for one in heard:
                    incoming.send_nowait(_tamed(one))

        hearing = asyncio.create_task(hear(), name=f"words of {entry.name}")
        try:
            yield received, outgoing
        finally:
            hearing.cancel()
            await asyncio.wait({hearing})
            received.close()
            if not lost.done():
                lost.set_result("the connection was closed")


def _tamed(message: SessionMessage | Exception) -> Any:
    if isinstance(message, SessionMessage) and isinstance(message.message, JSONRPCResponse):
        answer = message.message
        tamed = answer.model_copy(update={"result": tame(answer.result)})
        return SessionMessage(tamed, message.metadata)
    return message


def words(error: BaseException) -> str:
    """What went wrong in one line: of a group, its first; never empty."""
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    text = " ".join(str(error).split())[:500]
    return text or type(error).__name__
