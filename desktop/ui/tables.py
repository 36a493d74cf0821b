"""Tables to read in, row by row, as pages and boxes show them."""

from PySide6.QtCore import QAbstractItemModel
from PySide6.QtWidgets import QAbstractItemView, QTreeView, QWidget


def plain_table(
    parent: QWidget, name: str, model: QAbstractItemModel, *, told: str, lines: int
) -> QTreeView:
    """A table without a tree, at least `lines` lines of text high; `told` is what a screen reader
    calls it. Tab leaves it."""
    table = QTreeView(parent)
    table.setObjectName(name)
    table.setAccessibleName(told)
    table.setModel(model)
    table.setRootIsDecorated(False)
    table.setUniformRowHeights(True)
    table.setAllColumnsShowFocus(True)
    table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    table.setTabKeyNavigation(False)
    table.header().setAccessibleName(told)
    table.header().setSectionsClickable(False)
    table.header().setHighlightSections(False)
    table.setMinimumHeight(table.fontMetrics().lineSpacing() * lines)
    return table
