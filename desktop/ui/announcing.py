"""The one place that speaks to a screen reader by itself, and parts whose words are said once.

What the window says of conversations is the `Announcer`'s. The classes of accessibility are asked
for when something is said: to make them costs a part of the time to the first picture.
"""

from PySide6 import QtGui
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QWidget


def announce(part: QWidget, sentence: str, *, at_once: bool = False) -> None:
    """Says it, after what is being said; `at_once` for what the person is waited for."""
    event = QtGui.QAccessibleAnnouncementEvent(part, sentence)
    if at_once:
        event.setPoliteness(QtGui.QAccessible.AnnouncementPoliteness.Assertive)
    QtGui.QAccessible.updateAccessibility(event)


class Told(QObject):
    """Says the words of a part once: when they stand on the screen, which may be later."""

    def __init__(self, part: QWidget) -> None:
        super().__init__(part)
        self._part = part
        self._due = ""
        part.installEventFilter(self)

    def say(self, sentence: str) -> None:
        """In place of what could not be said yet."""
        self._due = sentence
        self._tell()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Show:
            self._tell()
        return super().eventFilter(watched, event)

    def _tell(self) -> None:
        if self._due and self._part.isVisible():
            sentence, self._due = self._due, ""
            announce(self._part, sentence)
