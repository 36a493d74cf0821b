"""The field in which the person writes: its keys, and what is pasted or dropped.

Enter sends unless an input method is composing; Shift+Enter breaks the line. A large paste is
handed on, so that the field stays quick (SPEC U07, U38).
"""

from PySide6.QtCore import QMimeData, Qt, Signal
from PySide6.QtGui import QInputMethodEvent, QKeyEvent
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QSizePolicy, QWidget

from desktop.ui.attachments import given_by

LONG_PASTE = 64 * 1024
_OF_A_METHOD = frozenset(
    (
        Qt.Key.Key_Return,
        Qt.Key.Key_Enter,
        Qt.Key.Key_Escape,
        Qt.Key.Key_Tab,
        Qt.Key.Key_Up,
        Qt.Key.Key_Down,
    )
)


class MessageField(QPlainTextEdit):
    """The text field itself. `submitted` on the send key, `given` for files or a picture that were
    pasted or dropped."""

    submitted = Signal()
    mode_cycled = Signal()
    stop_wanted = Signal()
    # An object: as a `str` the text would be copied twice on its way.
    long_paste = Signal(object)
    given = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("composer")
        self.setProperty("rings", "around")
        self.setAccessibleName(self.tr("Message"))
        self.setPlaceholderText(self.tr("Write to the agent"))
        self.setTabChangesFocus(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.send_with_ctrl = False
        self._composing = False

    @property
    def is_composing(self) -> bool:
        """Whether an input method has the keys."""
        return self._composing

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        self._composing = bool(event.preeditString())
        super().inputMethodEvent(event)

    def focusNextPrevChild(self, next: bool) -> bool:
        """Shift+Tab changes the permission mode; F6 leads out of the field (LOOK.md)."""
        if next:
            return super().focusNextPrevChild(next)
        self.mode_cycled.emit()
        return True

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, modifiers = event.key(), event.modifiers()
        if self._composing:
            # What a method did not take of these was still meant for it (SPEC U38).
            if key not in _OF_A_METHOD:
                super().keyPressEvent(event)
            return
        shift = bool(modifiers & Qt.KeyboardModifier.ShiftModifier)
        ctrl = bool(modifiers & Qt.KeyboardModifier.ControlModifier)
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if self._sends(shift=shift, ctrl=ctrl):
                self.submitted.emit()
            else:
                self.insertPlainText("\n")
                self.ensureCursorVisible()
        elif key == Qt.Key.Key_Escape and not modifiers:
            self.stop_wanted.emit()
        else:
            super().keyPressEvent(event)

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        return given_by(source) is not None or super().canInsertFromMimeData(source)

    def insertFromMimeData(self, source: QMimeData) -> None:
        given = given_by(source)
        if given is not None:
            self.given.emit(given)
            return
        text = source.text() if source.hasText() else ""
        if len(text) >= LONG_PASTE:
            self.long_paste.emit(text)
            return
        super().insertFromMimeData(source)

    def _sends(self, *, shift: bool, ctrl: bool) -> bool:
        return ctrl and not shift if self.send_with_ctrl else not shift and not ctrl
