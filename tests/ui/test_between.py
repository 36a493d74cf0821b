"""The window and `nacre run` on one database, both real (DESIGN.md §7, SPEC U16).

The checks of every five seconds are put off for longer than a test waits, so that what comes in
came by the watcher of the write-ahead log.
"""

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractItemView, QLabel

from desktop.feed import outside
from tests.e2e.nacre import KEY, Home, ended
from tests.fakes.messages_api import MessagesServer, reply, text
from tests.ui.conftest import Enter
from tests.ui.program import SECONDS, Person

pytestmark = pytest.mark.timeout(300)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """An empty home; no check finds anything in the time of a test."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setattr(outside, "CHECK_SECONDS", 10 * SECONDS)
    return Home(tmp_path)


def activity(person: Person) -> str:
    return "".join(one.text() for one in person.parts(QLabel, "activityLine"))


def mark(person: Person) -> str:
    """What a screen reader is told of the first conversation in the sidebar."""
    (view,) = person.parts(QAbstractItemView, "conversationList")
    model = view.model()
    said = [
        str(model.index(at, 0).data(Qt.ItemDataRole.AccessibleTextRole))
        for at in range(model.rowCount())
    ]
    return next((one for one in said if "hello" in one), "")


def test_u16_a_turn_of_nacre_run_is_shown_as_running_there_and_its_rows_come_in_at_once(
    home: Home, enter: Enter
) -> None:
    answers = [reply("One."), reply(text("Two. " * 12)).gate_after(5, "mid")]
    with MessagesServer(answers) as server:
        person = enter(server)
        tab_id = person.begin("hello")
        person.wait(lambda: person.reads("One.") and person.idle())
        there = replace(home, base_url=server.base_url)
        other = there.start("run", "--json", "--tab", tab_id, "more")
        person.wait_at_gate(server, "mid")
        person.wait(lambda: person.reads("more"))
        number = f"(number {other.pid}, since today "
        said = "Nacre runs this conversation in another process " + number
        person.wait(lambda: activity(person).startswith(said))
        person.wait(lambda: "running" in mark(person))
        assert not person.part_enabled("sendButton")
        server.release("mid")
        person.wait(lambda: person.reads("Two.") and person.idle())
        person.wait(lambda: "running" not in mark(person))
        assert ended(other).code == 0
        assert person.leave() == 0


def test_u16_a_row_that_plain_sql_lays_down_comes_in_at_once(home: Home, enter: Enter) -> None:
    with MessagesServer([reply("One.")]) as server:
        person = enter(server)
        tab_id = person.begin("hello")
        person.wait(lambda: person.reads("One.") and person.idle())
        with closing(sqlite3.connect(home.database)) as plain, plain:
            plain.execute(
                "INSERT INTO chunks(id, tab_id, seq, turn_id, role, type, data_json, created_at)"
                " SELECT 'by-hand', tab_id, max(seq) + 1, 'by-hand', 'user', 'text',"
                ' \'{"text": "By hand."}\', 1 FROM chunks WHERE tab_id = ?',
                (tab_id,),
            )
        person.wait(lambda: person.reads("By hand."))
        assert person.leave() == 0
