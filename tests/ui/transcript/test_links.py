"""Nothing is fetched, and nothing opened before the person saw where it leads (F-X01, U39)."""

import socket
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QObject, QPoint, Qt, QUrl, Slot
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu, QWidget
from pytestqt.qtbot import QtBot

from desktop.core.chunks import Text, Thinking, ToolResult
from desktop.ui.transcript.links import is_safe, offer_link, place_of
from tests.ui.transcript.desk import Desk


class Browser(QObject):
    """Takes what the desktop would have opened."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[str] = []

    @Slot(QUrl)
    def open(self, url: QUrl) -> None:
        self.opened.append(url.toString())


@pytest.fixture
def browser() -> Iterator[Browser]:
    made = Browser()
    schemes = ("http", "https", "mailto", "file")
    for scheme in schemes:
        QDesktopServices.setUrlHandler(scheme, made, "open")  # pyright: ignore[reportArgumentType]
    yield made
    for scheme in schemes:
        QDesktopServices.unsetUrlHandler(scheme)


def act(menu: QMenu, words: str) -> None:
    next(one for one in menu.actions() if one.text() == words).trigger()


def test_no_request_leaves_for_what_a_model_writes(desk: Desk, browser: Browser) -> None:
    """F-X01: pictures, tags and links in answers, thinking and results, also while they stream."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        address = f"http://127.0.0.1:{server.getsockname()[1]}/p.png?leak=1"
        text = (
            f"![x]({address}) <img src='{address}'> <link rel=stylesheet href='{address}'>\n\n"
            f"![y][p] [z]({address})\n\n<svg><image href='{address}'/></svg>\n\n"
            f"![u](\\\\\\\\host\\\\share\\\\p.png) ![f](file:///etc/hostname)\n\n[p]: {address}\n"
        )
        desk.say(text, Thinking(text), ToolResult("k", "shell", text), Text(text))
        view = desk.show()
        view.set_thinking_open(True)
        desk.open_block("b1")
        for start in range(0, len(text), 40):
            desk.grow("b1", text[start : start + 40])
            desk.settle()
            view.grab()
        with pytest.raises(BlockingIOError):
            server.accept()
    assert browser.opened == []


def test_a_link_opens_only_after_its_place_was_shown(qtbot: QtBot, browser: Browser) -> None:
    """F-X01, U39"""
    parent = QWidget()
    qtbot.addWidget(parent)
    parent.show()
    address = "https://google.com@evil.example/a?b=1&c=2"
    menu = offer_link(parent, address, QPoint(10, 10))
    assert browser.opened == []
    shown = [one.text().replace("&&", "&") for one in menu.actions()]
    assert shown[:2] == ["evil.example", address]
    assert not menu.actions()[0].isEnabled()
    QTest.keyClick(menu, Qt.Key.Key_Return)
    assert browser.opened == [address]


def test_an_address_can_be_copied_and_what_is_not_of_the_web_can_t_be_opened(
    qtbot: QtBot, browser: Browser
) -> None:
    """F-X01: file addresses, shares and scripts."""
    parent = QWidget()
    qtbot.addWidget(parent)
    for address in ("file:///etc/passwd", "rel/path", "//host/share", "javascript:alert(1)"):
        menu = offer_link(parent, address, QPoint())
        assert "Open in the browser" not in [one.text() for one in menu.actions()]
        act(menu, "Copy the address")
        menu.close()
        assert QGuiApplication.clipboard().text() == address
        assert not is_safe(address)
    assert browser.opened == []


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("https://example.org/a", "example.org"),
        ("http://127.0.0.1:8080/", "127.0.0.1:8080"),
        ("https://аррӏе.com/", "xn--80ak6aa92e.com"),
        ("https://good.example\u202e@bad.example", "bad.example"),
        ("mailto:a@b.example\u200b", "a@b.example‹ZWSP›"),
    ],
)
def test_the_place_of_an_address_can_t_be_mistaken(address: str, place: str) -> None:
    assert place_of(address) == place
