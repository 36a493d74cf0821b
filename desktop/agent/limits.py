"""How many subagents there may be: the one place that says so, whoever begins one (SPEC U28).

A family is a conversation with everything that its agents began from it. Pure: who waits, and how,
is `places`' business.
"""

from collections.abc import Hashable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Caps:
    """How deep subagents may begin further ones, how many of a family work at once, and how many
    one turn of the person's may begin, all that come of it counted."""

    depth: int = 2
    at_once: int = 4
    per_turn: int = 24


class Family:
    """Who works in one family now.

    A subagent that waits for those it began does not work: the first of them takes its place and
    leaves it to it again. So one that is deep in the family never waits for one that waits for it.
    """

    def __init__(self, caps: Caps) -> None:
        self._caps = caps
        self._parents: dict[Hashable, Hashable | None] = {}

    @property
    def at_work(self) -> int:
        return sum(self._weight(one) for one in self._below(None))

    def has_place(self, parent: Hashable | None) -> bool:
        """Whether one more may work that `parent` began (None: the conversation itself)."""
        if parent is not None and not self._below(parent):
            return True  # its parent's own place
        return self.at_work < self._caps.at_once

    def begin(self, child: Hashable, *, parent: Hashable | None) -> None:
        """`child` takes a place, which there must be."""
        self._parents[child] = parent

    def end(self, child: Hashable) -> None:
        """Gives the place back; one that has none: a no-op."""
        self._parents.pop(child, None)

    def _below(self, parent: Hashable | None) -> list[Hashable]:
        return [one for one, other in self._parents.items() if other == parent]

    def _weight(self, one: Hashable) -> int:
        return max(1, sum(self._weight(each) for each in self._below(one)))


def refusal(caps: Caps, *, depth: int, begun: int) -> str:
    """Why one may not begin, for the model; '' when it may.

    `depth` is its own (1: a person's conversation begins it), `begun` how many the turn began.
    """
    if depth > caps.depth:
        return (
            f"Not started: subagents begin others {caps.depth} deep at most. Do this task yourself."
        )
    if begun >= caps.per_turn:
        return (
            f"Not started: {caps.per_turn} subagents were begun for this message, and there may"
            " be no more. Go on without another."
        )
    return ""
