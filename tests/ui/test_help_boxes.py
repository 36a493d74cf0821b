"""The boxes of the Help menu fit on the screen."""

from html import escape

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QLabel, QPushButton, QScrollArea, QWidget
from pytestqt.qtbot import QtBot

from desktop.ui.actions import ACTIONS, shortcut_lines
from desktop.ui.help_boxes import show_shortcuts


def test_u38_all_keys_can_be_read_on_a_screen_that_is_lower_than_they_are(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    window.show()
    in_force = {spec.name: spec.keys for spec in ACTIONS}
    show_shortcuts(window, in_force)
    box = window.findChild(QDialog, "shortcutsBox")
    assert box is not None
    qtbot.waitExposed(box)
    room = box.screen().availableSize()
    assert box.height() <= room.height()
    assert box.width() <= room.width()
    close = next(one for one in box.findChildren(QPushButton) if one.isVisible())
    assert box.rect().contains(close.geometry())
    page = box.findChild(QLabel, "shortcutsPage")
    assert page is not None
    assert all(escape(what) in page.text() for what, _ in shortcut_lines(in_force))
    area = box.findChild(QScrollArea)
    assert area is not None
    bar = area.verticalScrollBar()
    assert bar.maximum() == max(0, page.sizeHint().height() - area.viewport().height())
    assert area.horizontalScrollBar().maximum() == 0
    qtbot.keyClick(area, Qt.Key.Key_PageDown)
    assert bar.value() > 0
    qtbot.keyClick(box, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not box.isVisible())
