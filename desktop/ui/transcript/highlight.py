"""Colours of finished code, found off the window's thread.

What can't be coloured in reasonable time stays as it is. This module loads Pygments: only the root
imports it, after the first paint.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Generic, Keyword, Literal, Name, Number, String, Token
from pygments.util import ClassNotFound

from desktop.ui.transcript.pieces import Span

CODE_LIMIT = 65_536
LINE_LIMIT = 5_000
KEPT = 64

# The most particular kind that holds decides. Names are colour tokens of the theme.
_TOKENS: tuple[tuple[Any, str], ...] = (
    (Comment, "muted"),
    (Keyword, "link"),
    (String, "success"),
    (Number, "warning"),
    (Literal, "warning"),
    (Name.Function, "accent"),
    (Name.Class, "accent"),
    (Name.Decorator, "accent"),
    (Name.Tag, "link"),
    (Name.Attribute, "accent"),
    (Name.Builtin, "link"),
    (Generic.Inserted, "success"),
    (Generic.Deleted, "danger"),
    (Generic.Heading, "accent"),
    (Generic.Subheading, "accent"),
    (Token.Error, "danger"),
)


def spans(code: str, language: str) -> tuple[Span, ...]:
    """What each stretch of the code is; places count UTF-16 units, as Qt does.

    An unknown language, code over CODE_LIMIT, or a line over LINE_LIMIT gives nothing.
    """
    if len(code) > CODE_LIMIT or any(len(line) > LINE_LIMIT for line in code.split("\n")):
        return ()
    try:
        lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return ()
    found: list[Span] = []
    place = 0
    for kind, text in lexer.get_tokens(code):
        length = len(text) + sum(letter > "\uffff" for letter in text)
        token = _token(kind)
        if token:
            found.append(Span(place, length, token))
        place += length
    return tuple(found)


def _token(kind: Any) -> str:
    for known, token in _TOKENS:
        if kind in known:
            return token
    return ""


class Highlighter:
    """Colours code in a worker thread; `start` runs the coroutine that waits for it."""

    def __init__(self, start: Callable[[Coroutine[Any, Any, None], str], object]) -> None:
        self._start = start
        self._known: OrderedDict[tuple[str, str], tuple[Span, ...]] = OrderedDict()

    def request(self, code: str, language: str, done: Callable[[Sequence[Span]], None]) -> None:
        """Calls `done` on the loop's thread when the spans are there; at once when known."""
        known = self._known.get((language, code))
        if known is not None:
            self._known.move_to_end((language, code))
            done(known)
            return
        self._start(self._find(code, language, done), "colours of code")

    async def _find(self, code: str, language: str, done: Callable[[Sequence[Span]], None]) -> None:
        found = await asyncio.to_thread(spans, code, language)
        self._known[language, code] = found
        while len(self._known) > KEPT:
            self._known.popitem(last=False)
        done(found)
