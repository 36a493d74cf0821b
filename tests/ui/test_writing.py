"""Writing in the whole program: files, commands, and what is kept of an unsent message."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QListWidget

from desktop.ui.attachments import AttachmentChip
from desktop.ui.message_field import LONG_PASTE
from tests.e2e.nacre import Home
from tests.fakes.messages_api import MessagesServer, reply
from tests.ui.conftest import Enter
from tests.ui.program import Person, said

pytestmark = pytest.mark.timeout(300)


def offered(person: Person) -> list[str]:
    found = person.parts(QListWidget, "completionList")
    return [found[0].item(row).text() for row in range(found[0].count())] if found else []


def test_a_message_names_a_file_is_kept_while_unsent_and_commands_act_on_the_conversation(
    home: Home, enter: Enter
) -> None:
    """SPEC U14, U07: through the end of the program and another begin of it."""
    (home.workspace / "the notes.md").write_text("pearls")
    pasted = "a line\r\n" * LONG_PASTE
    with MessagesServer([reply("Hello."), reply("I see.")]) as server:
        person = enter(server)
        person.open_folder(home.workspace)
        person.begin("Hello")
        person.wait(lambda: person.reads("Hello.") and person.idle())
        person.write("/rename A pearl")
        person.press(Qt.Key.Key_Return)
        person.wait(lambda: "A pearl" in person.tabs.tabText(0))
        person.write("/usage")
        person.press(Qt.Key.Key_Return)
        person.wait(lambda: person.shows("usageBox"))
        person.close_dialog("usageBox")
        person.write("Look at @note")
        person.wait(lambda: offered(person) == ["the notes.md"])
        person.press(Qt.Key.Key_Return)
        person.paste(pasted)
        assert person.leave() == 0

        person = enter(server)
        person.wait(lambda: person.shows("transcript") and person.composer.toPlainText())
        assert person.composer.toPlainText() == 'Look at "the notes.md" '
        assert len(person.window.findChildren(AttachmentChip)) == 1
        person.press(Qt.Key.Key_Return)
        person.wait(lambda: person.reads("I see.") and person.idle())
        assert person.leave() == 0
    texts = said(server, 2, "user")
    assert any(pasted in one for one in texts)
    assert any('Look at "the notes.md" ' in one for one in texts)
