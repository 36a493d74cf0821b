"""A field that takes keys instead of letters."""

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from desktop.ui.actions import native
from desktop.ui.shortcuts import pressed


class KeyField(QLineEdit):
    """`given(keys)` for what is pressed, in portable words. Backspace and Delete `cleared`, Esc
    `left`; Tab leads on, as everywhere."""

    given = Signal(str)
    cleared = Signal()
    left = Signal()

    def __init__(self, parent: QWidget, name: str) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setReadOnly(True)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)
        self.setAttribute(Qt.WidgetAttribute.WA_InputMethodEnabled, False)

    def show_keys(self, *keys: str) -> None:
        self.setText(" · ".join(map(native, keys)))

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride:
            event.accept()  # whatever it means elsewhere, here it is only named
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.isAutoRepeat():
            return
        bare = event.modifiers() == Qt.KeyboardModifier.NoModifier
        if bare and event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        elif bare and event.key() in (Qt.Key.Key_Backspace, Qt.Key.Key_Delete):
            self.cleared.emit()
        elif keys := pressed(event.keyCombination(), event.text()):
            self.given.emit(keys)
