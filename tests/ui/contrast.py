"""How well a colour is told from another (WCAG 2.2, relative luminance)."""

from PySide6.QtGui import QColor


def luminance(colour: str) -> float:
    channels = [
        c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4
        for c in (QColor(colour).redF(), QColor(colour).greenF(), QColor(colour).blueF())
    ]
    return 0.2126 * channels[0] + 0.7152 * channels[1] + 0.0722 * channels[2]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)
