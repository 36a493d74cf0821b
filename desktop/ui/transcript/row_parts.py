"""What the mouse would point at in a row, for the menu of who has none (SPEC U38).

Blocks of code with what can be done with each, the places that links lead to, and lines that open
something.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from PySide6.QtGui import QTextDocument

from desktop.ui.transcript.box import Box
from desktop.ui.transcript.code_piece import Code, CodePiece
from desktop.ui.transcript.line_piece import LinePiece
from desktop.ui.transcript.links import place_of
from desktop.ui.transcript.pieces import Hit
from desktop.ui.transcript.row_menu import Acts, RowMenu
from desktop.ui.transcript.saying import say
from desktop.ui.visible import visible

MOST = 20  # of a kind: a menu is read line by line
_OPENS = ("all", "open")


def with_parts(menu: RowMenu, box: Box, click: Callable[[Hit], object]) -> RowMenu:
    """The menu of a row with its lines and links; `click` does what a click on one would."""
    return replace(menu, parts=tuple((words, partial(click, hit)) for words, hit in _parts_of(box)))


def with_codes(menu: RowMenu, box: Box, code_acts: Callable[[Code], Acts]) -> RowMenu:
    """The menu with all blocks of code of the row."""
    codes = [piece.code for piece in box.pieces if isinstance(piece, CodePiece) and piece.first]
    return replace(menu, codes=tuple((_code_words(one), code_acts(one)) for one in codes[:MOST]))


def _parts_of(box: Box) -> list[tuple[str, Hit]]:
    """The lines that open something, and every place that links of this row lead to, once."""
    offers = [piece.offer for piece in box.pieces if isinstance(piece, LinePiece)]
    lines = [(words, hit) for words, hit in offers if hit.kind in _OPENS]
    documents = (piece.document for piece in box.pieces if not isinstance(piece, CodePiece))
    found = (one for document in documents if document is not None for one in _links(document))
    links = list(dict.fromkeys(found))
    return [*lines, *((_link_words(one), Hit("link", one)) for one in links[:MOST])]


def _code_words(code: Code) -> str:
    language = visible(code.language) or say("Text")
    first = next((line for line in code.text.splitlines() if line.strip()), "")
    return say("{0}: {1}").format(language, _short(first.strip()))


def _link_words(address: str) -> str:
    return say("Link to {0}").format(_short(place_of(address) or address))


def _short(text: str) -> str:
    text = visible(text)
    return text if len(text) <= 48 else text[:47] + "…"


def _links(document: QTextDocument) -> Iterator[str]:
    block = document.begin()
    while block.isValid():
        for stretch in block.textFormats():
            address = stretch.format.anchorHref()
            if address:
                yield address
        block = block.next()
