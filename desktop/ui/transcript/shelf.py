"""The boxes of one conversation that are kept, and the heights that are known.

A box is made when it is first asked for and again when its row has changed; a box that streams
takes only what came. Boxes off the screen go when there are too many; their heights stay longer.
"""

from collections import OrderedDict
from collections.abc import Callable, Mapping, Set
from dataclasses import replace

from desktop.core.chunks import LogChunk
from desktop.core.groups import OpenRow, Row, is_thinking
from desktop.core.records import Fold
from desktop.ui.transcript.box import Box
from desktop.ui.transcript.boxes import Maker
from desktop.ui.transcript.code_piece import Code
from desktop.ui.transcript.lane import lane_of
from desktop.ui.transcript.model import TranscriptModel
from desktop.ui.transcript.phrases import Context
from desktop.ui.transcript.writing import PlainRenderer

DOCUMENTS = 64
HEIGHTS = 4_000


class Shelf:
    """`width` is the text's width now, in pixels; `folds` is what the person (un)folded."""

    def __init__(
        self,
        rows: TranscriptModel,
        maker: Maker,
        *,
        width: Callable[[], int],
        folds: Mapping[str, Fold],
        thinking_open: bool,
    ) -> None:
        self._rows = rows
        self._maker = maker
        self._width = width
        self._folds = dict(folds)
        self._thinking_open = thinking_open
        self._boxes: OrderedDict[str, Box] = OrderedDict()
        self._heights: OrderedDict[str, int] = OrderedDict()
        self._stale: set[str] = set()
        self._written: set[str] = set()
        self._revealed: set[str] = set()
        self._wrapped: dict[str, set[int]] = {}
        self.documents_built = 0

    # What is known

    @property
    def folds(self) -> tuple[tuple[str, Fold], ...]:
        return tuple(self._folds.items())

    @property
    def documents(self) -> int:
        """How many documents the kept boxes hold."""
        return sum(box.documents for box in self._boxes.values())

    def kept(self, id_: str) -> Box | None:
        """The box that is kept for a row; none is made."""
        return self._boxes.get(id_)

    def fold_of(self, row: Row) -> Fold:
        usual: Fold = "open" if self._thinking_open and is_thinking(row) else "folded"
        return self._folds.get(row.id, usual)

    # Measuring

    def height(self, at: int) -> int:
        """The height of a row: known, or from its box. What takes no space needs no box."""
        row = self._rows.row(at)
        end = lane_of(self._maker.theme).gap if at == self._rows.rowCount() - 1 else 0
        if not self._rows.takes_space(row):
            return end
        height = self._heights.get(row.id)
        if height is None or row.id in self._stale:
            height = self.box(row).height
        return height + end

    def box(self, row: Row) -> Box:
        """The row's box as it looks now, laid out to the width."""
        box = self._boxes.get(row.id)
        width = self._width()
        if box is not None and row.id in self._stale:
            box = self._renewed(box, row, width)
        if box is None:
            box = self._made(row, self._rows.context())
            self.documents_built += box.documents
        elif box.width == width and row.id not in self._stale:
            self._boxes.move_to_end(row.id)
            return box
        self._stale.discard(row.id)
        box.lay_out(width)
        self._keep(row.id, box)
        return box

    def apart(self, row: Row, context: Context) -> Box:
        """A box that is not kept, of a row that need not be loaded."""
        box = self._made(row, context)
        if box.writer is not None:
            box.lay_out(self._width())
        return box

    def _made(self, row: Row, context: Context) -> Box:
        maker = self._maker
        if row.id in self._written:
            maker = replace(maker, renderer=PlainRenderer())
        elif row.id in self._revealed:
            maker = replace(maker, reveals=True)
        box = maker.make(row, context, self.fold_of(row))
        wrapped = self._wrapped.get(row.id)
        if wrapped:
            codes = box.codes()
            for number in wrapped.intersection(range(len(codes))):
                codes[number].wrapped = True
        return box

    def _renewed(self, box: Box, row: Row, width: int) -> Box | None:
        """A box that streams takes what came; any other is made anew."""
        streams = isinstance(row, OpenRow) or (
            isinstance(row, LogChunk) and row.type == "text" and box.writer is not None
        )
        if box.writer is None or not streams:
            return None
        self._maker.grow(box, row)
        if not isinstance(row, OpenRow):
            box.lay_out(width)
            box.writer = None
            self._maker.finish(box, row)
        return box

    def _keep(self, id_: str, box: Box) -> None:
        self._boxes[id_] = box
        self._boxes.move_to_end(id_)
        self._heights[id_] = box.height
        self._heights.move_to_end(id_)
        while len(self._heights) > HEIGHTS:
            self._heights.popitem(last=False)

    # What has changed

    def set_fold(self, id_: str, fold: Fold) -> None:
        self._folds[id_] = fold
        self._boxes.pop(id_, None)
        self._heights.pop(id_, None)

    def is_written(self, id_: str) -> bool:
        """Whether the row is shown as it was written."""
        return id_ in self._written

    def toggle_written(self, id_: str) -> None:
        self._written ^= {id_}
        self._boxes.pop(id_, None)
        self._heights.pop(id_, None)

    def toggle_revealed(self, id_: str) -> None:
        """Shows signs for what the code of a row hides, or hides it again."""
        self._revealed ^= {id_}
        self._boxes.pop(id_, None)
        self._heights.pop(id_, None)

    def toggle_wrapping(self, id_: str, code: Code) -> None:
        """Wraps the lines of a block of code, or lets them be as long as they are."""
        box = self._boxes.get(id_)
        if box is None or code not in (codes := box.codes()):
            return
        code.wrapped = not code.wrapped
        self._wrapped.setdefault(id_, set()).symmetric_difference_update({codes.index(code)})
        box.width = 0
        self._heights.pop(id_, None)

    def set_thinking_open(self, is_open: bool) -> None:
        """Whether thinking stands open unless the person folds it."""
        self._thinking_open = is_open
        self.forget_boxes()

    def dress(self, maker: Maker) -> None:
        """Everything looks different now: all is made anew."""
        self._maker = maker
        self.forget_boxes()

    def forget_boxes(self) -> None:
        self._boxes.clear()
        self._stale.clear()
        self.forget_heights()

    def forget_heights(self) -> None:
        """The width is another: boxes wrap again when they are asked for."""
        self._heights.clear()

    def mark_stale(self, id_: str) -> None:
        """The row has changed: its box is looked at again when it is asked for."""
        self._stale.add(id_)

    def mark_all_stale(self) -> None:
        self._stale.update(self._boxes)

    def let_go(self, id_: str) -> None:
        """The row is not loaded any more. Should it come back, its height is still known."""
        self._boxes.pop(id_, None)
        self._stale.discard(id_)

    def drop_far(self, seen: Set[str]) -> None:
        """Keeps the boxes on the screen, and as many others as the documents' limit allows."""
        total = self.documents
        for id_ in list(self._boxes):
            if total <= DOCUMENTS and len(self._boxes) <= DOCUMENTS:
                return
            if id_ not in seen:
                total -= self._boxes.pop(id_).documents
