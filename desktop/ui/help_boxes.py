"""The small boxes of the Help menu."""

from collections.abc import Mapping
from html import escape

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QMessageBox, QWidget

from desktop.ui.actions import shortcut_lines


def show_shortcuts(parent: QWidget, in_force: Mapping[str, tuple[str, ...]]) -> None:
    """All keys, from the same declarations as the menus."""
    rows = "".join(
        f"<tr><td>{escape(_say(what))}</td><td>&nbsp;&nbsp;<b>{escape(keys)}</b></td></tr>"
        for what, keys in shortcut_lines(in_force)
    )
    _open(parent, _say("Keyboard shortcuts"), f"<table>{rows}</table>")


def show_about(parent: QWidget, version: str) -> None:
    about = _say("A conversation is laid down like nacre, layer on layer.")
    _open(parent, _say("About Nacre"), f"<b>Nacre {version}</b><p>{about}</p>")


def _open(parent: QWidget, title: str, rich_text: str) -> None:
    box = QMessageBox(QMessageBox.Icon.NoIcon, title, rich_text, parent=parent)
    box.setTextFormat(Qt.TextFormat.RichText)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.open()


def _say(text: str) -> str:
    return QCoreApplication.translate("Help", text)
