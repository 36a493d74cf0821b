"""What the tools that only look have in common: the act, and one piece of work off the loop."""

from dataclasses import dataclass
from typing import TypeVar

from desktop.core.permissions import Act
from desktop.tools.places import Place

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Look:
    """A place to look at, with the arguments of the tool that looks."""

    place: Place
    first: int = 1
    most: int = 0
    pattern: str = ""
    only: str = ""
    ignore_case: bool = False


def act_of(tool: str, sentence: str, look: Look) -> Act:
    """The act of a tool that changes nothing."""
    return Act(
        tool=tool,
        kind="read",
        sentence=sentence,
        detail=look.place.shown,
        where=look.place.shown,
        outside=not look.place.inside,
        prepared=look,
    )
