"""Fills an outline's model: the end first, then what is looked at, then what happens.

New rows join as they are published; nothing is read again for them. What another process wrote is
read once a look finds it. A piece that was asked for
before the conversation, the filter or the bookmarks changed is dropped when it comes.
"""

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from desktop.core.chunks import LogChunk
from desktop.core.errors import NacreError
from desktop.core.outline import Gathering, Sought, Turns
from desktop.core.protocols import OutlineReader, Unsubscribe
from desktop.core.records import Receipt
from desktop.core.reducer import BlockOp
from desktop.core.status import TabStatus
from desktop.feed.hub import Hub
from desktop.ui.outline.model import OutlineModel
from desktop.ui.tasks import Tasks

PIECE = 100  # prompts of one read


class OutlineReading(QObject):
    """`read` after each piece; `failed(sentence)` where one could not be read."""

    read = Signal()
    failed = Signal(str)

    def __init__(
        self, model: OutlineModel, *, outline: OutlineReader, hub: Hub, tasks: Tasks
    ) -> None:
        super().__init__(model)
        self._model = model
        self._outline = outline
        self._hub = hub
        self._tasks = tasks
        self._tab_id = ""
        self._text = ""
        self._bookmarks: frozenset[int] = frozenset()
        self._generation = 0
        self._missed = False
        self._revision = 0
        self._unsubscribes: tuple[Unsubscribe, ...] = ()
        self.busy = False

    # What is wanted

    def open(self, tab_id: str, bookmarks: frozenset[int], *, around: int | None) -> None:
        """Reads the lines around a row, or the last ones."""
        self.close()
        self._tab_id, self._bookmarks = tab_id, bookmarks
        self._unsubscribes = (
            self._hub.subscribe(self, tab_id=tab_id),
            self._hub.on_revision(tab_id, self._see),
        )
        self._begin(around)

    def close(self) -> None:
        """Hears and reads nothing any more."""
        self._generation += 1
        self.busy = False
        self._tab_id = ""
        self._revision = 0
        for unsubscribe in self._unsubscribes:
            unsubscribe()
        self._unsubscribes = ()

    def look_for(self, text: str) -> None:
        """Only lines that hold this text; "" for all."""
        self._text = text.strip()
        self._begin(None)

    def show_bookmarks(self, bookmarks: frozenset[int], *, around: int | None) -> None:
        """The bookmarks are these now; read anew where they are others than before."""
        if bookmarks != self._bookmarks:
            self._bookmarks = bookmarks
            self._begin(around)
        elif not self._model.has_newer:
            self.fetch_newer()  # what another process wrote

    def seek(self, seq: int) -> None:
        """The line of this row is wanted. While it is filtered, only what is there is shown."""
        if not self._text and not self.busy and not self._model.covers(seq):
            self._begin(seq)

    def fetch_older(self) -> None:
        model = self._model
        self._ask(model.join_older, before=model.first)

    def fetch_newer(self) -> None:
        model = self._model
        self._ask(model.join_newer, after=model.last)

    # Heard from the feed

    def receipt(self, receipt: Receipt) -> None:
        """New rows join at the end, where the end is shown; what they say of others counts."""
        self._revision = receipt.revision
        rows, model = receipt.chunks, self._model
        if not rows or self.busy:
            # The piece on its way may be from before them.
            self._missed = self._missed or bool(rows)
            return
        told = self._told_by(rows)
        if model.has_newer or self._text or rows[0].seq > model.last + 1:
            model.has_newer = True
            model.learn(told)
        elif rows[-1].seq > model.last:
            model.join_newer(told)
        self.read.emit()

    def _see(self, revision: int) -> None:
        """A look found the log at this revision."""
        if revision == self._revision or self.busy:
            return
        self._revision = revision
        if not self._model.has_newer:
            self.fetch_newer()

    def live(self, tab_id: str, op: BlockOp) -> None:
        """A block that streams is no line."""

    def status(self, status: TabStatus) -> None:
        """How a turn ended is a row."""

    def _told_by(self, rows: tuple[LogChunk, ...]) -> Turns:
        gathering = Gathering(Sought(len(rows) + 1, self._bookmarks))
        for row in reversed(rows):
            if row.seq > self._model.last:
                gathering.see(row)
        return gathering.turns(
            first=self._model.last + 1, last=rows[-1].seq, has_older=True, has_newer=False
        )

    # Reading

    def _begin(self, around: int | None) -> None:
        """The lines anew, around a row or from the end."""
        self._generation += 1
        self.busy = False
        if self._tab_id:
            where = {} if around is None else {"around": around}
            self._ask(lambda turns: self._model.show(turns, self._bookmarks), **where)

    def _ask(self, take: Callable[[Turns], None], **where: int) -> None:
        if self.busy or not self._tab_id:
            return
        self.busy = True
        name = f"outline of {self._tab_id}"
        self._tasks.start(self._read(take, where, self._generation), name)

    async def _read(
        self, take: Callable[[Turns], None], where: dict[str, int], generation: int
    ) -> None:
        try:
            turns = await self._outline.turns(
                self._tab_id, limit=PIECE, bookmarks=self._bookmarks, text=self._text, **where
            )
        except NacreError as error:
            if generation == self._generation:
                self.busy = False
                self.failed.emit(str(error))
            return
        if generation == self._generation:
            self.busy = False
            take(turns)
            missed, self._missed = self._missed, False
            self._model.has_newer = self._model.has_newer or missed
            self.read.emit()
