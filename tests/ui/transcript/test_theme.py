"""The tokens keep their promises (LOOK.md "Colours")."""

from dataclasses import fields

import pytest
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication

from desktop.ui.theme import DARK, LIGHT, Colours, palette_of, style_sheet, theme_for
from tests.ui.contrast import contrast

SURFACES = ("bg", "surface", "raised", "user", "code", "added", "removed")


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_text_can_be_read_on_every_surface(colours: Colours) -> None:
    for surface in SURFACES:
        assert contrast(colours.text, getattr(colours, surface)) >= 10
    assert contrast(colours.on_selection, colours.selection) >= 4.4
    assert contrast(colours.on_accent, colours.accent) >= 4.4
    for token in ("muted", "accent", "link", "success", "warning", "danger"):
        for surface in ("bg", "surface", "raised", "user", "code"):
            assert contrast(getattr(colours, token), getattr(colours, surface)) >= 4.4, (
                token,
                surface,
            )


def test_high_contrast_follows_the_system_s_palette(qapp: QApplication) -> None:
    palette = QPalette()
    palette.setColor(QPalette.ColorRole.Window, QColor("#000000"))
    palette.setColor(QPalette.ColorRole.WindowText, QColor("#ffff00"))
    theme = theme_for("dark", palette, high_contrast=True)
    assert (theme.colours.bg, theme.colours.text) == ("#000000", "#ffff00")
    own = {getattr(DARK, field.name).lower() for field in fields(Colours)}
    used = {getattr(theme.colours, field.name).lower() for field in fields(Colours)}
    assert not own & used


def test_equal_choices_give_equal_themes_and_the_scale_scales_type(qapp: QApplication) -> None:
    one = theme_for("light", qapp.palette())
    assert one == theme_for("light", qapp.palette())
    assert hash(one) == hash(theme_for("light", qapp.palette()))
    large = theme_for("light", qapp.palette(), scale=2.0)
    assert large.font().pixelSize() == 2 * one.font().pixelSize() == 28
    assert large.measures == one.measures


def test_palette_and_style_sheet_are_made_of_tokens(qapp: QApplication) -> None:
    theme = theme_for("dark", qapp.palette())
    assert palette_of(theme).color(QPalette.ColorRole.Window) == theme.color("bg")
    assert theme.colours.accent in style_sheet(theme)
