"""The small boxes of the Help menu."""

from collections.abc import Mapping
from html import escape

from PySide6.QtCore import QCoreApplication, QSize, Qt
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFrame,
    QLabel,
    QMessageBox,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from desktop.ui.actions import shortcut_lines

_OF_SCREEN = 0.9
_SPACE = 8  # pixels


def show_shortcuts(parent: QWidget, in_force: Mapping[str, tuple[str, ...]]) -> None:
    """All keys, from the same declarations as the menus; on a low screen they scroll."""
    rows = "".join(
        f"<tr><td>{escape(_say(what))}</td><td>&nbsp;&nbsp;<b>{escape(keys)}</b></td></tr>"
        for what, keys in shortcut_lines(in_force)
    )
    title = _say("Keyboard shortcuts")
    box = QDialog(parent)
    box.setObjectName("shortcutsBox")
    box.setWindowTitle(title)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    column = QVBoxLayout(box)
    keys = QLabel(f"<table>{rows}</table>", box)
    keys.setObjectName("shortcutsPage")
    keys.setTextFormat(Qt.TextFormat.RichText)
    keys.setMargin(_SPACE)
    page = QScrollArea(box)
    page.setAccessibleName(title)
    page.setFrameShape(QFrame.Shape.NoFrame)
    page.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    page.setWidgetResizable(True)
    page.setWidget(keys)
    column.addWidget(page, 1)
    buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, box)
    buttons.rejected.connect(box.reject)
    column.addWidget(buttons)
    bar = page.verticalScrollBar().sizeHint().width()
    whole = keys.sizeHint() + QSize(bar, 0) + box.sizeHint() - page.sizeHint()
    box.resize(whole.boundedTo(box.screen().availableSize() * _OF_SCREEN))
    page.setFocus()
    box.open()


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
