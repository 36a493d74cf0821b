"""Every colour and measure of the interface, in one frozen value.

A widget asks the `Theme` it was handed and names no colour and no number of pixels of its own. The
palette and the small style sheet of the application are made from the same value. Widgets choose a
look through dynamic properties that the style sheet knows:

* `primary`, `danger`, `plain` (no frame) of a button, each `true`;
* `muted`, `accent`, `success`, `warning`, `danger`, `small`, `heading`, `title` of a label;
* `monospace` of any widget with text;
* `surface` of a frame: `bg`, `surface`, `raised`, `code`, `user`, `card`, `line` (a hairline).

High contrast follows the system's palette entirely.
"""

from dataclasses import dataclass
from typing import Literal

from PySide6 import QtGui
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFont, QPalette, QStyleHints
from PySide6.QtWidgets import QApplication

Scheme = Literal["light", "dark"]

MATH_FAMILIES = (
    "STIX Two Text",
    "Cambria",
    "Latin Modern Roman",
    "Times New Roman",
    "DejaVu Serif",
)


@dataclass(frozen=True, slots=True)
class Colours:
    """The colour tokens, each `#rrggbb`. `on_accent` is text that stands on `accent`."""

    bg: str
    surface: str
    raised: str
    border: str
    text: str
    muted: str
    accent: str
    on_accent: str
    user: str
    code: str
    selection: str
    on_selection: str
    link: str
    success: str
    warning: str
    danger: str
    added: str
    removed: str
    added_word: str
    removed_word: str


LIGHT = Colours(
    bg="#FBFAF8",
    surface="#FFFFFF",
    raised="#F3F1ED",
    border="#DDD8CF",
    text="#1F2328",
    muted="#5C6370",
    accent="#0F766E",
    on_accent="#FFFFFF",
    user="#E6F2F0",
    code="#F5F3EF",
    selection="#BFE3DD",
    on_selection="#1F2328",
    link="#0B5CAD",
    success="#1A7F37",
    warning="#8A5A00",
    danger="#B42318",
    added="#E3F4E6",
    removed="#FBE9E7",
    added_word="#B9E5C1",
    removed_word="#F7C9C3",
)

DARK = Colours(
    bg="#16181B",
    surface="#1D2024",
    raised="#262A30",
    border="#3A4149",
    text="#E6E8EA",
    muted="#A2AAB4",
    accent="#4FD1C1",
    on_accent="#16181B",
    user="#1F3431",
    code="#1A1D21",
    selection="#2B5A55",
    on_selection="#E6E8EA",
    link="#7FB9FF",
    success="#6BD68C",
    warning="#F2C063",
    danger="#FF8F80",
    added="#16301F",
    removed="#3A1F1D",
    added_word="#1F5030",
    removed_word="#66302B",
)


@dataclass(frozen=True, slots=True)
class Sizes:
    """Type sizes in pixels before scaling, and line heights as a factor."""

    body: int = 14
    small: int = 12
    code: int = 13
    headings: tuple[int, int, int, int] = (20, 17, 15, 14)
    body_line: float = 1.5
    code_line: float = 1.45


@dataclass(frozen=True, slots=True)
class Measures:
    """Everything else that has a size in pixels."""

    radius: int = 6
    card_radius: int = 8
    hairline: int = 1
    focus_ring: int = 2
    hit: int = 28
    sidebar: int = 260
    right_pane: int = 320
    dialog: int = 640
    icon: int = 16
    scroll_bar: int = 10
    composer_share: float = 0.4
    window_width: int = 1180
    window_height: int = 780


@dataclass(frozen=True, slots=True)
class Motion:
    """Times in ms. Nothing lasts longer than `longest`; with `reduced` nothing moves at all."""

    longest: int = 150
    frame: int = 16
    grace: int = 500
    reduced: bool = False


@dataclass(frozen=True, slots=True)
class Theme:
    """How everything looks now. Equal themes look alike, so a theme can be a cache's key.

    `scale` is the person's font size (1.0 is as designed); it scales type, not hairlines.
    """

    scheme: Scheme
    colours: Colours
    high_contrast: bool = False
    scale: float = 1.0
    space_4: int = 4
    space_8: int = 8
    space_12: int = 12
    space_16: int = 16
    space_24: int = 24
    space_32: int = 32
    column: int = 760
    sizes: Sizes = Sizes()
    measures: Measures = Measures()
    motion: Motion = Motion()
    family: str = ""
    mono_family: str = ""

    def color(self, name: str) -> QColor:
        """A colour token by its name, for a painter; raises AttributeError for no token."""
        return QColor(getattr(self.colours, name))

    def ink(self, name: str, *, selected: bool) -> QColor:
        """The colour of words in a row of a list: on the ground of what is chosen always the one
        that is made for it."""
        return self.color("on_selection" if selected else name)

    def px(self, size: float) -> int:
        """A type size, or a length that goes with type, scaled; at least one pixel."""
        return max(1, round(size * self.scale))

    def font(self, size: float | None = None, *, bold: bool = False, italic: bool = False) -> QFont:
        """The interface font; `size` is unscaled and body by default. Bold is semibold."""
        font = QFont(self.family) if self.family else QFont()
        font.setPixelSize(self.px(size or self.sizes.body))
        font.setWeight(QFont.Weight.DemiBold if bold else QFont.Weight.Normal)
        font.setItalic(italic)
        return font

    def math(self) -> QFont:
        """The font of mathematics: what there is of those made for it, in body size."""
        font = self.font(italic=True)
        font.setFamilies([*MATH_FAMILIES, font.family()])
        font.setStyleHint(QFont.StyleHint.Serif)
        return font

    def mono(self, size: float | None = None) -> QFont:
        """The system's monospace font; code size by default."""
        # By its module: a name that is imported is made before the window's first picture.
        fonts = QtGui.QFontDatabase
        font = fonts.systemFont(fonts.SystemFont.FixedFont)
        if self.mono_family:
            font = QFont(self.mono_family)
        font.setStyleHint(QFont.StyleHint.Monospace)
        font.setPixelSize(self.px(size or self.sizes.code))
        return font


def theme_for(
    scheme: Scheme,
    palette: QPalette,
    *,
    high_contrast: bool = False,
    scale: float = 1.0,
    reduced_motion: bool = False,
) -> Theme:
    """The theme of a scheme; with high contrast its colours are those of the system's palette."""
    colours = LIGHT if scheme == "light" else DARK
    return Theme(
        scheme=scheme,
        colours=_system_colours(palette) if high_contrast else colours,
        high_contrast=high_contrast,
        scale=scale,
        motion=Motion(reduced=reduced_motion),
    )


def system_scheme(hints: QStyleHints) -> Scheme:
    """Light or dark as the system is set; light where it does not say."""
    return "dark" if hints.colorScheme() == Qt.ColorScheme.Dark else "light"


def system_high_contrast(hints: QStyleHints) -> bool:
    """Whether the person asked the system for high contrast."""
    return hints.accessibility().contrastPreference() == Qt.ContrastPreference.HighContrast


def dress(app: QApplication, theme: Theme, more: str = "") -> None:
    """Gives the whole application this look: font, palette and style sheet (with `more` rules).

    With high contrast the palette stays the system's own.
    """
    app.setFont(theme.font())
    # What of menus and lists moves is the platform's to say, unless the person wants none of it.
    app.setEffectEnabled(Qt.UIEffect.UI_General, not theme.motion.reduced)
    if not theme.high_contrast:
        app.setPalette(palette_of(theme))
    # Once for all: a second sheet on the window would polish every widget again.
    app.setStyleSheet(style_sheet(theme) + more)


def palette_of(theme: Theme) -> QPalette:
    """The palette that Qt's own widgets draw with."""
    colours = theme.colours
    palette = QPalette()
    for role, colour in (
        (QPalette.ColorRole.Window, colours.bg),
        (QPalette.ColorRole.WindowText, colours.text),
        (QPalette.ColorRole.Base, colours.surface),
        (QPalette.ColorRole.AlternateBase, colours.raised),
        (QPalette.ColorRole.Text, colours.text),
        (QPalette.ColorRole.PlaceholderText, colours.muted),
        (QPalette.ColorRole.Button, colours.raised),
        (QPalette.ColorRole.ButtonText, colours.text),
        (QPalette.ColorRole.BrightText, colours.danger),
        (QPalette.ColorRole.Highlight, colours.selection),
        (QPalette.ColorRole.HighlightedText, colours.on_selection),
        (QPalette.ColorRole.Accent, colours.accent),
        (QPalette.ColorRole.Link, colours.link),
        (QPalette.ColorRole.LinkVisited, colours.link),
        (QPalette.ColorRole.ToolTipBase, colours.raised),
        (QPalette.ColorRole.ToolTipText, colours.text),
        (QPalette.ColorRole.Light, colours.surface),
        (QPalette.ColorRole.Midlight, colours.raised),
        (QPalette.ColorRole.Mid, colours.border),
        (QPalette.ColorRole.Dark, colours.border),
        (QPalette.ColorRole.Shadow, colours.border),
    ):
        palette.setColor(role, QColor(colour))
    for role in (
        QPalette.ColorRole.WindowText,
        QPalette.ColorRole.Text,
        QPalette.ColorRole.ButtonText,
    ):
        palette.setColor(QPalette.ColorGroup.Disabled, role, QColor(colours.muted))
    return palette


def style_sheet(theme: Theme) -> str:
    """What a palette can't say: buttons, tones, surfaces, the focus ring, slim scroll bars."""
    still = "* { widget-animation-duration: 0; }" if theme.motion.reduced else ""
    return "\n".join((_text_rules(theme), _surface_rules(theme), _control_rules(theme), still))


def _text_rules(theme: Theme) -> str:
    colours, sizes = theme.colours, theme.sizes
    tones = "\n".join(
        f'QLabel[{tone}="true"] {{ color: {colour}; }}'
        for tone, colour in (
            ("muted", colours.muted),
            ("accent", colours.accent),
            ("success", colours.success),
            ("warning", colours.warning),
            ("danger", colours.danger),
        )
    )
    mono = theme.mono().family()
    return f"""{tones}
QLabel[small="true"] {{ font-size: {theme.px(sizes.small)}px; }}
QLabel[heading="true"] {{ font-size: {theme.px(sizes.headings[1])}px; font-weight: 600; }}
QLabel[title="true"] {{ font-size: {theme.px(sizes.headings[0])}px; font-weight: 600; }}
*[monospace="true"] {{ font-family: "{mono}"; font-size: {theme.px(sizes.code)}px; }}
QToolTip {{ background: {colours.raised}; color: {colours.text};
  border: {theme.measures.hairline}px solid {colours.border}; padding: {theme.space_4}px; }}"""


def _surface_rules(theme: Theme) -> str:
    colours, measures = theme.colours, theme.measures
    plain = "\n".join(
        f'QFrame[surface="{name}"] {{ background: {colour}; border: none; }}'
        for name, colour in (
            ("bg", colours.bg),
            ("surface", colours.surface),
            ("raised", colours.raised),
            ("code", colours.code),
            ("user", colours.user),
            ("line", colours.border),
        )
    )
    return f"""{plain}
QFrame[surface="card"] {{ background: {colours.surface};
  border: {measures.hairline}px solid {colours.border};
  border-radius: {measures.card_radius}px; }}"""


def _control_rules(theme: Theme) -> str:
    colours, measures = theme.colours, theme.measures
    line, ring = measures.hairline, measures.focus_ring
    # Words are all of one colour there.
    unable = "dashed" if theme.high_contrast else "solid"
    pad = f"{theme.space_4}px {theme.space_12}px"
    tight = f"{theme.space_4 - (ring - line)}px {theme.space_12 - (ring - line)}px"
    return f"""
QPushButton {{ background: {colours.raised}; color: {colours.text};
  border: {line}px solid {colours.border}; border-radius: {measures.radius}px;
  padding: {pad}; min-height: {measures.hit - 2 * (theme.space_4 + line)}px; }}
QPushButton:hover {{ background: {colours.surface}; }}
QPushButton:pressed {{ background: {colours.border}; }}
QPushButton:disabled {{ color: {colours.muted}; border-style: {unable}; }}
QPushButton:focus {{ border: {ring}px solid {colours.accent}; padding: {tight}; }}
QPushButton[primary="true"] {{ background: {colours.accent}; color: {colours.on_accent};
  border-color: {colours.accent}; font-weight: 600; }}
QPushButton[primary="true"]:disabled {{ background: {colours.raised}; color: {colours.muted};
  border-color: {colours.border}; }}
QPushButton[danger="true"] {{ color: {colours.danger}; border-color: {colours.danger}; }}
QPushButton[plain="true"] {{ background: transparent; border-color: transparent; }}
QPushButton[plain="true"]:hover {{ background: {colours.raised}; }}
QPushButton[plain="true"]:focus {{ border-color: {colours.accent}; }}
QCheckBox, QRadioButton {{ padding: {theme.space_4}px; }}
QScrollBar:vertical {{ background: transparent; width: {measures.scroll_bar}px; margin: 0; }}
QScrollBar:horizontal {{ background: transparent; height: {measures.scroll_bar}px; margin: 0; }}
QScrollBar::handle {{ background: {colours.border}; border-radius: {measures.scroll_bar // 2 - 1}px;
  margin: {line}px; }}
QScrollBar::handle:vertical {{ min-height: {measures.hit}px; }}
QScrollBar::handle:horizontal {{ min-width: {measures.hit}px; }}
QScrollBar::handle:disabled {{ background: transparent; }}
QScrollBar::handle:hover {{ background: {colours.muted}; }}
QScrollBar::add-line, QScrollBar::sub-line {{ width: 0; height: 0; }}
QScrollBar::add-page, QScrollBar::sub-page {{ background: transparent; }}"""


def _system_colours(palette: QPalette) -> Colours:
    def name(role: QPalette.ColorRole) -> str:
        return palette.color(QPalette.ColorGroup.Active, role).name()

    window, text = name(QPalette.ColorRole.Window), name(QPalette.ColorRole.WindowText)
    link, highlight = name(QPalette.ColorRole.Link), name(QPalette.ColorRole.Highlight)
    return Colours(
        bg=window,
        surface=window,
        raised=window,
        border=text,
        text=text,
        muted=text,
        accent=highlight,
        on_accent=name(QPalette.ColorRole.HighlightedText),
        user=window,
        code=window,
        selection=highlight,
        on_selection=name(QPalette.ColorRole.HighlightedText),
        link=link,
        success=text,
        warning=text,
        danger=text,
        added=window,
        removed=window,
        added_word=window,
        removed_word=window,
    )
