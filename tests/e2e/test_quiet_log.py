"""Real processes through their failing paths: no word that was said is in the log folder (F9)."""

import json
import sqlite3
import sys
from contextlib import closing
from dataclasses import replace

from tests.e2e.nacre import Home
from tests.fakes.messages_api import MessagesServer, fails, reply, text, tool_use

PROMPT = "canaryprompt41"
KEY = "canarykey42-0123456789"
OUTPUT = "canaryoutput43"
NAME = "canaryname44"
SERVER_WORDS = "canarywords45"
CANARIES = (PROMPT, KEY, OUTPUT, NAME, SERVER_WORDS)


def logged(home: Home) -> str:
    """What `nacre.log` and its older parts hold; no canary may be in it."""
    found = "\n".join(
        file.read_text("utf-8") for file in sorted((home.data / "logs").glob("nacre.log*"))
    )
    assert [one for one in CANARIES if one in found] == []
    assert str(home.root) not in found
    return found


def test_f9_no_word_of_a_conversation_its_key_or_its_files_is_in_the_log(home: Home) -> None:
    home.data.mkdir(exist_ok=True)
    failing = [sys.executable, "-c", f"import sys; sys.exit('{SERVER_WORDS}')"]
    servers = {NAME: {"command": failing[0], "args": failing[1:], "sandbox": False}}
    (home.data / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    print_it = f"echo {OUTPUT}; ls /{NAME}; exit 3"
    answers = [
        reply(
            tool_use("shell", {"command": print_it}),
            tool_use("read_file", {"path": f"/{NAME}/x"}),
            tool_use(NAME, {}),
        ),
        fails(400, "invalid_request_error", f"messages.1: {PROMPT} {KEY} {OUTPUT}"),
        fails(401, "authentication_error", f"no such key: {KEY}"),
        reply(text(OUTPUT)).cut_at_byte(300),
        reply(text("Fine.")),
        reply(text("Fine.")),
    ]
    with MessagesServer(answers) as server:
        there = replace(home, base_url=server.base_url, key=KEY)
        for _ in range(3):
            there.run(PROMPT, "--permission", "auto")
        tab = home.rows("select id from tabs")[0]["id"]
        _damage(home, tab)
        there.nacre("run", "--json", "--tab", tab, PROMPT)
        assert len(server.requests) == 6
    home.nacre("restore", str(home.root / NAME))
    text_ = logged(home)
    assert f"Row 99 of {tab} can't be read" in text_
    assert "a tool server is waiting" in text_


def _damage(home: Home, tab: str) -> None:
    with closing(sqlite3.connect(home.database)) as plain, plain:
        plain.execute(
            "INSERT INTO chunks(id, tab_id, seq, turn_id, role, type, data_json, created_at)"
            " VALUES('x', ?, 99, 't', 'assistant', 'text', ?, 1)",
            (tab, f'{{"text": "{PROMPT} '),
        )
