"""The left side of the window: search, New, and the list of conversations once it is loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QStackedLayout,
    QVBoxLayout,
    QWidget,
)

from desktop.ui.controls import make_clearable
from desktop.ui.key_hint import KeyHint
from desktop.ui.theme import Theme

if TYPE_CHECKING:
    from desktop.ui.sidebar_list import ConversationList


class Sidebar(QFrame):
    """`conversations` is None until the catalogue can be read. `new_wanted` with a workspace's id
    or 0; `search_wanted(text)` to look for what was typed in all messages; `archived_wanted` and
    `bin_wanted` from the foot."""

    search_wanted = Signal(str)
    new_wanted = Signal(int)
    folder_wanted = Signal()
    archived_wanted = Signal()
    bin_wanted = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("sidebar")
        self.conversations: ConversationList | None = None
        column = QVBoxLayout(self)
        column.setContentsMargins(0, theme.space_8, 0, 0)
        column.setSpacing(theme.space_8)
        column.addLayout(self._top(theme))
        self._empty = QLabel(self)
        self._empty.setWordWrap(True)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignTop)
        # Under a style sheet contents margins of a label are nothing.
        self._empty.setMargin(theme.space_12)
        self._empty.setProperty("muted", True)
        self._stack = QStackedLayout()
        self._stack.addWidget(self._empty)
        column.addLayout(self._stack, 1)
        column.addLayout(self._foot(theme))

    def connect_list(self, conversations: ConversationList) -> None:
        """The list has been loaded."""
        self.conversations = conversations
        self._stack.addWidget(conversations)
        self._show_filled(False)
        conversations.filled.connect(self._show_filled)
        conversations.new_wanted.connect(self.new_wanted)
        self.search.textChanged.connect(conversations.show_words)

    def show_put_away(self, archived: int, binned: int) -> None:
        """How many conversations are archived and in the bin."""
        self._archived.setText(self.tr("Archived {count}").format(count=f"{archived:,}"))
        self._bin.setText(self.tr("Bin {count}").format(count=f"{binned:,}"))
        for button in (self._archived, self._bin):
            button.setEnabled(True)

    def set_theme(self, theme: Theme) -> None:
        if self.conversations is not None:
            self.conversations.set_theme(theme)

    def _show_filled(self, filled: bool) -> None:
        self._empty.setText(
            self.tr("No title and no folder holds this. Enter looks in all messages.")
            if self.search.text().strip()
            else self.tr("No conversation yet. Open a folder, or begin one without a folder.")
        )
        shown = self.conversations if filled and self.conversations else self._empty
        self._stack.setCurrentWidget(shown)

    def _foot(self, theme: Theme) -> QHBoxLayout:
        """The quiet ways to what was put away; their place is there from the first paint."""
        foot = QHBoxLayout()
        foot.setContentsMargins(theme.space_8, 0, theme.space_8, theme.space_8)
        foot.setSpacing(theme.space_4)
        self._archived = self._quiet(self.tr("Archived"), "showArchived")
        self._archived.clicked.connect(self.archived_wanted)
        self._bin = self._quiet(self.tr("Bin"), "showBin")
        self._bin.clicked.connect(self.bin_wanted)
        foot.addWidget(self._archived)
        foot.addWidget(self._bin)
        foot.addStretch(1)
        return foot

    def _quiet(self, words: str, name: str) -> QPushButton:
        button = QPushButton(words, self)
        button.setObjectName(name)
        button.setProperty("plain", True)
        button.setEnabled(False)
        return button

    def _top(self, theme: Theme) -> QVBoxLayout:
        top = QVBoxLayout()
        top.setContentsMargins(theme.space_8, 0, theme.space_8, 0)
        top.setSpacing(theme.space_8)
        self.search = QLineEdit(self)
        self.search.setObjectName("searchField")
        self.search.setAccessibleName(self.tr("Find conversations by title or folder"))
        self.search.setPlaceholderText(self.tr("Find conversations"))
        make_clearable(self.search)
        self.search.setToolTip(self.tr("Enter looks in all messages"))
        self.search.returnPressed.connect(lambda: self.search_wanted.emit(self.search.text()))
        new = QPushButton(self.tr("New"), self)
        new.setAccessibleName(self.tr("New conversation"))
        KeyHint(new, self.tr("New conversation"), "new")
        new.setObjectName("newConversation")
        new.clicked.connect(lambda: self.new_wanted.emit(0))
        folder = QPushButton(self.tr("Open folder…"), self)
        folder.setObjectName("openFolder")
        folder.clicked.connect(self.folder_wanted)
        buttons = QHBoxLayout()
        buttons.setSpacing(theme.space_8)
        buttons.addWidget(new, 1)
        buttons.addWidget(folder, 1)
        top.addWidget(self.search)
        top.addLayout(buttons)
        return top
