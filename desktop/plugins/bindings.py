"""Which start of each plugin is the living one, and what it may: the Access of the feed's door.

Each start is another generation with another name for the feed, so that nothing that was signed
for one start is good for the next.
"""

from dataclasses import dataclass, replace

from desktop.feed.cursors import Reader
from desktop.feed.source import Grant
from desktop.plugins.manifest import READ_MESSAGES

CORE = Reader()


@dataclass(frozen=True, slots=True)
class _Bound:
    generation: int
    is_alive: bool
    granted: frozenset[str]


class Bindings:
    """One for a program; `access` is what its Door asks."""

    def __init__(self) -> None:
        self._bound: dict[str, _Bound] = {}

    def begin(self, plugin_id: str, granted: frozenset[str]) -> Reader:
        """The reader of a new start; the one before it may nothing any more."""
        name = f"plugin:{plugin_id}"
        before = self._bound.get(name)
        generation = before.generation + 1 if before is not None else 1
        self._bound[name] = _Bound(generation, True, granted)
        return Reader(name, generation)

    def end(self, reader: Reader) -> None:
        bound = self._bound.get(reader.name)
        if bound is not None and bound.generation == reader.generation:
            self._bound[reader.name] = replace(bound, is_alive=False)

    def revoke(self, reader: Reader, capability: str) -> None:
        """From now on it may not, whatever it has begun."""
        bound = self._bound[reader.name]
        self._bound[reader.name] = replace(bound, granted=bound.granted - {capability})

    def may(self, reader: Reader, capability: str) -> bool:
        bound = self._bound.get(reader.name)
        return (
            bound is not None
            and bound.is_alive
            and bound.generation == reader.generation
            and capability in bound.granted
        )

    def access(self, reader: Reader, session_id: str) -> Grant:
        """Whether a reader may read a conversation now; the program itself always may."""
        if reader == CORE or self.may(reader, READ_MESSAGES):
            return "granted"
        return "unauthenticated"
