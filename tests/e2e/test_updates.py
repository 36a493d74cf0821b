"""An update while work is open, with the real window (SPEC U35).

The program of today is left in the middle of things; the one that is started next is the next
version, with a schema that is one higher. What a package does to the program's files is tried by
`packaging/test_packages.py`.
"""

import json
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import pytest

from desktop.store.plain import SCHEMA
from tests.e2e.nacre import SECONDS, Home, ended
from tests.fakes.messages_api import MessagesServer, reply, text

NEXT_SCHEMA = SCHEMA + 1
HARBOUR, BOATS = "Look at the harbour", "Count the boats"
DRAFTS = ("half a thought", "or the seals?")
LONG = "What was shown so far stays as it is and is marked as broken off."
HEAD = f'''
from alembic import op

revision = "{NEXT_SCHEMA:04}"
down_revision = "{SCHEMA:04}"


def upgrade() -> None:
    connection = op.get_bind()
    connection.exec_driver_sql("ALTER TABLE tabs ADD COLUMN colour TEXT")
'''
WELL = HEAD
SHOWN = LONG[:24]
SCRIPT = [reply("Grey."), reply(text(LONG)).gate_after(5, "mid")]
FAILS = HEAD + '    connection.exec_driver_sql("INSERT INTO nowhere VALUES(1)")\n'

pytestmark = pytest.mark.timeout(300)


class Window:
    """A running window, of this version or of the next, and a person before it."""

    def __init__(self, home: Home, revision: Path | None = None) -> None:
        more = [] if revision is None else [str(revision)]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.e2e.hands", str(home.data), *more],
            env=home.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
            print(self.process.communicate()[1])

    def do(self, *words: str) -> dict[str, Any]:
        """One act; what is seen after it."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(words) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, self.process.communicate()[1]
        return json.loads(line)

    def until(self, holds: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
        """Looks until it holds; what was seen then."""
        deadline = time.monotonic() + SECONDS
        while not holds(seen := self.do("look")):
            assert time.monotonic() < deadline, seen
            time.sleep(0.05)
        return seen

    def send(self, message: str) -> None:
        self.do("type", message)
        self.until(lambda seen: seen["canSend"])
        self.do("press", "Return")
        self.until(lambda seen: not seen["written"])

    def desk(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """What is seen in the two conversations once each is whole, the first one first."""
        self.until(lambda seen: len(seen["tabs"]) == 2 and seen["isOpen"])
        self.do("press", "Ctrl+1")
        harbour = self.until(lambda seen: seen["current"] == HARBOUR and _is_whole(seen))
        self.do("press", "Ctrl+2")
        boats = self.until(lambda seen: seen["current"] == BOATS and _is_whole(seen))
        return harbour, boats

    def leave(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        found = ended(self.process)
        assert found.code == 0, found.err
        assert "Traceback" not in found.err


def _is_whole(seen: dict[str, Any]) -> bool:
    """The page has been read; in view of the waiting message, so has the queue."""
    return bool(
        seen["rows"] and seen["written"] and (seen["waiting"] or seen["current"] == HARBOUR)
    )


def revision(home: Home, text: str) -> Path:
    file = home.root / "next.py"
    file.write_text(text, "utf-8")
    return file


def left_in_the_middle(home: Home, server: MessagesServer, how: signal.Signals) -> None:
    """Two conversations with a draft each; in one a turn runs and a message waits. Then it ends."""
    first = home.run(HARBOUR)
    assert first.code == 0, first.err
    with Window(home) as window:
        window.until(lambda seen: seen["rows"])
        window.do("type", "half a thought")
        window.do("press", "Ctrl+N")
        window.until(lambda seen: not seen["rows"] and seen["written"] == "")
        window.send(BOATS)
        window.until(lambda seen: BOATS in seen["current"] and SHOWN in " ".join(seen["rows"]))
        window.send("and then the gulls")
        window.until(lambda seen: seen["waiting"])
        window.do("type", "or the seals?")
        drafts = "select text from drafts where text != '' order by text"
        window.until(lambda _: [row[0] for row in home.rows(drafts)] == list(DRAFTS))
        window.process.send_signal(how)
        ended(window.process)
    server.release("mid")


def schema_of(database: Path) -> int:
    with closing(sqlite3.connect(database)) as plain:
        assert plain.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return int(plain.execute("PRAGMA user_version").fetchone()[0])


def everything(database: Path) -> list[str]:
    with closing(sqlite3.connect(database)) as plain:
        return list(plain.iterdump())


def assert_as_it_was_left(window: Window) -> None:
    harbour, boats = window.desk()
    assert harbour["tabs"] == boats["tabs"] == [HARBOUR, BOATS]
    assert harbour["rows"] == [f"You: {HARBOUR}", "Answer: Grey."]
    assert (harbour["written"], boats["written"]) == DRAFTS
    assert (harbour["waiting"], boats["waiting"]) == ([], ["Waiting: and then the gulls"])
    assert boats["isHeld"], "it waits for the person"
    assert not boats["isRunning"]
    assert boats["rows"][0] == f"You: {BOATS}"


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL], ids=["ended", "killed"])
def test_u35_after_an_update_tabs_drafts_and_queue_are_there_and_nothing_runs_by_itself(
    home: Home, how: signal.Signals
) -> None:
    with MessagesServer([*SCRIPT, reply("Nine gulls.")]) as server:
        there = replace(home, base_url=server.base_url)
        left_in_the_middle(there, server, how)
        before = everything(home.database)
        asked = len(server.requests)

        with Window(there, revision(home, WELL)) as window:
            begun = window.until(lambda seen: seen["rows"])
            assert_as_it_was_left(window)
            assert len(server.requests) == asked
            if how == signal.SIGTERM:
                assert begun["current"] == BOATS
            window.do("click", "releaseQueue")
            window.until(lambda seen: any("Nine gulls." in row for row in seen["rows"]))
            window.leave()
        assert server.rejected == []
    assert schema_of(home.database) == NEXT_SCHEMA
    copy = home.data / f"nacre.db.before-{NEXT_SCHEMA}-was-{SCHEMA}"
    assert everything(copy) == before

    refused = home.nacre("tabs")
    assert (refused.code, "newer" in refused.err) == (1, True)
    back = Home(home.root / "back")
    back.data.mkdir(parents=True)
    copy.rename(back.database)
    with Window(back) as window:
        assert_as_it_was_left(window)
        window.leave()


def test_u35_an_update_that_fails_leaves_everything_to_the_version_before(home: Home) -> None:
    with MessagesServer(SCRIPT) as server:
        there = replace(home, base_url=server.base_url)
        left_in_the_middle(there, server, signal.SIGKILL)
        before = everything(home.database)

        with Window(there, revision(home, FAILS)) as window:
            (told,) = window.until(lambda seen: seen["told"])["told"]
            assert told.startswith(f"{home.database} could not be brought up to this version")
            assert "Start the version of Nacre that you had before" in told
            window.leave()
        assert schema_of(home.database) == SCHEMA
        assert everything(home.database) == before

        with Window(there) as window:
            assert_as_it_was_left(window)
            window.leave()
