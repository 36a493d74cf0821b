"""The right side of the window: a few named pages, one of which is seen (LOOK.md "The window")."""

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from desktop.ui.flow import FlowLayout
from desktop.ui.key_hint import KeyHint
from desktop.ui.theme import Theme
from desktop.ui.visible import apart


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
        self._widest = now.measures.right_pane * 2 // 5
        self._row = FlowLayout(now.space_4)
        row = QHBoxLayout()
        row.setContentsMargins(now.space_8, now.space_4, now.space_4, now.space_4)
        row.setSpacing(now.space_4)
        row.addLayout(self._row, 1)
        self._close = close = self._tool("✕", "closeRightPane")
        close.setAccessibleName(self.tr("Close the right pane"))
        KeyHint(close, self.tr("Close"), "right_pane")
        close.clicked.connect(self.close_wanted)
        row.addWidget(close, 0, Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(row)
        column.addWidget(self._pages, 1)

    def add_page(self, name: str, title: str, page: QWidget) -> None:
        """One more page; `title` stands on its button, as far as there is room."""
        button = self._tool(title, f"rightPane.{name}")
        shown = button.fontMetrics().elidedText(title, Qt.TextElideMode.ElideRight, self._widest)
        if shown != title:
            button.setText(apart(shown))
            button.setAccessibleName(title)
            button.setToolTip(title)
        # No group of buttons: Tab would come to one of them only.
        button.setCheckable(True)
        self._row.addWidget(button)
        self._pages.addWidget(page)
        self.setTabOrder(button, self._close)
        self.setTabOrder(self._close, page)
        button.clicked.connect(lambda: self.show_page(page))
        if self._pages.count() == 1:
            button.setChecked(True)

    def take_page(self, page: QWidget, name: str) -> None:
        """Away with a page and its button; the first page is seen where it was seen."""
        if page is self.page:
            self._check(0)  # before Qt chooses another, which would be seen for a moment
        self._pages.removeWidget(page)
        button = self._button(name)
        if button is not None:
            self._row.removeWidget(button)
            button.hide()
            button.deleteLater()
        page.hide()

    @property
    def name(self) -> str:
        """Of the page that is seen; "" where there is none."""
        seen = [button for button in self._in_order() if button.isChecked()]
        return seen[0].objectName().removeprefix("rightPane.") if seen else ""

    def show_named(self, name: str) -> None:
        """The page of this name, if there is one."""
        for at, button in enumerate(self._in_order()):
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
        for number, button in enumerate(self._in_order()):
            button.setChecked(number == at)

    def _in_order(self) -> list[QToolButton]:
        """The buttons of the pages, as these stand in the stack."""
        items = [self._row.itemAt(at) for at in range(self._pages.count())]
        found = [item.widget() for item in items if item is not None]
        return [button for button in found if isinstance(button, QToolButton)]

    def _button(self, name: str) -> QToolButton | None:
        return self.findChild(QToolButton, f"rightPane.{name}")

    def _tool(self, words: str, name: str) -> QToolButton:
        button = QToolButton(self)
        button.setObjectName(name)
        button.setText(words)
        button.setAutoRaise(True)
        return button
