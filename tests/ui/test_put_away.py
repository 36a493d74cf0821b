"""Archive and bin as a person meets them, in the whole real program (SPEC P05, P06, U13)."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QLineEdit, QMenu, QMessageBox, QPushButton, QWidget

from desktop.ui.put_away_list import PutAwayList, PutAwayModel
from desktop.ui.put_away_rows import AwayRow
from desktop.ui.sidebar_list import ConversationList
from desktop.ui.sidebar_rows import ConversationRow
from tests.e2e.nacre import Home
from tests.fakes.messages_api import MessagesServer, reply, text
from tests.ui.conftest import Enter
from tests.ui.program import Person, outcomes

pytestmark = pytest.mark.timeout(300)


def listed(person: Person) -> ConversationList:
    return person.part(ConversationList, "conversationList")


def titles(person: Person) -> list[str]:
    """The conversations in the sidebar, the archived ones marked."""
    if not person.shows("conversationList"):
        return []
    rows = listed(person).rows
    found = [rows.row(at) for at in range(rows.rowCount())]
    return [
        f"{row.title} (archived)" if row.archived else row.title
        for row in found
        if isinstance(row, ConversationRow)
    ]


def put_away(person: Person) -> list[str]:
    """The titles on the page Archived or Bin."""
    if not person.shows("putAwayList"):
        return []
    rows = person.part(PutAwayList, "putAwayList").model()
    return [str(rows.data(rows.index(at, 0))) for at in range(rows.rowCount())]


def foot(person: Person) -> tuple[str, str]:
    return (
        person.part(QPushButton, "showArchived").text(),
        person.part(QPushButton, "showBin").text(),
    )


def question(person: Person) -> str:
    boxes = [one for one in person.window.findChildren(QMessageBox) if one.isVisible()]
    return boxes[0].text() if boxes else ""


def choose_in_menu(person: Person, key: str, words: str) -> None:
    """Opens the menu of a row of the sidebar by the keyboard and chooses an entry."""
    person.wait(lambda: person.shows("conversationList"))
    person.wait(lambda: listed(person).rows.index_of(key).isValid())
    index = listed(person).rows.index_of(key)
    listed(person).setCurrentIndex(index)
    listed(person).menu_wanted.emit(index, listed(person).mapToGlobal(listed(person).pos()))
    person.wait(lambda: person.window.findChild(QMenu, "sidebarMenu"))
    menu = person.window.findChild(QMenu, "sidebarMenu")
    assert isinstance(menu, QMenu)
    (action,) = [one for one in menu.actions() if one.text() == words]
    person.now(lambda: (action.trigger(), menu.close()))
    person.wait(lambda: person.window.findChild(QMenu, "sidebarMenu") is None)


def two_conversations(person: Person, home: Home) -> tuple[str, str]:
    person.open_folder(home.workspace)
    first = person.begin("The first thing")
    person.wait(lambda: person.reads("One.") and person.idle())
    second = person.begin("The second thing")
    person.wait(lambda: person.reads("Two.") and person.idle())
    person.wait(lambda: titles(person) == ["The second thing", "The first thing"])
    return first, second


def test_p06_an_archived_conversation_leaves_the_strip_and_undo_brings_it_back_into_view(
    home: Home, enter: Enter
) -> None:
    with MessagesServer([reply("One."), reply("Two.")]) as server:
        person = enter(server)
        first, second = two_conversations(person, home)
        person.do("close_tab")
        person.wait(lambda: person.tab_ids() == [first])
        assert titles(person) == ["The second thing", "The first thing"], "closing archives nothing"
        person.do("reopen_tab")
        person.wait(lambda: person.reads("Two."))
        person.keys("Ctrl+Shift+A")
        person.wait(lambda: titles(person) == ["The first thing"])
        assert person.tab_ids() == [first]
        person.wait(lambda: foot(person) == ("Archived 1", "Bin 0"))
        person.wait(lambda: "“The second thing” is archived." in person.labels())
        person.keys("Ctrl+Alt+Z")
        person.wait(lambda: person.tab_ids() == [first, second] and person.reads("Two."))
        person.wait(lambda: not person.shows("undoBar") and foot(person)[0] == "Archived 0")
        assert person.leave() == 0


def test_p06_the_search_finds_archived_ones_which_can_be_read_and_taken_back(
    home: Home, enter: Enter
) -> None:
    with MessagesServer([reply("One."), reply("Two."), reply("Three.")]) as server:
        person = enter(server)
        first, second = two_conversations(person, home)
        choose_in_menu(person, first, "Archive")
        person.wait(lambda: titles(person) == ["The second thing"])
        person.type_into("searchField", "first")
        person.wait(lambda: titles(person) == ["The first thing (archived)"])
        person.press(Qt.Key.Key_Down, listed(person))
        listed(person).setCurrentIndex(listed(person).rows.index_of(first))
        person.press(Qt.Key.Key_Return, listed(person))
        person.wait(lambda: person.reads("One.") and person.shows("archivedBar"))
        person.say("More")
        person.wait(lambda: person.reads("Three.") and person.idle())
        person.wait(lambda: not person.shows("archivedBar"))
        person.now(person.part(QLineEdit, "searchField").clear)
        person.wait(lambda: titles(person) == ["The first thing", "The second thing"])
        assert set(person.tab_ids()) == {first, second}

        person.do("archive")
        person.wait(lambda: person.tab_ids() == [second] and titles(person) == ["The second thing"])
        person.do("archived")
        person.wait(lambda: put_away(person) == ["The first thing"])
        person.click("openPutAway")
        person.wait(lambda: person.reads("Three.") and person.shows("archivedBar"))
        person.click("archivedBarAct")
        person.wait(lambda: not person.shows("archivedBar") and len(titles(person)) == 2)
        assert person.leave() == 0


def test_u13_the_bin_gives_back_and_deletes_only_what_it_names(home: Home, enter: Enter) -> None:
    with MessagesServer([reply("One."), reply("Two.")]) as server:
        person = enter(server)
        first, second = two_conversations(person, home)
        choose_in_menu(person, first, "Move to bin")
        person.wait(lambda: titles(person) == ["The second thing"])
        person.do("trash")
        person.wait(lambda: foot(person)[1] == "Bin 2" and person.tab_ids() == [])
        person.click("showBin")
        person.wait(lambda: put_away(person) == ["The second thing", "The first thing"])
        person.click("bringBack")
        person.wait(lambda: put_away(person) == ["The first thing"])
        person.wait(lambda: titles(person) == ["The second thing"])
        before = len(home.rows())

        person.press(Qt.Key.Key_Delete, person.part(PutAwayList, "putAwayList"))
        person.wait(lambda: "“The first thing” with" in question(person))
        assert "can't be undone" in question(person)
        assert "Branches that part from it keep all of their messages." in question(person)
        person.answer_box("Cancel")
        person.wait(lambda: not question(person))
        assert len(home.rows()) == before

        person.click("purge")
        person.answer_box("Delete for good")
        person.wait(lambda: person.shows("binPage") and "The bin is empty." in person.labels())
        person.wait(lambda: {row["tab_id"] for row in home.rows()} == {second})
        assert person.leave() == 0


def test_u13_emptying_the_bin_asks_with_numbers_and_leaves_branches_whole(
    home: Home, enter: Enter
) -> None:
    with MessagesServer([reply("One."), reply("Two.")]) as server:
        person = enter(server)
        person.open_folder(home.workspace)
        first = person.begin("The first thing")
        person.wait(lambda: person.reads("One.") and person.idle())
        person.do("fork")
        person.wait(lambda: len(person.tab_ids()) == 2)
        fork = person.tab_ids()[1]
        person.wait(lambda: person.reads("One.") and person.shows("transcript"))
        choose_in_menu(person, first, "Move to bin")
        person.wait(lambda: person.tab_ids() == [fork] and foot(person)[1] == "Bin 1")
        person.do("bin")
        person.click("emptyBin")
        person.wait(lambda: "“The first thing” with" in question(person))
        person.answer_box("Delete for good")
        person.wait(lambda: "The bin is empty." in person.labels())
        person.click("closePutAway")
        person.wait(lambda: person.reads("The first thing") and person.reads("One."))
        person.say("And now?")
        person.wait(lambda: person.reads("Two.") and person.idle())
        assert person.leave() == 0
    assert server.rejected == []


def test_p05_archiving_what_runs_asks_first_then_stops_it_and_keeps_what_it_did(
    home: Home, enter: Enter
) -> None:
    answer = reply(text("Half of it was said and shown before the rest of it.")).gate_after(
        5, "mid"
    )
    with MessagesServer([answer]) as server:
        person = enter(server)
        person.open_folder(home.workspace)
        tab_id = person.begin("Work long")
        person.wait_at_gate(server, "mid")
        person.wait(lambda: person.reads("Half"))
        person.do("archive")
        person.wait(lambda: "is still working" in question(person))
        person.answer_box("Cancel")
        person.wait(lambda: not question(person))
        assert not person.idle()
        choose_in_menu(person, "w1", "Archive this folder")
        person.wait(lambda: "“Work long”" in question(person))
        person.answer_box("Stop and archive")
        person.wait(lambda: person.tab_ids() == [] and not titles(person))
        assert outcomes(home, tab_id) == ["stopped"]
        assert home.workspace.is_dir()
        person.click("undoBarAct")
        person.wait(lambda: person.tab_ids() == [tab_id])
        person.go_to(tab_id)
        person.wait(lambda: person.reads("Half"))
        assert len([row for row in person.transcript() if "Half" in row]) == 1
        assert person.leave() == 0


def test_u38_everything_on_the_pages_has_a_name_and_esc_leads_back(
    home: Home, enter: Enter
) -> None:
    with MessagesServer([reply("One."), reply("Two.")]) as server:
        person = enter(server)
        two_conversations(person, home)
        for name in ("archived", "bin"):
            person.do(name)
            person.wait(lambda name=name: person.shows(f"{name}Page"))
            page = person.part(QWidget, f"{name}Page")
            shown = page.findChild(PutAwayList)
            assert shown is not None
            assert shown.accessibleName()
            names = [one.text() for one in page.findChildren(QPushButton) if one.isVisible()]
            assert all(names)
            person.press(Qt.Key.Key_Escape, page)
            person.wait(lambda: person.reads("Two."))
        assert person.leave() == 0


def test_q02_the_list_of_what_was_put_away_passes_qts_tester() -> None:
    model = PutAwayModel("gone {when}")
    tester = QAbstractItemModelTester(
        model, QAbstractItemModelTester.FailureReportingMode.Warning, model
    )
    one, two = AwayRow("tab", "a", "A", "p", 1), AwayRow("workspace", "2", "B", "", 2)
    for rows in ([one], [one, two], [two], [], [one]):
        model.set_rows(rows)
        assert model.rowCount() == len(rows)
    spoken = model.data(model.index(0, 0), Qt.ItemDataRole.AccessibleTextRole)
    assert spoken.startswith("A\np · gone ")
    assert tester.model() is model
