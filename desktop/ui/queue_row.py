"""One message that waits: its words, and what can be done with it. It knows no other message."""

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication, QHBoxLayout, QMenu, QToolButton, QWidget

from desktop.core.status import QueuedMessage
from desktop.ui.controls import OneLine, act_button
from desktop.ui.key_hint import KeyHint
from desktop.ui.theme import Theme

_SHOWN = 160


class Grip(QObject):
    """What a part is dragged by: `moved` and `dropped` with the place on the screen. A press that
    does not move stays what it was to the part."""

    moved = Signal(QPoint)
    dropped = Signal(QPoint)

    def __init__(self, part: QWidget) -> None:
        super().__init__(part)
        self._from: QPoint | None = None
        self._is_dragged = False
        part.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if not isinstance(event, QMouseEvent):
            return False
        at = event.globalPosition().toPoint()
        match event.type():
            case QEvent.Type.MouseButtonPress if event.button() == Qt.MouseButton.LeftButton:
                self._from = at
                return False
            case QEvent.Type.MouseMove if self._from is not None:
                far = (at - self._from).manhattanLength() >= QApplication.startDragDistance()
                self._is_dragged = self._is_dragged or far
                if self._is_dragged:
                    self.moved.emit(at)
                return self._is_dragged
            case QEvent.Type.MouseButtonRelease if event.button() == Qt.MouseButton.LeftButton:
                was_dragged, self._is_dragged, self._from = self._is_dragged, False, None
                if was_dragged:
                    if isinstance(watched, QToolButton):
                        watched.setDown(False)
                    self.dropped.emit(at)
                return was_dragged
            case _:
                return False


class QueueRow(QWidget):
    """`step_wanted(by)` asks for another place; `dragged` and `dropped` as its `Grip`s."""

    edit_wanted = Signal()
    taken_back = Signal()
    step_wanted = Signal(int)
    dragged = Signal(QPoint)
    dropped = Signal(QPoint)

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("queueRow")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._line = OneLine(self, "queuedText", "")
        self._handle = self._make_handle()
        self._edit = act_button(self, self.tr("Edit"), "editQueued", self.edit_wanted.emit)
        self._back = act_button(self, self.tr("Take back"), "takeBack", self.taken_back.emit)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.space_8)
        row.addWidget(self._handle)
        row.addWidget(self._line, 1)
        row.addWidget(self._edit)
        row.addWidget(self._back)
        for part in (self._handle, self._line):
            grip = Grip(part)
            grip.moved.connect(self.dragged)
            grip.dropped.connect(self.dropped)

    @property
    def stops(self) -> tuple[QWidget, ...]:
        """Where Tab halts."""
        return (self._handle, self._edit, self._back)

    @property
    def handle(self) -> QWidget:
        """What moves it."""
        return self._handle

    def show_message(
        self, message: QueuedMessage, *, is_edited: bool, place: int, count: int
    ) -> None:
        """The message, which is the `place`-th (from 1) of so many."""
        first = message.text.strip().partition("\n")[0]
        text = first if len(first) <= _SHOWN else first[:_SHOWN] + "…"
        words = self.tr("Being changed: {text}") if is_edited else self.tr("Waiting: {text}")
        self._line.setText(words.format(text=text))
        self._line.setToolTip(self._line.text())
        for button, says in (
            (self._edit, self.tr("Edit: {text}")),
            (self._back, self.tr("Take back: {text}")),
        ):
            button.setAccessibleName(says.format(text=text))
            button.setEnabled(not is_edited)
        self._handle.setVisible(count > 1)
        self._handle.setAccessibleName(self.tr("Move: {text}").format(text=text))
        told = self.tr("{place} of {count}").format(place=place, count=count)
        self._handle.setAccessibleDescription(told)
        self._up.setEnabled(place > 1)
        self._down.setEnabled(place < count)

    def show_dragged(self, dragged: bool) -> None:
        if bool(self.property("dragged")) != dragged:
            self.setProperty("dragged", dragged)
            for part in (self, self._line, self._handle):
                self.style().polish(part)

    def _make_handle(self) -> QToolButton:
        handle = QToolButton(self)
        handle.setObjectName("moveQueued")
        handle.setText("↕")
        handle.setCursor(Qt.CursorShape.OpenHandCursor)
        KeyHint(handle, self.tr("Drag to another place"), "wait_less")
        menu = QMenu(handle)
        menu.setObjectName("moveQueuedMenu")
        self._up = menu.addAction(self.tr("Move up"), lambda: self.step_wanted.emit(-1))
        self._down = menu.addAction(self.tr("Move down"), lambda: self.step_wanted.emit(1))
        handle.clicked.connect(lambda: menu.popup(handle.mapToGlobal(handle.rect().bottomLeft())))
        return handle
