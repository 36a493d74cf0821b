"""The style sheet of the window around the transcript, made from the theme's tokens only."""

from desktop.ui.field_style import field_style
from desktop.ui.theme import Theme


def shell_style(theme: Theme) -> str:
    """Surfaces and hairlines of the named parts of the window."""
    colours, measures = theme.colours, theme.measures
    line = f"{measures.hairline}px solid {colours.border}"
    # Where grounds are all alike an edge tells one from the other.
    edge = line if theme.high_contrast else "none"
    return f"""{field_style(theme)}
#sidebar {{ background: {colours.raised}; border: none; }}
#sidebar QPushButton[plain="true"] {{ color: {colours.muted}; padding: 0 {theme.space_8}px; }}
#sidebar QPushButton[plain="true"]:hover {{ background: {colours.border};
  color: {colours.text}; }}
#putAwayList, #searchList {{ background: {colours.bg}; border: none; outline: none; }}
#rightPane {{ background: {colours.raised}; border: none; }}
#outlineList, #pluginList {{ background: {colours.raised}; border: none; outline: none; }}
#rightPane QToolButton {{ background: transparent; border: {line}; border-color: transparent;
  border-radius: {measures.radius}px; color: {colours.muted};
  padding: {theme.space_4}px {theme.space_8}px; min-height: {measures.hit - 10}px; }}
#rightPane QToolButton:hover {{ background: {colours.border}; color: {colours.text}; }}
#rightPane QToolButton:checked {{ color: {colours.text}; border-color: {colours.border}; }}
#rightPane QToolButton:focus {{ border-color: {colours.accent}; }}
#rightPane QToolButton::menu-indicator {{ image: none; }}
#palette {{ background: {colours.surface}; border: {line}; }}
#paletteList {{ background: {colours.surface}; border: none; outline: none; }}
#conversationList {{ background: {colours.raised}; border: none; outline: none; }}
#welcomePage, #welcomeInner, #emptyPage {{ background: {colours.bg}; }}
#tabRow {{ background: {colours.raised}; border: none; border-bottom: {line}; }}
#tabStrip {{ background: transparent; border: none; }}
#tabStrip::tab {{ background: transparent; color: {colours.muted}; border: none;
  border-bottom: {measures.focus_ring}px solid transparent;
  padding: {theme.space_8}px {theme.space_12}px; max-width: {measures.sidebar}px; }}
#tabStrip::tab:selected {{ color: {colours.text}; background: {colours.bg};
  border-bottom-color: {colours.accent}; }}
#tabStrip::tab:hover {{ color: {colours.text}; }}
#composerFrame {{ background: {colours.surface}; border: {line};
  border-radius: {measures.card_radius}px; }}
#composer {{ background: transparent; border: none; }}
#completionFrame {{ background: {colours.surface}; border: {line};
  border-radius: {measures.card_radius}px; }}
#completionList {{ background: transparent; border: none; outline: none; }}
#permissionBar {{ background: {colours.surface};
  border: {measures.focus_ring}px solid {colours.warning};
  border-radius: {measures.card_radius}px; }}
#permissionSentence {{ font-weight: 600; }}
#permissionDetail {{ background: {colours.code}; border: none;
  border-radius: {measures.radius}px; }}
#queueBar {{ background: {colours.user}; border: {edge}; border-radius: {measures.card_radius}px; }}
#queueRow[dragged="true"] {{ background: {colours.selection};
  border-radius: {measures.radius}px; }}
#queueRow[dragged="true"] > QLabel, #queueRow[dragged="true"] > QToolButton {{
  color: {colours.on_selection}; }}
#queueDropLine {{ background: {colours.accent}; border: none; }}
QFrame[notice="true"] {{ background: {colours.user}; border: {edge};
  border-radius: {measures.card_radius}px; }}
#undoBar {{ border-top: {line}; border-radius: 0; }}
#banner {{ background: {colours.raised}; border: none; border-bottom: {line}; }}
#composerFrame QToolButton, #tabRow QToolButton, #queueRow QToolButton {{
  background: transparent; border: {measures.hairline}px solid transparent;
  border-radius: {measures.radius}px; color: {colours.muted};
  padding: {theme.space_4}px {theme.space_8}px; min-height: {measures.hit - 10}px; }}
#composerFrame QToolButton:hover, #tabRow QToolButton:hover, #queueRow QToolButton:hover {{
  background: {colours.raised}; color: {colours.text}; }}
#tabStrip QToolButton {{ padding: 0; min-height: 0; }}
#costLabel {{ color: {colours.muted}; }}
#settingsDialog QListWidget {{ background: {colours.raised}; border: none;
  border-radius: {measures.card_radius}px; padding: {theme.space_4}px; outline: none; }}
#settingsDialog QListWidget::item {{ padding: {theme.space_8}px; color: {colours.text};
  border-radius: {measures.radius}px; }}
#settingsDialog QListWidget::item:selected {{ background: {colours.selection};
  color: {colours.on_selection}; }}
QLineEdit {{ background: {colours.surface}; border: {line};
  border-radius: {measures.radius}px; padding: {theme.space_4}px {theme.space_8}px;
  min-height: {measures.hit - 10}px; }}
#serverFormCommand, #textBoxText, #diagnosticsText {{ background: {colours.surface}; border: {line};
  border-radius: {measures.radius}px; }}
QLineEdit:focus {{ border: {measures.focus_ring}px solid {colours.accent}; }}
QTreeView {{ background: {colours.surface}; border: {line};
  border-radius: {measures.radius}px; }}
QTreeView::item {{ padding: {theme.space_4}px; border: none; }}
QTreeView::item:selected {{ background: {colours.selection}; color: {colours.on_selection}; }}
QHeaderView {{ background: transparent; }}
QHeaderView::section {{ background: {colours.raised}; color: {colours.muted}; border: none;
  border-bottom: {line}; padding: {theme.space_4}px {theme.space_8}px; }}
QDialogButtonBox {{ dialogbuttonbox-buttons-have-icons: 0; }}
QSplitter::handle {{ background: {colours.border}; }}
QSplitter::handle:horizontal {{ width: {measures.hairline}px; }}
"""
