"""Several windows of one program: one strip, each conversation in view in one of them (F7)."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPlainTextEdit

from desktop.ui.main_window import MainWindow
from tests.e2e.nacre import Home
from tests.fakes.messages_api import MessagesServer, reply, text
from tests.ui.conftest import Enter
from tests.ui.program import Person, outcomes


@pytest.fixture
def server() -> Iterator[MessagesServer]:
    with MessagesServer([reply(text("One.")), reply(text("Two.")), reply(text("Three."))]) as made:
        yield made


def field_of(window: MainWindow) -> QPlainTextEdit:
    (field,) = (one for one in window.findChildren(QPlainTextEdit, "composer") if one.isVisible())
    return field


def in_view(window: MainWindow) -> str:
    page = window.area.current
    return page.tab_id if page is not None else ""


def begun(person: Person) -> dict[bool, str]:
    """What stands on the page of each window, by whether its sidebar is hidden."""
    windows = [one for one in person.windows() if one.area.composer is not None]
    return {one.sidebar.isHidden(): field_of(one).toPlainText() for one in windows}


def again_with_both(enter: Enter, server: MessagesServer) -> Person:
    """The next start, once each of two windows has its own text again."""
    person = enter(server)
    person.wait(lambda: len(person.windows()) == 2)
    person.wait(lambda: begun(person) == {True: "in the first", False: "in the second"})
    return person


def two_windows(person: Person) -> tuple[MainWindow, MainWindow, str, str]:
    """One conversation in view in each."""
    first = person.window
    left = person.begin("First")
    person.wait(person.idle)
    second = person.another_window()
    right = person.begin("Second")
    person.wait(person.idle)
    return first, second, left, right


def test_f7_two_windows_show_two_conversations_of_one_strip(
    home: Home, server: MessagesServer, enter: Enter
) -> None:
    person = enter(server)
    first, second, left, right = two_windows(person)
    assert (in_view(first), in_view(second)) == (left, right)
    for window in (first, second):
        person.look_at(window)
        person.wait(lambda: person.tab_ids() == [left, right])
    assert second.pos() != first.pos()
    person.do("quit")
    assert person.ended() == 0


def test_f7_a_conversation_that_another_window_shows_is_shown_there(
    home: Home, server: MessagesServer, enter: Enter
) -> None:
    person = enter(server)
    first, second, left, right = two_windows(person)
    person.go_to(left)
    person.wait(first.isActiveWindow)
    assert (in_view(first), in_view(second)) == (left, right)
    person.look_at(second)
    assert second.area.strip.current() == right, "the strip shows what the window shows"
    person.start_again(f"nacre://tab/{left}?seq=1")
    person.wait(first.isActiveWindow)
    assert (in_view(first), in_view(second)) == (left, right)
    person.do("quit")
    assert person.ended() == 0


def test_f7_u14_a_draft_moves_with_its_conversation_into_the_other_window(
    home: Home, server: MessagesServer, enter: Enter
) -> None:
    person = enter(server)
    first, second, left, right = two_windows(person)
    person.look_at(first)
    person.write("half a thought")
    person.do("new")
    person.look_at(second)
    person.go_to(left)
    person.wait(lambda: in_view(second) == left and field_of(second).toPlainText())
    assert field_of(second).toPlainText() == "half a thought"
    assert [page.tab_id for page in first.area.pages()] == []
    person.write(", and the rest")
    person.go_to(right)
    person.look_at(first)
    person.go_to(left)
    person.wait(lambda: in_view(first) == left and field_of(first).toPlainText())
    assert field_of(first).toPlainText() == "half a thought, and the rest"
    person.do("quit")
    assert person.ended() == 0


def test_f7_closing_one_of_two_windows_ends_nothing(home: Home, enter: Enter) -> None:
    with MessagesServer(
        [reply(text("A long answer, with a gate within it, and then B")).gate_after(5, "hold")]
    ) as server:
        person = enter(server)
        first = person.window
        tab_id = person.begin("Go on")
        person.wait_at_gate(server, "hold")
        second = person.another_window()
        person.look_at(first)
        person.write("later")
        person.close()
        person.wait(lambda: person.windows() == [second])
        person.look_at(second)
        person.go_to(tab_id)
        person.wait(lambda: field_of(second).toPlainText() == "later")
        server.release("hold")
        person.wait(lambda: person.idle() and person.reads("and then B"))
        assert person.leave() == 0
    assert outcomes(home, tab_id) == ["done"]


def test_f7_nothing_of_a_closed_window_hears_of_conversations_any_more(
    home: Home, server: MessagesServer, enter: Enter, caplog: pytest.LogCaptureFixture
) -> None:
    person = enter(server)
    tab_id = person.begin("First")
    person.wait(person.idle)
    first = person.window
    desk = first.desk
    assert desk is not None
    before = len(desk.doors.hub.known())
    second = person.another_window()
    person.do("right_pane")
    person.now(lambda: second.desk and second.desk.searching.begin("First"))
    person.wait(lambda: len(desk.doors.hub.known()) > before)
    person.close()
    person.wait(lambda: person.windows() == [first])
    assert len(desk.doors.hub.known()) == before
    person.look_at(first)
    person.say("First again")
    person.wait(lambda: person.reads("Two.") and person.idle())
    assert not [one for one in caplog.records if one.levelname in ("WARNING", "ERROR")]
    assert person.leave() == 0
    assert outcomes(home, tab_id) == ["done", "done"]


def test_f7_what_is_begun_in_each_window_is_there_again(
    home: Home, server: MessagesServer, enter: Enter
) -> None:
    """U14: two pages to begin a conversation have two drafts."""
    person = enter(server)
    first = person.window
    person.wait(lambda: first.desk and first.desk.new_draft.is_read)
    person.write("in the first")
    person.do("sidebar")  # which tells it from the other one in the next start, too
    second = person.another_window()
    person.wait(lambda: second.desk and second.desk.new_draft.is_read)
    person.now(second.sidebar.show)
    person.write("in the second")
    for _ in range(2):
        # The one in front comes first in the next start, whatever its number is.
        person.do("quit")
        assert person.ended() == 0
        person = again_with_both(enter, server)
        person.look_at(next(one for one in person.windows() if one.sidebar.isHidden()))
    person.do("quit")
    assert person.ended() == 0


def test_f7_the_next_start_brings_back_all_windows(
    home: Home, server: MessagesServer, enter: Enter
) -> None:
    person = enter(server)
    _, _, left, right = two_windows(person)
    person.do("quit")
    assert person.ended() == 0
    person = enter(server)
    person.wait(lambda: len(person.windows()) == 2)
    person.wait(lambda: {in_view(one) for one in person.windows()} == {left, right})
    person.do("quit")
    assert person.ended() == 0


def test_f7_what_went_wrong_is_told_in_the_window_that_is_looked_at(
    home: Home, server: MessagesServer, enter: Enter
) -> None:
    person = enter(server)
    first, second, *_ = two_windows(person)
    person.start_again("nacre://tab/0b6f1f0e-6f0b-5c0e-9a51-3c1f0e2b7a94")
    person.wait(person.banner)
    assert person.window is second
    assert second.banner.text
    assert not first.banner.text
    person.do("quit")
    assert person.ended() == 0


def test_f7_a_conversation_can_be_taken_into_a_window_of_its_own(
    home: Home, server: MessagesServer, enter: Enter
) -> None:
    person = enter(server)
    first = person.window
    tab_id = person.begin("First")
    person.wait(person.idle)
    person.now(lambda: first.window_wanted.emit(tab_id))
    person.wait(lambda: len(person.windows()) == 2)
    (second,) = set(person.windows()) - {first}
    person.wait(lambda: in_view(second) == tab_id)
    assert in_view(first) == ""
    person.look_at(second)
    person.press(Qt.Key.Key_X)
    person.do("quit")
    assert person.ended() == 0
