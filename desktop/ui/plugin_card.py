"""One plugin on its page: its name, how it is, what it may and runs, what can be done with it."""

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QVBoxLayout, QWidget

from desktop.core.plugins import PluginView
from desktop.ui import plugin_words
from desktop.ui.controls import act_button, text_label
from desktop.ui.flow import FlowLayout
from desktop.ui.server_words import breakable
from desktop.ui.theme import Theme

_TONES = {"running": "success", "stopped": "danger", "broken": "danger", "asking": "danger"}
_ON = ("resting", "running", "stopped")


class PluginCard(QFrame):
    """`show_plugin` says what is; the signals say what the person wants, with the view shown."""

    turn_on_wanted = Signal(object)
    turn_off_wanted = Signal(object)
    reload_wanted = Signal(object)
    take_back_wanted = Signal(object)
    uninstall_wanted = Signal(object)

    def __init__(
        self, theme: Theme, view: PluginView, *, is_sandboxed: bool | None, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self.setObjectName("pluginCard")
        self.setProperty("surface", "card")
        self.view = view
        column = QVBoxLayout(self)
        column.setContentsMargins(theme.space_16, theme.space_12, theme.space_16, theme.space_12)
        column.setSpacing(theme.space_4)
        self._name = self._label("pluginName", column)
        self._name.setProperty("heading", True)
        self._state = self._label("pluginPhase", column)
        self._may = self._label("pluginMay", column)
        self._runs = self._label("pluginRuns", column)
        self._runs.setProperty("monospace", True)
        self._came = self._label("pluginCame", column)
        self._came.setProperty("muted", True)
        row = FlowLayout(theme.space_8)
        self._on = self._button(self.tr("Enable"), "pluginEnable", self.turn_on_wanted.emit)
        self._off = self._button(self.tr("Disable"), "pluginDisable", self.turn_off_wanted.emit)
        self._again = self._button(self.tr("Reload"), "pluginReload", self.reload_wanted.emit)
        self._back = self._button(
            self.tr("Take back what it may"), "pluginTakeBack", self.take_back_wanted.emit
        )
        self._away = self._button(
            self.tr("Uninstall…"), "pluginUninstall", self.uninstall_wanted.emit
        )
        for button in self.buttons():
            row.addWidget(button)
        column.addSpacing(theme.space_4)
        column.addLayout(row)
        self.show_plugin(view, is_sandboxed=is_sandboxed)

    def buttons(self) -> tuple[QPushButton, ...]:
        """In the order of the Tab key."""
        return (self._on, self._off, self._again, self._back, self._away)

    def show_plugin(self, view: PluginView, *, is_sandboxed: bool | None) -> None:
        focused = next((button for button in self.buttons() if button.hasFocus()), None)
        self.view = view
        title, state = plugin_words.titled(view), plugin_words.state(view)
        self.setAccessibleName(f"{title}: {state}")
        self._say(self._name, title)
        self._say(self._state, state)
        self._tone(_TONES.get(view.phase, "muted"))
        self._say(self._may, plugin_words.may(view))
        self._say(self._runs, plugin_words.line(view.runs))
        self._say(self._came, plugin_words.came(view, is_sandboxed=is_sandboxed))
        is_on = view.phase in _ON
        shown = {
            self._on: view.phase in ("off", "asking"),
            self._off: is_on,
            self._again: is_on,
            self._back: not view.is_shipped and bool(view.granted),
            self._away: not view.is_shipped,
        }
        for button, is_shown in shown.items():
            button.setVisible(is_shown)
            button.setAccessibleName(f"{button.text()} {title}")
        if focused is not None and not shown[focused]:
            # What was pressed is gone: the keyboard comes to what undoes it.
            next((one for one, is_shown in shown.items() if is_shown), self).setFocus()

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
