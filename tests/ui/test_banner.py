"""The strip over the window: messages give way to the next one, notices stand."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel, QPushButton, QToolButton
from pytestqt.qtbot import QtBot

from desktop.ui.banner import Banner
from desktop.ui.theme import theme_for


@pytest.fixture
def banner(qtbot: QtBot) -> Banner:
    made = Banner(theme_for("light", QGuiApplication.palette()))
    qtbot.addWidget(made)
    return made


def _shown(banner: Banner) -> str:
    label = banner.findChild(QLabel, "bannerText")
    return label.text() if label is not None and not banner.isHidden() else ""


def _close(banner: Banner, qtbot: QtBot) -> None:
    button = banner.findChild(QToolButton, "bannerClose")
    assert button is not None
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def test_a_message_gives_way_to_the_next_and_is_closed(banner: Banner, qtbot: QtBot) -> None:
    banner.say("one")
    banner.say("two")
    assert _shown(banner) == banner.text == "two"
    _close(banner, qtbot)
    assert banner.isHidden()
    assert banner.text == ""


def test_u17_a_notice_stands_under_the_messages_until_it_is_closed(
    banner: Banner, qtbot: QtBot
) -> None:
    banner.stand("backup", "the backup failed", "why")
    banner.say("something else")
    banner.say("")
    assert _shown(banner) == "the backup failed"
    banner.say("something else")
    assert _shown(banner) == "something else"
    _close(banner, qtbot)
    assert _shown(banner) == "the backup failed"
    _close(banner, qtbot)
    assert banner.isHidden()


def test_u17_a_notice_goes_when_what_it_tells_is_no_longer_so(banner: Banner) -> None:
    banner.stand("backup", "the backup failed")
    banner.stand("disk", "the disk is full")
    banner.stand("backup", "the backup failed again")
    assert _shown(banner) == "the backup failed again"
    banner.stand("backup", "")
    assert _shown(banner) == "the disk is full"
    banner.stand("disk", "")
    banner.stand("disk", "")
    assert banner.isHidden()


def test_how_many_wait_under_it_is_said(banner: Banner) -> None:
    for key in ("a", "b", "c"):
        banner.stand(key, f"notice {key}")
    labels = [label.text() for label in banner.findChildren(QLabel) if not label.isHidden()]
    assert labels == ["notice c", "2 more"]


def test_details_belong_to_what_is_shown(banner: Banner) -> None:
    banner.stand("a", "with a detail", "the detail")
    more = next(one for one in banner.findChildren(QPushButton) if one.isCheckable())
    assert not more.isHidden()
    banner.say("without")
    assert more.isHidden()


def test_a_notice_is_no_message(banner: Banner) -> None:
    banner.stand("a", "notice")
    assert banner.message == ""
    banner.say("message")
    banner.stand("b", "notice")
    assert banner.message == "message"
