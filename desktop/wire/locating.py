"""Which picture of the log a provider means when it names a place in the request it refused.

The request is folded once more with a name in the place of each picture's bytes; what stands at
the path then says which row it came from.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from desktop.core.chunks import LogChunk, Stamp, Text, ToolResult
from desktop.core.model import RequestOptions
from desktop.core.rewrites import standing
from desktop.core.shown import Place, entries, placed
from desktop.wire.models import ModelTable
from desktop.wire.request import build

# `messages.3.content.1.image.source`, `messages[3].content[1]`, `messages.3.content.0.content.2`
_PATH = re.compile(r"messages[.\[]\d+[\w.\[\]]*")
_NUMBER = re.compile(r"\b\d+\b")


def places(
    words: str,
    rows: Sequence[LogChunk],
    options: RequestOptions,
    *,
    models: ModelTable,
    stamp: Stamp,
) -> tuple[Place, ...]:
    """The pictures at the paths that the words of a refusal name; none where they name none.

    A message or a result as a whole stands for all that it shows.
    """
    paths = [[int(number) for number in _NUMBER.findall(path)] for path in _PATH.findall(words)]
    if not paths:
        return ()
    named, names = _named(standing(rows))
    body = build(named, options, models=models, stamp=stamp, pictures={one: one for one in names})
    found: dict[Place, None] = {}
    for path in paths:
        for data in _shown(_at(body["messages"], path)):
            if data in names:
                found[names[data]] = None
    return tuple(found)


def _named(rows: Sequence[LogChunk]) -> tuple[list[LogChunk], Mapping[str, Place]]:
    """The rows with a hash of its own for each picture, and whose it is."""
    names = {f"{number:064x}": place for number, (place, _, _) in enumerate(placed(rows))}
    hashes = {place: name for name, place in names.items()}
    return [_renamed(row, hashes) for row in rows], names


def _renamed(row: LogChunk, hashes: Mapping[Place, str]) -> LogChunk:
    if not isinstance(row.data, Text | ToolResult):
        return row
    found = tuple(
        {**entry, "sha256": hashes[row.id, at]} if (row.id, at) in hashes else entry
        for at, entry in enumerate(entries(row.data))
    )
    if not found:
        return row
    if isinstance(row.data, Text):
        return replace(row, data=replace(row.data, attachments=found))
    return replace(row, data=replace(row.data, extra={**row.data.extra, "images": found}))


def _at(messages: list[Any], path: Sequence[int]) -> Any:
    """What a path of numbers leads to, as far as it leads."""
    here: Any = messages
    for number in path:
        steps = here.get("content") if isinstance(here, Mapping) else here
        if not isinstance(steps, list) or number >= len(steps):
            return here
        here = steps[number]
    return here


def _shown(block: Any) -> Iterator[str]:
    """The bytes of all pictures in a block or message."""
    if not isinstance(block, Mapping):
        return
    found = cast("Mapping[str, Any]", block)
    source = found.get("source")
    if isinstance(source, Mapping):
        yield str(cast("Mapping[str, Any]", source).get("data"))
    content = found.get("content")
    for one in cast("list[Any]", content) if isinstance(content, list) else []:
        yield from _shown(one)
