"""Signs in a document for what its text hides, and the text as it was written behind them.

A run of signs is marked in its format, so that what is copied is exact whatever a text says itself.
"""

from PySide6.QtGui import QTextBlock, QTextCharFormat, QTextCursor, QTextDocument, QTextFormat

from desktop.ui.hidden import signs_in
from desktop.ui.transcript.pieces import Paper

_LONGEST = len("‹U+10FFFF›")
SIGN_PROPERTY = int(QTextFormat.Property.UserProperty) + 3


def sign_letters(paper: Paper, around: QTextCharFormat) -> QTextCharFormat:
    """How signs look among such letters."""
    letters = QTextCharFormat(around)
    letters.setForeground(paper.theme.color("warning"))
    letters.setProperty(SIGN_PROPERTY, True)
    return letters


def text_in(document: QTextDocument, start: int, end: int) -> str:
    """What stands between two places, signs as what they stand for; lines end with U+2029."""
    if "‹" not in _selected(document, max(0, start - _LONGEST), end):
        return _selected(document, start, end)
    said: list[str] = []
    block = document.findBlock(start)
    while block.isValid() and block.position() <= end:
        said.append(_text_of(block, start, end))
        block = block.next()
    return "\u2029".join(said)


def _text_of(block: QTextBlock, start: int, end: int) -> str:
    """What of a line lies between two places of its document. A sign that is cut is whole."""
    said: list[str] = []
    for stretch in block.textFormats():
        first = block.position() + stretch.start
        last = first + stretch.length
        begin, stop = max(first, start), min(last, end)
        if begin >= stop:
            continue
        if not stretch.format.hasProperty(SIGN_PROPERTY):
            said.append(_selected(block.document(), begin, stop))
            continue
        run = _selected(block.document(), first, last)
        for at, to, letter in signs_in(run):
            if first + at < stop and first + to > begin:
                said.append(letter)
    return "".join(said)


def _selected(document: QTextDocument, start: int, end: int) -> str:
    cursor = QTextCursor(document)
    last = document.characterCount() - 1
    cursor.setPosition(min(start, last))
    cursor.setPosition(min(end, last), QTextCursor.MoveMode.KeepAnchor)
    return cursor.selectedText()
