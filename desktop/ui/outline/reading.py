"""Fills an outline's model: the end first, then what is looked at, then what happens.

New rows join as they are published; nothing is read again for them. What was missed is read by the
line of the feed, and only while the outline is seen. A piece that was asked for before the
conversation, the filter or the bookmarks changed is dropped when it comes.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from desktop.core.chunks import LogChunk
from desktop.core.errors import NacreError
from desktop.core.outline import Gathering, Piece, Sought
from desktop.core.protocols import OutlineReader
from desktop.feed import kinds
from desktop.feed.following import EPOCH, follow
from desktop.feed.hub import Hub
from desktop.feed.line import Line, Operations
from desktop.feed.timing import Later
from desktop.ui.outline.model import OutlineModel
from desktop.ui.tasks import Tasks

PIECE = 100  # prompts of one read

Take = Callable[[Piece], None]


@dataclass(frozen=True, slots=True)
class Found:
    """A piece that a repair read, and what is done with it."""

    piece: Piece
    take: Take
    epoch: str = EPOCH

    @property
    def revision(self) -> int:
        return self.piece.revision


class OutlineReading(QObject):
    """`read` after each piece and each new row; `failed(sentence)` where one could not be read."""

    read_piece = Signal()
    failed = Signal(str)

    def __init__(
        self,
        model: OutlineModel,
        *,
        outline: OutlineReader,
        hub: Hub,
        tasks: Tasks,
        later: Later,
    ) -> None:
        super().__init__(model)
        self._model = model
        self._outline = outline
        self._hub = hub
        self._tasks = tasks
        self._later = later
        self._tab_id = ""
        self._text = ""
        self._bookmarks: frozenset[int] = frozenset()
        self._around: int | None = None
        self._generation = 0
        self._line: Line[Found] | None = None

    @property
    def tab_id(self) -> str:
        """The conversation that is followed; "" for none."""
        return self._tab_id

    @property
    def busy(self) -> bool:
        """Whether a piece is on its way."""
        return self._line is not None and self._line.is_reading

    @property
    def is_fresh(self) -> bool:
        """Whether nothing is known of the conversation that the lines don't say."""
        return self._line is not None and self._line.is_fresh

    # What is wanted

    def open(self, tab_id: str, bookmarks: frozenset[int], *, around: int | None) -> None:
        """Reads the lines around a row, or the last ones."""
        self.close()
        self._tab_id, self._bookmarks = tab_id, bookmarks
        self._line = Line(
            self,
            start=self._tasks.start,
            later=self._later,
            clock=time.monotonic,
            what=f"outline of {tab_id}",
        )
        follow(self._line, tab_id, self._hub, kinds.rows_of)
        self._begin(around)

    def close(self) -> None:
        """Hears and reads nothing any more."""
        self._generation += 1
        self._tab_id = ""
        line, self._line = self._line, None
        if line is not None:
            line.close()

    def show(self, is_seen: bool) -> None:
        """Out of sight nothing is read; back in sight it is first compared what there is."""
        if self._line is not None:
            self._line.show(is_seen)

    def look_for(self, text: str) -> None:
        """Only lines that hold this text; "" for all."""
        self._text = text.strip()
        self._begin(None)

    def show_bookmarks(self, bookmarks: frozenset[int], *, around: int | None) -> None:
        """The bookmarks are these now; read anew where they are others than before."""
        if bookmarks != self._bookmarks:
            self._bookmarks = bookmarks
            self._begin(around)

    def seek(self, seq: int) -> None:
        """The line of this row is wanted. While it is filtered, only what is there is shown."""
        if not self._text and not self.busy and not self._model.covers(seq):
            self._begin(seq)

    def fetch_older(self) -> None:
        model = self._model
        self._extend(model.join_older, before=model.first)

    def fetch_newer(self) -> None:
        model = self._model
        self._extend(model.join_newer, after=model.last)

    # What the line asks for

    async def read(self) -> Found:
        """What is missing behind the lines; where their end is not here, what it says of them."""
        model, line = self._model, self._line
        if line is None or line.revision is None:
            where = {} if self._around is None else {"around": self._around}
            return Found(await self._piece(where), self._show)
        if model.has_newer:
            return Found(await self._piece({}), model.learn)
        return Found(await self._piece({"after": model.last}), model.join_newer)

    async def look(self) -> tuple[str, int]:
        return EPOCH, await self._outline.revision(self._tab_id)

    def put(self, found: Found) -> None:
        found.take(found.piece)

    def apply(self, operations: Operations) -> None:
        """New rows join at the end, where the end is shown; what they say of others counts."""
        rows, model = kinds.rows_in(operations), self._model
        if not rows or rows[-1].seq <= model.last:
            return
        told = self._told_by(rows)
        if model.has_newer or self._text or rows[0].seq > model.last + 1:
            model.has_newer = True
            model.learn(told)
        else:
            model.join_newer(told)

    def told(self, operations: Operations | None) -> None:
        line = self._line
        if line is not None and line.error is not None and not line.is_reading:
            self.failed.emit(str(line.error))
        elif operations != ():
            self.read_piece.emit()

    def _told_by(self, rows: Sequence[LogChunk]) -> Piece:
        gathering = Gathering(Sought(len(rows) + 1, self._bookmarks))
        for row in reversed(rows):
            if row.seq > self._model.last:
                gathering.see(row)
        return gathering.piece(
            first=self._model.last + 1, last=rows[-1].seq, has_older=True, has_newer=False
        )

    # Reading

    def _begin(self, around: int | None) -> None:
        """The lines anew, around a row or from the end."""
        line = self._line
        if line is None:
            return
        self._generation += 1
        self._around = around
        line.hold(is_whole=True)
        where = {} if around is None else {"around": around}
        self._tasks.start(
            self._read_anew(line, where, self._generation), f"outline of {self._tab_id}"
        )

    async def _read_anew(self, line: Line[Found], where: dict[str, int], generation: int) -> None:
        try:
            piece = await self._piece(where)
        except NacreError as error:
            if generation == self._generation:
                line.fail(error)
            return
        if generation == self._generation:
            self._show(piece)
            line.stand_at(EPOCH, piece.revision)

    def _extend(self, take: Take, **where: int) -> None:
        """One more piece. What is laid down never changes, so the line stands where it stood."""
        line = self._line
        if line is None or line.is_reading:
            return
        line.hold()
        self._tasks.start(
            self._read_more(line, take, where, self._generation), f"outline of {self._tab_id}"
        )

    async def _read_more(
        self, line: Line[Found], take: Take, where: dict[str, int], generation: int
    ) -> None:
        try:
            piece = await self._piece(where)
        except NacreError as error:
            if generation == self._generation:
                line.release()
                self.failed.emit(str(error))
            return
        if generation == self._generation:
            take(piece)
            line.release(is_anew=True)

    async def _piece(self, where: dict[str, int]) -> Piece:
        return await self._outline.piece(
            self._tab_id, limit=PIECE, bookmarks=self._bookmarks, text=self._text, **where
        )

    def _show(self, piece: Piece) -> None:
        self._model.show(piece, self._bookmarks)
