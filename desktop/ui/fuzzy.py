"""How well a text fits what was typed: all its words must be in it, as they stand or letter by
letter in their order. Pure."""

# Where a word begins counts more than its middle, a piece more than scattered letters.
_PIECE, _BEGINNING, _FIRST, _INITIALS, _LETTER, _LEAP = 100, 60, 30, 120, 4, 1


def score(typed: str, text: str) -> int | None:
    """Higher is better; None where it does not fit. Nothing typed fits everything alike."""
    low, total = text.casefold(), 0
    for word in typed.casefold().split():
        found = _word(word, low)
        if found is None:
            return None
        total += found
    return total - len(low) // 16 if total else total


def _word(word: str, text: str) -> int | None:
    at = _beginning(word, text)
    if at is not None:
        return _PIECE + _BEGINNING + (_FIRST if at == 0 else 0)
    if word in "".join(one[0] for one in text.split()):
        return _INITIALS
    return _PIECE if word in text else _scattered(word, text)


def _beginning(word: str, text: str) -> int | None:
    """Where the word stands at the beginning of one of the text's own."""
    at = text.find(word)
    while at > 0 and text[at - 1].isalnum():
        at = text.find(word, at + 1)
    return at if at >= 0 else None


def _scattered(word: str, text: str) -> int | None:
    points, at = 0, -1
    for letter in word:
        found = text.find(letter, at + 1)
        if found < 0:
            return None
        points += _LETTER if found == 0 or not text[found - 1].isalnum() else 0
        points -= _LEAP if at >= 0 and found > at + 1 else 0
        at = found
    return max(points, 1)
