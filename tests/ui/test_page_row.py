"""The buttons of the right pane's pages stay on one line (LOOK.md "The window")."""

import itertools

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QMenu, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from desktop.ui.page_row import PageRow, shares
from desktop.ui.right_pane import RightPane
from desktop.ui.theme import LIGHT, Theme

NAMES = ("Outline", "History of all my prompts", "Numbers & sums", "A counter of things", "Notes")


@pytest.fixture
def pane(qtbot: QtBot) -> RightPane:
    made = RightPane(lambda: Theme("light", LIGHT))
    qtbot.addWidget(made)
    for at, name in enumerate(NAMES):
        made.add_page(f"p{at}", name, QWidget())
    made.show()
    qtbot.waitExposed(made)
    return made


def seen(pane: RightPane) -> list[QToolButton]:
    found = pane.findChildren(QToolButton)
    return [one for one in found if one.isVisible() and one.objectName() != "closeRightPane"]


def in_menu(pane: RightPane) -> list[QAction]:
    menu = pane.findChild(QMenu)
    assert menu is not None
    menu.aboutToShow.emit()
    return menu.actions()


def at_width(pane: RightPane, width: int) -> None:
    pane.resize(width, 400)
    QApplication.sendPostedEvents()


@pytest.mark.parametrize("direction", list(Qt.LayoutDirection)[:2])
@pytest.mark.parametrize("width", [213, 320, 480, 1200])
def test_buttons_of_pages_stand_beside_each_other_on_one_line(
    pane: RightPane, width: int, direction: Qt.LayoutDirection
) -> None:
    pane.setLayoutDirection(direction)
    at_width(pane, width)
    buttons = seen(pane)
    assert len({one.y() for one in buttons}) == 1
    places = sorted((one.geometry().left(), one.geometry().right()) for one in buttons)
    assert all(one[1] < other[0] for one, other in itertools.pairwise(places))
    holder = pane.findChild(PageRow)
    assert holder is not None
    assert places[0][0] >= 0
    assert places[-1][1] < holder.width()
    named = [one.accessibleName() for one in buttons]
    hidden = [one.text() for one in in_menu(pane)]
    assert len(hidden) + len(set(named) & set(NAMES)) == len(NAMES)
    assert ("More pages" in named) == bool(hidden)


def test_a_name_that_was_cut_is_whole_in_its_tip_and_for_a_screen_reader(pane: RightPane) -> None:
    at_width(pane, 430)
    cut = [one for one in seen(pane) if "…" in one.text() and one.accessibleName() in NAMES]
    assert cut
    assert all(one.toolTip() == one.accessibleName() for one in cut)
    at_width(pane, 1200)
    whole = [one.accessibleName() for one in seen(pane) if not one.toolTip()]
    assert whole == [NAMES[0], *NAMES[2:]], "but no one name takes all of a line"
    assert "Numbers && sums" in [one.text() for one in seen(pane)]


def test_the_page_that_is_seen_has_its_button_wherever_it_was_chosen(pane: RightPane) -> None:
    at_width(pane, 213)
    last = in_menu(pane)[-1]
    assert "Notes" in last.text()
    last.trigger()
    assert pane.name == "p4"
    assert [one.accessibleName() for one in seen(pane) if one.isChecked()] == ["Notes"]
    pane.show_named("p0")
    assert [one.accessibleName() for one in seen(pane) if one.isChecked()] == ["Outline"]


@pytest.mark.parametrize(
    ("wanted", "room", "given"),
    [
        ([], 10, []),
        ([10, 20], 30, [10, 20]),
        ([10, 20], 100, [10, 20]),
        ([10, 50, 90], 90, [10, 40, 40]),
        ([90, 10, 50], 70, [30, 10, 30]),
        ([5, 5], 0, [0, 0]),
    ],
)
def test_the_widest_give_way_first(wanted: list[int], room: int, given: list[int]) -> None:
    assert shares(wanted, room) == given
