"""A model of many rows whose number Qt knows by itself.

A list asks how many rows there are for each row that it lays out. Answered in Python, that is 25 ms
of the window's thread for ten thousand rows, at each change; answered by Qt it is 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

from PySide6.QtCore import QObject, QStringListModel

R = TypeVar("R")


class LongModel(QStringListModel, Generic[R]):
    """What a row is and says is Python's, by `data` and `flags`; never override `rowCount`."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rows: tuple[R, ...] = ()

    def row(self, at: int) -> R:
        return self.rows[at]

    def reset(self, rows: Sequence[R]) -> None:
        """Other rows: whoever looks on begins anew."""
        self.rows = tuple(rows)
        # The reset is announced by this; the texts themselves are never asked for.
        self.setStringList([""] * len(self.rows))
