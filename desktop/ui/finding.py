"""Finding a text in one conversation: what is typed is looked for piece by piece, also in what is
not loaded, and the place that is nearest to what is read comes into view.

A new letter makes a look on its way void. Hits are rows; stepping goes around.
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Sequence

from PySide6.QtCore import QObject, QTimer

from desktop.core.errors import NacreError
from desktop.core.protocols import Search
from desktop.ui.announcing import announce
from desktop.ui.find_bar import FindBar
from desktop.ui.tasks import Tasks
from desktop.ui.transcript.view import TranscriptView

PAUSE_MS = 120  # after the last letter
MOST = 10_000  # rows; beyond, the look ends


class Finding(QObject):
    """Joins the line, the log and the view of one conversation."""

    def __init__(
        self, tab_id: str, *, search: Search, tasks: Tasks, view: TranscriptView, bar: FindBar
    ) -> None:
        super().__init__(bar)
        self._tab_id = tab_id
        self._search = search
        self._tasks = tasks
        self._view = view
        self._bar = bar
        self._look = 0
        self._seqs: list[int] = []
        self._current: int | None = None
        self._more = False
        self._pause = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._pause.timeout.connect(self._begin)
        bar.typed.connect(self._typed)
        bar.stepped.connect(self.step)
        bar.left.connect(self._end)

    def step(self, by: int) -> None:
        """To the next hit below (1) or above (-1), around the ends."""
        if not self._seqs:
            return
        at = bisect_left(self._seqs, self._current or 0) + by
        self._show(self._seqs[at % len(self._seqs)])
        announce(self._bar, self._words())

    def show_hit(self, seq: int, texts: Sequence[str]) -> None:
        """A hit of the search over everything: its row comes into view with these texts marked,
        and the line stands ready to step on from it."""
        self.close()
        self._seqs, self._current, self._more = [], seq, bool(texts)
        self._bar.offer(texts[0] if texts else "")
        self._view.show_found(*texts)
        self._view.seek(seq)
        if texts:
            self._tell()
            self._begin()

    def close(self) -> None:
        """What is on its way is heard no more."""
        self._look += 1
        self._pause.stop()

    def _typed(self, text: str) -> None:
        self.close()
        self._seqs, self._current, self._more = [], None, bool(text.strip())
        self._view.show_found(text if text.strip() else "")
        self._tell()
        if self._more:
            self._pause.start()

    def _end(self) -> None:
        self.close()
        self._view.show_found("")
        self._view.setFocus()

    def _begin(self) -> None:
        self._tasks.start(self._find(self._bar.field.text(), self._look), f"find {self._tab_id}")

    async def _find(self, text: str, look: int) -> None:
        place: int | None = None
        try:
            while len(self._seqs) < MOST:
                found = await self._search.within(self._tab_id, text, place=place)
                if look != self._look:
                    return
                for seq in found.seqs:
                    insort(self._seqs, seq)
                place = found.next
                self._more = place is not None
                if self._current is None:
                    self._show_nearest(is_last=not self._more)
                self._tell()
                if place is None:
                    announce(self._bar, self._words())
                    return
        except NacreError as error:
            self._more = False
            self._bar.show_count(str(error), found=bool(self._seqs))

    def _show_nearest(self, *, is_last: bool) -> None:
        """The last hit that begins above the end of the screen; else the first below it."""
        end = self._view.last_seen
        at = bisect_right(self._seqs, end)
        if at:
            self._show(self._seqs[at - 1])
        elif is_last and self._seqs:
            self._show(self._seqs[0])

    def _show(self, seq: int) -> None:
        self._current = seq
        self._view.seek(seq)
        self._tell()

    def _tell(self) -> None:
        self._bar.show_count(self._words(), found=bool(self._seqs))

    def _words(self) -> str:
        count = len(self._seqs)
        if not self._bar.field.text().strip():
            return ""
        if not count:
            return self.tr("Looking…") if self._more else self.tr("Not found")
        total = f"{count:,}+" if self._more else f"{count:,}"
        at = bisect_left(self._seqs, self._current or 0) + 1
        return self.tr("{at} of {total}").format(at=f"{at:,}", total=total)
