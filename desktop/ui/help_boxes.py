"""The small boxes of the Help menu."""

from collections.abc import Mapping
from html import escape

from PySide6.QtCore import QCoreApplication, QSize, Qt
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
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
    box = QDialog(parent)
    box.setObjectName("shortcutsBox")
    box.setWindowTitle(_say("Keyboard shortcuts"))
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    lines = QLabel(f"<table>{rows}</table>", box)
    lines.setTextFormat(Qt.TextFormat.RichText)
    lines.setMargin(box.fontMetrics().averageCharWidth())
    # There are more of them than many a screen has lines.
    scroll = QScrollArea(box)
    scroll.setAccessibleName(box.windowTitle())
    scroll.setFrameShape(QScrollArea.Shape.NoFrame)
    scroll.setWidgetResizable(True)
    scroll.setWidget(lines)
    buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, box)
    buttons.rejected.connect(box.reject)
    column = QVBoxLayout(box)
    column.addWidget(scroll, 1)
    column.addWidget(buttons)
    sides = column.contentsMargins()
    wide = lines.sizeHint().width() + scroll.verticalScrollBar().sizeHint().width()
    high = lines.sizeHint().height() + buttons.sizeHint().height() + column.spacing()
    wanted = QSize(wide + sides.left() + sides.right(), high + sides.top() + sides.bottom())
    box.resize(wanted.boundedTo(box.screen().availableSize() * 0.9))
    scroll.setFocus()
    box.open()


def show_about(parent: QWidget, version: str) -> None:
    about = _say("A conversation is laid down like nacre, layer on layer.")
    words = f"<b>Nacre {version}</b><p>{about}</p>"
    box = QMessageBox(QMessageBox.Icon.NoIcon, _say("About Nacre"), words, parent=parent)
    box.setTextFormat(Qt.TextFormat.RichText)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.open()


def _say(text: str) -> str:
    return QCoreApplication.translate("Help", text)
