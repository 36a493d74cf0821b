"""A line of the outline in words: what it shows, what it tells on hover and to a screen reader."""

from functools import lru_cache

from PySide6.QtCore import QCoreApplication, QDateTime, QLocale

from desktop.core.outline import Heading
from desktop.ui.outline.line import Line
from desktop.ui.visible import visible


def say(text: str) -> str:
    """The sentence in the person's language."""
    return QCoreApplication.translate("outline", text)


def words_of(heading: Heading) -> str:
    """The line itself; nothing in it is invisible or turns the reading around."""
    return _visible(heading.words) or say("(no text)")


def end_mark(end: str) -> str:
    """How a turn ended, as a sign; "" where it came to its end."""
    return {"failed": "✕", "refused": "✕", "stopped": "■", "interrupted": "■"}.get(end, "")


def end_words(end: str) -> str:
    """The same in words."""
    words = {
        "failed": say("Failed"),
        "refused": say("Refused"),
        "stopped": say("Stopped"),
        "interrupted": say("Interrupted"),
    }
    return words.get(end, "")


def tip_of(line: Line) -> str:
    """On hover: the words, when it was said, what became of it."""
    return "\n".join([words_of(line.heading), *_facts(line)])


def spoken(line: Line) -> str:
    """For a screen reader."""
    here = [say("You are here")] if line.is_current else []
    return ". ".join([words_of(line.heading), *here, *_facts(line)])


def _facts(line: Line) -> list[str]:
    heading = line.heading
    moment = QDateTime.fromMSecsSinceEpoch(heading.created_at)
    facts = (
        QLocale().toString(moment, QLocale.FormatType.ShortFormat) if heading.created_at else "",
        say("Bookmarked") if line.is_bookmarked else "",
        end_words(line.end),
        say("Taken back") if line.is_retracted else "",
        say("The model knows only a summary of it") if line.is_compacted else "",
    )
    return [fact for fact in facts if fact]


@lru_cache(maxsize=512)
def _visible(words: str) -> str:
    return visible(words)
