"""The command palette (Ctrl+K): every action and the conversations, found by a few letters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QRect, QSize, Qt
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence, QPainter
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QLineEdit,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from desktop.core.records import Tab
from desktop.ui.actions import ACTIONS
from desktop.ui.fuzzy import score
from desktop.ui.outline.model import Index
from desktop.ui.theme import Theme
from desktop.ui.visible import apart, visible

MOST = 50  # entries that are shown
BEFORE = 8  # conversations that stand before the actions while nothing is typed
LINES = 12
ENTRY_ROLE = int(Qt.ItemDataRole.UserRole)


@dataclass(frozen=True, slots=True)
class Entry:
    """One line: `where` it belongs, its `keys`, and what it does."""

    title: str
    where: str
    run: Callable[[], object]
    keys: str = ""
    enabled: bool = True

    @property
    def spoken(self) -> str:
        return ", ".join(filter(None, (self.title, self.where, self.keys)))


def matching(entries: Sequence[Entry], typed: str) -> list[Entry]:
    """The entries that fit, the best first; what can't be done now after what can."""
    found = [(score(typed, one.title), one) for one in entries]
    fits = [(points, one) for points, one in found if points is not None]
    fits.sort(key=lambda fit: (not fit[1].enabled if typed else False, -fit[0]))
    return [one for _, one in fits[:MOST]]


class PaletteModel(QAbstractListModel):
    """What fits now."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._entries: list[Entry] = []

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._entries)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self._entries):
            return None
        entry = self._entries[index.row()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return entry.title
            case Qt.ItemDataRole.AccessibleTextRole:
                return entry.spoken
            case _:
                return entry if role == ENTRY_ROLE else None

    def flags(self, index: Index) -> Qt.ItemFlag:
        entry = self.data(index, ENTRY_ROLE)
        return super().flags(index) if entry and entry.enabled else Qt.ItemFlag.NoItemFlags

    def show(self, entries: list[Entry]) -> None:
        self.beginResetModel()
        self._entries = entries
        self.endResetModel()


class PaletteDelegate(QStyledItemDelegate):
    """The title, and at the trailing end where it belongs and its keys."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        theme = self._theme
        return QSize(0, max(option.fontMetrics.height() + theme.space_12, theme.measures.hit))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        entry, theme = index.data(ENTRY_ROLE), self._theme
        if not isinstance(entry, Entry):
            return
        painter.save()
        is_chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        if is_chosen:
            painter.fillRect(option.rect, theme.color("selection"))
        ink = theme.color("on_selection" if is_chosen else "text" if entry.enabled else "muted")
        room = option.rect.adjusted(theme.space_12, 0, -theme.space_12, 0)
        aside = " · ".join(filter(None, (entry.where, entry.keys)))
        room = self._paint_aside(painter, option, room, aside, is_chosen=is_chosen)
        painter.setFont(option.font)
        painter.setPen(ink)
        shown = option.fontMetrics.elidedText(
            entry.title, Qt.TextElideMode.ElideRight, room.width()
        )
        painter.drawText(
            room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeading, apart(shown)
        )
        painter.restore()

    def _paint_aside(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        room: QRect,
        words: str,
        *,
        is_chosen: bool,
    ) -> QRect:
        """What is left of the room."""
        theme = self._theme
        painter.setFont(theme.font(theme.sizes.small))
        painter.setPen(theme.color("on_selection" if is_chosen else "muted"))
        trailing = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignTrailing
        painter.drawText(room, trailing, words)
        taken = painter.fontMetrics().horizontalAdvance(words) + theme.space_12
        return QStyle.visualRect(option.direction, room, room.adjusted(0, 0, -taken, 0))


class Palette(QDialog):
    """Opened with `open()`. Esc closes it, and the focus is where it was."""

    def __init__(self, theme: Theme, entries: Sequence[Entry], parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Dialog | Qt.WindowType.FramelessWindowHint)
        self.setObjectName("palette")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Command or conversation"))
        self._entries = entries
        self._window = parent
        self._model = PaletteModel(self)
        self.field = QLineEdit(self)
        self.list = QListView(self)
        self._build(theme, parent.width())
        self.field.textChanged.connect(self._look)
        self.field.returnPressed.connect(self._choose)
        self.list.clicked.connect(lambda _: self._choose())
        self._look()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """The arrows walk through the list while one types."""
        steps = {
            Qt.Key.Key_Up: -1,
            Qt.Key.Key_Down: 1,
            Qt.Key.Key_PageUp: 1 - LINES,
            Qt.Key.Key_PageDown: LINES - 1,
        }
        step = steps.get(Qt.Key(event.key()))
        if step is None:
            super().keyPressEvent(event)
        else:
            self._walk(step)

    def done(self, result: int) -> None:
        super().done(result)
        # Where no window manager gives the window back what it had.
        self._window.activateWindow()

    def _look(self) -> None:
        self._model.show(matching(self._entries, self.field.text()))
        self._select(0, 1)

    def _walk(self, step: int) -> None:
        count = self._model.rowCount()
        at = self.list.currentIndex().row() + step
        if abs(step) == 1 and count:
            at %= count
        self._select(min(max(at, 0), count - 1), 1 if step > 0 else -1)

    def _select(self, at: int, step: int) -> None:
        """The entry here, or the next one in this direction that can be done."""
        while 0 <= at < self._model.rowCount():
            index = self._model.index(at)
            if self._model.flags(index) & Qt.ItemFlag.ItemIsEnabled:
                self.list.setCurrentIndex(index)
                return
            at += step

    def _choose(self) -> None:
        entry = self.list.currentIndex().data(ENTRY_ROLE)
        if isinstance(entry, Entry) and entry.enabled:
            # Closed first: what is done may be done where the focus is.
            self.accept()
            entry.run()

    def _build(self, theme: Theme, width: int) -> None:
        self.field.setObjectName("paletteField")
        self.field.setAccessibleName(self.tr("Command or conversation"))
        self.field.setPlaceholderText(self.tr("Command or conversation"))
        self.list.setObjectName("paletteList")
        self.list.setAccessibleName(self.tr("What fits"))
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setUniformItemSizes(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setModel(self._model)
        delegate = PaletteDelegate(theme, self.list)
        self.list.setItemDelegate(delegate)
        column = QVBoxLayout(self)
        column.setContentsMargins(theme.space_8, theme.space_8, theme.space_8, theme.space_8)
        column.setSpacing(theme.space_8)
        column.addWidget(self.field)
        column.addWidget(self.list, 1)
        line = max(self.fontMetrics().height() + theme.space_12, theme.measures.hit)
        self.list.setFixedHeight(LINES * line)
        self.setFixedWidth(min(theme.measures.dialog, width))


def entries_of(
    actions: Mapping[str, QAction],
    tabs: Sequence[Tab],
    open_tab: Callable[[str], object],
    *,
    conversation: str,
    untitled: str,
) -> list[Entry]:
    """The conversations that were used last, every action, the other conversations."""
    talks = [
        Entry(visible(tab.title) or untitled, conversation, lambda id_=tab.id: open_tab(id_))
        for tab in tabs
    ]
    acts = [
        Entry(
            actions[spec.name].text(),
            spec.menu,
            actions[spec.name].trigger,
            actions[spec.name].shortcut().toString(QKeySequence.SequenceFormat.NativeText),
            enabled=actions[spec.name].isEnabled(),
        )
        for spec in ACTIONS
        if not spec.under and spec.name != "palette"
    ]
    return [*talks[:BEFORE], *acts, *talks[BEFORE:]]


def show_palette(
    theme: Theme,
    parent: QWidget,
    actions: Mapping[str, QAction],
    tabs: Sequence[Tab],
    open_tab: Callable[[str], object],
) -> None:
    """Opens it over the upper part of the window."""
    entries = entries_of(
        actions,
        tabs,
        open_tab,
        conversation=parent.tr("Conversation"),
        untitled=parent.tr("New conversation"),
    )
    palette = Palette(theme, entries, parent)
    palette.adjustSize()
    top = parent.mapToGlobal(parent.rect().topLeft())
    left = (parent.width() - palette.width()) // 2
    palette.move(top.x() + left, top.y() + parent.height() // 8)
    palette.open()
    palette.field.setFocus()
