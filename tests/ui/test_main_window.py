"""The window before anything is behind it."""

from dataclasses import replace

import qasync
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from desktop.ui.actions import fill_menus
from desktop.ui.main_window import MainWindow
from desktop.ui.preferences import LivePreferences
from desktop.ui.tasks import Tasks
from desktop.ui.theme import LIGHT, Theme
from desktop.ui.window_cache import WindowCache

LARGE = 2.5


def test_u38_each_menu_opens_with_alt_and_a_letter_of_its_own(
    qtbot: QtBot, loop: qasync.QEventLoop
) -> None:
    tasks = Tasks()
    window = MainWindow(
        theme=Theme("light", LIGHT),
        tasks=tasks,
        preferences=LivePreferences(tasks),
        cache=WindowCache(),
    )
    qtbot.addWidget(window)
    keys = [QKeySequence.mnemonic(one.text()).toString() for one in window.menuBar().actions()]
    assert keys == ["Alt+F", "Alt+E", "Alt+V", "Alt+C", "Alt+G", "Alt+H"]
    loop.run_until_complete(window.end())


def test_u38_a_first_window_is_no_larger_than_its_screen(
    qtbot: QtBot, loop: qasync.QEventLoop
) -> None:
    tasks = Tasks()
    theme = Theme("light", LIGHT)
    large = replace(
        theme, measures=replace(theme.measures, window_width=9_000, window_height=9_000)
    )
    window = MainWindow(
        theme=large, tasks=tasks, preferences=LivePreferences(tasks), cache=WindowCache()
    )
    qtbot.addWidget(window)
    window.show()
    qtbot.waitExposed(window)
    assert window.screen().availableSize().expandedTo(window.size()) == (
        window.screen().availableSize()
    )
    loop.run_until_complete(window.end())


def test_u38_at_a_large_font_the_buttons_of_the_sidebar_are_shown_whole(
    qtbot: QtBot, loop: qasync.QEventLoop
) -> None:
    tasks = Tasks()
    window = MainWindow(
        theme=Theme("light", LIGHT),
        tasks=tasks,
        preferences=LivePreferences(tasks),
        cache=WindowCache(sidebar=1),
    )
    qtbot.addWidget(window)
    font = window.font()
    font.setPointSizeF(font.pointSizeF() * LARGE)
    window.setFont(font)
    window.show()
    qtbot.waitExposed(window)
    window.complete(fill_menus)
    button = window.sidebar.findChild(QPushButton, "openFolder")
    assert button is not None
    qtbot.waitUntil(lambda: window.sidebar.width() >= window.sidebar.minimumSizeHint().width())
    assert button.width() >= button.minimumSizeHint().width()
    loop.run_until_complete(window.end())
