"""What a person typed to find rows, as words and as an expression of the full-text index.

Whatever is typed is words, never an operator, and never an error (FIELD F-I04).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

# Longer queries are cut: a row that matches the whole matches its beginning.
QUERY_CAP = 8_000
WORDS_CAP = 64
# A shorter prefix would gather a large part of the index at each letter typed.
PREFIX_LETTERS = 3

_UNUSABLE = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")
_PIECE = re.compile(r'"([^"]*)"|([^\s"]+)')
# Thai to Myanmar, Khmer, kana, Han, Hangul and the Han planes.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]"
)


@dataclass(frozen=True, slots=True)
class Query:
    """What was typed: its words and phrases, and the index's expression for them.

    `match` is "" where the index can't answer.
    """

    words: tuple[str, ...]
    match: str


def parse(text: str) -> Query:
    """The words of a query. Double quotes in pairs make a phrase, a lone one is a blank.

    Quotes with nothing beside them are what is looked for.
    """
    is_cut = len(text) > QUERY_CAP
    usable = _UNUSABLE.sub(" ", text[:QUERY_CAP])
    pieces = list(dict.fromkeys(_pieces(usable)))
    if not pieces and '"' in usable:
        return Query(('"',), "")
    kept = pieces[:WORDS_CAP]
    words = tuple(piece for piece, _ in kept)
    has_letters = any(any(map(str.isalnum, word)) for word in words)
    if not has_letters or any(map(_UNSPACED.search, words)):
        return Query(words, "")
    quoted = [f'"{word}"' for word in words]
    last, is_phrase = kept[-1]
    is_last = len(kept) == len(pieces)
    if is_last and (is_cut or (not is_phrase and _ends_in_prefix(last, usable))):
        quoted[-1] += "*"
    # Side by side: the index then ignores a word of which it keeps nothing.
    return Query(words, " ".join(quoted))


def _pieces(text: str) -> Iterator[tuple[str, bool]]:
    """Words and phrases in order, each with whether it is a phrase."""
    for found in _PIECE.finditer(text):
        phrase, word = found.groups()
        if word:
            yield word, False
        elif phrase.strip():
            yield phrase.strip(), True


def _ends_in_prefix(word: str, text: str) -> bool:
    """Whether the word is still being typed and long enough to be completed."""
    end = word[-PREFIX_LETTERS:]
    return len(end) == PREFIX_LETTERS and end.isalnum() and text.endswith(word)
