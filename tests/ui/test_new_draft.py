"""What is written on the page where a conversation begins survives the program (SPEC U14)."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtTest import QTest

from desktop.ui.attachments import AttachmentChip
from desktop.ui.message_field import LONG_PASTE
from tests.e2e.nacre import Home
from tests.fakes.messages_api import MessagesServer, reply
from tests.ui.conftest import Enter
from tests.ui.program import Person, said
from tests.unit.store.builders import open_log, run
from tests.unit.tools.pictures import drawn

pytestmark = pytest.mark.timeout(300)

PASTED = "a line\r\n" * LONG_PASTE


def kept(home: Home) -> dict[str, str]:
    """What of it stands in the database, beside the program that has it open."""
    with closing(sqlite3.connect(home.database)) as plain:
        rows = plain.execute("SELECT key, value FROM settings WHERE key LIKE 'draft.new%'")
        return dict(rows.fetchall())


def chips(person: Person) -> list[str]:
    found = [one for one in person.window.findChildren(AttachmentChip) if one.isVisible()]
    return [str(one.attachment["name"]) for one in found]


def drop(person: Person, path: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    person.now(lambda: person.composer.insertFromMimeData(data))


def set_caret(person: Person, at: int) -> None:
    cursor = person.composer.textCursor()
    cursor.setPosition(at)
    person.now(lambda: person.composer.setTextCursor(cursor))


def test_u14_all_of_what_was_begun_comes_back_after_a_kill_and_goes_out_with_the_first_message(
    home: Home, enter: Enter
) -> None:
    (home.workspace / "cat.png").write_bytes(drawn((60, 40)))
    before = home.root / "as it was killed"
    with MessagesServer([reply("I see.")]) as server:
        person = enter(server)
        person.wait(lambda: person.shows("newPage"))
        drop(person, home.workspace / "cat.png")
        person.wait(lambda: chips(person) == ["cat.png"])
        person.paste(PASTED)
        person.write("look at this")
        set_caret(person, 4)
        person.wait(
            lambda: (
                kept(home).get("draft.new.caret") == "4"
                and "Pasted text" in kept(home).get("draft.new.attachments", "")
            )
        )
        # As `kill -9` leaves it: nothing of what the end of the program keeps.
        shutil.copytree(home.data, before, ignore=shutil.ignore_patterns("*.sock", "run"))
        assert person.leave() == 0
        shutil.rmtree(home.data)
        before.rename(home.data)

        person = enter(server)
        person.wait(lambda: person.shows("newPage") and chips(person))
        assert chips(person) == ["cat.png", "Pasted text"]
        assert person.composer.toPlainText() == "look at this"
        assert person.composer.textCursor().position() == 4
        person.press(Qt.Key.Key_Return)
        person.wait(lambda: person.reads("I see.") and person.idle())
        person.wait(lambda: not kept(home))
        person.do("new")
        assert (person.composer.toPlainText(), chips(person)) == ("", [])
        assert person.leave() == 0
    assert any(PASTED in one for one in said(server, 1, "user"))
    blocks = server.requests[0].json["messages"][0]["content"]
    assert [one["type"] for one in blocks].count("image") == 1


def test_u14_a_text_that_an_earlier_version_kept_is_there(home: Home, enter: Enter) -> None:
    home.data.mkdir()
    with open_log(home.data) as log:
        run(log.catalogue.save_setting("draft.new", "half a thought"))
    with MessagesServer([reply("I see.")]) as server:
        person = enter(server)
        person.wait(lambda: person.composer.toPlainText() == "half a thought")
        assert person.composer.textCursor().atEnd()
        person.write("!")
        person.wait(lambda: kept(home).get("draft.new") == "half a thought!")
        person.press(Qt.Key.Key_Return)
        person.wait(lambda: person.reads("I see.") and person.idle() and not kept(home))
        assert person.leave() == 0


def test_what_is_written_behind_the_first_message_goes_along_into_its_conversation(
    enter: Enter,
) -> None:
    with MessagesServer([reply("Hello."), reply("Hello again.")]) as server:
        person = enter(server)
        person.write("first")
        person.wait(lambda: person.part_enabled("sendButton"))

        def in_one_go() -> None:
            QTest.keyClick(person.composer, Qt.Key.Key_Return)
            QTest.keyClicks(person.composer, "then")

        person.now(in_one_go)
        person.wait(lambda: person.reads("Hello.") and person.idle())
        person.wait(lambda: person.composer.toPlainText() == "then")
        person.do("new")
        person.wait(lambda: person.shows("newPage"))
        assert not person.composer.toPlainText()
        assert person.leave() == 0
    assert said(server, 1, "user")[-1] == "first"
