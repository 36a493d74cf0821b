"""What the rows of a conversation say together: retracted, compacted, dangling, unanswered.

All functions take rows in seq order and are functions of the rows alone, so that a live agent, a
reload and another process come to the same conclusion (DESIGN.md §5).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from desktop.core.chunks import LogChunk, System, Text, ToolCall, ToolResult


@dataclass(frozen=True, slots=True)
class LoadedSession:
    """A conversation as an agent takes it up: `chunks` without the dangling user texts.

    `dangling` are the trailing user texts that nobody answered. They are never sent by themselves.
    `damaged` counts rows that could not be read and were left out.
    """

    chunks: tuple[LogChunk, ...] = ()
    dangling: tuple[LogChunk, ...] = ()
    damaged: int = 0

    @property
    def dangling_user(self) -> str | None:
        """The unanswered texts joined by a blank line, to be offered in the composer."""
        if not self.dangling:
            return None
        return "\n\n".join(one.data.text for one in self.dangling if isinstance(one.data, Text))


def retracted_ids(chunks: Iterable[LogChunk]) -> frozenset[str]:
    """Ids of rows that a later `retracted` row took back."""
    found: set[str] = set()
    for chunk in chunks:
        if isinstance(chunk.data, System) and chunk.data.kind == "retracted":
            found.update(str(one) for one in chunk.data.fields.get("chunkIds", ()))
    return frozenset(found)


def split_dangling(chunks: Sequence[LogChunk]) -> LoadedSession:
    """Takes the unanswered user texts off the end (SPEC S03).

    Only an assistant or tool row answers; system and error rows that stand after the text (a
    turn's end, a notice) stay in the conversation.
    """
    gone = retracted_ids(chunks)
    dangling: list[LogChunk] = []
    for chunk in reversed(chunks):
        if chunk.role in ("assistant", "tool") and chunk.type != "error" and chunk.id not in gone:
            break
        if chunk.role == "user" and chunk.id not in gone:
            dangling.append(chunk)
    dangling.reverse()
    ids = {chunk.id for chunk in dangling}
    kept = tuple(chunk for chunk in chunks if chunk.id not in ids)
    return LoadedSession(chunks=kept, dangling=tuple(dangling))


def unanswered_calls(chunks: Iterable[LogChunk]) -> tuple[LogChunk, ...]:
    """The tool calls that have no result, in log order (SPEC C09)."""
    calls: dict[str, LogChunk] = {}
    for chunk in chunks:
        if isinstance(chunk.data, ToolCall):
            calls[chunk.data.call_id] = chunk
        elif isinstance(chunk.data, ToolResult):
            calls.pop(chunk.data.call_id, None)
    return tuple(calls.values())


def prompt_of(chunks: Iterable[LogChunk]) -> System | None:
    """The `prompt` row: system prompt and tool set, fixed for the conversation."""
    for chunk in chunks:
        if isinstance(chunk.data, System) and chunk.data.kind == "prompt":
            return chunk.data
    return None
