"""Choices and numbers of forms wear the theme wholly, in every look (LOOK.md, SPEC U38)."""

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QPalette, QWheelEvent
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from desktop.ui.framed import FramedCombo
from desktop.ui.framed_spin import FramedSpin
from desktop.ui.shell_style import shell_style
from desktop.ui.theme import Theme, dress, theme_for
from desktop.ui.wrapping_box import WrappingBox
from tests.ui.contrast import contrast

LOOKS = ["light", "dark", "high contrast"]
Dress = Callable[[str], Theme]


@pytest.fixture
def dressed(qapp: QApplication) -> Iterator[Dress]:
    palette, sheet, font = qapp.palette(), qapp.styleSheet(), qapp.font()

    def put_on(look: str) -> Theme:
        system = QPalette(QColor("#000000"))
        system.setColor(QPalette.ColorRole.Highlight, QColor("#FFFF00"))
        system.setColor(QPalette.ColorRole.HighlightedText, QColor("#000000"))
        is_high = look == "high contrast"
        if is_high:
            qapp.setPalette(system)
        scheme = "light" if look == "light" else "dark"
        theme = theme_for(scheme, system, high_contrast=is_high)
        dress(qapp, theme, shell_style(theme))
        return theme

    yield put_on
    qapp.setStyleSheet(sheet)
    qapp.setPalette(palette)
    qapp.setFont(font)


def colours_of(part: QWidget) -> dict[str, int]:
    """How often each colour is on it, rounded corners and all."""
    image, found = part.grab().toImage(), dict[str, int]()
    for x in range(image.width()):
        for y in range(image.height()):
            name = image.pixelColor(x, y).name().upper()
            found[name] = found.get(name, 0) + 1
    return found


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("is_able", [True, False])
def test_a_choice_and_a_number_have_one_ground_and_one_edge_of_the_theme(
    dressed: Dress, qtbot: QtBot, look: str, *, is_able: bool
) -> None:
    theme = dressed(look)
    holder = QWidget()
    qtbot.addWidget(holder)
    combo, spin = FramedCombo(theme, holder), FramedSpin(theme, holder)
    combo.addItems(["", "One"])
    spin.setSpecialValueText(" ")
    column = QVBoxLayout(holder)
    for part in (combo, spin):
        part.setEnabled(is_able)
        column.addWidget(part)
    holder.resize(300, 200)
    holder.show()
    ground = (theme.colours.surface if is_able else theme.colours.bg).upper()
    for part in (combo, spin):
        found = colours_of(part)
        area = part.width() * part.height()
        assert found.get(ground, 0) > 0.85 * area, found
        assert area - found[ground] > part.width(), "no edge"
    assert min(spin.height(), combo.height()) >= theme.measures.hit


@pytest.mark.parametrize("look", LOOKS)
def test_the_list_of_a_choice_wears_the_theme(dressed: Dress, qtbot: QtBot, look: str) -> None:
    theme = dressed(look)
    combo = FramedCombo(theme)
    qtbot.addWidget(combo)
    combo.addItems(["", " ", "  "])
    combo.show()
    combo.showPopup()
    found = colours_of(combo.view().viewport())
    row = combo.view().visualRect(combo.model().index(0, 0))
    assert row.height() >= theme.measures.hit
    assert found.get(theme.colours.surface.upper(), 0) > row.width() * row.height()
    assert found.get(theme.colours.selection.upper(), 0) > row.width() * row.height() // 2
    combo.hidePopup()


@pytest.mark.parametrize("look", LOOKS)
def test_u38_a_box_is_seen_and_its_tick_is_no_colour_only(
    dressed: Dress, qtbot: QtBot, look: str
) -> None:
    theme = dressed(look)
    holder = QWidget()
    qtbot.addWidget(holder)
    box = WrappingBox("Words", holder)
    holder.show()
    edge = QColor(theme.colours.muted).name()
    assert contrast(edge, theme.colours.bg) >= 3
    assert colours_of(box).get(edge.upper(), 0) > 2 * theme.measures.icon
    box.setChecked(True)
    found = colours_of(box)
    chosen = QColor(theme.colours.accent).name().upper()
    inside = (theme.measures.icon + 2 * theme.measures.hairline) ** 2
    assert found[chosen] > inside // 2
    assert found[chosen] < inside - 3 * theme.measures.icon, "no tick"


def test_the_wheel_over_a_field_of_a_page_that_scrolls_changes_nothing(
    qtbot: QtBot, dressed: Dress
) -> None:
    theme = dressed("light")
    combo, spin = FramedCombo(theme), FramedSpin(theme)
    combo.addItems(["One", "Two"])
    for part in (combo, spin):
        qtbot.addWidget(part)
        part.show()
        turn = QWheelEvent(
            QPointF(9, 9),
            QPointF(9, 9),
            QPoint(),
            QPoint(0, -120),
            Qt.MouseButton.NoButton,
            Qt.KeyboardModifier.NoModifier,
            Qt.ScrollPhase.NoScrollPhase,
            False,
        )
        part.clearFocus()
        QApplication.sendEvent(part, turn)
        assert not turn.isAccepted()
        assert turn.type() == QEvent.Type.Wheel
    assert (combo.currentIndex(), spin.value()) == (0, 0)
