"""Newer versions of the program: what is told of them, and how versions compare.

A feed is of somebody else's making. What is taken from it is the number of a version and one
address of the web (`addresses`); both are checked, and neither is acted upon by itself.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

_NUMBERS = re.compile(r"v?([0-9]{1,6}(?:\.[0-9]{1,6}){1,3})(.*)", re.S)
# What may follow the numbers of a finished version: its build.
_BUILD = re.compile(r"(?:\+[A-Za-z0-9.]+)?")


@dataclass(frozen=True, slots=True)
class Version:
    """Two to four numbers; one that is not final comes before the same numbers that are."""

    numbers: tuple[int, ...]
    is_final: bool = True

    @classmethod
    def of(cls, text: str) -> "Version | None":
        """The version that a text is, such as `1.2.0`, `v1.2` or `1.3.0rc1`; None for no such."""
        found = _NUMBERS.fullmatch(text.strip())
        if found is None:
            return None
        numbers = tuple(int(one) for one in found[1].split("."))
        return cls((*numbers, 0, 0, 0)[:4], _BUILD.fullmatch(found[2]) is not None)

    def is_after(self, other: "Version") -> bool:
        return (self.numbers, self.is_final) > (other.numbers, other.is_final)


@dataclass(frozen=True, slots=True)
class Release:
    """A finished version and the page that tells of it, which is an https address."""

    version: str
    link: str


@dataclass(frozen=True, slots=True)
class ReleaseNews:
    """What is known: `asked_at` in ms UTC, None before the first answer; `problem` is why the last
    question had none, '' where it had. `newer` is a release after this version."""

    own: str
    address: str = ""
    asked_at: int | None = None
    newer: Release | None = None
    is_closed: bool = False  # the person has put the notice of `newer` away
    is_asking: bool = False
    problem: str = ""
    detail: str = ""


class Releases(Protocol):
    """What the window needs: what is known, and a way to ask now. All on the loop's thread."""

    def news(self) -> ReleaseNews: ...

    async def ask(self) -> None:
        """Asks the feed now; never raises for what it finds."""
        ...

    async def close_notice(self) -> None:
        """The person has seen the newer version; the next one is told again."""
        ...

    def hear(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Calls back after each change; the result takes the listener away again."""
        ...
