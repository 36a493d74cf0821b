"""Text shown so that it can't mislead: what is invisible or reorders is made visible.

For commands, paths and diffs that a person judges before they run (SPEC U31, LOOK.md).
"""

import unicodedata

_NAMED = {"\u00a0": "NBSP", "\u00ad": "SHY", "\u200b": "ZWSP", "\ufeff": "BOM"}
_KEPT = "\n\t"


def visible(text: str) -> str:
    """The text with each control, format, bidi and odd blank character as ‹U+XXXX›."""
    return "".join(map(_shown, text))


def apart(text: str) -> str:
    """The text as a unit of its own direction, wherever it is drawn: its end stays its end."""
    return f"\u2068{text}\u2069"


def hides_something(text: str) -> bool:
    """Whether `visible` would change the text."""
    return any(_shown(letter) != letter for letter in text)


def _shown(letter: str) -> str:
    if letter in _KEPT or (" " <= letter <= "~"):
        return letter
    if letter in _NAMED:
        return f"‹{_NAMED[letter]}›"
    category = unicodedata.category(letter)
    if category in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp") or category == "Zs":
        return f"‹U+{ord(letter):04X}›"
    return letter
