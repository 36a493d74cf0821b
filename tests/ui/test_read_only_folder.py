"""The window on a data folder that can't be written (FIELD F-C05) or is full (F-S04)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from desktop.core.errors import StoreError
from tests.e2e.disk import fill, remount, small_disk
from tests.fakes.messages_api import MessagesServer, reply, text
from tests.ui.program import sealed, spoken

if TYPE_CHECKING:
    from tests.e2e.nacre import Home
    from tests.ui.conftest import Enter


def test_f_c05_a_history_on_a_read_only_disk_is_read_in_the_window_which_says_so(
    home: Home, enter: Enter
) -> None:
    # So large that nothing is to be said of its room.
    with small_disk(home.data, "2g"), MessagesServer([reply("A needle.")]) as server:
        person = enter(server)
        person.begin("one")
        person.wait(lambda: person.reads("A needle.") and person.idle())
        assert person.leave() == 0
        remount(home.data, "ro")
        try:
            person = enter(server)
            person.wait(lambda: person.reads("A needle."))
            person.wait(lambda: "What is there can be read" in person.labels())
            sent = len(server.requests)
            person.write("two")
            person.wait(lambda: person.part_enabled("sendButton"))
            person.click("sendButton")
            person.wait(lambda: "not write it" in person.labels())
            assert person.composer.toPlainText() == "two"
            person.clear()
            assert person.leave() == 0
            assert len(server.requests) == sent
        finally:
            remount(home.data, "rw")


def test_f_s04_a_draft_that_the_full_disk_does_not_take_is_told_and_the_end_is_an_end(
    home: Home, enter: Enter
) -> None:
    with small_disk(home.data, "20m"), MessagesServer([reply("A needle.")]) as server:
        person = enter(server)
        person.begin("one")
        person.wait(lambda: person.reads("A needle.") and person.idle())
        fill(home.data / "fill")
        person.write("w" * 4_000)
        person.close()
        with pytest.raises(StoreError, match="no room left"):
            person.ended()
        (home.data / "fill").unlink()
        person = enter(server)
        person.wait(lambda: person.reads("A needle."))
        assert person.leave() == 0


def test_f_s04_an_answer_that_is_not_saved_stays_in_sight_and_is_not_left_without_a_word(
    home: Home, enter: Enter
) -> None:
    shown = "Shown, and then no room. " * 20
    with small_disk(home.data, "20m"):
        script = [reply("A needle."), reply(text(shown)).gate_after(6, "mid")]
        with MessagesServer(script) as server:
            person = enter(server)
            tab_id = person.begin("one")
            person.wait(lambda: person.reads("A needle.") and person.idle())
            person.say("two")
            person.wait_at_gate(server, "mid")
            person.wait(lambda: person.reads("Shown"))
            fill(home.data / "fill")
            server.release("mid")
            person.wait(lambda: person.idle() and "not saved yet" in person.labels())
            assert person.reads("Shown"), "it stays where it was seen"
            person.close()
            person.answer_box("Stay")
            assert not person.gone()
            (home.data / "fill").unlink()
            person.close()
            person.answer_box("Quit")
            assert person.ended() == 0
            assert spoken(sealed(home, tab_id))[-1][1].startswith("Shown")
