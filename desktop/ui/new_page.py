"""Where a conversation begins: choose the folder, write, send. Nothing is made before that.

It is what the window shows while the rest still loads: it can be typed in at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from desktop.ui.composer import Composer
from desktop.ui.framed import FramedCombo
from desktop.ui.theme import Theme
from desktop.ui.visible import visible

if TYPE_CHECKING:
    from desktop.core.records import Workspace


class NewPage(QWidget):
    """`begin_wanted(workspace_id, text, attachments)`; id 0 stands for no folder."""

    begin_wanted = Signal(int, str, list)
    folder_wanted = Signal()
    workspace_chosen = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("newPage")
        self.setAccessibleName(self.tr("New conversation"))
        self.composer = Composer(theme, self)
        self.composer.send_wanted.connect(
            lambda text, attachments: self.begin_wanted.emit(self.workspace_id, text, attachments)
        )
        outer = QHBoxLayout(self)
        outer.setContentsMargins(*[theme.space_16] * 4)
        middle = QWidget(self)
        column = QVBoxLayout(middle)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.space_12)
        column.addStretch(2)
        title = QLabel(self.tr("New conversation"), middle)
        title.setProperty("title", True)
        column.addWidget(title)
        row = QHBoxLayout()
        row.setSpacing(theme.space_8)
        label = QLabel(self.tr("in"), middle)
        label.setProperty("muted", True)
        self._folder = FramedCombo(theme, middle)
        self._folder.setObjectName("folderChoice")
        self._folder.setAccessibleName(self.tr("Folder of the new conversation"))
        label.setBuddy(self._folder)
        label.setAccessibleName(self._folder.accessibleName())
        self._folder.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self._folder.addItem(self.tr("no folder"), 0)
        self._folder.currentIndexChanged.connect(lambda _: self.workspace_chosen.emit())
        open_folder = QPushButton(self.tr("Open folder…"), middle)
        open_folder.setProperty("plain", True)
        open_folder.clicked.connect(self.folder_wanted)
        row.addWidget(label)
        row.addWidget(self._folder)
        row.addWidget(open_folder)
        row.addStretch(1)
        column.addLayout(row)
        column.addWidget(self.composer)
        column.addStretch(3)
        # Alone in its row it stands in the middle, and has all of it where there is no more.
        middle.setMaximumWidth(theme.column)
        outer.addWidget(middle)

    @property
    def workspace_id(self) -> int:
        """The folder that is chosen; 0 is none."""
        return int(self._folder.currentData() or 0)

    def show_workspaces(self, workspaces: Sequence[Workspace], scratch: str) -> None:
        """The folders to choose from; `scratch` (a path) is shown as "no folder"."""
        chosen = self._folder.currentData()
        self._folder.clear()
        self._folder.addItem(self.tr("no folder"), 0)
        for workspace in workspaces:
            if workspace.directory != scratch and workspace.archived_at is None:
                self._folder.addItem(visible(workspace.display_name), workspace.id)
                self._folder.setItemData(
                    self._folder.count() - 1, workspace.directory, Qt.ItemDataRole.ToolTipRole
                )
        self.choose_workspace(int(chosen or 0))

    def choose_workspace(self, workspace_id: int) -> None:
        self._folder.setCurrentIndex(max(0, self._folder.findData(workspace_id)))
