"""The strip of open conversations, and what it says is in view (LOOK.md "The window", U37)."""

from collections.abc import Iterator

import pytest
from PySide6.QtGui import QAccessible

from tests.e2e.nacre import Home
from tests.fakes.messages_api import MessagesServer, reply, text
from tests.ui.conftest import Enter
from tests.ui.program import Person


@pytest.fixture
def server() -> Iterator[MessagesServer]:
    with MessagesServer([reply(text(f"Answer {number}.")) for number in range(3)]) as made:
        yield made


def chosen_of(person: Person) -> list[str]:
    """The tabs that are told to be selected, those without a place aside."""
    strip = QAccessible.queryAccessibleInterface(person.tabs)
    parts = [strip.child(at) for at in range(strip.childCount())]
    seen = [one for one in parts if one.state().selected]
    return [one.text(QAccessible.Text.Name) for one in seen]


def looks_chosen(person: Person) -> bool:
    """Whether a tab with a width is the one that Qt draws as selected."""
    return not person.tabs.tabRect(person.tabs.currentIndex()).isEmpty()


def three(person: Person) -> list[str]:
    ids: list[str] = []
    for words in ("First", "Second", "Third"):
        ids.append(person.begin(words))
        person.wait(person.idle)
    return ids


def in_view(person: Person) -> str:
    page = person.window.area.current
    return page.tab_id if page is not None else ""


def test_u37_no_tab_looks_chosen_while_no_conversation_is_in_view(
    home: Home, server: MessagesServer, enter: Enter
) -> None:
    person = enter(server)
    first, second, third = three(person)
    assert looks_chosen(person)
    assert chosen_of(person) == ["Third"]
    person.do("new")
    assert not looks_chosen(person)
    assert chosen_of(person) == ["New conversation"]
    person.do("bin")
    person.wait(lambda: chosen_of(person) == ["Bin"])
    assert person.tab_ids() == [first, second, third]
    person.go_to(third)
    person.wait(lambda: in_view(person) == third)
    assert looks_chosen(person)
    assert chosen_of(person) == ["Third"]
    assert person.leave() == 0


@pytest.mark.parametrize(("key", "comes"), [("next_tab", 2), ("previous_tab", 0)])
def test_u37_the_keys_go_on_from_the_conversation_that_was_in_view_last(
    home: Home, server: MessagesServer, enter: Enter, key: str, comes: int
) -> None:
    person = enter(server)
    ids = three(person)
    person.go_to(ids[1])
    person.wait(lambda: in_view(person) == ids[1])
    person.do("new")
    person.do(key)
    person.wait(lambda: in_view(person) == ids[comes])
    person.do(key)
    person.wait(lambda: in_view(person) == ids[(comes + (1 if key == "next_tab" else -1)) % 3])
    assert person.leave() == 0


def test_u37_a_conversation_that_is_closed_meanwhile_leaves_the_strip_alone(
    home: Home, server: MessagesServer, enter: Enter
) -> None:
    person = enter(server)
    ids = three(person)
    person.do("new")
    person.now(lambda: person.window.area.closed.emit(ids[2]))
    person.wait(lambda: person.tab_ids() == ids[:2])
    assert not looks_chosen(person)
    person.do("next_tab")
    person.wait(lambda: in_view(person) == ids[0])
    person.do("reopen_tab")
    person.wait(lambda: person.tab_ids() == ids)
    assert person.leave() == 0
