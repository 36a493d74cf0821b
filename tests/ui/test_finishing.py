"""Finish, then quit: nothing that works in the background waits for an answer that nobody can give
(SPEC U35)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.fakes.messages_api import MessagesServer, Reply, reply, text, tool_use

if TYPE_CHECKING:
    from tests.e2e.nacre import Home
    from tests.ui.conftest import Enter


def write_call(name: str) -> Reply:
    return reply(text("I write it."), tool_use("write_file", {"path": name, "content": "pearl\n"}))


def test_a_question_of_what_finishes_in_the_background_brings_the_window_back(
    home: Home, enter: Enter
) -> None:
    script = [write_call("a.txt").gate_after(4, "mid"), reply("Done.")]
    with MessagesServer(script) as server:
        person = enter(server)
        asking = person.begin("write")
        person.wait_at_gate(server, "mid")
        person.do("new")
        person.close()
        person.answer_box("Finish, then quit")
        person.wait(lambda: not person.window.isVisible())
        server.release("mid")
        person.wait(lambda: person.window.isVisible() and person.shows("permissionBar"))
        assert asking in person.tab_ids()
        person.wait(lambda: person.part_enabled("allowOnce"))
        person.click("allowOnce")
        person.wait(lambda: person.reads("Done.") and person.idle())
        assert not person.gone()
        assert person.leave() == 0
    assert (home.data / "scratch" / "a.txt").read_text() == "pearl\n"


def test_who_wants_to_finish_what_asks_is_led_to_the_question(enter: Enter) -> None:
    with MessagesServer([write_call("a.txt"), reply("Done.")]) as server:
        person = enter(server)
        person.begin("write")
        person.wait(lambda: person.shows("permissionBar"))
        person.do("new")
        person.wait(lambda: not person.shows("permissionBar"))
        person.close()
        person.answer_box("Finish, then quit")
        person.wait(lambda: person.shows("permissionBar"))
        assert person.window.isVisible()
        person.close()
        person.answer_box("Stop and quit")
        assert person.ended() == 0


def test_a_later_start_brings_all_windows_back(enter: Enter) -> None:
    with MessagesServer([reply(text("Layer on layer.")).gate_after(3, "mid")]) as server:
        person = enter(server)
        person.begin("begin")
        person.wait_at_gate(server, "mid")
        person.another_window()
        person.do("quit")
        person.answer_box("Finish, then quit")
        person.wait(lambda: not person.windows())
        person.start_again()
        person.wait(lambda: len(person.windows()) == 2)
        person.do("quit")
        person.answer_box("Stop and quit")
        assert person.ended() == 0
