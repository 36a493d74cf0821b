"""A newer version is told by a quiet line, once it was asked for, and nothing happens by itself."""

import json
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QLabel, QLineEdit, QMenu, QPushButton, QToolButton

from desktop.headless import releases
from desktop.ui.release_bar import ReleaseBar
from tests.e2e.nacre import Home
from tests.fakes.messages_api import MessagesServer
from tests.ui.conftest import Enter
from tests.ui.program import Person
from tests.unit.wire.test_release_feed import entry, feed

pytestmark = pytest.mark.timeout(300)
PAGE = "https://host.example/o/nacre/releases/tag/v9.1.0"
SECOND = PAGE.replace("9.1.0", "9.2.0")


class Host:
    """A host of code on loopback; `asked` holds the paths of its requests."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.feed = feed(entry("Nacre 9.1.0", PAGE))
        self.address = ""


@contextmanager
def serving() -> Generator[Host]:
    host = Host()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            host.asked.append(self.path)
            found = self.path == "/releases.atom"
            self.send_response(200 if found else 404)
            self.end_headers()
            self.wfile.write(host.feed if found else b"nothing here")

        def log_message(self, format: str, *args: object) -> None:
            del format, args

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    host.address = f"http://127.0.0.1:{server.server_port}/releases.atom"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield host
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is looked at once and often whether it is time to ask."""
    monkeypatch.setattr(releases, "SETTLE_SECONDS", 0.0)
    monkeypatch.setattr(releases, "LOOK_SECONDS", 0.05)


def name_feed(person: Person, address: str) -> None:
    person.do("settings")
    person.wait(lambda: person.shows("settingsDialog"))
    person.choose_section("Updates")
    person.type_into("updates.feed", address)
    person.press(Qt.Key.Key_Return, person.part(QLineEdit, "updates.feed"))


def bar(person: Person) -> str:
    return "\n".join(one.text() for one in person.parts(QLabel, "releaseBarText"))


def said(person: Person, name: str) -> str:
    return "\n".join(one.text() for one in person.parts(QLabel, name))


@pytest.mark.usefixtures("hasty")
def test_u35_without_an_address_there_is_no_request_and_the_button_is_off(enter: Enter) -> None:
    with MessagesServer([]) as server, serving() as host:
        person = enter(server)
        person.do("settings")
        person.choose_section("Updates")
        assert said(person, "releaseState") == "Nothing is asked as long as there is no address."
        assert not person.part_enabled("releaseAsk")
        person.type_into("updates.feed", "http://host.example/feed")
        person.press(Qt.Key.Key_Return, person.part(QLineEdit, "updates.feed"))
        person.wait(lambda: "begins with https://" in person.labels())
        person.close_dialog("settingsDialog")
        assert person.leave() == 0
        assert (host.asked, server.requests) == ([], [])


@pytest.mark.usefixtures("hasty")
def test_u35_a_newer_version_is_told_once_a_day_and_once_only_when_it_is_closed(
    enter: Enter, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[QUrl] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", opened.append)
    with MessagesServer([]) as server, serving() as host:
        person = enter(server)
        name_feed(person, host.address)
        person.wait(lambda: bar(person))
        assert bar(person).startswith("Nacre 9.1.0 is available. This is 0.1.0")
        assert "Nacre 9.1.0 is available." in said(person, "releaseState")
        person.close_dialog("settingsDialog")

        person.click("releaseBarAct")
        person.wait(lambda: person.window.findChildren(QMenu, "linkMenu"))
        (menu,) = person.window.findChildren(QMenu, "linkMenu")
        words = [one.text() for one in menu.actions()]
        assert words[:2] == ["host.example", PAGE], "where it leads is said before it is opened"
        assert opened == []
        person.now(next(one for one in menu.actions() if "browser" in one.text()).trigger)
        assert opened == [QUrl(PAGE)]
        person.now(menu.close)
        assert person.leave() == 0

        again = enter(server)
        again.wait(lambda: bar(again))
        assert host.asked == ["/releases.atom"], "once a day, over all starts"
        close = again.part(ReleaseBar, "releaseBar").findChild(QToolButton)
        assert close is not None
        again.click_on(close)
        again.wait(lambda: not bar(again))
        query = "SELECT value FROM settings WHERE key = 'note.releases'"
        again.wait(lambda: json.loads(home.rows(query)[0]["value"])["closed"] == "9.1.0")
        host.feed = feed(entry("Nacre 9.2.0", SECOND), entry("Nacre 9.1.0", PAGE))
        again.do("settings")
        again.choose_section("Updates")
        assert "Nacre 9.1.0 is available." in said(again, "releaseState")
        again.click("releaseAsk")
        again.wait(lambda: "9.2.0" in bar(again))
        again.close_dialog("settingsDialog")
        assert again.leave() == 0


@pytest.mark.usefixtures("hasty")
def test_u35_what_is_wrong_with_the_feed_is_said_in_the_settings_and_nowhere_else(
    enter: Enter,
) -> None:
    with MessagesServer([]) as server, serving() as host:
        person = enter(server)
        name_feed(person, host.address.replace("releases", "nothing"))
        person.wait(lambda: said(person, "releaseProblem"))
        assert "HTTP 404" in said(person, "releaseProblem")
        assert (bar(person), person.banner()) == ("", "")
        host.feed = b"<!DOCTYPE x [<!ENTITY a 'b'>]><x/>"
        person.type_into("updates.feed", host.address)
        person.press(Qt.Key.Key_Return, person.part(QLineEdit, "updates.feed"))
        person.wait(lambda: "document type" in said(person, "releaseProblem"))
        host.feed = feed(entry("Nacre 0.0.1", PAGE.replace("9.1.0", "0.0.1")))
        person.click("releaseAsk")
        person.wait(lambda: said(person, "releaseState").startswith("There is nothing newer"))
        assert said(person, "releaseProblem") == ""
        assert person.parts(QPushButton, "releaseWhere") == []
        person.type_into("updates.feed", "")
        person.press(Qt.Key.Key_Return, person.part(QLineEdit, "updates.feed"))
        person.wait(lambda: "Nothing is asked" in said(person, "releaseState"))
        assert (bar(person), person.banner()) == ("", "")
        person.close_dialog("settingsDialog")
        assert person.leave() == 0


def test_u35_nothing_is_asked_before_the_window_has_settled(enter: Enter, home: Home) -> None:
    with MessagesServer([]) as server, serving() as host:
        person = enter(server)
        name_feed(person, host.address)
        person.wait(lambda: home.rows("SELECT 1 FROM settings WHERE key = 'updates.feed'"))
        person.close_dialog("settingsDialog")
        assert person.leave() == 0
        again = enter(server)
        again.do("settings")
        again.choose_section("Updates")
        assert said(again, "releaseState") == "Not asked yet."
        again.close_dialog("settingsDialog")
        assert again.leave() == 0
        assert host.asked == []
