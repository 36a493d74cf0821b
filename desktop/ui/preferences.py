"""The person's preferences while the window is open: read once, changed at once, written behind.

A change is announced to whoever shows it and goes to the store in a task; what can't be written is
said by the task's error and stays in force for this run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from desktop import settings
from desktop.core.setting import Setting, T, Value
from desktop.settings import Preferences
from desktop.ui.tasks import Tasks

if TYPE_CHECKING:
    from desktop.core.catalogue import Catalogue


class LivePreferences(QObject):
    """`changed(key)` after every change; `problem(sentence)` for rows that could not be used."""

    changed = Signal(str)
    problem = Signal(str)

    def __init__(self, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._tasks = tasks
        self._catalogue: Catalogue | None = None
        self._current = Preferences()

    @property
    def current(self) -> Preferences:
        return self._current

    def value(self, setting: Setting[T]) -> T:
        return self._current.value(setting)

    def load(self, rows: Mapping[str, str], catalogue: Catalogue) -> None:
        """The rows have been read; every setting is announced once."""
        self._catalogue = catalogue
        self._current = settings.read(rows)
        for problem in self._current.problems:
            self.problem.emit(problem.sentence)
        for each in settings.SETTINGS:
            self.changed.emit(each.key)

    def change(self, key: str, value: Value) -> None:
        """Raises SettingError for a value that the setting does not take."""
        self._current = self._current.changed(key, value)
        self.changed.emit(key)
        if self._catalogue is not None:
            text = settings.render(key, value)
            self._tasks.start(self._catalogue.save_setting(key, text), f"save setting {key}")
