"""From prompt to prompt through a conversation (Alt+↑, Alt+↓), also to one that is not loaded."""

from PySide6.QtCore import QObject

from desktop.core.outline import Piece
from desktop.core.protocols import OutlineReader
from desktop.core.records import ViewState
from desktop.ui.tasks import Tasks
from desktop.ui.transcript.view import TranscriptView


class Stepping(QObject):
    """Begins at the row that is read. Near the log's end a prompt can't come to the top: what was
    stepped to counts as read until the view is moved."""

    def __init__(
        self, tab_id: str, *, outline: OutlineReader, tasks: Tasks, view: TranscriptView
    ) -> None:
        super().__init__(view)
        self._tab_id = tab_id
        self._outline = outline
        self._tasks = tasks
        self._view = view
        self._stepped: tuple[int, ViewState] | None = None
        self._asked: list[int] = []

    def step(self, by: int) -> None:
        """To the prompt before (-1) or after (1); after the last one, to the end."""
        self._asked.append(by)
        if len(self._asked) == 1:
            self._tasks.start(self._take_steps(), f"step in {self._tab_id}")

    async def _take_steps(self) -> None:
        """One after the other: a key that is pressed again while one is on its way counts."""
        try:
            while self._asked:
                await self._step(self._asked[0])
                del self._asked[0]
        finally:
            self._asked.clear()

    async def _step(self, by: int) -> None:
        piece = await self._read(by, self._here(by))
        while not piece.headings and (piece.has_older if by < 0 else piece.has_newer):
            piece = await self._read(by, piece.first if by < 0 else piece.last)
        if piece.headings:
            self._view.jump(piece.headings[0].seq)
            self._stepped = piece.headings[0].seq, self._view.view_state()
        elif by > 0:
            self._view.follow()

    async def _read(self, by: int, seq: int) -> Piece:
        before, after = (seq, None) if by < 0 else (None, seq)
        return await self._outline.piece(self._tab_id, limit=1, before=before, after=after)

    def _here(self, by: int) -> int:
        """The row to step from; one that was scrolled into is stepped back to itself."""
        now = self._view.view_state()
        if self._stepped is not None and self._stepped[1] == now:
            return self._stepped[0]
        return now.seq + (1 if by < 0 and now.offset > 0 else 0)
