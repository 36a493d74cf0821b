"""Compacting as a person does it: menu, what must be kept, the count, the marker (SPEC A11)."""

import pytest
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QPlainTextEdit

from tests.e2e.nacre import Home
from tests.fakes.messages_api import MessagesServer, assert_extends, reply, text
from tests.ui.conftest import Enter
from tests.ui.program import Person, said, sealed

pytestmark = pytest.mark.timeout(300)
LONG = "A pearl is laid down layer on layer. " * 20
SUMMARY = "Summary of the conversation so far: nacre was explained."


def ask_to_compact(person: Person, keep: str) -> None:
    """Conversation → Compact…, what must be kept, and the button."""
    person.do("compact")
    person.wait(lambda: person.parts(QDialog, "compactDialog"))
    field = person.part(QPlainTextEdit, "compactKeep")
    person.now(lambda: field.setPlainText(keep))
    box = person.part(QDialog, "compactDialog").findChild(QDialogButtonBox)
    assert box is not None
    button = box.button(QDialogButtonBox.StandardButton.Ok)
    assert button.text() == "Compact"
    person.click_on(button)
    person.wait(lambda: not person.parts(QDialog, "compactDialog"))


def activity(person: Person) -> str:
    return "".join(one.text() for one in person.parts(QLabel, "activityLine"))


def test_a11_a_conversation_is_compacted_from_the_menu_and_everything_stays_to_read(
    home: Home, enter: Enter
) -> None:
    """A11, S08: with one marker, and what is said next goes out behind the summary."""
    summary = reply(text(SUMMARY, chunk=8)).gate_after(6, "mid")
    with MessagesServer([reply(LONG), summary, reply("It is white.")]) as server:
        person = enter(server)
        tab_id = person.begin("How is nacre made?")
        person.wait(lambda: person.reads("layer on layer") and person.idle())
        ask_to_compact(person, "The word pearl")
        person.wait_at_gate(server, "mid")
        person.wait(lambda: activity(person).startswith("Compacting"))
        assert person.part_enabled("stopButton")
        server.release("mid")
        person.wait(lambda: person.reads("Compacted: ") and person.idle())
        shown = person.transcript()
        person.say("Which colour?")
        person.wait(lambda: person.reads("It is white.") and person.idle())
        assert person.leave() == 0
    assert server.rejected == []
    assert len([line for line in shown if "Compacted: " in line]) == 1
    assert shown[0] == "You: How is nacre made?" and "layer on layer" in shown[1]
    assert_extends(server.requests[0].json, server.requests[1].json)
    assert server.requests[1].last_text.endswith("The word pearl")
    texts = said(server, 3, "user")
    assert (texts[0], texts[-1]) == (SUMMARY, "Which colour?")
    kinds = [data.get("kind") for kind, data in sealed(home, tab_id) if kind == "system"]
    assert kinds.count("compaction") == 1


def test_a11_one_that_is_stopped_or_not_wanted_changes_nothing(home: Home, enter: Enter) -> None:
    """A11, U24: the dialog closed, and Stop while it is written."""
    summary = reply(text(SUMMARY, chunk=8)).gate_after(6, "mid")
    with MessagesServer([reply(LONG), summary]) as server:
        person = enter(server)
        tab_id = person.begin("How is nacre made?")
        person.wait(lambda: person.reads("layer on layer") and person.idle())
        before = sealed(home, tab_id)
        person.do("compact")
        person.wait(lambda: person.shows("compactDialog"))
        person.close_dialog("compactDialog")
        assert len(server.requests) == 1
        ask_to_compact(person, "")
        person.wait_at_gate(server, "mid")
        person.click("stopButton")
        person.wait(lambda: "stopped" in person.banner() and person.idle())
        assert sealed(home, tab_id) == before
        server.release("mid")
        assert person.leave() == 0
    assert server.rejected == []
