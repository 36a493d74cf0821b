"""Quoting a row in the message field: its text as a Markdown quote, the caret behind it."""

from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QPlainTextEdit


def quote_of(text: str) -> str:
    """The text with a `>` before each line; "" where there is nothing to quote."""
    lines = text.strip("\n").splitlines() if text.strip() else []
    return "\n".join(f"> {line}".rstrip() for line in lines)


def quote_into(field: QPlainTextEdit, text: str) -> None:
    """Behind what is written already, as if typed (it can be undone); one goes on below it."""
    quote = quote_of(text)
    if not quote:
        return
    written = field.toPlainText().rstrip("\n")
    cursor = field.textCursor()
    cursor.setPosition(len(written))
    cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
    cursor.insertText(f"\n\n{quote}\n\n" if written else f"{quote}\n\n")
    field.setTextCursor(cursor)
    field.ensureCursorVisible()
    field.setFocus()
