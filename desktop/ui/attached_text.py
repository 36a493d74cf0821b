"""A text that goes with a message, opened to be read and changed (SPEC U07).

What is not changed stays as it was, byte for byte; a change keeps the kind of its line ends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QPlainTextEdit, QVBoxLayout, QWidget

from desktop.ui.controls import text_label
from desktop.ui.plain_text import Filling, text_of
from desktop.ui.theme import Theme
from desktop.ui.visible import visible

if TYPE_CHECKING:
    from desktop.core.chunks import Json

# Letters of a line that can be laid out without a pause that is felt.
LONGEST_LINE = 100_000


def can_be_opened(attachment: Json) -> bool:
    """Whether it is a text, and no line of it is too long for a field."""
    text = attachment.get("text")
    return isinstance(text, str) and not _has_long_line(text)


def _has_long_line(text: str) -> bool:
    """A line that is too long lies over one of these places, so that few are looked at."""
    for at in range(0, len(text), LONGEST_LINE):
        end = text.find("\n", at)
        begin = text.rfind("\n", 0, at) + 1
        if (end if end >= 0 else len(text)) - begin > LONGEST_LINE:
            return True
    return False


def with_text(attachment: Json, text: str) -> dict[str, Any]:
    """The attachment with another text, whose line ends are as they were throughout."""
    before = str(attachment.get("text"))
    ends = before.count("\n")
    if ends and before.count("\r\n") == ends:
        text = text.replace("\n", "\r\n")
    return {**attachment, "text": text, "size": size_of(text)}


def size_of(text: str) -> int:
    """Its bytes, without making them where each letter is one."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


class AttachedText(QDialog):
    """Opened with `open()`. `changed(attachment)` when the person keeps another text."""

    changed = Signal(object)

    def __init__(self, theme: Theme, attachment: Json, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("attachedText")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        name = visible(str(attachment.get("name", "")))
        self.setWindowTitle(name)
        self._attachment = attachment
        self._is_warned = False
        column = QVBoxLayout(self)
        column.setContentsMargins(*[theme.space_16] * 4)
        column.setSpacing(theme.space_12)
        self._note = text_label(self, "attachedTextNote", self.tr("Opening…"))
        self._note.setProperty("muted", True)
        column.addWidget(self._note)
        self._field = QPlainTextEdit(self)
        self._field.setObjectName("textBoxText")
        self._field.setAccessibleName(name)
        self._field.setProperty("monospace", True)
        self._field.setTabChangesFocus(True)
        column.addWidget(self._field, 1)
        button = QDialogButtonBox.StandardButton
        buttons = QDialogButtonBox(button.Save | button.Cancel, self)
        buttons.accepted.connect(self._keep)
        buttons.rejected.connect(self.reject)
        self._save = buttons.button(button.Save)
        self._save.setAutoDefault(False)
        self._save.setEnabled(False)
        column.addWidget(buttons)
        side = theme.px(theme.measures.dialog)
        self.resize(QSize(side, side * 2 // 3).boundedTo(self.screen().availableSize() * 0.9))
        self._field.setFocus()
        Filling(self._field, str(attachment.get("text")), self._opened)

    def reject(self) -> None:
        """A change is not dropped by one key."""
        if self._field.document().isModified() and self._save.isEnabled() and not self._is_warned:
            self._is_warned = True
            words = self.tr("Your changes are not saved. Cancel once more drops them.")
            self._note.setText(words)
            self._field.setAccessibleDescription(words)
            return
        super().reject()

    def _opened(self) -> None:
        self._note.setText(self.tr("This text goes with the message as it is here."))
        self._save.setEnabled(True)

    def _keep(self) -> None:
        if self._field.document().isModified():
            text = text_of(self._field.document())
            self.changed.emit(with_text(self._attachment, text))
        self.accept()
