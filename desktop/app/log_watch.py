"""Tells that something was written into the log's files, by whichever process.

Qt's file watcher on a thread of its own: neither its questions to the disk nor a storm of writes
reach the GUI thread, which hears of one write for each time that it asked. What the watcher misses
(a network drive, a system that tells late) is found by the five-second check (`feed/outside`).
"""

from pathlib import Path

from PySide6.QtCore import QFileSystemWatcher, QObject, QThread, Signal, Slot

from desktop.store.plain import write_ahead_log

END_MS = 500


class LogWatch(QObject):
    """`woken` follows each `arm` at the next write, or at once where one came since the last; the
    first `arm` is followed at once."""

    woken = Signal()
    _armed = Signal()

    def __init__(self, database: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._thread = QThread(self)
        self._thread.setObjectName("nacre-log-watch")
        self._watcher = _Watcher(write_ahead_log(database))
        self._watcher.moveToThread(self._thread)
        self._thread.finished.connect(self._watcher.deleteLater)
        self._armed.connect(self._watcher.arm)
        self._watcher.woken.connect(self.woken)
        self._thread.start()

    def arm(self) -> None:
        self._armed.emit()

    def close(self) -> None:
        """Ends the thread; one that hangs at a disk is left behind."""
        self._thread.quit()
        self._thread.wait(END_MS)


class _Watcher(QObject):
    """Lives on the thread. The folder is watched too: it tells when the file is made anew."""

    woken = Signal()

    def __init__(self, file: Path) -> None:
        super().__init__()
        self._file, self._folder = str(file), str(file.parent)
        self._files: QFileSystemWatcher | None = None
        self._is_armed = False
        self._was_written = False

    @Slot()
    def arm(self) -> None:
        if self._files is None:
            self._files = QFileSystemWatcher([self._folder], self)
            self._files.fileChanged.connect(self._written)
            self._files.directoryChanged.connect(self._listed)
            self._files.addPath(self._file)
            self._was_written = True  # perhaps: until now nobody watched
        self._is_armed = True
        self._tell()

    @Slot()
    def _listed(self) -> None:
        """A file of this name may be another one now."""
        assert self._files is not None
        self._files.removePath(self._file)
        self._files.addPath(self._file)
        self._written()

    @Slot()
    def _written(self) -> None:
        self._was_written = True
        self._tell()

    def _tell(self) -> None:
        if self._is_armed and self._was_written:
            self._is_armed = self._was_written = False
            self.woken.emit()
