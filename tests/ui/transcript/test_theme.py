"""The tokens keep their promises (LOOK.md "Colours")."""

from dataclasses import fields
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication, QProgressBar, QStyle

from desktop.ui.theme import DARK, LIGHT, Colours, Theme, dress, palette_of, style_sheet, theme_for
from tests.ui.contrast import contrast

SURFACES = ("bg", "surface", "raised", "user", "code", "added", "removed")


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_text_can_be_read_on_every_surface(colours: Colours) -> None:
    for surface in SURFACES:
        assert contrast(colours.text, getattr(colours, surface)) >= 10
    for word in ("added_word", "removed_word"):
        assert contrast(colours.text, getattr(colours, word)) >= 7
    assert contrast(colours.on_selection, colours.selection) >= 4.4
    assert contrast(colours.on_accent, colours.accent) >= 4.4
    for token in ("muted", "accent", "link", "success", "warning", "danger"):
        for surface in ("bg", "surface", "raised", "user", "code"):
            assert contrast(getattr(colours, token), getattr(colours, surface)) >= 4.4, (
                token,
                surface,
            )


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_u38_a_ring_and_what_is_chosen_can_be_told_from_every_ground(colours: Colours) -> None:
    """WCAG 1.4.11 for the ring; words on what is chosen are never of another colour."""
    for ground in (*SURFACES, "border", "selection"):
        assert contrast(colours.accent, getattr(colours, ground)) >= 3, ground
    assert contrast(colours.on_accent, colours.accent) >= 3
    assert contrast(colours.warning, colours.surface) >= 3
    assert contrast(colours.success, colours.added) >= 4.4
    assert contrast(colours.danger, colours.removed) >= 4.4
    theme = Theme("light", colours)
    for token in ("text", "muted", "accent", "warning", "danger"):
        assert theme.ink(token, selected=True) == theme.color("on_selection")
        assert theme.ink(token, selected=False) == theme.color(token)


def test_u38_with_reduced_motion_nothing_moves(qapp: QApplication) -> None:
    font, palette, sheet = qapp.font(), qapp.palette(), qapp.styleSheet()
    effects = Qt.UIEffect.UI_General
    was = qapp.isEffectEnabled(effects)
    try:
        dress(qapp, theme_for("light", palette, reduced_motion=False))
        assert qapp.isEffectEnabled(effects)
        dress(qapp, theme_for("light", palette, reduced_motion=True))
        assert not qapp.isEffectEnabled(effects)
        bar = QProgressBar()
        bar.ensurePolished()
        duration = QStyle.StyleHint.SH_Widget_Animation_Duration
        assert bar.style().styleHint(duration, None, bar) == 0
    finally:
        qapp.setEffectEnabled(effects, was)
        qapp.setFont(font)
        qapp.setPalette(palette)
        qapp.setStyleSheet(sheet)


def test_u38_what_animates_asks_whether_it_may() -> None:
    """Nothing does today; what comes looks at `theme.motion`."""
    moving = ("QPropertyAnimation", "QVariantAnimation", "QTimeLine", "QMovie", "setAnimated")
    for path in Path("desktop/ui").rglob("*.py"):
        source = path.read_text("utf-8")
        assert "motion." in source or not any(one in source for one in moving), path


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
