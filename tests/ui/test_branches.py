"""Edit, regenerate, fork and switch as a person meets them, in the real program (S13, U19)."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel, QListView, QMenu, QToolButton

from desktop.ui.transcript.view import TranscriptView
from tests.e2e.nacre import Home
from tests.fakes.messages_api import MessagesServer, reply, text
from tests.ui.conftest import Enter
from tests.ui.program import Person, said, sealed, spoken

pytestmark = pytest.mark.timeout(300)


# Taller than the screen, so that a place in it is not kept by itself.
LONG = "\n\n".join(["A layer is laid down and sealed."] * 24)
REASONS = "\n\n".join(["Because of this."] * 6)


def view(person: Person) -> TranscriptView:
    found = person.part(QListView, "transcript")
    assert isinstance(found, TranscriptView)
    return found


def tops(person: Person) -> dict[str, int]:
    """Where the rows on the screen begin, by what is said of them."""
    shown, rows = view(person).layout_now.placed, view(person).model()
    return {str(rows.data(rows.index(one.row, 0))): one.y for one in shown}


def branch(person: Person) -> str:
    found = person.parts(QLabel, "branchCount")
    return found[0].text() if found else ""


def hover(person: Person, words: str) -> None:
    """Puts the mouse on a row."""
    shown, rows = view(person).layout_now.placed, view(person).model()
    (placed,) = [one for one in shown if words in str(rows.data(rows.index(one.row, 0)))]
    middle = view(person).viewport().rect().center()
    middle.setY(placed.y + placed.height // 2 + 8)
    person.move_mouse(view(person).viewport(), middle)


def press(person: Person, name: str) -> None:
    """A button that lies over the rows."""
    person.wait(lambda: person.parts(QToolButton, name))
    person.click_on(person.part(QToolButton, name))


def test_s13_an_edited_message_goes_on_in_a_branch_that_takes_the_place_in_the_strip(
    home: Home, enter: Enter
) -> None:
    """SPEC S13, U19: both siblings are intact, the draft comes back, the place stands still."""
    script = [reply(LONG), reply(REASONS), reply("Because of that.")]
    with MessagesServer(script) as server:
        server.may_rewrite("an edit forks before the message")
        person = enter(server)
        person.open_folder(home.workspace)
        old = person.begin("What is it?")
        person.wait(lambda: person.reads("A layer") and person.idle())
        person.say("Why is it so?")
        person.wait(lambda: person.reads("Because of this.") and person.idle())
        person.write("a half-written thought")
        hover(person, "You: Why is it so?")
        press(person, "row.edit")
        assert person.composer.toPlainText() == "Why is it so?"
        person.wait(lambda: person.shows("editBar"))
        person.press(Qt.Key.Key_Escape)
        assert person.composer.toPlainText() == "a half-written thought"
        person.wait(lambda: not person.shows("editBar"))

        person.keys("Ctrl+Shift+E")
        person.clear()
        person.write("Why is it not so?")
        before = tops(person)["You: Why is it so?"]
        person.press(Qt.Key.Key_Return)
        person.wait(lambda: person.reads("Because of that.") and person.idle())
        (new,) = person.tab_ids()
        assert new != old
        assert not person.composer.toPlainText()
        assert tops(person)["You: Why is it not so?"] == before
        person.wait(lambda: branch(person) == "2/2")

        person.keys("Alt+Left")
        person.wait(lambda: person.tab_ids() == [old] and person.reads("Because of this."))
        assert tops(person)["You: Why is it so?"] == before
        assert person.composer.toPlainText() == "a half-written thought"
        person.wait(lambda: branch(person) == "1/2")
        press(person, "nextBranch")
        person.wait(lambda: person.tab_ids() == [new] and person.reads("Because of that."))
        assert tops(person)["You: Why is it not so?"] == before
        assert person.leave() == 0
    assert server.rejected == []
    assert said(server, 3, "user")[-2:] == ["What is it?", "Why is it not so?"]
    assert [one for _, one in spoken(sealed(home, old))] == [
        "What is it?",
        LONG,
        "Why is it so?",
        REASONS,
    ]
    archived = home.rows("select archived_at, trashed_at from tabs")
    assert all(row["archived_at"] is None and row["trashed_at"] is None for row in archived)


def test_u19_an_answer_is_regenerated_in_a_branch_and_the_first_one_stays(
    home: Home, enter: Enter
) -> None:
    with MessagesServer([reply("Heads."), reply("Tails.")]) as server:
        person = enter(server)
        person.open_folder(home.workspace)
        person.begin("Toss a coin")
        person.wait(lambda: person.reads("Heads.") and person.idle())
        hover(person, "Heads.")
        press(person, "row.copy")
        assert QGuiApplication.clipboard().text() == "Heads."
        QGuiApplication.clipboard().clear()
        press(person, "row.regenerate")
        person.wait(lambda: person.reads("Tails.") and person.idle() and branch(person) == "2/2")
        assert person.transcript() == ["You: Toss a coin", "Answer: Tails."]
        press(person, "previousBranch")
        person.wait(lambda: person.transcript() == ["You: Toss a coin", "Answer: Heads."])
        assert len(person.tab_ids()) == 1
        assert person.leave() == 0
    assert server.requests[0].json["messages"] == server.requests[1].json["messages"]


def test_u19_a_fork_stands_beside_its_conversation_and_shares_what_was_said(
    home: Home, enter: Enter
) -> None:
    with MessagesServer([reply("One."), reply("Two."), reply("Other.")]) as server:
        person = enter(server)
        person.open_folder(home.workspace)
        old = person.begin("First")
        person.wait(lambda: person.reads("One.") and person.idle())
        last = person.begin("Unrelated")
        person.wait(lambda: person.reads("Two.") and person.idle())
        person.go_to(old)
        person.wait(lambda: person.reads("One."))
        # By the keyboard: to the answer, its menu, Fork.
        view(person).setFocus()
        person.press(Qt.Key.Key_End, view(person))
        person.do("fork")
        person.wait(lambda: len(person.tab_ids()) == 3)
        assert [person.tab_ids()[0], person.tab_ids()[2]] == [old, last]
        person.wait(lambda: person.reads("One.") and person.tabs.currentIndex() == 1)
        person.say("Second, otherwise")
        person.wait(lambda: person.reads("Other.") and person.idle())
        assert person.leave() == 0
    assert said(server, 3, "user")[-2:] == ["First", "Second, otherwise"]


def test_u19_switching_stops_no_turn_and_an_edit_runs_beside_it(home: Home, enter: Enter) -> None:
    long = reply(text("The first answer takes its time and goes on.")).gate_after(5, "mid")
    with MessagesServer([reply("Start."), long, reply("Quick.")]) as server:
        server.may_rewrite("an edit forks before the message")
        person = enter(server)
        person.open_folder(home.workspace)
        old = person.begin("Begin")
        person.wait(lambda: person.reads("Start.") and person.idle())
        person.say("Go slowly")
        person.wait_at_gate(server, "mid")
        person.wait(lambda: person.reads("You: Go slowly"))
        hover(person, "You: Go slowly")
        press(person, "row.edit")
        person.clear()
        person.write("Go quickly")
        person.press(Qt.Key.Key_Return)
        person.wait(lambda: person.reads("Quick.") and person.idle())
        person.keys("Alt+Left")
        person.wait(lambda: person.tab_ids() == [old] and person.reads("You: Go slowly"))
        assert not person.idle()
        server.release("mid")
        person.wait(lambda: person.reads("takes its time and goes on.") and person.idle())
        assert person.leave() == 0
    assert server.rejected == []


def test_u38_the_menu_of_a_row_has_every_act_and_comes_by_key(home: Home, enter: Enter) -> None:
    with MessagesServer([reply("One.")]) as server:
        person = enter(server)
        person.open_folder(home.workspace)
        person.begin("First")
        person.wait(lambda: person.reads("One.") and person.idle())
        view(person).setFocus()
        wanted = {
            "You": [
                "Copy",
                "Copy as Markdown",
                "Copy this part",
                "Edit…",
                "Quote",
                "Bookmark",
                "Select all",
            ],
            "Answer": [
                "Copy",
                "Copy as Markdown",
                "Copy this part",
                "Copy as plain text",
                "Copy the answer",
                "Regenerate the answer",
                "Fork from here",
                "Quote",
                "Bookmark",
                "Show as written",
                "Select all",
            ],
        }
        for expected in wanted.values():
            person.walk(Qt.Key.Key_Down, view(person))
            person.ask_menu(view(person))
            person.wait(lambda: person.window.findChild(QMenu, "rowMenu"))
            menu = person.window.findChild(QMenu, "rowMenu")
            assert isinstance(menu, QMenu)
            entries = [one.text() for one in menu.actions() if one.text()]
            person.now(menu.close)
            person.wait(lambda: person.window.findChild(QMenu, "rowMenu") is None)
            assert entries == expected
        assert person.leave() == 0


# -- an unanswered message --------------------------------------------------------------------


def killed_before_the_answer(home: Home, server: MessagesServer, words: str) -> None:
    """A process that was killed after it kept the message and before any answer."""
    there = replace(home, base_url=server.base_url)
    process = there.start("run", "--json", "--workspace", str(home.workspace), words)
    server.wait_at_gate("start")
    process.kill()
    process.communicate()


def test_s03_after_a_kill_the_text_is_offered_never_sent_and_an_edit_takes_its_place(
    home: Home, enter: Enter
) -> None:
    """SPEC S03, S13: retracted in place, the old text stays visible."""
    script = [reply("Never seen.").gate_after(0, "start"), reply("Yes.")]
    with MessagesServer(script) as server:
        killed_before_the_answer(home, server, "Is it so")
        person = enter(server)
        person.wait(lambda: person.composer.toPlainText() == "Is it so")
        assert len(server.requests) == 1
        person.write("?")
        person.press(Qt.Key.Key_Return)
        person.wait(lambda: person.reads("Yes.") and person.idle())
        assert not person.composer.toPlainText()
        assert [one for one in person.transcript() if one.startswith(("You", "Answer"))] == [
            "You: Taken back: the model is not shown this any more. Is it so",
            "You: Is it so?",
            "Answer: Yes.",
        ]
        assert len(person.tab_ids()) == 1
        assert person.leave() == 0
    assert said(server, 2, "user")[-1] == "Is it so?"
    assert "Is it so" not in said(server, 2, "user")


def test_s13_edit_on_an_unanswered_message_keeps_the_conversation_and_offers_nothing_twice(
    home: Home, enter: Enter
) -> None:
    script = [reply("Never seen.").gate_after(0, "start"), reply("Yes.")]
    with MessagesServer(script) as server:
        killed_before_the_answer(home, server, "Is it so")
        person = enter(server)
        person.wait(lambda: person.composer.toPlainText() == "Is it so")
        (tab_id,) = person.tab_ids()
        person.do("edit_message")
        person.wait(lambda: person.shows("editBar"))
        person.write(" or not?")
        person.press(Qt.Key.Key_Return)
        person.wait(lambda: person.reads("Yes.") and person.idle())
        assert person.tab_ids() == [tab_id]
        assert not person.composer.toPlainText()
        assert not person.shows("editBar")
        assert person.leave() == 0
        again = enter(server)
        again.wait(lambda: again.reads("Yes."))
        assert not again.composer.toPlainText()
        assert again.leave() == 0
    assert len(home.rows("select id from tabs")) == 1
