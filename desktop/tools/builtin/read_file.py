"""The tool `read_file`: a text file's lines with their numbers, bounded in every direction; a
picture or PDF as it looks."""

import codecs
import io
import os
from collections.abc import Callable, Iterator
from typing import BinaryIO, cast

from desktop.core.chunks import Json
from desktop.core.errors import ToolFailed
from desktop.core.permissions import Act
from desktop.core.tools import Scene, ToolOutcome, ToolSpec
from desktop.tools import arguments as given
from desktop.tools.attachments.checking import LARGEST, is_shown
from desktop.tools.attachments.showing import shown
from desktop.tools.builtin.looking import Look, act_of
from desktop.tools.files import opened
from desktop.tools.output import readable
from desktop.tools.places import asked_path, check_unmoved, find
from desktop.tools.texts import PROBE, kind_of, whole_characters
from desktop.tools.threads import Stop, read_off_loop

_LINES = 2000
_LINE = 2000
_BLOCK = 1 << 18
_COUNTED = 32_000_000  # up to this size the rest of a file is read to say how long it is

_SPEC = ToolSpec(
    name="read_file",
    description="Reads a text file: numbered lines, at most 2000 from line `offset` on. "
    "A picture or PDF is shown.",
    input_schema={
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "From the workspace, or absolute"},
            "offset": {"type": "integer", "description": "First line, from 1"},
            "limit": {"type": "integer", "description": "Number of lines"},
        },
        "required": ["path"],
    },
)


class ReadFile:
    @property
    def spec(self) -> ToolSpec:
        return _SPEC

    async def prepare(self, arguments: Json, scene: Scene) -> Act:
        asked = asked_path(arguments)
        first = given.number(arguments, "offset", default=1, least=1, most=1 << 40)
        most = given.number(arguments, "limit", default=_LINES, least=1, most=_LINES)
        place = await read_off_loop(lambda _: find(asked, scene))
        return act_of(_SPEC.name, f"Read {place.label}", Look(place, first=first, most=most))

    async def run(self, act: Act, scene: Scene, report: Callable[[str], None]) -> ToolOutcome:
        look = cast("Look", act.prepared)
        return await read_off_loop(lambda stop: _read(look, scene, stop))


def _read(look: Look, scene: Scene, stop: Stop) -> ToolOutcome:
    check_unmoved(look.place, scene)
    label = look.place.label
    with opened(look.place) as file:
        size = os.fstat(file.fileno()).st_size
        start = file.read(PROBE)
        if is_shown(start):
            return shown(start + file.read(LARGEST), label)
        kind = kind_of(start)
        if kind is None:
            raise ToolFailed(f"{label} is a binary file of {readable(size)}, not text.")
        encoding, mark = kind
        file.seek(len(mark))
        lines = enumerate(_lines(file, encoding, stop), 1)
        return ToolOutcome(_window(lines, look, scene.result_bytes, counted=size <= _COUNTED))


def _window(
    lines: Iterator[tuple[int, tuple[str, int]]], look: Look, room: int, *, counted: bool
) -> str:
    shown: list[str] = []
    number = last = 0
    full = False
    for number, (line, length) in lines:
        if number < look.first:
            continue
        if not full:
            cut = f" [… line of {length:,} characters]" if length > len(line) else ""
            row = f"{number:>6}\t{whole_characters(line)}{cut}"
            room -= len(row.encode("utf-8")) + 1
            full = len(shown) == look.most or room < 0
            if not full:
                shown.append(row)
                last = number
        if full and not counted:
            break
    if not number:
        return "[The file is empty.]"
    if not shown:
        return f"[The file has {number:,} lines; there is no line {look.first:,}.]"
    if full:
        total = f" of {number:,}" if counted else ""
        shown.append(f"[Lines {look.first:,} to {last:,}{total}; go on with offset {last + 1}.]")
    return "\n".join(shown)


def _lines(file: BinaryIO, encoding: str, stop: Stop) -> Iterator[tuple[str, int]]:
    """Each line's first characters and its whole length, with constant memory."""
    decoder = io.IncrementalNewlineDecoder(
        codecs.getincrementaldecoder(encoding)("replace"), translate=True
    )
    start, length = "", 0
    at_end = False
    while not at_end:
        stop.check()
        block = file.read(_BLOCK)
        at_end = not block
        *whole, rest = str(decoder.decode(block, final=at_end)).split("\n")
        for piece in whole:
            yield (start + piece)[:_LINE], length + len(piece)
            start, length = "", 0
        start, length = (start + rest)[:_LINE], length + len(rest)
    if length:
        yield start, length
