"""Homes to start in: an empty one, and one with everything in it that could hold a start up.

The full one has thousands of conversations of which twenty are open, the last one long; a tool
server that says nothing, ever; and a provider that takes the connection and never answers.
"""

import json
import socket
import sqlite3
import sys
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

from tests.bench._corpus import made
from tests.e2e.nacre import Home

CONVERSATIONS, TABS, ROWS = 10_000, 20, 2_000
_SILENT = Path(__file__).parents[1] / "fakes" / "plain_tool_server.py"


def empty(root: Path) -> Home:
    """Nothing was ever done here; there is no key either."""
    (root / "data").mkdir(parents=True)
    return Home(root, key="")


@contextmanager
def full(
    root: Path,
    *,
    conversations: int = CONVERSATIONS,
    tabs: int = TABS,
    rows: int = ROWS,
    has_tool_server: bool = True,
) -> Generator[Home]:
    """The provider of it is there as long as the context."""
    root.mkdir(parents=True, exist_ok=True)
    with socket.create_server(("127.0.0.1", 0), backlog=128) as deaf:
        home = Home(root, f"http://127.0.0.1:{deaf.getsockname()[1]}")
        home.data.mkdir()
        first = made(home.data, rows).tab
        with closing(sqlite3.connect(home.database)) as connection, connection:
            _add(connection, first, conversations, tabs)
        cache = {"current_tab": first}
        (home.data / "window.json").write_text(json.dumps(cache), encoding="utf-8")
        if has_tool_server:
            silent = [str(_SILENT), "silent", str(root / "silent.pid")]
            servers = {"mcpServers": {"silent": {"command": sys.executable, "args": silent}}}
            (home.data / "mcp.json").write_text(json.dumps(servers), encoding="utf-8")
        yield home


def _add(connection: sqlite3.Connection, first: str, conversations: int, tabs: int) -> None:
    """Beside the first conversation, which is the last one that was looked at."""
    (workspace,) = connection.execute("SELECT workspace_id FROM tabs").fetchone()
    connection.execute(
        "UPDATE tabs SET is_open = 1, last_message_at = ? WHERE id = ?", (conversations, first)
    )
    connection.executemany(
        "INSERT INTO tabs(id, workspace_id, title, position, is_open, created_at, last_message_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            (f"{n:08d}-0000-4000-8000-000000000000", workspace, f"About {n}", n, n < tabs, n, n)
            for n in range(1, conversations)
        ),
    )
