"""Where the keyboard is, is shown on every control alike (LOOK.md, SPEC U38)."""

import gc

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QLineEdit,
    QTabBar,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot

from desktop.ui.focus_ring import FocusRing, FocusRings
from desktop.ui.theme import LIGHT, Theme


class Form(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self.line, self.box, self.combo, self.tabs = (
            QLineEdit(self),
            QCheckBox("On", self),
            QComboBox(self),
            QTabBar(self),
        )
        column = QVBoxLayout(self)
        for part in (self.line, self.box, self.combo, self.tabs):
            column.addWidget(part)
        for name in ("one", "two"):
            self.tabs.addTab(name)

    def ringed(self) -> list[QWidget | None]:
        rings = [one for one in self.findChildren(FocusRing) if one.isVisible()]
        return [one.parentWidget() for one in rings]


@pytest.fixture
def form(qtbot: QtBot, qapp: QApplication) -> Form:
    made = Form()
    qtbot.addWidget(made)
    FocusRings(qapp, lambda: Theme("light", LIGHT), made)
    made.show()
    made.activateWindow()
    qtbot.waitUntil(made.isActiveWindow)
    return made


def test_u38_one_ring_goes_with_the_keyboard_and_what_has_its_own_gets_none(form: Form) -> None:
    for part in (form.box, form.combo, form.tabs):
        part.setFocus(Qt.FocusReason.TabFocusReason)
        assert form.ringed() == [part]
    form.line.setFocus(Qt.FocusReason.TabFocusReason)
    assert form.ringed() == []


def test_u38_the_mouse_rings_nothing(form: Form) -> None:
    window, at = form.windowHandle(), form.box.geometry().center()
    QTest.mousePress(window, Qt.MouseButton.LeftButton, pos=at)
    assert form.box.hasFocus()
    assert form.ringed() == []
    QTest.mouseRelease(window, Qt.MouseButton.LeftButton, pos=at)


def test_u38_of_a_strip_of_tabs_the_chosen_one_is_ringed(form: Form) -> None:
    form.tabs.setFocus(Qt.FocusReason.TabFocusReason)
    (ring,) = form.tabs.findChildren(FocusRing)
    for at in (1, 0):
        form.tabs.setCurrentIndex(at)
        assert ring.geometry() == form.tabs.tabRect(at)


def test_u38_a_ring_grows_and_dies_with_its_control(form: Form, qtbot: QtBot) -> None:
    form.combo.setFocus(Qt.FocusReason.TabFocusReason)
    form.resize(form.width() + 200, form.height())
    (ring,) = form.combo.findChildren(FocusRing)
    qtbot.waitUntil(lambda: ring.geometry() == form.combo.rect())
    gone: list[bool] = []
    form.combo.destroyed.connect(lambda: gone.append(True))
    form.combo.deleteLater()
    qtbot.waitUntil(lambda: bool(gone))
    gc.collect()
    form.box.setFocus(Qt.FocusReason.TabFocusReason)
    assert form.ringed() == [form.box]
