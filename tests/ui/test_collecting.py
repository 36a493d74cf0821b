"""Where garbage is collected: a widget in a cycle is never destroyed beside its own thread."""

import gc
import threading
import weakref

import qasync
from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication

from desktop.app.collecting import Collector
from tests.ui.conftest import until


class Ring(QObject):
    """Holds itself, and a timer that may only be stopped on its own thread."""

    def __init__(self, ended: list[str]) -> None:
        super().__init__()
        self.itself = self
        self.timer = QTimer(self, interval=60_000)
        self.timer.start()
        weakref.finalize(self, lambda: ended.append(threading.current_thread().name))


def allocate(held: list[list[int]]) -> None:
    """What makes the automatic collector run, on this thread, over and over."""
    held.extend([] for _ in range(100_000))


def test_a_window_in_a_cycle_is_destroyed_on_its_own_thread(
    qapp: QApplication, loop: qasync.QEventLoop
) -> None:
    ended: list[str] = []
    gc.enable()  # as it is before there is a window
    collector = Collector(qapp)
    try:
        gc.collect()
        for _ in range(20):
            Ring(ended)
        held: list[list[int]] = []
        other = threading.Thread(target=allocate, args=(held,))
        other.start()
        other.join()
        loop.run_until_complete(until(lambda: len(ended) == 20))
    finally:
        collector.stop()
    assert set(ended) == {threading.main_thread().name}


def test_the_automatic_collector_goes_on_when_the_window_is_gone(qapp: QApplication) -> None:
    gc.enable()  # as it is before there is a window
    collector = Collector(qapp)
    assert not gc.isenabled()
    collector.stop()
    assert gc.isenabled()
