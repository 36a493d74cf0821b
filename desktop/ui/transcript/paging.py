"""What a view wants loaded: the rows that must not be evicted, and those that will be seen next."""

from PySide6.QtCore import QModelIndex

from desktop.ui.transcript.model import TranscriptModel
from desktop.ui.transcript.position import Position

PREFETCH_ROWS = 60


class Paging:
    """Asks the rows' scope, and never twice for the same."""

    def __init__(self, rows: TranscriptModel) -> None:
        self._rows = rows
        self._pins: frozenset[str] = frozenset()
        self._asked_older = ("", 0)

    def pin(self, ids: frozenset[str]) -> None:
        """These rows must not be evicted; others may."""
        if ids != self._pins:
            self._pins = ids
            self._rows.scope.pin(ids)

    def fetch(self, position: Position) -> None:
        """Older rows well before they are seen; newer ones when the person comes down, or where
        there is room for them."""
        rows, scope, layout = self._rows, self._rows.scope, position.layout
        if not scope.loaded or not rows.rowCount():
            return
        unfilled = not layout.filled and len(scope.window.rows) <= (
            scope.window.limits.limit - scope.window.limits.page
        )
        # Less than a page: the rows that come must end the wish for more.
        margin = min(PREFETCH_ROWS, scope.window.limits.page - 1)
        near_top = not position.following and layout.anchor < margin
        asked = (position.anchor_id, scope.window.first_seq or 0)
        if scope.has_older and (unfilled or near_top) and asked != self._asked_older:
            self._asked_older = asked if rows.fetch_older() else self._asked_older
        last = layout.placed[-1].row if layout.placed else 0
        near_end = last >= rows.rowCount() - margin // 4 - 1
        if scope.has_newer and (layout.at_end or (position.downward and near_end)):
            rows.fetchMore(QModelIndex())
