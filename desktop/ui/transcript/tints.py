"""The colours of an output in the colours of a theme: whatever a program asks for can be read.

A colour keeps its hue and moves towards black or white until it stands out from its ground, so no
text can be hidden by its colour. With high contrast only the system's colours are used.
"""

from functools import lru_cache

from PySide6.QtGui import QColor, QFont, QTextCharFormat

from desktop.core.colouring import Colour, Style
from desktop.ui.theme import Theme

LEAST_CONTRAST = 4.5
_DIMMED = 0.35
_STEPS = 12

_SIXTEEN = (
    *("#000000", "#cd3131", "#0dbc79", "#b5a800", "#2472c8", "#bc3fbc", "#11a8cd", "#cccccc"),
    *("#666666", "#f14c4c", "#23d18b", "#e5d80b", "#3b8eea", "#d670d6", "#29b8db", "#ffffff"),
)
_CUBE = (0, 95, 135, 175, 215, 255)


def letters_of(style: Style, theme: Theme, *, ink: str, ground: str) -> QTextCharFormat:
    """The format of letters of this style, on a ground and with an ink of the theme's."""
    fore, back = tints(style, theme, ink=ink, ground=ground)
    letters = QTextCharFormat()
    letters.setForeground(QColor(fore))
    if back is not None:
        letters.setBackground(QColor(back))
    if style.bold:
        letters.setFontWeight(QFont.Weight.Bold)
    letters.setFontItalic(style.italic)
    letters.setFontUnderline(style.underline)
    letters.setFontStrikeOut(style.struck)
    return letters


def tints(style: Style, theme: Theme, *, ink: str, ground: str) -> tuple[str, str | None]:
    """The colour of letters and, where they have one, of the ground behind them; `#rrggbb`."""
    plain, below = theme.color(ink).name(), theme.color(ground).name()
    fore, back = _named(style.fore), _named(style.back)
    if theme.high_contrast:
        fore = back = None
    if style.inverse:
        fore, back = back or below, fore or plain
    if fore is None and back is not None:
        fore = max((plain, below), key=lambda one: contrast(one, back))
    under = back or below
    if fore is None:
        fore = theme.color("muted").name() if style.dim else plain
    elif style.dim:
        fore = _mixed(fore, under, _DIMMED)
    return readable(fore, under), back


@lru_cache(maxsize=4_096)
def readable(colour: str, ground: str) -> str:
    """The colour, or the one nearest to it towards black or white that can be read."""
    if contrast(colour, ground) >= LEAST_CONTRAST:
        return colour
    far = max(("#000000", "#ffffff"), key=lambda one: contrast(one, ground))
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if contrast(_mixed(colour, far, middle), ground) >= LEAST_CONTRAST:
            high = middle
        else:
            low = middle
    return _mixed(colour, far, high)


def contrast(one: str, other: str) -> float:
    """From 1 to 21, as the WCAG count it."""
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    parts = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _mixed(colour: str, other: str, share: float) -> str:
    """The colour with a share of the other in it."""
    pairs = ((int(one[at : at + 2], 16) for one in (colour, other)) for at in (1, 3, 5))
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def _named(colour: Colour | None) -> str | None:
    match colour:
        case None:
            return None
        case int():
            return _of_palette(colour)
        case red, green, blue:
            return f"#{red:02x}{green:02x}{blue:02x}"


def _of_palette(number: int) -> str:
    """One of the 256: sixteen names, a cube of six steps a side, and greys."""
    if number < 16:
        return _SIXTEEN[number]
    if number < 232:
        place = number - 16
        red, green, blue = (_CUBE[place // step % 6] for step in (36, 6, 1))
        return f"#{red:02x}{green:02x}{blue:02x}"
    grey = 8 + 10 * (number - 232)
    return f"#{grey:02x}{grey:02x}{grey:02x}"
