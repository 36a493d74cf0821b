"""What can be done with the parts of one row, for its menu: the keyboard reaches everything that a
click does."""

from collections.abc import Callable

from PySide6.QtGui import QGuiApplication

from desktop.core.groups import Row
from desktop.ui.transcript.acts import is_answer
from desktop.ui.transcript.page import Page
from desktop.ui.transcript.phrases import say
from desktop.ui.transcript.pieces import LinePiece

Offer = tuple[str, Callable[[], object]]


def part_offers(page: Page, row: Row, open_file: Callable[[str], object]) -> tuple[Offer, ...]:
    """Its files and folded lines to be opened, and the text of an answer as it is read."""
    box = page.shelf.box(row)
    found: list[Offer] = []
    if is_answer(row):
        text = box.text_between((0, 0), box.end)
        found.append((say("Copy as plain text"), lambda: QGuiApplication.clipboard().setText(text)))
    for piece in box.pieces:
        if not isinstance(piece, LinePiece):
            continue
        words, hit = piece.offer
        if hit.kind == "open":
            found.append((words, lambda value=hit.value: open_file(value)))
        elif hit.kind == "all":
            found.append((words, lambda: page.set_fold(row.id, "all")))
    return tuple(found)
