"""Sentences of the transcript in the person's language."""

from PySide6.QtCore import QCoreApplication


def say(text: str) -> str:
    """The sentence in the person's language."""
    return QCoreApplication.translate("transcript", text)
