"""What code hides from whoever reads it: letters that reorder it, and letters that can't be seen.

Text that is judged before it runs shows them always (`visible`); in the code of an answer a person
is told of them and may have them shown. What joins emoji and some scripts is no secret among its
like, only beside plain letters.
"""

import re
from collections.abc import Iterator
from typing import Literal

from desktop.ui.visible import BLANK, REORDERING, visible

Hidden = Literal["", "order", "letters"]

_JOINERS = "\u200c\u200d"
_UNSEEN = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u180e\u200b\u2060-\u2065\u206a-\u206f\ufeff\ufff9-\ufffb"
    r"\U000e0000-\U000e00ff" + "".join(BLANK)
)
_ORDER = re.compile(f"[{''.join(REORDERING)}]")
_LETTERS = re.compile(f"[{_UNSEEN}]|(?<=[\\x00-\\x7f])[{_JOINERS}]|[{_JOINERS}](?=[\\x00-\\x7f])")
_ANY = re.compile(f"(?:{_ORDER.pattern}|{_LETTERS.pattern})+")
_SIGN = re.compile("‹(?:U\\+([0-9A-F]{4,6})|(NBSP|SHY|ZWSP|BOM))›")
_NAMES = {visible(one)[1:-1]: one for one in "\u00a0\u00ad\u200b\ufeff"}


def hidden_in(text: str) -> Hidden:
    """What a text hides; of both kinds the worse."""
    if text.isascii() and text.isprintable():
        return ""
    if _ORDER.search(text) is not None:
        return "order"
    return "letters" if _LETTERS.search(text) is not None else ""


def with_signs(text: str) -> Iterator[tuple[str, bool]]:
    """The text in runs; those of signs (True) stand for what would be hidden."""
    at = 0
    for found in _ANY.finditer(text):
        if found.start() > at:
            yield text[at : found.start()], False
        yield visible(found.group()), True
        at = found.end()
    if at < len(text):
        yield text[at:], False


def signs_in(run: str) -> Iterator[tuple[int, int, str]]:
    """The signs of a run: from, to, and the letter that each stands for."""
    for found in _SIGN.finditer(run):
        letter = chr(int(found[1], 16)) if found[1] else _NAMES[found[2]]
        yield found.start(), found.end(), letter
