"""One tool server on its page: its name, what it runs or talks to, how it is, what can be done."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QWidget

from desktop.core.tool_servers import ServerView
from desktop.ui import server_words
from desktop.ui.cards import Card, say, tell_tone
from desktop.ui.theme import Theme
from desktop.ui.visible import visible

_TONES = {"ready": "success", "waiting": "danger", "failed": "danger", "broken": "danger"}


class ServerCard(Card[ServerView]):
    """The signals say what the person wants, with the view shown."""

    edit_wanted = Signal(object)
    turn_wanted = Signal(object)
    restart_wanted = Signal(object)
    tools_wanted = Signal(object)
    log_wanted = Signal(object)
    remove_wanted = Signal(object)

    def __init__(self, theme: Theme, view: ServerView, parent: QWidget) -> None:
        super().__init__(theme, view, "serverCard", parent)
        self._name = self._line("serverName", heading=True)
        self._where = self._line("serverRuns", monospace=True)
        self._state = self._line("serverState")
        self._said = self._line("serverSaid", muted=True)
        self._tools = self._button(self.tr("Tools…"), "serverTools", self.tools_wanted.emit)
        self._restart = self._button(self.tr("Restart"), "serverRestart", self.restart_wanted.emit)
        self._log = self._button(self.tr("Log…"), "serverLog", self.log_wanted.emit)
        self._edit = self._button(self.tr("Edit…"), "serverEdit", self.edit_wanted.emit)
        self._turn = self._button(self.tr("Turn off"), "serverTurn", self.turn_wanted.emit)
        self._remove = self._button(self.tr("Remove…"), "serverRemove", self.remove_wanted.emit)
        self._add_buttons()
        self.show_view(view)

    def buttons(self) -> tuple[QPushButton, ...]:
        """In the order of the Tab key."""
        return (self._tools, self._restart, self._log, self._edit, self._turn, self._remove)

    def show_view(self, view: ServerView) -> None:
        self.view = view
        name, state = visible(view.entry.name), server_words.state(view)
        self.setAccessibleName(f"{name}: {state}")
        say(self._name, name)
        say(self._where, server_words.where(view.entry))
        say(self._state, state)
        tell_tone(self._state, _TONES.get(view.phase, "muted"))
        say(self._said, "\n".join(map(visible, (*view.said, *view.left_out))))
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
        self._show_buttons(shown, name)
