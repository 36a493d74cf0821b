"""↑ in an empty field: what the person said before, one message further back with each press.

Nothing is read before the first press. A text that was brought back is the person's own as soon
as it is touched; until then ↓ leads forward again and Esc out.
"""

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent

from desktop.core.chunks import LogChunk, Text
from desktop.core.protocols import LogReader
from desktop.core.records import Receipt
from desktop.ui.composer import Composer
from desktop.ui.tasks import Tasks
from desktop.ui.transcript.acts import is_prompt

ROWS = 256


class Recalling(QObject):
    """The earlier messages of one conversation, in its message field."""

    def __init__(self, tab_id: str, composer: Composer, *, reader: LogReader, tasks: Tasks) -> None:
        super().__init__(composer)
        self._tab_id = tab_id
        self._composer = composer
        self._field = composer.field
        self._reader = reader
        self._tasks = tasks
        self._said: list[str] = []  # the last one first
        self._before: int | None = None
        self._has_older = True
        self._is_reading = False
        self._at = -1  # which of them stands in the field
        self._shown = ""
        self._field.installEventFilter(self)

    def hear(self, receipt: Receipt) -> None:
        """What is said now is the last one, once anything has been read."""
        if self._before is not None:
            for row in receipt.chunks:
                self._take(row, 0)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if not isinstance(event, QKeyEvent) or event.type() != QEvent.Type.KeyPress:
            return False
        # The keypad is no modifier that somebody holds.
        held = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if held or self._field.is_composing:
            return False
        match event.key():
            case Qt.Key.Key_Up if self._stands() or self._field.document().isEmpty():
                self._back()
            case Qt.Key.Key_Down if self._stands():
                self._show(self._at - 1)
            case Qt.Key.Key_Escape if self._stands():
                self._show(-1)
            case _:
                return False
        return True

    def _stands(self) -> bool:
        """Whether an earlier message stands in the field as it was brought back."""
        if self._at < 0 or not self._field.textCursor().atEnd():
            return False
        return self._composer.text() == self._shown

    def _back(self) -> None:
        if self._is_reading:
            return
        if not self._stands():
            self._at = -1
        if self._at + 1 < len(self._said):
            self._show(self._at + 1)
        elif self._has_older:
            self._is_reading = True
            self._tasks.start(self._read_back(), f"earlier messages of {self._tab_id}")

    async def _read_back(self) -> None:
        """Reads until there is one more, and shows it if nobody has written meanwhile."""
        before, known = self._composer.text(), len(self._said)
        try:
            while self._has_older and len(self._said) == known:
                await self._read()
        finally:
            self._is_reading = False
        if len(self._said) > self._at + 1 and self._composer.text() == before:
            self._show(self._at + 1)

    async def _read(self) -> None:
        page = await self._reader.page(self._tab_id, limit=ROWS, before=self._before)
        self._has_older = page.has_older and bool(page.rows)
        self._before = page.rows[0].seq if page.rows else 0
        for row in reversed(page.rows):
            if isinstance(row, LogChunk):
                self._take(row, len(self._said))

    def _take(self, row: LogChunk, at: int) -> None:
        if not is_prompt(row) or not isinstance(row.data, Text) or not row.data.text:
            return
        beside = self._said[at - 1] if at else next(iter(self._said), None)
        if row.data.text != beside:
            self._said.insert(at, row.data.text)

    def _show(self, at: int) -> None:
        self._at = at
        self._shown = self._said[at] if at >= 0 else ""
        self._composer.set_text(self._shown)
        # Line ends as the field has them.
        self._shown = self._composer.text()
