"""Typing costs the same in any conversation: the rows know nothing of it (SPEC U02)."""

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import QEvent, QObject, Qt
from sqlalchemy import Engine, event

from tests.e2e.nacre import Home
from tests.fakes.messages_api import MessagesServer, reply, text
from tests.ui.conftest import Enter
from tests.ui.many_rows import lay_down
from tests.ui.program import Person

pytestmark = pytest.mark.timeout(300)

ROWS = 900
LOOKS = 40
LETTERS = "Lay down layers of aragonite, thinner than light is long."


class Paints(QObject):
    """Counts how often a widget is painted, and how often it is laid out anew."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        del watched
        self.count += event.type() in (QEvent.Type.Paint, QEvent.Type.Resize)
        return False


@pytest.fixture
def asked() -> Iterator[list[str]]:
    """All that SQLite is asked, on every connection, from now on."""
    heard: list[str] = []

    def watch(connection: object, _record: object) -> None:
        connection.set_trace_callback(heard.append)  # type: ignore[attr-defined]

    event.listen(Engine, "connect", watch)
    yield heard
    event.remove(Engine, "connect", watch)


def of_rows(asked: list[str]) -> list[str]:
    """What was asked of the rows of conversations."""
    return [one for one in asked if "data_json" in one]


def quiet(asked: list[str], busy: Callable[[], bool]) -> Callable[[], bool]:
    """Whether in many looks at the window no row was asked for: all is read by now."""
    looks, known = 0, -1

    def look() -> bool:
        nonlocal looks, known
        now = len(of_rows(asked))
        looks = looks + 1 if now == known and not busy() else 0
        known = now
        return looks > LOOKS

    return look


def long_one(home: Home, enter: Enter, server: MessagesServer) -> Person:
    """The program in another life, at the end of a conversation of many rows."""
    person = enter(server)
    person.open_folder(home.workspace)
    tab = person.begin("Hello")
    person.wait(lambda: person.reads("Answered.") and person.idle())
    assert person.leave() == 0
    lay_down(home, tab, ROWS)
    person = enter(server)
    person.wait(lambda: person.reads(f"Row {ROWS - 1} of many.") and person.idle())
    return person


def test_u02_typing_leaves_the_rows_alone(home: Home, enter: Enter, asked: list[str]) -> None:
    """No document is built, no row is read, nothing of the transcript is painted."""
    with MessagesServer([reply(text("Answered."))]) as server:
        person = long_one(home, enter, server)
        view, paints = person.pane.view, Paints()
        person.now(person.composer.setFocus)
        # The first letter may change what stands around the field; it is the others that come fast.
        person.write(LETTERS[0])
        person.wait(lambda: any("drafts" in one for one in asked))
        person.wait(quiet(asked, lambda: view.frame_due))
        view.viewport().installEventFilter(paints)
        built, placed = view.documents_built, view.layout_now
        asked.clear()
        for letter in LETTERS[1:]:
            person.write(letter)
        person.press(Qt.Key.Key_Backspace)
        # It is kept, so the program had its time.
        person.wait(lambda: any("drafts" in one for one in asked))
        assert person.composer.toPlainText() == LETTERS[:-1]
        assert not of_rows(asked), "\n".join(one[:700] for one in of_rows(asked))
        assert (view.documents_built, view.layout_now) == (built, placed)
        assert paints.count == 0
        person.now(lambda: view.jump(1))
        person.wait(lambda: paints.count and of_rows(asked))  # who counts does count
        assert person.leave() == 0
