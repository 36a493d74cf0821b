"""How a backup is brought back: a thing to read and a command to copy, for it is never done here.

A restore goes into a folder without a database, so that nothing that is there can be lost by it.
"""

import shlex

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from desktop.ui.theme import Theme

_FOLDER = "NacreRestored"


class RestoreBox(QDialog):
    """Opened with `open()`. `archive` is the backup to name, '' for none."""

    def __init__(
        self, theme: Theme, *, archive: str, data_folder: str, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("restoreBox")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Restore a backup"))
        self._theme = theme
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(*[theme.space_16] * 4)
        self._column.setSpacing(theme.space_12)
        file = shlex.quote(archive) if archive else self.tr("FILE")
        self._say(
            self.tr(
                "A backup is brought back into a new folder, never over the conversations that are"
                " here. Every part of it is read and checked first; if anything is wrong, nothing"
                " is made."
            )
        )
        self._say(self.tr("1. In a terminal, bring it back into a new folder:"))
        restore = f"nacre restore {file} --data-dir {_FOLDER}"
        self._command("restoreCommand", restore, self.tr("Command that brings it back"))
        self._say(self.tr("2. Open that folder and look whether everything is there:"))
        look = self.tr("Command that opens that folder")
        self._command("openCommand", f"nacre --data-dir {_FOLDER}", look)
        self._say(
            self.tr(
                "3. To have it in the usual place, quit Nacre, rename the folder {folder}, and"
                " restore without --data-dir. Keys are not part of a backup: enter them again."
            ).format(folder=data_folder)
        )
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        buttons.rejected.connect(self.reject)
        self._column.addStretch(1)
        self._column.addWidget(buttons)
        width = theme.px(theme.measures.dialog)
        self.resize(width, self._column.heightForWidth(width))

    def _say(self, text: str) -> None:
        label = QLabel(text, self)
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setWordWrap(True)
        self._column.addWidget(label)

    def _command(self, name: str, text: str, told: str) -> None:
        line = QLineEdit(text, self)
        line.setObjectName(name)
        line.setReadOnly(True)
        line.setProperty("monospace", True)
        line.setCursorPosition(0)
        line.setAccessibleName(told)
        copy = QPushButton(self.tr("Copy"), self)
        copy.setAutoDefault(False)
        copy.setAccessibleName(self.tr("Copy {command}").format(command=text))
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(text))
        row = QHBoxLayout()
        row.setSpacing(self._theme.space_8)
        row.addWidget(line, 1)
        row.addWidget(copy)
        self._column.addLayout(row)
