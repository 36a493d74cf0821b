"""A check box whose words go on in the next line."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QStyle, QStyleOptionButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from desktop.ui.shell_style import shell_style
from desktop.ui.theme import LIGHT, Theme, style_sheet
from desktop.ui.wrapping_box import WrappingBox

WORDS = "Let the provider hold the conversation between steps"


def room_of_words(box: WrappingBox) -> int:
    """The width in which the style draws the words; what does not fit is cut off."""
    option = QStyleOptionButton()
    box.initStyleOption(option)
    words = QStyle.SubElement.SE_CheckBoxContents
    return box.style().subElementRect(words, option, box).width()


@pytest.mark.parametrize("scale", [1.0, 1.5])
def test_u38_in_the_look_of_the_program_no_letter_is_cut_off_at_its_own_size(
    qtbot: QtBot, scale: float
) -> None:
    theme = Theme("light", LIGHT, scale=scale)
    page = QWidget()
    qtbot.addWidget(page)
    page.setFont(theme.font())
    page.setStyleSheet(style_sheet(theme) + shell_style(theme))
    box = WrappingBox("In the bin too", page)
    page.show()
    box.resize(box.sizeHint())
    assert box.text() == "In the bin too"
    assert box.fontMetrics().horizontalAdvance(box.text()) <= room_of_words(box)


@pytest.mark.parametrize("width", [150, 300, 900])
def test_u38_all_its_words_are_seen_at_every_width_and_heard_in_one_line(
    qtbot: QtBot, width: int
) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    column = QVBoxLayout(page)
    box = WrappingBox(WORDS, page)
    column.addWidget(box)
    column.addStretch(1)
    page.resize(width, 300)
    page.show()
    assert page.width() == width, "it does not widen the page"
    lines = box.text().split("\n")
    assert " ".join(lines) == WORDS
    assert box.height() >= len(lines) * box.fontMetrics().lineSpacing()
    assert max(map(box.fontMetrics().horizontalAdvance, lines)) <= room_of_words(box)
    heard = QAccessible.queryAccessibleInterface(box).text(QAccessible.Text.Name)
    assert heard == WORDS
    qtbot.mouseClick(box, Qt.MouseButton.LeftButton, pos=box.rect().center())
    assert box.isChecked() or width == 900


def test_at_the_width_it_wants_its_words_have_room_under_a_style_sheet(qtbot: QtBot) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    page.setStyleSheet("QCheckBox { padding: 9px; }")
    box = WrappingBox(WORDS, page)
    page.show()
    box.resize(box.sizeHint())
    option = QStyleOptionButton()
    box.initStyleOption(option)
    room = box.style().subElementRect(QStyle.SubElement.SE_CheckBoxContents, option, box)
    assert box.text() == WORDS, "in one line"
    assert room.width() >= box.fontMetrics().horizontalAdvance(WORDS)
