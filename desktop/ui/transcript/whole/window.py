"""The window of a whole output: opens at once however long it is, and reads what is seen.

Reading, looking for a text and saving happen on threads. Of many wishes to move, the newest is
fulfilled: however fast the wheel turns, one read is on its way.
"""

import asyncio
import shutil
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QKeySequence, QShortcut
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLineEdit, QScrollBar, QVBoxLayout, QWidget

from desktop.core.errors import NacreError
from desktop.ui.asking import choose_new_file
from desktop.ui.controls import act_button, make_clearable, text_label
from desktop.ui.theme import Theme
from desktop.ui.transcript.whole import file as output_file
from desktop.ui.transcript.whole.text import OutputText
from desktop.ui.words import size

Start = Callable[[Coroutine[Any, Any, Any], str], object]

# The bar counts in these: a file may have more bytes than a bar has places.
PLACES = 1_000_000


class OutputWindow(QDialog):
    """Shows the file at `path`. It deletes itself when it is closed."""

    def __init__(self, path: Path, title: str, theme: Theme, start: Start, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("outputWindow")
        self.setWindowTitle(title)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._path = path
        self._start = start
        self._window = output_file.Window(0, 0, 0, ())
        self._goal: int | None = 0
        self._steps = 0
        self._is_reading = False
        self._is_stale = False
        self._is_closed = False
        self._search = 0
        self._found: int | None = None
        self._build(theme)
        self.resize(theme.column + 2 * theme.space_32, theme.measures.window_height)
        self.text.moved.connect(self.move_by)
        self.text.ended.connect(self.go_to_end)
        self.text.resized.connect(self._refresh)
        self._bar.valueChanged.connect(self._dragged)
        self._refresh()

    def _build(self, theme: Theme) -> None:
        self.field = QLineEdit(self)
        self.field.setObjectName("outputFind")
        self.field.setPlaceholderText(self.tr("Find in this output"))
        self.field.setAccessibleName(self.tr("Find in this output"))
        make_clearable(self.field)
        self.field.textChanged.connect(self._forget_found)
        self.field.returnPressed.connect(self.find_next)
        head = QHBoxLayout()
        head.addWidget(self.field, 1)
        for words, name, act in (
            (self.tr("Previous"), "outputPrevious", self.find_previous),
            (self.tr("Next"), "outputNext", self.find_next),
            (self.tr("Copy"), "outputCopy", self.copy),
            (self.tr("Save…"), "outputSave", self._save),
        ):
            head.addWidget(act_button(self, words, name, act))
        self.text = OutputText(theme, self)
        self._bar = QScrollBar(Qt.Orientation.Vertical, self)
        self._bar.setObjectName("outputBar")
        self._bar.setAccessibleName(self.tr("Place in the output"))
        body = QHBoxLayout()
        body.setSpacing(0)
        body.addWidget(self.text, 1)
        body.addWidget(self._bar)
        self.status = text_label(self, "outputStatus")
        self.status.setProperty("muted", True)
        column = QVBoxLayout(self)
        column.addLayout(head)
        column.addLayout(body, 1)
        column.addWidget(self.status)
        QShortcut(QKeySequence(QKeySequence.StandardKey.Find), self, self.field.setFocus)
        QShortcut(QKeySequence(QKeySequence.StandardKey.FindNext), self, self.find_next)
        QShortcut(QKeySequence(QKeySequence.StandardKey.FindPrevious), self, self.find_previous)
        self.text.setFocus()

    # Moving

    def move_by(self, lines: int) -> None:
        """Down by so many lines, or up; by none, what is seen is read again."""
        self._steps += lines
        self._refresh()

    def go_to(self, place: int) -> None:
        """To the line that holds this byte."""
        self._goal, self._steps = place, 0
        self._refresh()

    def go_to_end(self, end: bool) -> None:
        """To the end of the file, or to its start."""
        self.go_to(self._window.size if end else 0)

    def _dragged(self, value: int) -> None:
        self.go_to(round(value / PLACES * self._window.size))

    def _refresh(self) -> None:
        self._is_stale = True
        if not self._is_reading and not self._is_closed:
            self._is_reading = True
            self._start(self._read(), "read an output")

    @property
    def _place(self) -> int:
        """Where it stands: at the end, however many lines fit, or at the first line."""
        window = self._window
        at_end = not self._steps and window.start and window.end == window.size
        return window.size if at_end else window.start

    async def _read(self) -> None:
        try:
            while self._is_stale and not self._is_closed:
                place = self._place if self._goal is None else self._goal
                steps, count = self._steps, self.text.fitting
                self._goal, self._steps, self._is_stale = None, 0, False
                window = await asyncio.to_thread(
                    output_file.read, self._path, place, steps=steps, count=count
                )
                if not self._is_closed:
                    self._show(window)
        except OSError as error:
            if not self._is_closed:
                self.status.setText(self.tr("This output can't be read any more."))
            raise NacreError(self.tr("The output could not be read."), detail=str(error)) from error
        finally:
            self._is_reading = False

    def _show(self, window: output_file.Window) -> None:
        if window != self._window:
            self._window = window
            self.text.show_lines(window.lines)
        self.text.mark(self.field.text() if self._found is not None else "")
        self._bar.blockSignals(True)
        seen = window.end - window.start
        share = PLACES / max(1, window.size)
        self._bar.setRange(0, round((window.size - seen) * share))
        self._bar.setPageStep(max(1, round(seen * share)))
        self._bar.setSingleStep(max(1, round(seen * share / 8)))
        self._bar.setValue(round(window.start * share))
        self._bar.blockSignals(False)
        self._say_place()

    def _say_place(self) -> None:
        window = self._window
        if not window.size:
            self.status.setText(self.tr("Nothing was printed."))
            return
        percent = round(100 * window.end / window.size)
        words = self.tr("{place} of {size} · {percent} %")
        self.status.setText(
            words.format(place=size(window.end), size=size(window.size), percent=percent)
        )

    # Finding

    def find_next(self) -> None:
        """Goes on to the next place of the text; from what is seen, where the person has moved."""
        seen = self._found_in_sight()
        self._find(self._window.start if seen is None else seen + 1, backwards=False)

    def find_previous(self) -> None:
        seen = self._found_in_sight()
        self._find(self._window.start if seen is None else seen, backwards=True)

    def _forget_found(self) -> None:
        self._found = None
        self.text.mark("")

    def _found_in_sight(self) -> int | None:
        window, found = self._window, self._found
        return found if found is not None and window.start <= found < window.end else None

    def _find(self, place: int, *, backwards: bool) -> None:
        text = self.field.text()
        self._search += 1
        if text:
            self._start(self._look(text, place, self._search, backwards=backwards), "find")

    async def _look(self, text: str, place: int, search: int, *, backwards: bool) -> None:
        """Another search, and closing, end this one."""

        def goes_on(_: int) -> bool:
            return search == self._search and not self._is_closed

        self.status.setText(self.tr("Looking for it…"))
        try:
            found = await asyncio.to_thread(
                output_file.find, self._path, text, place, backwards=backwards, on=goes_on
            )
        except OSError as error:
            raise NacreError(self.tr("The output could not be read."), detail=str(error)) from error
        if not goes_on(0):
            return
        if found is None:
            self.status.setText(
                self.tr("Not found above.") if backwards else self.tr("Not found from here on.")
            )
        else:
            self._found = found
            self.go_to(found)

    # Taking it along

    def copy(self) -> None:
        """What is marked, else all that is seen."""
        marked = self.text.textCursor().selectedText().replace("\u2029", "\n")
        QGuiApplication.clipboard().setText(marked or self.text.toPlainText())

    def _save(self) -> None:
        self._start(self._saved(), "save an output")

    async def _saved(self) -> None:
        path = await choose_new_file(self, self.tr("Save the output"), Path.home() / "output.txt")
        if path is None:
            return
        try:
            await asyncio.to_thread(_copied, self._path, path)
        except FileExistsError as error:
            raise NacreError(
                self.tr("There is already a file of this name: nothing was written.")
            ) from error
        except OSError as error:
            raise NacreError(
                self.tr("The output could not be saved."), detail=str(error)
            ) from error

    def reject(self) -> None:
        """Esc and the button of the frame close it."""
        self._is_closed = True
        super().reject()


def _copied(source: Path, target: Path) -> None:
    """Byte for byte, into a file that was not there."""
    with source.open("rb") as before, target.open("xb") as after:
        try:
            shutil.copyfileobj(before, after)
        except OSError:
            target.unlink(missing_ok=True)
            raise
