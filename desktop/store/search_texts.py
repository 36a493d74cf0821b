"""Finding words in texts as the index of the log does, and the piece of a text that is shown.

What the index can't find (signs alone, a piece of a word, scripts without spaces) is looked for
letter by letter.
"""

import re
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass

Marks = tuple[tuple[int, int], ...]

# As the index of the log was made; a test compares them.
TOKENIZER = "unicode61 remove_diacritics 2"
SNIPPET_WORDS = 24
SNIPPET_LETTERS = 240
LEAD_LETTERS = 60

# Stand around what was found in a snippet of the index.
OPEN, CLOSE = "\x02", "\x03"
_SMALL = (
    f"SELECT rowid, CAST(snippet(small, 0, ?, ?, '…', {SNIPPET_WORDS}) AS BLOB) FROM small"
    " WHERE small MATCH ? ORDER BY rowid DESC LIMIT ?"
)


@dataclass(frozen=True, slots=True)
class Found:
    """A text that was found among others, and where in its snippet."""

    key: int
    snippet: str
    marks: tuple[tuple[int, int], ...]


def matching(match: str, texts: Mapping[int, str], limit: int) -> list[Found]:
    """The texts that the index would find, those with the highest keys first."""
    with closing(sqlite3.connect(":memory:")) as small:
        small.execute(f"CREATE VIRTUAL TABLE small USING fts5(x, tokenize='{TOKENIZER}')")
        small.executemany("INSERT INTO small(rowid, x) VALUES (?, ?)", texts.items())
        hits = small.execute(_SMALL, (OPEN, CLOSE, match, limit)).fetchall()
    return [Found(key, *marked(decoded(text))) for key, text in hits]


def holding(words: Sequence[str], texts: Mapping[int, str], limit: int) -> list[Found]:
    """The texts in which all words stand letter by letter, those with the highest keys first."""
    all_of = [re.compile(_in_order(word), re.IGNORECASE | re.DOTALL) for word in words]
    wanted = re.compile("|".join(map(any_blanks, words)), re.IGNORECASE)
    found: list[Found] = []
    for key in sorted(texts, reverse=True):
        if len(found) == limit:
            break
        if all(one.search(texts[key]) for one in all_of):
            found.append(Found(key, *around(texts[key], wanted)))
    return found


def _in_order(phrase: str) -> str:
    return ".*?".join(map(re.escape, phrase.split()))


def any_blanks(phrase: str) -> str:
    return r"\s+".join(map(re.escape, phrase.split()))


def decoded(value: bytes) -> str:
    return value.decode("utf-8", "replace")


def marked(text: str) -> tuple[str, Marks]:
    """The index's snippet without its signs, and where they stood."""
    plain: list[str] = []
    marks: list[tuple[int, int]] = []
    length = start = 0
    for part in re.split(f"([{OPEN}{CLOSE}])", text):
        if part == OPEN:
            start = length
        elif part == CLOSE:
            marks.append((start, length))
        else:
            plain.append(part)
            length += len(part)
    return clipped("".join(plain), tuple(marks))


def around(text: str, wanted: re.Pattern[str]) -> tuple[str, Marks]:
    """A piece of the text around the first match."""
    first = wanted.search(text)
    start = max(first.start() - LEAD_LETTERS, 0) if first else 0
    piece = text[start : start + SNIPPET_LETTERS]
    before = "…" if start else ""
    after = "…" if len(text) > start + SNIPPET_LETTERS else ""
    shown = f"{before}{piece}{after}"
    return shown, tuple(found.span() for found in wanted.finditer(shown))


def clipped(text: str, marks: Marks) -> tuple[str, Marks]:
    """The snippet at a length that fits a line or two, however long its words are."""
    if len(text) <= SNIPPET_LETTERS:
        return text, marks
    start = max(marks[0][0] - LEAD_LETTERS, 0) if marks else 0
    end = start + SNIPPET_LETTERS
    moved = ((max(low, start) - start, min(high, end) - start) for low, high in marks)
    return text[start:end], tuple((low, high) for low, high in moved if low < high)
