"""The program opens a conversation where it was read, and at its end where that was followed."""

import json

import pytest

from tests.e2e.nacre import Home
from tests.fakes.messages_api import MessagesServer, reply
from tests.ui.conftest import Enter
from tests.ui.program import Person

pytestmark = pytest.mark.timeout(300)

LONG = "\n\n".join(f"Layer {n} is laid down." for n in range(60))


def screen(person: Person) -> list[tuple[str, int]]:
    """The rows on the screen, and where each begins."""
    placed = person.pane.view.layout_now.placed
    return list(zip(person.transcript(), (one.y for one in placed), strict=True))


def test_u37_each_tab_is_at_its_place_after_a_restart(home: Home, enter: Enter) -> None:
    with MessagesServer([reply(LONG), reply(LONG)]) as server:
        person = enter(server)
        person.open_folder(home.workspace)
        followed = person.begin("Lay down layers")
        person.wait(lambda: person.reads("Layer 59") and person.idle())
        read = person.begin("And others")
        person.wait(lambda: person.reads("Layer 59") and person.idle())
        person.wait(lambda: not person.pane.view.frame_due)
        person.pane.view.scroll_by(-321)
        before = screen(person)
        assert before[0][1] < 0
        person.go_to(followed)
        person.wait(lambda: person.pane.view.following and person.reads("Layer 59"))
        person.go_to(read)
        person.wait(lambda: screen(person) == before)
        assert person.leave() == 0
        person = enter(server)
        person.wait(lambda: person.tab_ids() == [followed, read] and person.transcript())
        person.wait(lambda: screen(person) == before)
        assert not person.pane.view.following
        person.go_to(followed)
        person.wait(lambda: person.pane.view.following and person.reads("Layer 59"))
        assert person.leave() == 0


def test_u37_the_conversation_in_view_is_known_to_a_start_after_a_kill(
    home: Home, enter: Enter
) -> None:
    def kept() -> str:
        file = home.data / "window.json"
        return json.loads(file.read_text("utf-8"))["current_tab"] if file.exists() else ""

    with MessagesServer([reply("One."), reply("Two.")]) as server:
        person = enter(server)
        first = person.begin("One")
        person.wait(lambda: person.reads("One.") and person.idle())
        person.wait(lambda: kept() == first)
        second = person.begin("Two")
        person.wait(lambda: kept() == second)
        person.go_to(first)
        person.wait(lambda: kept() == first)
        assert person.leave() == 0
