"""The panel of a plugin: rows that the program draws, and who shows them. Pure.

A plugin never draws: it says what a row holds, and the window gives it its look.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

Mark = Literal["", "running", "stopped", "failed"]
Phase = Literal["off", "starting", "ready", "waiting", "failed"]


@dataclass(frozen=True, slots=True)
class Place:
    """A row of a conversation."""

    session_id: str
    seq: int


@dataclass(frozen=True, slots=True)
class PanelRow:
    """Rows stand by descending `sort`, then by `id`. `time` in ms UTC; 0 and None: not told."""

    id: str
    sort: int
    title: str
    subtitle: str = ""
    time: int = 0
    duration_ms: int | None = None
    mark: Mark = ""
    place: Place | None = None

    def holds(self, text: str) -> bool:
        """Whether a filter finds it; `text` is case-folded."""
        return text in self.title.casefold() or text in self.subtitle.casefold()


@dataclass(frozen=True, slots=True)
class PanelChoice:
    """One of a few ways to fill the panel, between which the person switches."""

    id: str
    title: str


@dataclass(frozen=True, slots=True)
class PanelState:
    """How the plugin is doing; `why` is a sentence where something stands in the way."""

    phase: Phase = "off"
    why: str = ""


class PluginPanel(Protocol):
    """One plugin's panel. Nothing of it runs before its first `show`."""

    @property
    def id(self) -> str: ...

    @property
    def name(self) -> str: ...

    @property
    def state(self) -> PanelState: ...

    def rows(self) -> Sequence[PanelRow]:
        """In their order."""
        ...

    def listen(self, listener: Callable[[], None] | None) -> None:
        """Is called after each change of rows or state."""
        ...

    def show(self, session_id: str | None) -> None:
        """It is seen, with this conversation beside it; None where there is none."""
        ...

    @property
    def choices(self) -> Sequence[PanelChoice]:
        """The ways to fill it; none where there is only one."""
        ...

    @property
    def chosen(self) -> str:
        """The id of the one that is in force."""
        ...

    def choose(self, id_: str) -> None:
        """The person wants another of the choices."""
        ...

    def open(self, row: PanelRow) -> None:
        """The person wants what is behind a row: its place, or what the plugin does about it."""
        ...

    def retry(self) -> None:
        """Another try after it failed."""
        ...
