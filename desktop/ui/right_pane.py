"""The right side of the window: a few named pages, one of which is seen (LOOK.md "The window")."""

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QFrame,
    QHBoxLayout,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from desktop.ui.key_hint import KeyHint
from desktop.ui.theme import Theme


class RightPane(QFrame):
    """`close_wanted` from its own button. The first page is seen first."""

    close_wanted = Signal()

    def __init__(self, theme: Callable[[], Theme], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        now = theme()
        self.setObjectName("rightPane")
        self.setAccessibleName(self.tr("Right pane"))
        self.setMinimumWidth(now.measures.right_pane * 2 // 3)
        self._pages = QStackedWidget(self)
        self._buttons = QButtonGroup(self)
        self._row = QHBoxLayout()
        self._row.setContentsMargins(now.space_8, now.space_4, now.space_4, now.space_4)
        self._row.setSpacing(now.space_4)
        self._row.addStretch(1)
        self._close = close = self._tool("✕", "closeRightPane")
        close.setAccessibleName(self.tr("Close the right pane"))
        KeyHint(close, self.tr("Close"), "right_pane")
        close.clicked.connect(self.close_wanted)
        self._row.addWidget(close)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(self._row)
        column.addWidget(self._pages, 1)

    def add_page(self, name: str, title: str, page: QWidget) -> None:
        """One more page; `title` stands on its button."""
        button = self._tool(title, f"rightPane.{name}")
        button.setCheckable(True)
        self._buttons.addButton(button)
        self._row.insertWidget(self._pages.count(), button)
        self._pages.addWidget(page)
        self.setTabOrder(button, self._close)
        self.setTabOrder(self._close, page)
        button.clicked.connect(lambda: self.show_page(page))
        if self._pages.count() == 1:
            button.setChecked(True)

    @property
    def page(self) -> QWidget | None:
        """What is seen of it."""
        return self._pages.currentWidget()

    def show_page(self, page: QWidget) -> None:
        self._pages.setCurrentWidget(page)
        self._buttons.buttons()[self._pages.currentIndex()].setChecked(True)

    def _tool(self, words: str, name: str) -> QToolButton:
        button = QToolButton(self)
        button.setObjectName(name)
        button.setText(words)
        button.setAutoRaise(True)
        return button
