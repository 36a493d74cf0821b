"""Plugins as a person sees them and decides on them: what Settings talks to, by values. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

# `resting`: turned on, and started when its page is first seen; `stopped`: ended for what it did,
# and tried again by itself or when the person wants it; `asking`: it wants more than was allowed;
# `broken`: its folder can't be used.
PluginPhase = Literal["off", "resting", "running", "stopped", "asking", "broken"]


@dataclass(frozen=True, slots=True)
class PluginNote:
    """What was decided on a plugin, as the log keeps it.

    `generation` counts what was installed under this id, and is 0 for one that came with the
    program; `granted` and `command` are what the person agreed to.
    """

    id: str
    generation: int = 0
    is_on: bool = True
    granted: frozenset[str] = frozenset()
    command: tuple[str, ...] = ()


class PluginNotes(Protocol):
    """The notes of all plugins. Raise StoreError."""

    async def all(self) -> Sequence[PluginNote]: ...

    async def save(self, note: PluginNote) -> None:
        """In the place of what was noted of this id."""
        ...

    async def remove(self, id_: str) -> None: ...


@dataclass(frozen=True, slots=True)
class PluginView:
    """A plugin of the list. `runs` are the exact words that start it, `folder` where; `wants` are
    its capabilities, of which `granted` it has; `why` says why it was stopped, or is a sentence
    about a folder that is broken."""

    id: str
    name: str
    version: str
    phase: PluginPhase
    why: str = ""
    wants: tuple[str, ...] = ()
    granted: frozenset[str] = frozenset()
    runs: tuple[str, ...] = ()
    folder: str = ""
    is_shipped: bool = False

    @property
    def is_allowed(self) -> bool:
        """Whether it has all that it wants."""
        return self.granted >= set(self.wants)


@dataclass(frozen=True, slots=True)
class PluginOffer:
    """What installing, or turning on, would mean. `before` is the version that is there, `new` the
    capabilities that it has not yet; `files` and `size` (bytes) of what was copied."""

    id: str
    name: str
    version: str
    wants: tuple[str, ...]
    new: frozenset[str]
    runs: tuple[str, ...]
    folder: str
    before: str = ""
    files: int = 0
    size: int = 0
    is_known: bool = False
    """The person agreed to this command and these capabilities before: nothing is to be asked."""


class PluginList(Protocol):
    """The page of plugins talks to this. What changes something raises NacreError, and then all is
    as it was. No call waits for a disk on the caller's thread."""

    def view(self) -> tuple[PluginView, ...]:
        """As it is now, in the order to show it in."""
        ...

    @property
    def is_sandboxed(self) -> bool | None:
        """Whether plugins run in the sandbox; None while that is not known."""
        ...

    def on_change(self, changed: Callable[[], None]) -> Callable[[], None]:
        """Calls `changed` on the loop when the view is another; what is returned ends that."""
        ...

    async def look(self) -> None:
        """Reads what there is, if that was not done yet."""
        ...

    async def examine(self, folder: Path) -> PluginOffer | None:
        """Copies a folder aside and checks it. Nothing of it is installed or run. None where it was
        stopped."""
        ...

    def stop_examining(self) -> None:
        """What is being examined is let go of."""
        ...

    async def discard(self, offer: PluginOffer) -> None:
        """Takes away what `examine` put aside."""
        ...

    async def install(self, offer: PluginOffer) -> None:
        """The person agreed: what was examined, to the byte, is the plugin from now on."""
        ...

    async def offer(self, id_: str) -> PluginOffer:
        """What turning a plugin on would mean."""
        ...

    async def turn_on(self, offer: PluginOffer) -> None:
        """With all that the offer says."""
        ...

    async def turn_off(self, id_: str) -> None:
        """At once, with all that it follows. What it may is kept."""
        ...

    async def take_back(self, id_: str) -> None:
        """It may nothing any more, from this moment on, and is turned off."""
        ...

    async def reload(self, id_: str) -> None:
        """Ends it; it starts anew when it is next seen, at once where that is now."""
        ...

    async def uninstall(self, id_: str, *, with_data: bool) -> None:
        """Not for those that came with the program."""
        ...
