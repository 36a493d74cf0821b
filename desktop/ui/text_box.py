"""A long plain text to read: a log, a list of tools. Never marked up, whoever wrote it."""

from PySide6.QtCore import QSize
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from desktop.ui.theme import Theme


class TextBox(QDialog):
    """Opened with `open()`. `note` stands above the text; `at_end` shows its last lines first."""

    def __init__(
        self,
        theme: Theme,
        *,
        title: str,
        text: str,
        note: str = "",
        at_end: bool = False,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("textBox")
        self.setWindowTitle(title)
        column = QVBoxLayout(self)
        column.setContentsMargins(*[theme.space_16] * 4)
        column.setSpacing(theme.space_12)
        if note:
            label = QLabel(note, self)
            label.setWordWrap(True)
            label.setProperty("muted", True)
            column.addWidget(label)
        field = QPlainTextEdit(text, self)
        field.setObjectName("textBoxText")
        field.setAccessibleName(title)
        field.setReadOnly(True)
        field.setTabChangesFocus(True)
        field.setProperty("monospace", True)
        column.addWidget(field, 1)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        copy = QPushButton(self.tr("Copy"), self)
        copy.setAutoDefault(False)
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(text))
        buttons.addButton(copy, QDialogButtonBox.ButtonRole.ActionRole)
        buttons.rejected.connect(self.reject)
        column.addWidget(buttons)
        if at_end:
            field.moveCursor(field.textCursor().MoveOperation.End)
        side = theme.px(theme.measures.dialog)
        self.resize(QSize(side, side * 2 // 3).boundedTo(self.screen().availableSize() * 0.9))
