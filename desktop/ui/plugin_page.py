"""A plugin's page in the right pane: its rows, a filter, and what stands in the way.

The plugin runs from the first time that its page is seen, and is told what is beside it only
while it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent, QShowEvent
from PySide6.QtWidgets import QComboBox, QLineEdit, QVBoxLayout, QWidget

from desktop.core.panels import PanelRow, PluginPanel
from desktop.ui import filtered
from desktop.ui.controls import act_button, text_label
from desktop.ui.framed import FramedCombo
from desktop.ui.plugin_rows import PluginList, PluginRows
from desktop.ui.visible import visible

if TYPE_CHECKING:
    from desktop.ui.theme import Theme

CHOICE_LETTERS = 12  # that are seen at least
PAUSE_MS = 60  # rows that come in pieces, and letters of the filter, are shown together


class PluginPage(QWidget):
    """`left` when Esc gives the focus back."""

    left = Signal()

    def __init__(
        self,
        theme: Callable[[], Theme],
        *,
        panel: PluginPanel,
        now_ms: Callable[[], int],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("pluginPage")
        self.panel = panel
        self._tab_id: str | None = None
        self._told: str | None = None
        self._leads_to = ""  # the conversation of the row that was chosen last
        self.model = PluginRows(now_ms, self)
        self.field = QLineEdit(self)
        self.choice = FramedCombo(theme(), self)
        self.list = PluginList(self.model, theme, self)
        self._why = text_label(self, "pluginState")
        self._retry = act_button(self, self.tr("Try again"), "pluginRetry", panel.retry)
        self._pause = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._build(theme())
        self._wire()

    def show_conversation(self, tab_id: str | None) -> None:
        """The conversation in view; None where there is none. What is filtered by stays where the
        person came there from here."""
        if tab_id != self._tab_id:
            self._tab_id = tab_id
            if tab_id != self._leads_to:
                self.field.clear()
            self._leads_to = ""
            self._tell_plugin()
            self._refresh()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not filtered.takes_key(event, self.field, self.list, self.left):
            super().keyPressEvent(event)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._tell_plugin()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._tell_plugin()

    def _tell_plugin(self) -> None:
        """What is in view beside it; nothing while nobody looks."""
        seen = self._tab_id if self.isVisible() else None
        if seen != self._told:
            self._told = seen
            self.panel.show(seen)

    def _changed(self) -> None:
        if not self._pause.isActive():
            self._pause.start()

    def _refresh(self) -> None:
        self._show_choices()
        text = self.field.text().strip().casefold()
        self.list.show_rows([row for row in self.panel.rows() if row.holds(text)])
        state = self.panel.state
        self._why.setText(visible(state.why) or self._reason(bool(text)))
        self._retry.setVisible(state.phase in ("waiting", "failed"))
        is_filled = self.model.rowCount() > 0 and not state.why
        self._stack.setCurrentWidget(self.list if is_filled else self._empty)

    def _reason(self, is_filtered: bool) -> str:
        """Why there is no row."""
        if self._tab_id is None:
            return self.tr("What it shows stands here once a conversation is open.")
        if self.panel.state.phase in ("off", "starting"):
            return self.tr("Starting…")
        return (
            self.tr("No row holds this.") if is_filtered else self.tr("There is nothing here yet.")
        )

    def _open(self, row: PanelRow) -> None:
        self._leads_to = row.place.session_id if row.place is not None else ""
        self.panel.open(row)

    def _show_choices(self) -> None:
        choices = self.panel.choices
        self.choice.setVisible(bool(choices))
        wanted = [(visible(one.title), one.id) for one in choices]
        count = self.choice.count()
        if wanted != [(self.choice.itemText(n), self.choice.itemData(n)) for n in range(count)]:
            self.choice.clear()
            for title, id_ in wanted:
                self.choice.addItem(title, id_)
        self.choice.setCurrentIndex(self.choice.findData(self.panel.chosen))

    def _build(self, theme: Theme) -> None:
        words = self.tr("Filter {name}").format(name=self.panel.name)
        self.field.setObjectName("pluginFilter")
        self.field.setAccessibleName(words)
        self.field.setPlaceholderText(self.tr("Filter"))
        self.list.setAccessibleName(self.panel.name)
        self.choice.setObjectName("pluginChoice")
        self.choice.setMinimumHeight(theme.measures.hit)
        shows = self.tr("What {name} shows").format(name=self.panel.name)
        self.choice.setAccessibleName(shows)
        self.choice.setAccessibleDescription(shows)  # its name is told as what is chosen
        # A long entry does not widen the pane.
        self.choice.setSizeAdjustPolicy(
            QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self.choice.setMinimumContentsLength(CHOICE_LETTERS)
        self._why.setProperty("muted", True)
        self._empty = QWidget(self)
        empty = QVBoxLayout(self._empty)
        empty.setContentsMargins(theme.space_12, theme.space_8, theme.space_12, 0)
        empty.setSpacing(theme.space_8)
        empty.addWidget(self._why)
        empty.addWidget(self._retry, 0, Qt.AlignmentFlag.AlignLeading)
        empty.addStretch(1)
        self._stack = filtered.lay_out(
            self, self.field, self.list, self._empty, theme, below=self.choice
        )
        self._refresh()

    def _wire(self) -> None:
        self.field.textChanged.connect(self._changed)
        self._pause.timeout.connect(self._refresh)
        self.list.chosen.connect(self._open)
        self.choice.activated.connect(lambda at: self.panel.choose(self.choice.itemData(at)))
        self.panel.listen(self._changed)
        panel = self.panel
        self.destroyed.connect(lambda: panel.listen(None))
