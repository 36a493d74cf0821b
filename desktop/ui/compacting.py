"""Asks what a summary of the conversation must keep, and has it made (LOOK.md: plain dialogs)."""

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QInputDialog, QPlainTextEdit, QWidget

from desktop.core.commands import Commands
from desktop.ui import asking


def say(text: str) -> str:
    return QCoreApplication.translate("Compacting", text)


async def compact(commands: Commands, tab_id: str, *, window: QWidget) -> None:
    """Nothing happens when the person closes the dialog without saying so."""
    dialog = QInputDialog(window)
    dialog.setObjectName("compactDialog")
    dialog.setWindowTitle(say("Compact the conversation"))
    dialog.setLabelText(
        say(
            "The agent goes on with a summary of what was said so far. All of it stays here to "
            "read and to search.\n\nWhat must the summary keep? (You may leave this empty.)"
        )
    )
    dialog.setOption(QInputDialog.InputDialogOption.UsePlainTextEditForTextInput)
    dialog.setOkButtonText(say("Compact"))
    field = dialog.findChild(QPlainTextEdit)
    if field is not None:
        field.setObjectName("compactKeep")
        field.setTabChangesFocus(True)
        field.setAccessibleName(say("What the summary must keep"))
    if await asking.finished(dialog):
        await commands.compact(tab_id, dialog.textValue())
