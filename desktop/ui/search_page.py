"""The page of the search over everything: what is looked for, where, and what was found (U40).

A page shows and emits wishes; what is read is the business of `Searching`.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QFocusEvent,
    QHideEvent,
    QKeyEvent,
    QShowEvent,
)
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from desktop.ui.controls import act_button, make_clearable, text_label
from desktop.ui.search_filters import SearchFilters
from desktop.ui.search_list import SearchList, SearchModel
from desktop.ui.search_paint import SearchDelegate
from desktop.ui.theme import Theme


class EverythingPage(QWidget):
    """`typed` with each letter and each other choice, `open_wanted(SearchHit)`, `stop_wanted` while
    it looks, `closed` to leave the page, `seen(bool)` when it comes into sight and goes."""

    typed = Signal()
    open_wanted = Signal(object)
    stop_wanted = Signal()
    closed = Signal()
    seen = Signal(bool)

    def __init__(self, theme: Callable[[], Theme], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("searchPage")
        # Made in the order in which Tab goes through them.
        self._middle = middle = QWidget(self)
        self._close = act_button(middle, self.tr("Close"), "closeSearch", self.closed.emit)
        self.field = QLineEdit(middle)
        self.field.setObjectName("searchEverything")
        self.field.setAccessibleName(self.tr("Search in all conversations"))
        self.setAccessibleName(self.field.accessibleName())
        self.field.setPlaceholderText(self.tr("Words, names of files, “exact words”"))
        make_clearable(self.field)
        self.filters = SearchFilters(theme(), middle)
        self.rows = SearchModel(self)
        self.list = SearchList(self.rows, middle)
        self.list.setItemDelegate(SearchDelegate(theme, self.list))
        self._state = text_label(middle, "searchState")
        self._state.setProperty("muted", True)
        self._stop = act_button(middle, self.tr("Stop"), "searchStop", self.stop_wanted.emit)
        self._build(theme())
        self.field.textChanged.connect(lambda _: self.typed.emit())
        self.field.returnPressed.connect(self.list.enter)
        self.filters.changed.connect(self.typed)
        self.list.chosen.connect(self.open_wanted)
        self.list.left.connect(self.field.setFocus)
        self.show_state("", can_stop=False)

    def show_state(self, words: str, *, can_stop: bool) -> None:
        """How far the search is."""
        self._state.setText(words)
        self.field.setAccessibleDescription(words)
        self._stop.setVisible(can_stop)

    def announce(self, words: str) -> None:
        """Tells a screen reader, once."""
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self._state, words))

    def focusInEvent(self, event: QFocusEvent) -> None:
        """The field has the keyboard. With a proxy Tab would never lead out of the page."""
        self.field.setFocus(event.reason())

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.seen.emit(True)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.seen.emit(False)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """↓ goes to the hits, as Enter in the field does; Esc goes back there, then closes."""
        match event.key():
            case Qt.Key.Key_Down:
                self.list.enter()
            case Qt.Key.Key_Escape if self.focusWidget() is self.list:
                self.field.setFocus()
            case Qt.Key.Key_Escape:
                self.closed.emit()
            case _:
                super().keyPressEvent(event)

    def _build(self, theme: Theme) -> None:
        outer = QHBoxLayout(self)
        middle = self._middle
        # Alone in its row it stands in the middle, and has all of it where there is no more.
        middle.setMaximumWidth(theme.column)
        outer.addWidget(middle)
        column = QVBoxLayout(middle)
        column.setContentsMargins(theme.space_8, theme.space_16, theme.space_8, theme.space_8)
        column.setSpacing(theme.space_8)
        title = text_label(middle, "searchTitle", self.tr("Search"))
        title.setProperty("title", True)
        self._close.setToolTip(self.tr("Back to the conversations (Esc)"))
        column.addLayout(_row(theme, title, self._close))
        column.addWidget(self.field)
        column.addWidget(self.filters)
        column.addLayout(_row(theme, self._state, self._stop))
        column.addWidget(self.list, 1)


def _row(theme: Theme, wide: QWidget, end: QWidget) -> QHBoxLayout:
    row = QHBoxLayout()
    row.setSpacing(theme.space_8)
    row.addWidget(wide, 1)
    row.addWidget(end)
    return row
