"""The line above a conversation in which a text is typed that is looked for in it (Ctrl+F)."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QLineEdit, QToolButton, QWidget

from desktop.ui.controls import make_clearable
from desktop.ui.theme import Theme


class FindBar(QFrame):
    """`typed(text)` with each letter, `stepped(1 or -1)` to the next or the one before, `left`
    when it is closed. Hidden at first."""

    typed = Signal(str)
    stepped = Signal(int)
    left = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("findBar")
        self.setProperty("notice", True)
        row = QHBoxLayout(self)
        row.setContentsMargins(theme.space_12, theme.space_4, theme.space_8, theme.space_4)
        row.setSpacing(theme.space_8)
        self.field = QLineEdit(self)
        self.field.setObjectName("findField")
        self.field.setAccessibleName(self.tr("Find in this conversation"))
        self.field.setPlaceholderText(self.tr("Find in this conversation"))
        make_clearable(self.field)
        self.field.textChanged.connect(self.typed)
        row.addWidget(self.field, 1)
        self._count = QLabel(self)
        self._count.setObjectName("findCount")
        self._count.setProperty("muted", True)
        row.addWidget(self._count)
        self._previous = self._tool("▲", self.tr("Previous"), lambda: self.stepped.emit(-1))
        self._next = self._tool("▼", self.tr("Next"), lambda: self.stepped.emit(1))
        close = self._tool("✕", self.tr("Close the search"), self.leave)
        for button in (self._previous, self._next, close):
            row.addWidget(button)
        self.setFocusProxy(self.field)
        self.show_count("", found=False)
        self.hide()

    def begin(self) -> None:
        """Shows the line with what was looked for last, ready to be typed over."""
        self.show()
        self.field.setFocus()
        self.field.selectAll()
        self.typed.emit(self.field.text())

    def offer(self, text: str) -> None:
        """Shows the line with a text that was found already; the focus stays where it is."""
        self.field.blockSignals(True)
        self.field.setText(text)
        self.field.blockSignals(False)
        self.setVisible(bool(text))

    def leave(self) -> None:
        self.hide()
        self.left.emit()

    def show_count(self, words: str, *, found: bool) -> None:
        """What was found so far; without anything there is nowhere to step to."""
        self._count.setText(words)
        self.field.setAccessibleDescription(words)
        self._previous.setEnabled(found)
        self._next.setEnabled(found)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter goes on, with Shift back; Esc closes."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            back = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            self.stepped.emit(-1 if back else 1)
        elif event.key() == Qt.Key.Key_Escape:
            self.leave()
        else:
            super().keyPressEvent(event)

    def _tool(self, sign: str, name: str, act: object) -> QToolButton:
        button = QToolButton(self)
        button.setText(sign)
        button.setAutoRaise(True)
        button.setAccessibleName(name)
        button.setToolTip(name)
        button.clicked.connect(act)
        return button
