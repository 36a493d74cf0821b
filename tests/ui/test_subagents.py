"""Subagents as a person meets them: in the list, on the card of their call, when they ask (U28)."""

import pytest
from PySide6.QtCore import QPoint, QPointF
from PySide6.QtWidgets import QLabel

from desktop.ui.sidebar_list import ConversationList
from desktop.ui.sidebar_rows import BranchesRow, ConversationRow
from tests.e2e.nacre import Home
from tests.fakes.messages_api import Block, MessagesServer, Received, Reply, reply, text, tool_use
from tests.ui.conftest import Enter
from tests.ui.program import Person, outcomes

pytestmark = pytest.mark.timeout(300)
TASKS = ("Write a.txt with a long account of everything that was found on the way.", "Read on.")


def task_of(request: Received) -> str:
    last = request.json["messages"][0]["content"][-1]["text"]
    return next((one for one in TASKS if last.endswith(one)), "")


def asking(request: Received) -> Reply:
    """The first subagent wants to write a file; the other is done at once."""
    is_done = bool(request.tool_results)
    if task_of(request) == TASKS[0]:
        arguments = {"path": "a.txt", "content": "pearl\n"}
        return reply("Written.") if is_done else reply(tool_use("write_file", arguments))
    if task_of(request):
        return reply("Read.")
    return reply("All done.") if is_done else reply(text("Two tasks."), *map(begins, TASKS))


def standing(request: Received) -> Reply:
    """The subagents stand still in the midst of their answers."""
    if task_of(request):
        return reply(text("I have begun to look.")).gate_after(4, task_of(request))
    return reply(*map(begins, TASKS))


def begins(task: str) -> Block:
    return tool_use("agent", {"task": task})


def listed(person: Person) -> list[ConversationRow]:
    lists = [one.rows for one in person.parts(ConversationList, "conversationList")]
    found = [rows.row(at) for rows in lists for at in range(rows.rowCount())]
    return [row for row in found if isinstance(row, ConversationRow)]


def activity(person: Person) -> str:
    return "".join(one.text() for one in person.parts(QLabel, "activityLine"))


def links(person: Person) -> list[QPoint]:
    """Where the cards in view lead to conversations of subagents."""
    view = person.pane.view
    found: list[QPoint] = []
    for y in range(0, view.viewport().height(), 4):
        hit = view.hit_at(QPointF(view.viewport().width() / 2, y))
        if hit is not None and hit.kind == "subagent":
            if not found or y - found[-1].y() > 12:
                found.append(QPoint(view.viewport().width() // 2, y))
            else:
                found[-1].setY(y)
    return found


def test_u28_a_subagents_question_is_told_above_and_answered_in_its_own_conversation(
    home: Home, enter: Enter
) -> None:
    with MessagesServer(asking) as server:
        person = enter(server)
        person.open_folder(home.workspace)
        parent = person.begin("Have it written down")
        person.wait(lambda: person.shows("askingBar"))
        person.wait(lambda: activity(person) == "A subagent needs your answer")
        person.wait(lambda: [row.mark for row in listed(person)] == ["needs-you"] * 2)
        assert [row.level for row in listed(person)] == [0, 1]
        assert not person.shows("permissionBar")
        assert person.tab_ids() == [parent]
        person.click("askingBarAct")
        person.wait(lambda: person.shows("permissionBar"))
        (child,) = set(person.tab_ids()) - {parent}
        person.click("allowOnce")
        person.wait(lambda: person.reads("Written.") and person.idle())
        person.go_to(parent)
        person.wait(lambda: person.reads("All done.") and person.idle())
        assert not person.shows("askingBar")
        rows = person.part(ConversationList, "conversationList").rows

        def folded() -> list[str]:
            found = [rows.row(at) for at in range(rows.rowCount())]
            return [one.title for one in found if isinstance(one, BranchesRow)]

        person.wait(lambda: folded() == ["2 subagents"])
        person.do("usage")
        person.wait(lambda: "Requests of subagents: 3" in person.labels())
        person.close_dialog("usageBox")
        assert person.leave() == 0
    assert server.rejected == []
    assert (home.workspace / "a.txt").read_text() == "pearl\n"
    assert outcomes(home, child) == ["done"]


def test_u28_a_card_leads_to_the_subagent_and_everything_can_be_stopped_at_once(
    home: Home, enter: Enter
) -> None:
    with MessagesServer(standing) as server:
        person = enter(server)
        person.open_folder(home.workspace)
        parent = person.begin("Have it looked at")
        for task in TASKS:
            person.wait_at_gate(server, task)
        person.wait(lambda: len(links(person)) == 2)
        person.click_on(person.pane.view.viewport(), links(person)[0])
        person.wait(lambda: person.reads("I have begun") and len(person.tab_ids()) == 2)
        (child,) = set(person.tab_ids()) - {parent}
        person.do("stop_all")
        person.wait(person.idle)
        person.go_to(parent)
        person.wait(lambda: person.reads("Stopped") and person.idle())
        assert person.leave() == 0
    assert outcomes(home, parent) == outcomes(home, child) == ["stopped"]
    ends = home.rows("select count(*) as n from chunks where data_json like '%turn_end%'")
    assert ends[0]["n"] == 3
