"""The boxes of the Help menu."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QScrollArea, QWidget
from pytestqt.qtbot import QtBot

from desktop.ui.help_boxes import show_shortcuts
from desktop.ui.shortcuts import Shortcuts


@pytest.mark.parametrize("letters", [13, 26])
def test_u38_all_shortcuts_can_be_read_on_a_small_screen(qtbot: QtBot, letters: int) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    font = window.font()
    font.setPixelSize(letters)
    window.setFont(font)
    window.show()
    show_shortcuts(window, Shortcuts().in_force())
    box = window.findChild(QDialog, "shortcutsBox")
    assert box is not None
    screen = box.screen().availableSize()
    assert box.width() <= screen.width()
    assert box.height() <= screen.height()
    scroll, buttons = box.findChild(QScrollArea), box.findChild(QDialogButtonBox)
    assert scroll is not None
    assert buttons is not None
    assert box.rect().contains(buttons.geometry())
    lines = scroll.widget()
    assert isinstance(lines, QLabel)
    assert lines.height() >= lines.sizeHint().height()
    bar = scroll.verticalScrollBar()
    assert lines.height() - scroll.viewport().height() == bar.maximum()
    assert scroll.hasFocus() or not box.isActiveWindow()
    qtbot.keyClick(scroll, Qt.Key.Key_PageDown)
    assert bar.value() > 0
    qtbot.keyClick(box, Qt.Key.Key_Escape)
    assert not box.isVisible()
