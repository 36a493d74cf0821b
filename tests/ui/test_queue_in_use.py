"""The messages that wait, in the whole program (SPEC C05, C06, U14)."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from tests.e2e.nacre import Home
from tests.fakes.messages_api import MessagesServer, reply, text
from tests.ui.conftest import Enter
from tests.ui.program import Person, said

pytestmark = pytest.mark.timeout(300)

LONG = "What was shown so far stays as it is and is marked."


def waiting(person: Person) -> list[str]:
    """Their words from above to below."""
    found = person.parts(QLabel, "queuedText")
    found.sort(key=lambda one: one.mapTo(person.window, QPoint()).y())
    return [one.text().removeprefix("Waiting: ") for one in found]


def test_c05_messages_are_put_in_another_order_by_keys_and_go_out_so_after_a_restart(
    home: Home, enter: Enter
) -> None:
    with MessagesServer([reply(text(LONG)).gate_after(5, "mid"), reply("Two.")]) as server:
        person = enter(server)
        person.begin("First")
        person.wait_at_gate(server, "mid")
        for one in ("alpha", "beta", "gamma"):
            person.say(one)
        person.wait(lambda: waiting(person) == ["alpha", "beta", "gamma"])
        for _ in range(3):  # the first press leads to the queue
            person.keys("Alt+Shift+Up")
        person.wait(lambda: waiting(person) == ["gamma", "alpha", "beta"])
        person.keys("Alt+Shift+Down")
        person.wait(lambda: waiting(person) == ["alpha", "gamma", "beta"])
        person.do("stop")
        person.wait(lambda: person.idle() and person.shows("releaseQueue"))
        server.release("mid")
        assert person.leave() == 0

        person = enter(server)
        person.wait(lambda: waiting(person) == ["alpha", "gamma", "beta"])
        person.click("releaseQueue")
        person.wait(lambda: person.reads("Two.") and person.idle())
        assert person.leave() == 0
    texts = said(server, 2, "user")
    assert [one for one in texts if one in ("alpha", "beta", "gamma")] == ["alpha", "gamma", "beta"]


def test_c05_what_is_written_while_a_message_is_kept_is_not_said_with_it_again(
    enter: Enter,
) -> None:
    with MessagesServer([reply(text(LONG)).gate_after(5, "mid"), reply("Two.")]) as server:
        person = enter(server)
        person.begin("First")
        person.wait_at_gate(server, "mid")

        def in_one_go() -> None:
            QTest.keyClicks(person.composer, "alpha")
            QTest.keyClick(person.composer, Qt.Key.Key_Return)
            QTest.keyClicks(person.composer, "beta")

        person.now(in_one_go)
        person.wait(lambda: waiting(person) == ["alpha"])
        person.wait(lambda: person.composer.toPlainText() == "beta")
        person.press(Qt.Key.Key_Return)
        person.wait(lambda: waiting(person) == ["alpha", "beta"])
        server.release("mid")
        person.wait(lambda: person.reads("Two.") and person.idle())
        assert person.leave() == 0
    assert said(server, 2, "user")[-2:] == ["alpha", "beta"]
