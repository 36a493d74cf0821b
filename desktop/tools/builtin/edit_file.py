"""The tool `edit_file`: one text of a file for another, and not a byte besides (FIELD F-T03).

Line ends of the old text match any line ends of the file; the lines put in take the line end of
their surroundings, and what both texts share keeps the bytes it has.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from desktop.core.chunks import Json
from desktop.core.errors import ToolFailed
from desktop.core.permissions import Act
from desktop.core.tools import Scene, ToolOutcome, ToolSpec
from desktop.tools import arguments as given
from desktop.tools.builtin import changing
from desktop.tools.files import old_of
from desktop.tools.output import readable
from desktop.tools.places import Place, asked_path, find
from desktop.tools.texts import NEWLINE, FileText, check_whole, decode, with_newlines
from desktop.tools.threads import read_off_loop

_ANY_NEWLINE = r"(?>\r\n|\n|\r)"
_NAMED_LINES = 5

_SPEC = ToolSpec(
    name="edit_file",
    description=(
        "Replaces a text in a file. `old` must be there exactly once, blanks included, "
        "unless `all` is true."
    ),
    input_schema={
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "old": {"type": "string"},
            "new": {"type": "string"},
            "all": {"type": "boolean"},
        },
        "required": ["path", "old", "new"],
    },
)


class EditFile:
    @property
    def spec(self) -> ToolSpec:
        return _SPEC

    async def prepare(self, arguments: Json, scene: Scene) -> Act:
        asked = asked_path(arguments)
        edit = Edit(
            old=given.text(arguments, "old"),
            new=given.text(arguments, "new"),
            every=given.flag(arguments, "all"),
        )
        check_whole(edit.old, "old")
        check_whole(edit.new, "new")
        if not edit.old:
            raise ToolFailed("The argument old is empty; to write a new file use write_file.")
        if with_newlines(edit.old) == with_newlines(edit.new):
            raise ToolFailed("The arguments old and new are the same; nothing would change.")
        return await read_off_loop(lambda _: _prepared(asked, edit, scene))

    async def run(self, act: Act, scene: Scene, report: Callable[[str], None]) -> ToolOutcome:
        return await changing.make(act, scene)


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace `old` by `new`; `every` one of them, or the only one."""

    old: str
    new: str
    every: bool = False


def _prepared(asked: str, edit: Edit, scene: Scene) -> Act:
    place = find(asked, scene)
    old = old_of(place)
    if not old.mark:
        raise ToolFailed(f"{place.label} does not exist; to make it use write_file.")
    if old.data is None:
        raise ToolFailed(f"{place.label} has {readable(old.size)}; that is too large to edit.")
    text = decode(old.data)
    if text is None:
        raise ToolFailed(f"{place.label} is a binary file or damaged text; it can't be edited.")
    body, count = edited(text, edit, place)
    data = text.encode(body)
    if data == old.data:
        raise ToolFailed(f"{place.label} would not change by this; nothing was done.")
    times = "" if count == 1 else f" in {count} places"
    sentence = f"Edit {place.label}{times}"
    return changing.act_of(_SPEC.name, sentence, place, old, data, f"Edited {place.label}{times}.")


def edited(text: FileText, edit: Edit, place: Place) -> tuple[str, int]:
    """The body after the edit and how many places changed; raises ToolFailed that says why not."""
    body = text.body
    parts = NEWLINE.split(edit.old)
    matches = list(re.finditer(_ANY_NEWLINE.join(re.escape(part) for part in parts), body))
    if not matches:
        raise _not_found(body, edit.old, place)
    if len(matches) > 1 and not edit.every:
        lines = ", ".join(str(_line_of(body, match.start())) for match in matches[:_NAMED_LINES])
        more = " …" if len(matches) > _NAMED_LINES else ""
        raise ToolFailed(
            f"The old text is {len(matches)} times in {place.label} (lines {lines}{more}). "
            "Give more of its surroundings, or set all."
        )
    pieces: list[str] = []
    end = 0
    new = with_newlines(edit.new)
    for match in matches:
        pieces += (body[end : match.start()], _fitted(body, match, new))
        end = match.end()
    return "".join([*pieces, body[end:]]), len(matches)


def _fitted(body: str, match: re.Match[str], new: str) -> str:
    """The new text with line ends: those it shares with the old one, else the surroundings'."""
    old = with_newlines(match.group())
    ends: list[str] = NEWLINE.findall(match.group())
    before = _shared(old, new)
    after = _shared(old[before:][::-1], new[before:][::-1])
    start = ends[: old.count("\n", 0, before)]
    final = ends[len(ends) - old.count("\n", len(old) - after) :] if after else []
    middle = new.count("\n") - len(start) - len(final)
    style = _style(body, match, ends, len(start))
    return _joined(new.split("\n"), [*start, *[style] * middle, *final], body[: match.start()][-1:])


def _joined(lines: list[str], ends: list[str], before: str) -> str:
    """Lines with ends between them; `before` is the character in front.

    Where an empty line would let a CR and an LF meet, they would become one line end: the LF then
    follows the CR's example.
    """
    joined = lines[0]
    for end, line in zip(ends, lines[1:], strict=True):
        meets = (joined or before).endswith("\r") and end == "\n"
        joined += ("\r" if meets else end) + line
    return joined


def _shared(one: str, other: str) -> int:
    """How many characters at the start are the same."""
    most = min(len(one), len(other))
    for place in range(most):
        if one[place] != other[place]:
            return place
    return most


def _style(body: str, match: re.Match[str], ends: list[str], at: int) -> str:
    """The line end to put in: that of the place in the old text, of its line, of the one before."""
    if ends:
        return ends[min(at, len(ends) - 1)]
    following = NEWLINE.search(body, match.end())
    if following is not None:
        return following.group()
    before = NEWLINE.findall(body[: match.start()])
    return before[-1] if before else "\n"


def _line_of(body: str, at: int) -> int:
    return len(NEWLINE.findall(body, 0, at)) + 1


def _not_found(body: str, old: str, place: Place) -> ToolFailed:
    loose = r"\s++".join(re.escape(word) for word in old.split())
    near = re.search(loose, body) if loose else None
    if near is None:
        return ToolFailed(f"The old text is not in {place.label}; read the file again.")
    return ToolFailed(
        f"The old text is not in {place.label}, but line {_line_of(body, near.start())} differs "
        "from it in blanks only; give them exactly."
    )
