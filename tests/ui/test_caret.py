"""A caret that nobody moves stands still: an idle window paints nothing (SPEC U05)."""

import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPlainTextEdit
from pytestqt.qtbot import QtBot

from desktop.app import caret
from desktop.app.caret import Caret


def test_u05_the_caret_stands_still_after_a_while_and_blinks_again_when_one_writes(
    qapp: QApplication, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(caret, "BLINKS_MS", 30)
    resting = Caret(qapp)
    hints = qapp.styleHints()
    usual = hints.cursorFlashTime()
    assert usual > 0
    field = QPlainTextEdit()
    qtbot.addWidget(field)
    field.show()
    field.setFocus()
    qtbot.waitUntil(lambda: hints.cursorFlashTime() == 0)
    QTest.keyClicks(field, "x")
    assert hints.cursorFlashTime() == usual
    qtbot.waitUntil(lambda: hints.cursorFlashTime() == 0)
    resting.stop()
    assert hints.cursorFlashTime() == usual
