"""Help → Diagnostics: what Nacre knows of itself, as the very text that can be saved or copied."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QPlainTextEdit, QVBoxLayout, QWidget

from desktop.core.errors import NacreError
from desktop.ui import asking
from desktop.ui.controls import act_button, text_label
from desktop.ui.tasks import Tasks
from desktop.ui.theme import Theme
from desktop.ui.transcript.saving import write_new
from desktop.ui.visible import visible

FILE = "nacre-diagnostics.txt"


class DiagnosticsBox(QDialog):
    """Opened with `open()`; `read` brings the text. What stands in the field is what is saved: the
    person may take out what is nobody's business."""

    def __init__(
        self, theme: Theme, *, read: Callable[[], Awaitable[str]], tasks: Tasks, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self.setObjectName("diagnosticsBox")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Diagnostics"))
        self._read = read
        self._tasks = tasks
        self._is_gone = False
        self.finished.connect(self._forget)
        self._field = self._make_field()
        self._said = text_label(self, "diagnosticsSaid")
        self._acts = (
            act_button(self, self.tr("Copy"), "diagnosticsCopy", self._copy),
            act_button(self, self.tr("Save…"), "diagnosticsSave", self._begin_saving),
        )
        self._build(theme)
        self._show_ready(False)
        self._say(self.tr("Looking…"))
        tasks.start(self._load(), "read the diagnostics")

    async def _load(self) -> None:
        try:
            text = await self._read()
        except NacreError as error:
            if not self._is_gone:
                self._say(str(error))
            return
        if self._is_gone:
            return
        self._field.setPlainText(visible(text))
        self._say("")
        self._show_ready(True)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._field.toPlainText())
        self._say(self.tr("Copied."))

    def _begin_saving(self) -> None:
        self._tasks.start(self._save(self._field.toPlainText()), "save the diagnostics")

    async def _save(self, text: str) -> None:
        title = self.tr("Save the diagnostics")
        path = await asking.choose_new_file(self, title, Path.home() / FILE)
        if path is None:
            return
        try:
            await asyncio.to_thread(write_new, path, text)
        except NacreError as error:
            said = str(error)
        else:
            said = self.tr("Saved as {file}").format(file=visible(str(path)))
        if not self._is_gone:
            self._say(said)

    def _say(self, sentence: str) -> None:
        self._said.setText(sentence)
        self._said.setVisible(bool(sentence))
        self._field.setAccessibleDescription(sentence)

    def _show_ready(self, ready: bool) -> None:
        self._field.setReadOnly(not ready)
        for button in self._acts:
            button.setEnabled(ready)

    def _forget(self) -> None:
        self._is_gone = True

    def _make_field(self) -> QPlainTextEdit:
        field = QPlainTextEdit(self)
        field.setObjectName("diagnosticsText")
        field.setAccessibleName(self.tr("Diagnostics, as they would be saved"))
        field.setTabChangesFocus(True)
        field.setProperty("monospace", True)
        field.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        return field

    def _build(self, theme: Theme) -> None:
        note = text_label(self, "diagnosticsNote", self._note())
        note.setProperty("muted", True)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        for button in self._acts:
            buttons.addButton(button, QDialogButtonBox.ButtonRole.ActionRole)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.setContentsMargins(*[theme.space_16] * 4)
        column.setSpacing(theme.space_12)
        column.addWidget(note)
        column.addWidget(self._field, 1)
        column.addWidget(self._said)
        column.addWidget(buttons)
        side = theme.px(theme.measures.dialog)
        self.resize(QSize(side, side).boundedTo(self.screen().availableSize() * 0.9))

    def _note(self) -> str:
        return self.tr(
            "For a report of a fault. This is all that is saved: no key, nothing of a conversation,"
            " and of errors only where they happened. You can take out what you like."
        )
