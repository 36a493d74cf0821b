"""A request that waits and an answer that was cut, as a person meets them (SPEC A02, U29)."""

import json
import re
from dataclasses import replace

import pytest
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import (
    QApplication,
    QLabel,
    QListView,
    QMenu,
    QPushButton,
    QToolButton,
    QWidget,
)

from desktop.agent.ways import GO_ON
from desktop.core.status import TabStatus
from desktop.ui.conversation_page import ConversationPage
from tests.e2e.nacre import Home
from tests.fakes.messages_api import (
    MessagesServer,
    Received,
    Reply,
    fails,
    reply,
    text,
    tool_use,
)
from tests.ui.conftest import Enter
from tests.ui.program import Person, outcomes, said, sealed, spoken

pytestmark = pytest.mark.timeout(300)


def cut() -> Reply:
    return reply(text("Layer on layer.", chunk=5)).cut_after(5)


def activity(person: Person) -> str:
    return "".join(one.text() for one in person.parts(QLabel, "activityLine"))


def sent_again(server: MessagesServer, first: int, second: int) -> bool:
    """Whether two requests tell the model the same, bytes of the question about its cache aside."""
    bodies = [dict(server.requests[number - 1].json) for number in (first, second)]
    for body in bodies:
        body.pop("diagnostics", None)
    return json.dumps(bodies[0]) == json.dumps(bodies[1])


def menu_lines(person: Person) -> list[str]:
    """What the menu of the last row offers."""
    transcript = person.part(QListView, "transcript")
    person.walk(Qt.Key.Key_End, transcript)
    person.walk(Qt.Key.Key_Up, transcript)
    person.ask_menu(transcript)
    person.wait(lambda: person.shows("rowMenu"))
    menu = person.part(QMenu, "rowMenu")
    lines = [one.text() for one in menu.actions()]
    person.now(menu.close)
    person.wait(lambda: not person.shows("rowMenu"))
    return lines


def counted(person: Person) -> int:
    """The seconds that are left until the second attempt; 0 while nothing is counted."""
    found = re.search(r"Trying again in (\d+) s \(attempt 2\)", activity(person))
    return int(found[1]) if found else 0


def test_f_x03_a_wait_is_counted_down_and_can_be_cut_short(home: Home, enter: Enter) -> None:
    """FIELD F-X03, SPEC U29: nobody has to wait who does not want to."""
    with MessagesServer([fails(529, retry_after=40), reply("Here.")]) as server:
        person = enter(server)
        person.open_folder(home.workspace)
        person.begin("Hello")
        person.wait(lambda: counted(person))
        first = counted(person)
        assert first <= 40
        # A busy machine may let a second pass unseen.
        person.wait(lambda: 0 < counted(person) < first)
        button = person.part(QPushButton, "tryNow")
        assert button.accessibleDescription()
        assert person.shows("giveUp")
        person.click("tryNow")
        person.wait(lambda: person.reads("Here.") and person.idle())
        assert not person.shows("waysBar")
        assert person.leave() == 0
    assert len(server.requests) == 2


def test_f_x07_a_wait_that_is_cancelled_ends_the_turn_and_holds_the_queue(
    home: Home, enter: Enter
) -> None:
    """FIELD F-X07: nothing more is asked, nothing is sent twice."""
    with MessagesServer([fails(429, retry_after=50), reply("Both.")]) as server:
        person = enter(server)
        person.open_folder(home.workspace)
        tab_id = person.begin("Hello")
        person.wait(lambda: "Trying again in" in activity(person))
        person.say("And this")
        person.click("giveUp")
        person.wait(lambda: person.idle() and person.shows("queueBar"))
        person.wait(lambda: person.shows("retryAnswer"))  # once the rows are laid out
        assert not person.shows("continueAnswer")
        assert len(server.requests) == 1
        person.click("releaseQueue")
        person.wait(lambda: person.reads("Both.") and person.idle())
        assert person.leave() == 0
    assert said(server, 2, "user")[-2:] == ["Hello", "And this"]
    assert outcomes(home, tab_id) == ["stopped", "done"]


def test_a02_a_cut_answer_is_kept_and_continued(home: Home, enter: Enter) -> None:
    """SPEC A02, U29; FIELD F-W10: also in the menu of its rows and of the window."""
    with MessagesServer([cut(), reply("on layer.")]) as server:
        person = enter(server)
        person.open_folder(home.workspace)
        tab_id = person.begin("How is nacre made?")
        person.wait(lambda: person.reads("The connection ended") and person.idle())
        assert person.reads("What the answer had said until then is kept")
        shown = next(line for line in person.transcript() if line.startswith("Answer: "))
        assert person.shows("row.go_on")
        assert {"Retry", "Continue"} <= set(menu_lines(person))
        person.click("row.go_on")
        person.wait(lambda: person.reads("on layer.") and person.idle())
        assert shown in person.transcript()
        assert not person.shows("waysBar")
        assert not {"Retry", "Continue"} & set(menu_lines(person))
        assert person.leave() == 0
    assert server.rejected == []
    kept = shown.removeprefix("Answer: ")
    assert said(server, 2, "assistant") == [kept]
    assert said(server, 2, "user")[-1] == GO_ON
    assert spoken(sealed(home, tab_id))[1:] == [
        ("text", kept),
        ("text", GO_ON),
        ("text", "on layer."),
    ]


def test_a02_the_box_of_an_error_has_a_button_that_the_keyboard_reaches(
    home: Home, enter: Enter
) -> None:
    """SPEC A02, U38: Tab leads from the rows to it, Return presses it; nothing moves for it."""
    with MessagesServer([fails(400), reply("Here.")]) as server:
        person = enter(server)
        person.open_folder(home.workspace)
        person.begin("Hello")
        person.wait(lambda: person.shows("row.retry") and person.idle())
        button, rows = person.part(QPushButton, "row.retry"), person.part(QListView, "transcript")
        assert (button.text(), bool(button.accessibleDescription())) == ("Retry", True)
        assert not person.shows("row.go_on")
        person.now(person.window.activateWindow)
        person.now(rows.setFocus)
        person.press(Qt.Key.Key_Tab, rows)
        assert button.hasFocus() or not person.window.isActiveWindow()
        person.press(Qt.Key.Key_Return, button)
        person.wait(lambda: person.reads("Here.") and person.idle())
        assert not person.shows("row.retry")
        assert person.leave() == 0
    assert len(server.requests) == 2


class Shows(QObject):
    """How often a part came into sight."""

    def __init__(self, part: QWidget) -> None:
        super().__init__(part)
        self.count = 0
        part.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self.count += event.type() == QEvent.Type.Show
        return False


def test_a02_what_can_be_done_stands_over_the_field_only_while_the_rows_don_t_show_it(
    home: Home, enter: Enter
) -> None:
    """LOOK.md "Rows of the transcript": what one can do stands in the error; once is enough."""
    long = "\n\n".join(f"Layer {number} on layer." for number in range(40))
    with MessagesServer([reply(long), fails(400), reply("Here.")]) as server:
        person = enter(server)
        person.open_folder(home.workspace)
        person.begin("How is nacre made?")
        person.wait(lambda: person.reads("Layer 39 ") and person.idle())
        page = person.part(ConversationPage, "conversationPage")
        bar = person.now(lambda: Shows(page.ways_bar))
        person.say("And then?")
        person.wait(lambda: person.shows("row.retry") and person.idle())
        assert not person.shows("waysBar")
        assert bar.count == 0, "it does not come for a moment"
        rows = person.part(QListView, "transcript")
        person.walk(Qt.Key.Key_Home, rows)
        person.wait(lambda: person.shows("waysBar") and person.shows("retryAnswer"))
        person.walk(Qt.Key.Key_End, rows)
        person.wait(lambda: person.shows("row.retry") and not person.shows("waysBar"))
        person.walk(Qt.Key.Key_Home, rows)
        person.wait(lambda: person.shows("retryAnswer"))
        person.click("retryAnswer")
        person.wait(lambda: person.reads("Here.") and person.idle())
        assert person.leave() == 0
    assert len(server.requests) == 3


def test_u38_from_right_to_left_the_button_stands_in_the_room_that_its_box_keeps(
    home: Home, enter: Enter, qapp: QApplication
) -> None:
    before = qapp.layoutDirection()
    qapp.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    try:
        with MessagesServer([fails(400)]) as server:
            person = enter(server)
            person.begin("Hello")
            person.wait(lambda: person.shows("row.retry") and person.idle())
            button, bar = (person.part(QWidget, name) for name in ("row.retry", "rowWays"))
            assert button.geometry().right() == bar.rect().right()
            assert person.leave() == 0
    finally:
        qapp.setLayoutDirection(before)


def test_u29_retried_after_a_restart_it_sends_the_same_and_nothing_is_doubled(
    home: Home, enter: Enter
) -> None:
    """SPEC U29, C03: what came of the first try is taken back and told apart."""
    with MessagesServer([cut(), reply("Whole.")]) as server:
        person = enter(server)
        person.open_folder(home.workspace)
        tab_id = person.begin("How is nacre made?")
        person.wait(lambda: person.shows("row.retry"))
        assert person.leave() == 0
        person = enter(server)
        person.wait(lambda: person.shows("row.retry") and person.shows("row.go_on"))
        person.keys("Ctrl+R")
        person.wait(lambda: person.reads("Answer: Whole.") and person.idle())
        assert person.reads("The beginning of an answer that was asked for again")
        assert not person.shows("waysBar")
        assert person.leave() == 0
    assert server.rejected == []
    assert sent_again(server, 1, 2)
    assert outcomes(home, tab_id) == ["failed", "done"]


def test_an_unanswered_text_sent_again_by_retry_leaves_the_field(home: Home, enter: Enter) -> None:
    """SPEC S03: it stands in the field after a restart, and is not to be sent a second time."""
    with MessagesServer([fails(400), reply("Now.")]) as server:
        person = enter(server)
        person.open_folder(home.workspace)
        person.begin("Hello")
        person.wait(lambda: person.shows("row.retry"))
        assert person.leave() == 0
        person = enter(server)
        person.wait(lambda: person.shows("row.retry"))
        assert person.composer.toPlainText() == "Hello"
        person.click("row.retry")
        person.wait(lambda: person.reads("Now.") and person.idle())
        assert person.composer.toPlainText() == ""
        assert person.leave() == 0
    assert said(server, 2, "user")[-1] == "Hello"


def test_an_answer_that_reached_its_limit_can_be_continued_by_a_key(
    home: Home, enter: Enter
) -> None:
    """SPEC A05."""
    with MessagesServer([reply("So far", stop_reason="max_tokens"), reply("and on.")]) as server:
        person = enter(server)
        person.open_folder(home.workspace)
        person.begin("Tell me")
        person.wait(lambda: person.shows("continueAnswer"))
        person.keys("Ctrl+G")
        person.wait(lambda: person.reads("and on.") and person.idle())
        assert person.leave() == 0
    assert server.rejected == []
    assert said(server, 2, "user")[-1] == GO_ON


def looks(received: Received) -> Reply:
    """The same call again and again, until a result says what to do instead."""
    results = [
        block
        for message in received.json["messages"]
        for block in message["content"]
        if block["type"] == "tool_result"
    ]
    if any("another file" in json.dumps(one) for one in results):
        return reply("Another one, then.")
    return reply(tool_use("read_file", {"path": "notes.txt"}))


def test_u27_a_circle_is_a_question_above_the_field(home: Home, enter: Enter) -> None:
    """SPEC U27: the sidebar says that it needs you, and what is told reaches the model."""
    (home.workspace / "notes.txt").write_text("one\n")
    with MessagesServer(otherwise=looks) as server:
        person = enter(server)
        person.open_folder(home.workspace)
        tab_id = person.begin("Look around")
        person.wait(lambda: person.shows("permissionBar"))
        assert "the same thing 5 times in a row" in person.labels()
        assert "Waiting for your answer" in person.labels()
        person.click("allowOnce")
        person.wait(lambda: not person.shows("permissionBar"))
        person.wait(lambda: person.shows("permissionBar"))
        assert len(server.requests) == 11
        person.wait(lambda: person.part_enabled("allowOnce"))
        person.type_into("denyReason", "Take another file.")
        person.click("denyNow")
        person.wait(lambda: person.reads("Another one, then.") and person.idle())
        assert person.leave() == 0
    assert server.rejected == []
    assert outcomes(home, tab_id) == ["done"]


def test_a_problem_that_was_closed_does_not_come_back_with_the_next_status(
    home: Home, enter: Enter
) -> None:
    """LOOK "broken": it is said once, and goes when it is no longer so."""
    with MessagesServer([reply("Hello.")]) as server:
        person = enter(server)
        person.open_folder(home.workspace)
        tab_id = person.begin("Hi")
        person.wait(lambda: person.reads("Hello.") and person.idle())
        page = person.part(ConversationPage, "conversationPage")
        full = TabStatus(tab_id, problem="The disk is full.")
        person.now(lambda: page.status(full))
        assert person.banner() == "The disk is full."
        person.click_on(person.part(QToolButton, "bannerClose"))
        person.now(lambda: page.status(replace(full, phase="running")))
        assert person.banner() == ""
        person.now(lambda: page.status(TabStatus(tab_id)))
        person.now(lambda: page.status(full))
        assert person.banner() == "The disk is full.", "it is so again"
        person.now(lambda: page.status(TabStatus(tab_id)))
        assert person.banner() == ""
        assert person.leave() == 0
