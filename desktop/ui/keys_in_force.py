"""Gives the window's actions the keys that the person chose, once they are read or changed."""

from collections.abc import Mapping

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QApplication

from desktop.settings import KEYS
from desktop.ui.field_keys import FieldKeys
from desktop.ui.preferences import LivePreferences
from desktop.ui.shortcuts import SPECS, keys_over_fields, read


class KeysInForce(QObject):
    """Lives as long as the window. Names each entry that can't be used once (SPEC U33)."""

    def __init__(
        self,
        actions: Mapping[str, QAction],
        preferences: LivePreferences,
        app: QApplication,
        window: QObject,
    ) -> None:
        super().__init__(window)
        self._actions = actions
        self._preferences = preferences
        self._told: set[str] = set()
        self._fields = FieldKeys((), app, self)
        preferences.changed.connect(self._changed)
        self._apply()

    def _changed(self, key: str) -> None:
        if key == KEYS.key:
            self._apply()

    def _apply(self) -> None:
        shortcuts = read(self._preferences.value(KEYS))
        for name, keys in shortcuts.in_force().items():
            self._actions[name].setShortcuts([QKeySequence(one) for one in keys])
        self._fields.set_keys(list(keys_over_fields(shortcuts)))
        for name in shortcuts.broken():
            if name not in self._told:
                self._told.add(name)
                words = self.tr(
                    "The keys kept for “{action}” can't be used. It has its usual ones; Settings →"
                    " Keyboard changes them."
                )
                self._preferences.problem.emit(words.format(action=SPECS[name].text))
