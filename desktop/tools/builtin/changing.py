"""What the two tools that change a file have in common: what is shown is what is made.

The bytes that will stand there are made when the change is prepared; running it writes just those,
and only where the file is still the one that the diff was made from (FIELD F-T06).
"""

from dataclasses import dataclass
from typing import cast

from desktop.core.errors import ToolFailed
from desktop.core.permissions import Act
from desktop.core.tools import Scene, ToolOutcome
from desktop.tools.diffs import too_large, unified
from desktop.tools.files import Old, old_of, replace
from desktop.tools.output import readable
from desktop.tools.places import Place, check_unmoved
from desktop.tools.rules import INSIDE
from desktop.tools.threads import write_off_loop


@dataclass(frozen=True, slots=True)
class Change:
    """The bytes to put in a place, `mark` of what they were made from, and how to report it."""

    place: Place
    mark: str
    data: bytes
    done: str


def act_of(tool: str, sentence: str, place: Place, old: Old, data: bytes, done: str) -> Act:
    """The act of a change, with its diff. Costs time for large files: call it off the loop."""
    before = old.data if old.mark else None
    if old.mark and before is None:
        detail = too_large(place.label, old.size, data)
    else:
        detail = unified(place.label, before, data)
    outside = not place.inside or _is_of_git(place)
    return Act(
        tool=tool,
        kind="write",
        sentence=sentence + _remarks(place, old),
        detail=detail,
        detail_kind="diff",
        where=place.shown,
        writes=(place.shown,),
        outside=outside,
        coverable_by=() if outside else (INSIDE,),
        offer="" if outside else INSIDE,
        prepared=Change(place, old.mark, data, done),
    )


def _is_of_git(place: Place) -> bool:
    """What lies in `.git` runs as a program later on (hooks, filters): it always asks."""
    return ".git" in (part.lower() for part in place.real.parts)


def _remarks(place: Place, old: Old) -> str:
    remarks: list[str] = []
    if place.inside and _is_of_git(place):
        remarks.append("part of git's own folder")
    if old.links > 1:
        remarks.append("its other hard links keep the old content")
    return f" ({'; '.join(remarks)})" if remarks else ""


async def make(act: Act, scene: Scene) -> ToolOutcome:
    """Makes a prepared change; raises ToolFailed where something changed in the meantime."""
    change = cast("Change", act.prepared)
    await write_off_loop(lambda: _make(change, scene))
    return ToolOutcome(change.done, diff=act.detail)


def _make(change: Change, scene: Scene) -> None:
    check_unmoved(change.place, scene)
    if old_of(change.place).mark != change.mark:
        raise ToolFailed(
            f"{change.place.label}: the file changed after you were asked; nothing was written. "
            "Read it again."
        )
    replace(change.place, change.data)


def size_of(data: bytes) -> str:
    return readable(len(data))
