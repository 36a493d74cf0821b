"""A plugin as it is found and noted, and what is said of it. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from desktop.core.plugins import PluginNote, PluginOffer, PluginPhase, PluginView
from desktop.plugins.host import Plugin
from desktop.plugins.manifest import Manifest

_PHASES: Mapping[str, PluginPhase] = {
    "off": "resting",
    "starting": "running",
    "ready": "running",
    "waiting": "stopped",
    "failed": "stopped",
}


@dataclass(frozen=True, slots=True)
class Found:
    """A folder of a plugin, read. Without a manifest `why` says what is wrong with it."""

    folder: Path
    manifest: Manifest | None
    runs: tuple[str, ...] = ()
    why: str = ""


@dataclass(slots=True)
class Entry:
    note: PluginNote
    found: Found
    plugin: Plugin | None = None

    @property
    def is_shipped(self) -> bool:
        return self.note.generation == 0

    @property
    def wants(self) -> frozenset[str]:
        manifest = self.found.manifest
        return manifest.capabilities if manifest is not None else frozenset()

    @property
    def granted(self) -> frozenset[str]:
        return self.wants if self.is_shipped else self.note.granted

    @property
    def is_agreed(self) -> bool:
        """Whether the person agreed to what it is and wants now."""
        manifest = self.found.manifest
        return manifest is not None and (
            self.is_shipped or (is_covered(self.note, manifest) and bool(self.note.command))
        )


def is_covered(note: PluginNote, manifest: Manifest) -> bool:
    """Whether what the person agreed to is all that it wants, with the same command."""
    return note.granted >= manifest.capabilities and note.command == manifest.command


def agreed(offer: PluginOffer, manifest: Manifest, generation: int) -> PluginNote:
    return PluginNote(
        offer.id, generation, granted=frozenset(offer.wants), command=manifest.command
    )


def offered(manifest: Manifest, found: Found, note: PluginNote, *, is_known: bool) -> PluginOffer:
    return PluginOffer(
        id=manifest.id,
        name=manifest.name,
        version=manifest.version,
        wants=tuple(sorted(manifest.capabilities)),
        new=manifest.capabilities - note.granted,
        runs=found.runs,
        folder=str(found.folder),
        is_known=is_known,
    )


def version_of(entry: Entry | None) -> str:
    manifest = entry.found.manifest if entry is not None else None
    return manifest.version if manifest is not None else ""


def view_of(id_: str, entry: Entry) -> PluginView:
    found, manifest = entry.found, entry.found.manifest
    phase, why = _phase(entry)
    return PluginView(
        id=id_,
        name=manifest.name if manifest is not None else id_,
        version=manifest.version if manifest is not None else "",
        phase=phase,
        why=why,
        wants=tuple(sorted(entry.wants)),
        granted=entry.granted & entry.wants,
        runs=found.runs,
        folder=str(found.folder),
        is_shipped=entry.is_shipped,
    )


def _phase(entry: Entry) -> tuple[PluginPhase, str]:
    if entry.found.manifest is None:
        return "broken", entry.found.why
    if not entry.note.is_on:
        return "off", ""
    if entry.plugin is None:
        return ("resting" if entry.is_agreed else "asking"), ""
    return _PHASES[entry.plugin.state.phase], entry.plugin.reason
