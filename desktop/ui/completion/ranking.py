"""The names that fit what was typed, the best first; quick among hundreds of thousands.

Letters must follow each other somewhere in the path, in any case. Better are those that stand
together, at the beginning of a part, in the last part, in a short path.
"""

import heapq
import re
from collections.abc import Callable, Iterator, Sequence


class Names:
    """The names of one folder. `best` is for a thread: it takes a while for many names."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._folded = [name.lower() for name in names]
        # What fitted the last query: a longer one can only fit among these.
        self._last = ""
        self._fitting: Sequence[int] = range(len(names))

    def __len__(self) -> int:
        return len(self._names)

    def best(self, query: str, most: int) -> list[str]:
        """The `most` names that fit best."""
        wanted = query.lower()
        fits = _pattern(wanted)
        names = self._folded
        before = self._fitting if wanted.startswith(self._last) else range(len(names))
        fitting = [at for at in before if fits(names[at])]
        self._last, self._fitting = wanted, fitting
        ranked = ((_rank(names[at], wanted), at) for at in fitting)
        return [self._names[at] for _, at in heapq.nsmallest(most, ranked)]


def _pattern(wanted: str) -> Callable[[str], object]:
    """Each letter at its first place after the one before: nothing is ever tried twice."""
    steps = (f"[^{re.escape(letter)}]*{re.escape(letter)}" for letter in wanted)
    return re.compile("".join(steps)).match


def _rank(name: str, wanted: str) -> tuple[int, int]:
    """The smaller, the better: how it fits, then how long it is."""
    last = name.rfind("/") + 1
    at = name.find(wanted, last)
    if at == last:
        fit = 0 if len(name) - last == len(wanted) else 1
    elif at >= 0:
        fit = 2 if not name[at - 1].isalnum() else 3
    elif (at := name.find(wanted)) >= 0:
        fit = 2 if at == 0 or name[at - 1] == "/" else 4
    else:
        fit = 5 if _follow(wanted, iter(name[last:])) else 6
    return fit, len(name)


def _follow(wanted: str, letters: Iterator[str]) -> bool:
    return all(letter in letters for letter in wanted)
