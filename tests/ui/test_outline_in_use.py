"""Outline, bookmarks, quotes, palette and the keys for them, in the program (LOOK.md "Keys")."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QListView

from desktop.ui.transcript.view import TranscriptView
from tests.e2e.nacre import Home
from tests.fakes.messages_api import MessagesServer, reply
from tests.ui.conftest import Enter
from tests.ui.program import Person

pytestmark = pytest.mark.timeout(300)

LONG = "\n\n".join(f"Layer {n} is laid down." for n in range(40))


def outline(person: Person) -> list[str]:
    """What a screen reader is told of the lines."""
    lists = person.parts(QListView, "outlineList")
    model = lists[0].model() if lists else None
    role = Qt.ItemDataRole.AccessibleTextRole
    return [str(model.index(at, 0).data(role)) for at in range(model.rowCount())] if model else []


def view(person: Person) -> TranscriptView:
    found = person.part(QListView, "transcript")
    assert isinstance(found, TranscriptView)
    return found


def test_the_outline_leads_through_a_conversation_and_bookmarks_stay(
    home: Home, enter: Enter
) -> None:
    with MessagesServer([reply(LONG), reply("Done.")]) as server:
        person = enter(server)
        person.open_folder(home.workspace)
        person.begin("Lay down layers")
        person.wait(lambda: person.reads("Layer 39") and person.idle())
        person.say("And now?")
        person.wait(lambda: person.reads("Done.") and person.idle())
        assert not person.shows("rightPane")
        person.keys("Ctrl+J")
        person.wait(lambda: len(outline(person)) == 2)
        assert "You are here" in outline(person)[1]
        person.keys("Alt+Up")
        person.keys("Alt+Up")
        person.wait(lambda: view(person).read_seq < 4 and "You are here" in outline(person)[0])
        # What a key does it does with what is read, not with what is off the screen.
        person.do("edit_message")
        person.wait(lambda: person.composer.toPlainText() == "Lay down layers")
        person.press(Qt.Key.Key_Escape)
        person.wait(lambda: person.composer.toPlainText() == "")
        person.keys("Ctrl+D")
        person.wait(lambda: "Bookmarked" in outline(person)[0])
        assert person.leave() == 0
        person = enter(server)
        person.wait(lambda: "Bookmarked" in "".join(outline(person)[:1]))
        assert person.leave() == 0


def test_a_row_is_quoted_and_the_palette_finds_actions_and_conversations(
    home: Home, enter: Enter
) -> None:
    with MessagesServer([reply("One\n\ntwo"), reply("Pearls.")]) as server:
        person = enter(server)
        person.open_folder(home.workspace)
        first = person.begin("Count to two")
        person.wait(lambda: person.reads("two") and person.idle())
        person.begin("Something else")
        person.wait(lambda: person.reads("Pearls") and person.idle())
        person.keys("Ctrl+1")
        person.wait(lambda: person.reads("Count to two"))
        person.do("quote")
        person.wait(lambda: person.composer.toPlainText() == "> One\n>\n> two\n\n")
        assert person.composer.textCursor().atEnd()
        person.keys("Ctrl+K")
        person.wait(lambda: person.shows("palette"))
        person.type_into("paletteField", "something")
        person.press(Qt.Key.Key_Return, person.part(QLineEdit, "paletteField"))
        person.wait(lambda: person.reads("Pearls") and not person.shows("palette"))
        person.keys("Ctrl+K")
        person.wait(lambda: person.shows("palette"))
        person.press(Qt.Key.Key_Escape, person.part(QLineEdit, "paletteField"))
        person.wait(lambda: not person.shows("palette"))
        assert person.composer.hasFocus()
        person.write("all of it")
        person.keys("Ctrl+K")
        person.wait(lambda: person.shows("palette"))
        person.type_into("paletteField", "select all")
        person.press(Qt.Key.Key_Return, person.part(QLineEdit, "paletteField"))
        person.wait(lambda: person.composer.textCursor().selectedText() == "all of it")
        assert first in person.tab_ids()
        assert person.leave() == 0
