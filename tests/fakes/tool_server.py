"""A real tool server, made with the library's own server side: `python -m tests.fakes.tool_server`.

With `--http PORT_FILE [PORT]` it is served over HTTP on that or a free port, which it writes into
the file.
"""

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
from mcp.server.mcpserver import Context, MCPServer
from mcp_types import AudioContent, ImageContent, ResourceLink, TextContent

server = MCPServer("fake")


@server.tool(description="Gives back what it is given.")
def echo(text: str) -> str:
    return text


@server.tool()
def long(lines: int) -> str:
    return "\n".join(f"line {number}" for number in range(lines))


@server.tool()
def breaks() -> str:
    raise ValueError("it broke as it was asked to")


@server.tool()
async def sleeps(seconds: float) -> str:
    await anyio.sleep(seconds)
    return "awake"


@server.tool()
def dies() -> str:
    os._exit(3)


@server.tool()
def pid() -> str:
    return str(os.getpid())


@server.tool()
def forks() -> str:
    """Leaves a process behind that ignores the gentle way to end."""
    child = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import signal, time; signal.signal(15, signal.SIG_IGN);"
            " print('up', flush=True); time.sleep(600)",
        ],
        stdout=subprocess.PIPE,
    )
    assert child.stdout is not None
    child.stdout.readline()
    return str(child.pid)


@server.tool()
def runs(command: str) -> str:
    """What a server can do with its disk and its network."""
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    return done.stdout.decode()


@server.tool()
def variable(name: str) -> str:
    return os.environ.get(name, "not set")


# One grey pixel as PNG; what kind it is said to be is wrong.
DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGOoBwAAgQCA05RTSgAAAABJRU5ErkJggg=="


@server.tool(structured_output=False)
def mixed() -> list[Any]:
    return [
        TextContent(type="text", text="a picture:"),
        ImageContent(type="image", data="A" * 4000, mime_type="image/png"),
        ImageContent(type="image", data=DOT, mime_type="image/jpeg"),
        AudioContent(type="audio", data="A" * 40, mime_type="audio/wav"),
        ResourceLink(type="resource_link", name="notes", uri="file:///notes.txt"),
    ]


@server.tool()
async def grow(ctx: Context) -> str:
    """Offers one tool more from now on."""
    server.add_tool(echo, name="echo_again", description="As echo.")
    await ctx.notify_tools_changed()
    return "grown"


async def _serve_http(port_file: Path, port: int = 0) -> None:
    import uvicorn

    app = server.streamable_http_app()
    config = uvicorn.Config(app, host="127.0.0.1", port=port, log_level="error")
    http = uvicorn.Server(config)
    serving = asyncio.create_task(http.serve())
    while not http.started:  # noqa: ASYNC110 (it is told nowhere else)
        await asyncio.sleep(0.02)
    port = http.servers[0].sockets[0].getsockname()[1]
    fresh = port_file.with_suffix(".new")
    fresh.write_text(str(port), encoding="utf-8")
    fresh.replace(port_file)
    await serving


if __name__ == "__main__":
    if "--http" in sys.argv:
        place, *ports = sys.argv[sys.argv.index("--http") + 1 :]
        asyncio.run(_serve_http(Path(place), *map(int, ports)))
    else:
        if "--noisy" in sys.argv:
            print("Welcome to the fake server!", flush=True)
            print("it starts", file=sys.stderr, flush=True)
        server.run()
