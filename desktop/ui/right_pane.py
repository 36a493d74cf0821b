"""The right side of the window: a few named pages, one of which is seen (LOOK.md "The window")."""

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from desktop.ui.key_hint import KeyHint
from desktop.ui.page_row import PageRow
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
        self._row = PageRow(now, prefix=self.objectName(), parent=self)
        self._row.chosen.connect(self._check)
        row = QHBoxLayout()
        row.setContentsMargins(now.space_8, now.space_4, now.space_4, now.space_4)
        row.setSpacing(now.space_4)
        row.addWidget(self._row, 1)
        self._close = close = QToolButton(self)
        close.setObjectName("closeRightPane")
        close.setText("✕")
        close.setAutoRaise(True)
        close.setAccessibleName(self.tr("Close the right pane"))
        KeyHint(close, self.tr("Close"), "right_pane")
        close.clicked.connect(self.close_wanted)
        row.addWidget(close)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(row)
        column.addWidget(self._pages, 1)

    def add_page(self, name: str, title: str, page: QWidget) -> None:
        """One more page; `title` stands on its button, as far as there is room."""
        self._row.add(name, title)
        self._pages.addWidget(page)
        self.setTabOrder(self._row.last, self._close)
        self.setTabOrder(self._close, page)
        if self._pages.count() == 1:
            self._check(0)

    def take_page(self, page: QWidget, name: str) -> None:
        """Away with a page and its button; the first page is seen where it was seen."""
        if page is self.page:
            self._check(0)  # before Qt chooses another, which would be seen for a moment
        self._pages.removeWidget(page)
        for button in self._row.buttons:
            if button.objectName() == f"rightPane.{name}":
                self._row.take(button)
        page.hide()

    @property
    def name(self) -> str:
        """Of the page that is seen; "" where there is none."""
        seen = [button for button in self._row.buttons if button.isChecked()]
        return seen[0].objectName().removeprefix("rightPane.") if seen else ""

    def show_named(self, name: str) -> None:
        """The page of this name, if there is one."""
        for at, button in enumerate(self._row.buttons):
            if button.objectName() == f"rightPane.{name}":
                self._check(at)

    @property
    def page(self) -> QWidget | None:
        """What is seen of it."""
        return self._pages.currentWidget()

    def show_page(self, page: QWidget) -> None:
        self._check(self._pages.indexOf(page))

    def _check(self, at: int) -> None:
        self._pages.setCurrentIndex(at)
        self._row.check(at)
