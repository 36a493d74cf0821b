"""A page of the right pane that is a list under a field to filter it by."""

from PySide6.QtCore import Qt, SignalInstance
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit, QStackedLayout, QVBoxLayout, QWidget

from desktop.ui.controls import make_clearable
from desktop.ui.theme import Theme


def lay_out(
    page: QWidget,
    field: QLineEdit,
    shown: QWidget,
    empty: QWidget,
    theme: Theme,
    *,
    below: QWidget | None = None,
) -> QStackedLayout:
    """The field, with `below` under it; then the list or what stands in its place. Gives the stack
    of both."""
    make_clearable(field)
    column = QVBoxLayout(page)
    column.setContentsMargins(0, theme.space_4, 0, 0)
    column.setSpacing(theme.space_8)
    top = QVBoxLayout()
    top.setContentsMargins(theme.space_8, 0, theme.space_8, 0)
    top.setSpacing(theme.space_8)
    top.addWidget(field)
    if below is not None:
        top.addWidget(below)
    column.addLayout(top)
    stack = QStackedLayout()
    stack.addWidget(shown)
    stack.addWidget(empty)
    column.addLayout(stack, 1)
    page.setFocusProxy(field)
    return stack


def takes_key(event: QKeyEvent, field: QLineEdit, shown: QWidget, left: SignalInstance) -> bool:
    """Esc empties the filter, then gives the focus back; ↓ leads from the field to the list."""
    key = event.key()
    if key == Qt.Key.Key_Escape and field.text():
        field.clear()
    elif key == Qt.Key.Key_Escape:
        left.emit()
    elif key == Qt.Key.Key_Down and field.hasFocus():
        shown.setFocus()
    else:
        return False
    return True
