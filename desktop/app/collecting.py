"""Garbage is collected on the thread of the window alone.

The collector runs on whichever thread allocates, and frees what it finds there: a widget in a cycle
would be destroyed beside the thread that it lives on, its timers with it, and take the program
along. So it is switched off, and asked when the event loop is about to wait.
"""

import gc

from PySide6.QtCore import QAbstractEventDispatcher, QObject

from desktop.core.loading import is_resting


class Collector(QObject):
    """Takes the place of the automatic collector until `stop`."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        gc.disable()
        self._dispatcher = QAbstractEventDispatcher.instance()
        self._dispatcher.aboutToBlock.connect(self.look)

    def look(self) -> None:
        """Collects the generations that are due, by the thresholds of the automatic collector.

        What another thread is loading meanwhile is not looked through: it stays for good.
        """
        if is_resting():
            return
        due = [
            generation
            for generation, (count, most) in enumerate(
                zip(gc.get_count(), gc.get_threshold(), strict=True)
            )
            if count > most
        ]
        if due:
            gc.collect(due[-1])

    def stop(self) -> None:
        """The automatic collector goes on: no widget is left."""
        self._dispatcher.aboutToBlock.disconnect(self.look)
        gc.enable()
