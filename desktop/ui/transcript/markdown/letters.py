"""Runs of letters: bold, code, links. Pictures stay words, and nothing is ever loaded (F-X01)."""

from collections.abc import Sequence

from markdown_it.token import Token
from PySide6.QtGui import QFont, QTextCharFormat, QTextCursor

from desktop.ui.hidden import with_signs
from desktop.ui.transcript.pieces import Paper
from desktop.ui.transcript.saying import say
from desktop.ui.transcript.signs import sign_letters

_LINK_SCHEMES = ("http:", "https:", "mailto:")


def write_letters(
    paper: Paper, cursor: QTextCursor, children: Sequence[Token], letters: QTextCharFormat
) -> None:
    """Writes the tokens of one run at the cursor, in the given letters."""
    stack = [letters]
    for token in children:
        match token.type:
            case "softbreak":
                cursor.insertText(" ", stack[-1])
            case "hardbreak":
                cursor.insertText("\u2028", stack[-1])
            case "code_inline":
                _write_code(paper, cursor, token.content, _code(paper, stack[-1]))
            case "math_inline":
                cursor.insertText(token.content.replace("\n", " "), math_letters(paper, stack[-1]))
            case "image":
                _write_image(paper, cursor, token, stack[-1])
            case "footnote_ref":
                cursor.insertText(note_words(token), note_letters(paper, stack[-1]))
            case "strong_open" | "em_open" | "s_open" | "link_open":
                stack.append(_styled(paper, token, stack[-1]))
            case "strong_close" | "em_close" | "s_close" | "link_close":
                stack.pop()
            case _:
                cursor.insertText(token.content, stack[-1])


def note_words(token: Token) -> str:
    """What a footnote is called, where it is referred to and where it stands."""
    return str(token.meta.get("label", ""))


def note_letters(paper: Paper, letters: QTextCharFormat) -> QTextCharFormat:
    raised = QTextCharFormat(letters)
    raised.setVerticalAlignment(QTextCharFormat.VerticalAlignment.AlignSuperScript)
    raised.setForeground(paper.theme.color("accent"))
    return raised


def math_letters(paper: Paper, around: QTextCharFormat) -> QTextCharFormat:
    """Mathematics stands as it was written, in letters of its own."""
    letters = QTextCharFormat(around)
    font = paper.theme.math()
    font.setPixelSize(around.font().pixelSize())
    letters.setFont(font)
    return letters


def _write_code(paper: Paper, cursor: QTextCursor, text: str, letters: QTextCharFormat) -> None:
    """A name or a path among words: what it hides is always seen."""
    for run, is_sign in with_signs(text):
        cursor.insertText(run, sign_letters(paper, letters) if is_sign else letters)


def _code(paper: Paper, around: QTextCharFormat) -> QTextCharFormat:
    letters = QTextCharFormat(around)
    mono = paper.theme.mono()
    mono.setBold(around.fontWeight() > QFont.Weight.Medium)
    mono.setItalic(around.fontItalic())
    mono.setStrikeOut(around.fontStrikeOut())
    letters.setFont(mono)
    letters.setBackground(paper.theme.color("raised"))
    if around.isAnchor():
        letters.setFontUnderline(True)
    return letters


def _styled(paper: Paper, token: Token, around: QTextCharFormat) -> QTextCharFormat:
    letters = QTextCharFormat(around)
    match token.type:
        case "strong_open":
            letters.setFontWeight(QFont.Weight.DemiBold)
        case "em_open":
            letters.setFontItalic(True)
        case "s_open":
            letters.setFontStrikeOut(True)
        case _:
            _make_link(paper, letters, str(token.attrs.get("href", "")))
    return letters


def _make_link(paper: Paper, letters: QTextCharFormat, target: str) -> None:
    if not target.lower().startswith(_LINK_SCHEMES) and ":" in target:
        # Nothing but the web and mail is opened; other addresses are shown as text.
        return
    letters.setAnchor(True)
    letters.setAnchorHref(target)
    letters.setForeground(paper.theme.color("link"))
    letters.setFontUnderline(True)


def _write_image(paper: Paper, cursor: QTextCursor, token: Token, around: QTextCharFormat) -> None:
    """Its words, and its address as a link."""
    source = str(token.attrs.get("src", ""))
    letters = QTextCharFormat(around)
    _make_link(paper, letters, source)
    cursor.insertText(say("[picture: {0}]").format(token.content or source), letters)
