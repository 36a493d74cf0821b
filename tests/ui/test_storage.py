"""Backups and the room on the disk in the whole program, as a person meets them."""

import json
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QLineEdit, QTreeView

from desktop.headless import backups
from tests.e2e.nacre import Home
from tests.fakes.messages_api import MessagesServer, reply
from tests.ui.conftest import Enter
from tests.ui.program import outcomes, sealed

pytestmark = pytest.mark.timeout(300)


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """The schedule of backups looks at once and often."""
    monkeypatch.setattr(backups, "SETTLE_SECONDS", 0.1)
    monkeypatch.setattr(backups, "LOOK_SECONDS", 0.1)


def test_u17_an_open_window_makes_a_backup_that_brings_everything_back(
    home: Home, enter: Enter, request: pytest.FixtureRequest
) -> None:
    with MessagesServer([reply("To be kept.")]) as server:
        person = enter(server)
        tab_id = person.begin("keep this")
        person.wait(lambda: person.reads("To be kept.") and person.idle())
        assert person.leave() == 0
        assert not (home.data / "backups").exists()
        request.getfixturevalue("hasty")
        again = enter(server)
        place = home.data / "backups"
        again.wait(lambda: home.rows("SELECT 1 FROM backups WHERE checked_at IS NOT NULL"))
        again.do("settings")
        again.choose_section("Storage")
        again.wait(lambda: "Last good backup: today" in again.labels())
        (archive,) = place.glob("*.zip")
        assert str(archive) in again.labels()
        again.close_dialog("settingsDialog")
        assert again.leave() == 0
    other = replace(home, root=home.root / "other")
    other.root.mkdir()
    assert other.nacre("restore", str(archive)).code == 0
    assert sealed(other, tab_id) == sealed(home, tab_id)
    assert outcomes(other, tab_id) == ["done"]


@pytest.mark.usefixtures("hasty")
def test_u17_a_backup_that_fails_is_told_until_the_person_has_put_it_right(
    home: Home, enter: Enter
) -> None:
    """F-S04: what is wrong, where, and what to do; it stays under other messages."""
    stick = home.root / "stick"
    with MessagesServer([reply("One."), reply("Two.")]) as server:
        person = enter(server)
        person.do("settings")
        person.choose_section("Storage")
        person.type_into("backup.folder", str(stick))
        person.press(Qt.Key.Key_Return, person.part(QLineEdit, "backup.folder"))
        person.wait(lambda: f"{stick} is not there" in person.labels())
        person.close_dialog("settingsDialog")
        person.begin("one")
        person.wait(lambda: person.reads("One.") and person.idle())
        person.wait(lambda: "The scheduled backup was not made." in person.banner())
        assert str(stick) in person.banner()
        assert "Connect its disk, or choose another folder" in person.banner()
        person.say("two")
        person.wait(lambda: person.reads("Two.") and person.idle())
        assert "The scheduled backup was not made." in person.banner()
        stick.mkdir()
        person.do("settings")
        person.choose_section("Storage")
        person.choose("backup.interval", "weekly")
        person.wait(lambda: list(stick.glob("nacre-scheduled-*.zip")))
        person.wait(lambda: not person.banner())
        person.close_dialog("settingsDialog")
        assert person.leave() == 0
    assert not (home.data / "backups").exists()


def test_u08_the_person_backs_up_and_frees_space_from_the_settings(
    home: Home, enter: Enter
) -> None:
    with MessagesServer([reply("Large. " * 20_000)]) as server:
        person = enter(server)
        person.begin("be long")
        person.wait(person.idle)
        person.do("settings")
        person.choose_section("Storage")
        person.wait(lambda: person.shows("storageTable"))
        assert person.part(QTreeView, "storageTable").model().rowCount() == 1
        person.click("backUpNow")
        person.wait(lambda: person.window.findChild(QFileDialog))
        dialog = person.window.findChild(QFileDialog)
        assert dialog is not None
        name = dialog.findChild(QLineEdit, "fileNameEdit")
        assert name is not None
        name.setText(str(home.root / "by hand.zip"))
        person.press(Qt.Key.Key_Return, name)
        person.wait(lambda: "Backed up and checked" in person.labels())
        person.click("freeSpace")
        person.wait(lambda: "given back" in person.labels() or "give back" in person.labels())
        person.close_dialog("settingsDialog")
        assert person.leave() == 0
    assert (home.root / "by hand.zip").is_file()
    assert json.loads(home.nacre("doctor", "--json").out)["log"]["lastBackup"]["isThere"]


def test_u16_a_window_on_a_synchronised_folder_warns_and_works(home: Home, enter: Enter) -> None:
    (home.root / "Dropbox" / "nacre").mkdir(parents=True)
    home.data.symlink_to(home.root / "Dropbox" / "nacre")
    with MessagesServer([reply("Here.")]) as server:
        person = enter(server)
        person.wait(lambda: "synchronised (Dropbox)" in person.banner())
        person.begin("hello")
        person.wait(lambda: person.reads("Here.") and person.idle())
        person.click("bannerClose")
        assert person.banner() == ""
        assert person.leave() == 0
    listed = home.nacre("tabs")
    assert listed.code == 0
    assert listed.err.count("synchronised (Dropbox)") == 1
