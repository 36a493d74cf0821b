"""The style sheet of what stands in forms, made from the theme's tokens only; see `framed`."""

from desktop.ui.theme import Theme


def field_style(theme: Theme) -> str:
    """Choices, numbers and boxes of forms, and the list that a choice opens."""
    colours, measures = theme.colours, theme.measures
    # Words are all of one colour there.
    unable = "dashed" if theme.high_contrast else "solid"
    line = measures.hairline
    return f"""
*[framed="true"] {{ background: {colours.surface}; color: {colours.text};
  border: {line}px solid {colours.border}; border-radius: {measures.radius}px;
  padding: 0 {theme.space_8}px; min-height: {theme.px(measures.hit) - 2 * line}px; }}
*[framed="true"]:hover {{ background: {colours.raised}; }}
*[framed="true"]:disabled {{ color: {colours.muted}; background: {colours.bg};
  border-style: {unable}; }}
QComboBox[framed="true"]::drop-down, QSpinBox[framed="true"]::up-button,
QSpinBox[framed="true"]::down-button {{ subcontrol-origin: border; background: transparent;
  border: none; width: {measures.hit}px; }}
QSpinBox[framed="true"]::up-button {{ subcontrol-position: top right; }}
QSpinBox[framed="true"]::down-button {{ subcontrol-position: bottom right; }}
QSpinBox[framed="true"]::up-button:pressed, QSpinBox[framed="true"]::down-button:pressed {{
  background: {colours.border}; }}
QComboBox[framed="true"]::down-arrow, QSpinBox[framed="true"]::up-arrow,
QSpinBox[framed="true"]::down-arrow {{ image: none; }}
WrappingBox::indicator {{ width: {theme.px(measures.icon)}px; height: {theme.px(measures.icon)}px;
  border: {line}px solid {colours.muted}; border-radius: {measures.radius // 2}px;
  background: {colours.surface}; }}
WrappingBox::indicator:checked {{ background: {colours.accent}; border-color: {colours.accent}; }}
WrappingBox::indicator:disabled {{ background: {colours.bg}; border-style: {unable}; }}
QComboBox QAbstractItemView {{ background: {colours.surface}; color: {colours.text};
  border: {line}px solid {colours.border}; outline: none;
  selection-background-color: {colours.selection}; selection-color: {colours.on_selection}; }}
QComboBox QAbstractItemView::item {{ min-height: {theme.px(measures.hit)}px;
  padding: 0 {theme.space_8}px; }}
QComboBox QAbstractItemView::item:selected {{ background: {colours.selection};
  color: {colours.on_selection}; }}"""
