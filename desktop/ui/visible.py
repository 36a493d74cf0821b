"""Text shown so that it can't mislead: what is invisible or reorders is made visible.

`visible` is for commands, paths and diffs that a person judges before they run (SPEC U31,
LOOK.md); `in_order` for titles and names, in which emoji and some scripts need what joins letters.
"""

import unicodedata

_NAMED = {"\u00a0": "NBSP", "\u00ad": "SHY", "\u200b": "ZWSP", "\ufeff": "BOM"}
# Letters and marks by their category that are drawn as nothing.
BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
_KEPT = "\n\t"
REORDERING = frozenset(
    "\u200e\u200f\u061c\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)


def visible(text: str) -> str:
    """The text with each control, format, bidi and odd blank character as ‹U+XXXX›."""
    return "".join(map(_shown, text))


def apart(text: str) -> str:
    """The text as a unit of its own direction, wherever it is drawn: its end stays its end."""
    return f"\u2068{text}\u2069"


def in_order(text: str) -> str:
    """The text with what reorders it, and each control character, as ‹U+XXXX›."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(one) if one in REORDERING or one < " " else one for one in text)


def _shown(letter: str) -> str:
    if letter in _KEPT or (" " <= letter <= "~"):
        return letter
    if letter in _NAMED:
        return f"‹{_NAMED[letter]}›"
    category = unicodedata.category(letter)
    if (
        letter in BLANK
        or category in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
        or category == "Zs"
    ):
        return f"‹U+{ord(letter):04X}›"
    return letter
