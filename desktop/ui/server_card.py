"""One tool server on its page: its name, what it runs or talks to, how it is, what can be done."""

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QVBoxLayout, QWidget

from desktop.core.tool_servers import ServerView
from desktop.ui import server_words
from desktop.ui.controls import act_button, text_label
from desktop.ui.flow import FlowLayout
from desktop.ui.server_words import breakable
from desktop.ui.theme import Theme
from desktop.ui.visible import visible

_TONES = {"ready": "success", "waiting": "danger", "failed": "danger", "broken": "danger"}


class ServerCard(QFrame):
    """`show_server` says what is; the signals say what the person wants, with the view shown."""

    edit_wanted = Signal(object)
    turn_wanted = Signal(object)
    restart_wanted = Signal(object)
    tools_wanted = Signal(object)
    log_wanted = Signal(object)
    remove_wanted = Signal(object)

    def __init__(self, theme: Theme, view: ServerView, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("serverCard")
        self.setProperty("surface", "card")
        self.view = view
        column = QVBoxLayout(self)
        column.setContentsMargins(theme.space_16, theme.space_12, theme.space_16, theme.space_12)
        column.setSpacing(theme.space_4)
        self._name = self._label("serverName", column)
        self._name.setProperty("heading", True)
        self._where = self._label("serverRuns", column)
        self._where.setProperty("monospace", True)
        self._state = self._label("serverState", column)
        self._said = self._label("serverSaid", column)
        self._said.setProperty("muted", True)
        row = FlowLayout(theme.space_8)
        self._tools = self._button(self.tr("Tools…"), "serverTools", self.tools_wanted.emit)
        self._restart = self._button(self.tr("Restart"), "serverRestart", self.restart_wanted.emit)
        self._log = self._button(self.tr("Log…"), "serverLog", self.log_wanted.emit)
        self._edit = self._button(self.tr("Edit…"), "serverEdit", self.edit_wanted.emit)
        self._turn = self._button(self.tr("Turn off"), "serverTurn", self.turn_wanted.emit)
        self._remove = self._button(self.tr("Remove…"), "serverRemove", self.remove_wanted.emit)
        for button in self.buttons():
            row.addWidget(button)
        column.addSpacing(theme.space_4)
        column.addLayout(row)
        self.show_server(view)

    def buttons(self) -> tuple[QPushButton, ...]:
        """In the order of the Tab key."""
        return (self._tools, self._restart, self._log, self._edit, self._turn, self._remove)

    def show_server(self, view: ServerView) -> None:
        self.view = view
        name, state = visible(view.entry.name), server_words.state(view)
        self.setAccessibleName(f"{name}: {state}")
        self._say(self._name, name)
        self._say(self._where, server_words.where(view.entry))
        self._say(self._state, state)
        self._tone(_TONES.get(view.phase, "muted"))
        self._say(self._said, "\n".join(map(visible, (*view.said, *view.left_out))))
        is_off, is_broken = view.phase == "off", view.phase == "broken"
        self._turn.setText(self.tr("Turn on") if is_off else self.tr("Turn off"))
        shown = {
            self._tools: bool(view.tools),
            self._restart: not is_off and not is_broken,
            self._log: not is_broken and bool(view.entry.command),
            self._edit: True,
            self._turn: not is_broken,
            self._remove: True,
        }
        for button, is_shown in shown.items():
            button.setVisible(is_shown)
            button.setAccessibleName(f"{button.text()} {name}")

    def _tone(self, tone: str) -> None:
        for one in ("success", "danger", "muted"):
            self._state.setProperty(one, one == tone)
        self._state.style().polish(self._state)

    @staticmethod
    def _say(label: QLabel, text: str) -> None:
        label.setText(breakable(text))
        label.setAccessibleName(text)
        label.setVisible(bool(text))

    def _label(self, name: str, column: QVBoxLayout) -> QLabel:
        label = text_label(self, name)
        column.addWidget(label)
        return label

    def _button(self, text: str, name: str, emit: Callable[[object], None]) -> QPushButton:
        return act_button(self, text, name, lambda: emit(self.view))
