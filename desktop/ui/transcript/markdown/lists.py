"""The lists that an item stands in while prose is written: their signs, numbers and depth."""

from dataclasses import dataclass

from markdown_it.token import Token
from PySide6.QtGui import QTextBlockFormat, QTextCursor, QTextList, QTextListFormat

# Deeper ones stand no further in: the text keeps some width.
DEEPEST = 8
LAST_NUMBER = 999_999_999

_SHAPES = (QTextListFormat.Style.ListDisc, QTextListFormat.Style.ListCircle)


@dataclass(slots=True)
class _List:
    style: QTextListFormat
    made: QTextList | None = None
    items: int = 0


class Lists:
    """A stack; the innermost list is the last."""

    def __init__(self) -> None:
        self._open: list[_List] = []

    @property
    def depth(self) -> int:
        return len(self._open)

    def begin(self, token: Token, quoted: int) -> None:
        style = QTextListFormat()
        if token.type == "ordered_list_open":
            style.setStyle(QTextListFormat.Style.ListDecimal)
            style.setStart(min(int(token.attrs.get("start", 1)), LAST_NUMBER))
        else:
            style.setStyle(_SHAPES[min(self.depth, 1)])
        style.setIndent(min(self.depth + 1 + quoted, DEEPEST))
        self._open.append(_List(style))

    def end(self) -> None:
        self._open.pop()

    def turn_over(self) -> None:
        """What follows stands in another document: the lists begin there anew and count on."""
        for one in self._open:
            one.style.setStart(min(one.style.start() + one.items, LAST_NUMBER))
            one.made, one.items = None, 0

    def join(self, cursor: QTextCursor, block: QTextBlockFormat) -> None:
        """Makes the cursor's block an item of the innermost list."""
        current = self._open[-1]
        current.items += 1
        if current.made is None:
            current.made = cursor.createList(current.style)
        else:
            current.made.add(cursor.block())
        # Joining a list resets the block's own indent to that of the list.
        merged = cursor.blockFormat()
        merged.setBottomMargin(block.bottomMargin())
        merged.setIndent(0)
        cursor.setBlockFormat(merged)
