"""Questions to the person as futures: dialogs open and return at once, the answer is awaited.

A dialog's own loop inside a task would leave another task stuck for ever (STYLE.md), so every
dialog of the program comes through here or is opened the same way.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QFileDialog, QMessageBox, QWidget


async def finished(dialog: QDialog) -> int:
    """Opens the dialog and waits for its result code."""
    answer: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def settle(code: int) -> None:
        if not answer.done():
            answer.set_result(code)

    dialog.finished.connect(settle)
    dialog.open()
    try:
        return await answer
    finally:
        dialog.deleteLater()


async def choose(
    parent: QWidget, title: str, text: str, choices: Sequence[tuple[str, str]], *, escape: str
) -> str:
    """One of `(value, label)`; Esc and closing mean `escape`. No button is the default."""
    box = QMessageBox(QMessageBox.Icon.Question, title, text, parent=parent)
    box.setTextFormat(Qt.TextFormat.PlainText)  # names in it are anybody's
    buttons = {
        box.addButton(label, QMessageBox.ButtonRole.ActionRole): value for value, label in choices
    }
    for button, value in buttons.items():
        button.setAutoDefault(False)
        if value == escape:
            box.setEscapeButton(button)
    await finished(box)
    clicked = box.clickedButton()
    return next((value for button, value in buttons.items() if button is clicked), escape)


async def choose_folder(parent: QWidget, title: str, start: str = "") -> Path | None:
    """A folder that the person chose, or None."""
    dialog = QFileDialog(parent, title, start)
    dialog.setFileMode(QFileDialog.FileMode.Directory)
    dialog.setOption(QFileDialog.Option.ShowDirsOnly)
    code = await finished(dialog)
    chosen = dialog.selectedFiles()
    return Path(chosen[0]) if code and chosen else None


async def choose_files(parent: QWidget, title: str) -> list[Path]:
    """Existing files that the person chose; none where they did not."""
    dialog = QFileDialog(parent, title)
    dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
    code = await finished(dialog)
    return [Path(one) for one in dialog.selectedFiles()] if code else []


async def choose_new_file(parent: QWidget, title: str, suggestion: Path) -> Path | None:
    """A file to be made, or None. Its suffix is that of the suggestion.

    That nothing is there yet is for whoever makes it to see.
    """
    dialog = QFileDialog(parent, title, str(suggestion.parent))
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setOption(QFileDialog.Option.DontConfirmOverwrite)
    dialog.setDefaultSuffix(suggestion.suffix.removeprefix("."))
    dialog.selectFile(suggestion.name)
    code = await finished(dialog)
    chosen = dialog.selectedFiles()
    return Path(chosen[0]) if code and chosen else None
