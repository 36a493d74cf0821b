"""One plugin on its page: its name, how it is, what it may and runs, what can be done with it."""

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QWidget

from desktop.core.plugins import PluginView
from desktop.ui import plugin_words
from desktop.ui.cards import Card, say, tell_tone
from desktop.ui.theme import Theme

_TONES = {"running": "success", "stopped": "danger", "broken": "danger", "asking": "danger"}
_ON = ("resting", "running", "stopped")


class PluginCard(Card[PluginView]):
    """The signals say what the person wants, with the view shown."""

    turn_on_wanted = Signal(object)
    turn_off_wanted = Signal(object)
    reload_wanted = Signal(object)
    take_back_wanted = Signal(object)
    uninstall_wanted = Signal(object)

    def __init__(
        self,
        theme: Theme,
        view: PluginView,
        *,
        is_sandboxed: Callable[[], bool | None],
        parent: QWidget,
    ) -> None:
        super().__init__(theme, view, "pluginCard", parent)
        self._is_sandboxed = is_sandboxed
        self._name = self._line("pluginName", heading=True)
        self._state = self._line("pluginPhase")
        self._may = self._line("pluginMay")
        self._runs = self._line("pluginRuns", monospace=True)
        self._came = self._line("pluginCame", muted=True)
        self._on = self._button(self.tr("Enable"), "pluginEnable", self.turn_on_wanted.emit)
        self._off = self._button(self.tr("Disable"), "pluginDisable", self.turn_off_wanted.emit)
        self._again = self._button(self.tr("Reload"), "pluginReload", self.reload_wanted.emit)
        self._back = self._button(
            self.tr("Take back what it may"), "pluginTakeBack", self.take_back_wanted.emit
        )
        self._away = self._button(
            self.tr("Uninstall…"), "pluginUninstall", self.uninstall_wanted.emit
        )
        self._add_buttons()
        self.show_view(view)

    def buttons(self) -> tuple[QPushButton, ...]:
        """In the order of the Tab key."""
        return (self._on, self._off, self._again, self._back, self._away)

    def show_view(self, view: PluginView) -> None:
        focused = next((button for button in self.buttons() if button.hasFocus()), None)
        self.view = view
        title, state = plugin_words.titled(view), plugin_words.state(view)
        self.setAccessibleName(f"{title}: {state}")
        say(self._name, title)
        say(self._state, state)
        tell_tone(self._state, _TONES.get(view.phase, "muted"))
        say(self._may, plugin_words.may(view))
        say(self._runs, plugin_words.line(view.runs))
        say(self._came, plugin_words.came(view, is_sandboxed=self._is_sandboxed()))
        is_on = view.phase in _ON
        shown = {
            self._on: view.phase in ("off", "asking"),
            self._off: is_on,
            self._again: is_on,
            self._back: not view.is_shipped and bool(view.granted),
            self._away: not view.is_shipped,
        }
        self._show_buttons(shown, title)
        if focused is not None and not shown[focused]:
            # What was pressed is gone: the keyboard comes to what undoes it.
            next((one for one, is_shown in shown.items() if is_shown), self).setFocus()
