"""SPEC U40: Ctrl+F finds a text in the conversation, loaded or not, and brings it into view."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QLineEdit, QListView

from desktop.ui.transcript.model import TranscriptModel
from desktop.ui.transcript.pieces import TextPiece
from desktop.ui.transcript.view import TranscriptView
from tests.e2e.nacre import Home
from tests.fakes.messages_api import MessagesServer, reply, text, tool_use
from tests.ui.conftest import Enter
from tests.ui.many_rows import lay_down
from tests.ui.program import Person

pytestmark = pytest.mark.timeout(300)


def view(person: Person) -> TranscriptView:
    found = person.part(QListView, "transcript")
    assert isinstance(found, TranscriptView)
    return found


def find(person: Person, words: str) -> None:
    person.keys("Ctrl+F")
    field = person.part(QLineEdit, "findField")
    person.now(lambda: field.setText(words))


def count(person: Person) -> str:
    return person.part(QLabel, "findCount").text()


def marked(person: Person) -> list[str]:
    """The marked stretches of the rows on the screen, as they are drawn."""
    shown = view(person)
    model = shown.model()
    assert isinstance(model, TranscriptModel)
    boxes = [shown.box_of(model.row(one.row).id) for one in shown.layout_now.placed]
    return [
        piece.document.toPlainText()[low:high]
        for box in boxes
        if box is not None
        for piece in box.pieces
        if isinstance(piece, TextPiece)
        for low, high in piece.found
    ]


LONG = "\n\n".join(f"Layer {n} is laid down." for n in range(40))


def test_u40_a_text_far_above_is_found_marked_and_stepped_through(home: Home, enter: Enter) -> None:
    script = [
        reply(f"{LONG}\n\nThe Needle is here."),
        reply(LONG),
        reply("And another needle, preneedled."),
    ]
    with MessagesServer(script) as server:
        person = enter(server)
        person.open_folder(home.workspace)
        person.begin("One?")
        person.wait(lambda: person.reads("Needle is here") and person.idle())
        person.say("Two?")
        person.wait(lambda: person.reads("Layer 39") and person.idle())
        person.say("Three?")
        person.wait(lambda: person.reads("another needle") and person.idle())
        find(person, "needle")
        person.wait(lambda: count(person) == "2 of 2")
        assert [one.lower() for one in marked(person)] == ["needle", "needle"]
        person.hit(Qt.Key.Key_Return, person.part(QLineEdit, "findField"))
        person.wait(lambda: count(person) == "1 of 2" and marked(person) == ["Needle"])
        assert person.part(QLabel, "findCount").isVisible()
        person.keys("Shift+F3")
        person.wait(lambda: count(person) == "2 of 2")
        find(person, "nothing like it")
        person.wait(lambda: count(person) == "Not found")
        person.hit(Qt.Key.Key_Escape, person.part(QLineEdit, "findField"))
        assert not person.shows("findBar") and not marked(person)
        assert person.leave() == 0


def test_u40_what_was_found_is_still_marked_after_a_look_elsewhere(
    home: Home, enter: Enter
) -> None:
    with MessagesServer([reply("One pearl."), reply("Two pearls.")]) as server:
        person = enter(server)
        person.open_folder(home.workspace)
        first = person.begin("One?")
        person.wait(lambda: person.reads("One pearl") and person.idle())
        find(person, "pearl")
        person.wait(lambda: count(person) == "1 of 1" and marked(person) == ["pearl"])
        person.keys("Ctrl+N")
        person.begin("Two?")
        person.wait(lambda: person.reads("Two pearls") and person.idle())
        person.go_to(first)
        person.wait(lambda: count(person) == "1 of 1" and marked(person) == ["pearl"])
        assert person.leave() == 0


def test_u40_what_is_folded_away_in_a_card_is_unfolded(home: Home, enter: Enter) -> None:
    home.workspace.joinpath("notes.txt").write_text("first\nhidden pearl\nlast\n" * 3)
    call = reply(tool_use("read_file", {"path": "notes.txt"}))
    with MessagesServer([call, reply(text("I have read it."))]) as server:
        person = enter(server)
        person.open_folder(home.workspace)
        person.begin("Read it.")
        person.wait(lambda: person.reads("I have read it") and person.idle())
        find(person, "hidden pearl")
        person.wait(lambda: count(person) == "1 of 1" and "hidden pearl" in marked(person))
        assert person.leave() == 0


def test_u40_rows_that_are_not_loaded_are_found_and_come_into_view(
    home: Home, enter: Enter
) -> None:
    with MessagesServer([reply("So it is.")]) as server:
        person = enter(server)
        person.open_folder(home.workspace)
        tab = person.begin("Is it?")
        person.wait(lambda: person.reads("So it is") and person.idle())
        assert person.leave() == 0
        lay_down(home, tab, 900)
        person = enter(server)
        person.wait(lambda: person.reads("Row 899"))
        find(person, "row 17 ")
        person.wait(lambda: count(person) == "1 of 1" and marked(person) == ["Row 17 "])
        assert person.leave() == 0
