"""The plugins that there are: those that came with the program, and those that were installed.

What was decided on each stands in the log, and only that counts: a folder that no note names is
nothing. Whoever is turned off or loses what it may is ended at once. Those that came with the
program are granted what they name.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from desktop.core.errors import PluginError
from desktop.core.panels import PluginPanel
from desktop.core.plugins import PluginNote, PluginNotes, PluginOffer, PluginView
from desktop.headless.plugging import Launches
from desktop.headless.plugin_entries import (
    Entry,
    Found,
    agreed,
    is_covered,
    offered,
    version_of,
    view_of,
)
from desktop.paths import DataFolder
from desktop.plugins import folders
from desktop.plugins.host import Plugin, Surroundings
from desktop.plugins.manifest import Manifest
from desktop.tools import threads
from desktop.tools.sandbox import Sandbox

_LOG = logging.getLogger(__name__)

T = TypeVar("T")

_GONE = "Its program is not there any more. Install it from its folder again, or uninstall it."


class Plugins:
    """A `core.plugins.PluginList`. `close` ends what runs. `around` is made at the first look."""

    def __init__(
        self,
        folder: DataFolder,
        *,
        resources: Path,
        notes: PluginNotes,
        sandbox: Sandbox,
        launches: Launches,
        host_version: str,
        around: Callable[[], Surroundings],
    ) -> None:
        self._shipped = resources / "plugins"
        self._programs = folder.installed_plugins
        self._data = folder.plugin_folders
        self._notes = notes
        self._sandbox = sandbox
        self._launches = launches
        self._host_version = host_version
        self._make_around = around
        self._around: Surroundings | None = None
        self._entries: dict[str, Entry] = {}
        self._offered: tuple[PluginOffer, Manifest] | None = None
        self._one_at_a_time = asyncio.Lock()
        self._stop = threads.Stop()
        self._hearers: dict[object, Callable[[], None]] = {}
        self._is_closed = False
        self.is_sandboxed: bool | None = None

    # What is seen

    def view(self) -> tuple[PluginView, ...]:
        views = [view_of(id_, entry) for id_, entry in self._entries.items()]
        return tuple(sorted(views, key=lambda one: (not one.is_shipped, one.name.casefold())))

    def panels(self) -> Sequence[PluginPanel]:
        """Of those that are on, in the order of the list."""
        entries = (self._entries[one.id] for one in self.view())
        return [entry.plugin for entry in entries if entry.plugin is not None]

    def on_change(self, changed: Callable[[], None]) -> Callable[[], None]:
        token = object()
        self._hearers[token] = changed

        def end() -> None:
            self._hearers.pop(token, None)

        return end

    # What is done

    async def look(self) -> None:
        async with self._one_at_a_time:
            await self._look()

    async def examine(self, folder: Path) -> PluginOffer | None:
        async with self._one_at_a_time:
            await self._look()
            self._stop = threads.Stop()
            try:
                return await self._examine(folder, self._stop)
            except threads.Stopping:
                return None

    def stop_examining(self) -> None:
        self._stop.set()

    async def discard(self, offer: PluginOffer) -> None:
        async with self._one_at_a_time:
            if self._offered is not None and self._offered[0] is offer:
                self._offered = None
                await _on_disk(partial(folders.remove, self._programs / folders.NEW))

    async def install(self, offer: PluginOffer) -> None:
        async with self._one_at_a_time:
            if self._offered is None or self._offered[0] is not offer:
                raise PluginError("Another folder was examined meanwhile.", way_out="Try again.")
            (_, manifest), self._offered = self._offered, None
            generation = self._generation(offer.id) + 1
            place = await _on_disk(partial(folders.take_in, self._programs, offer.id, generation))
            note = agreed(offer, manifest, generation)
            await self._notes.save(note)
            await self._put(note, await _on_disk(partial(self._read, note, place)))
            await _on_disk(partial(folders.sweep, self._programs, self._generations()))

    async def offer(self, id_: str) -> PluginOffer:
        entry = self._entry(id_)
        found = await _on_disk(partial(self._read, entry.note, entry.found.folder))
        if found.manifest is None:
            raise PluginError(found.why)
        entry.found = found
        return offered(found.manifest, found, entry.note, is_known=entry.is_agreed)

    async def turn_on(self, offer: PluginOffer) -> None:
        async with self._one_at_a_time:
            entry = self._entry(offer.id)
            manifest = entry.found.manifest
            if manifest is None or tuple(sorted(manifest.capabilities)) != offer.wants:
                raise PluginError("This plugin is another one by now.", way_out="Try again.")
            note = agreed(offer, manifest, entry.note.generation)
            await self._notes.save(note)
            await self._put(note, entry.found)

    async def turn_off(self, id_: str) -> None:
        async with self._one_at_a_time:
            entry = self._entry(id_)
            note = replace(entry.note, is_on=False)
            await self._put(note, entry.found)
            await self._notes.save(note)

    async def take_back(self, id_: str) -> None:
        plugin = self._entry(id_).plugin
        if plugin is not None:
            for capability in self._entry(id_).granted:
                plugin.revoke(capability)
        async with self._one_at_a_time:
            entry = self._entry(id_)
            note = replace(entry.note, is_on=False, granted=frozenset(), command=())
            await self._put(note, entry.found)
            await self._notes.save(note)

    async def reload(self, id_: str) -> None:
        plugin = self._entry(id_).plugin
        if plugin is not None:
            plugin.reload()

    async def uninstall(self, id_: str, *, with_data: bool) -> None:
        async with self._one_at_a_time:
            entry = self._entry(id_)
            if entry.is_shipped:
                raise PluginError(
                    "A plugin that came with Nacre can't be uninstalled.", way_out="Turn it off."
                )
            await self._end(entry)
            await self._notes.remove(id_)
            del self._entries[id_]
            self._tell()
            await _on_disk(partial(folders.remove, self._programs / id_))
            if with_data:
                await _on_disk(partial(folders.remove, self._data / id_))

    async def close(self) -> None:
        self._is_closed = True
        plugins = [one.plugin for one in self._entries.values() if one.plugin is not None]
        await asyncio.gather(*(plugin.close() for plugin in plugins))

    # How

    async def _look(self) -> None:
        if self._around is not None:
            return
        noted = {note.id: note for note in await self._notes.all()}
        found = await _on_disk(partial(self._read_all, noted))
        self.is_sandboxed = (await self._sandbox.state()).is_sandboxed
        self._around = self._make_around()
        for note, folder in found:
            self._entries[note.id] = entry = Entry(note, folder)
            self._begin(entry)
        self._tell()

    def _read_all(self, noted: Mapping[str, PluginNote]) -> list[tuple[PluginNote, Found]]:
        """On a thread; leftovers are swept on the way."""
        found: list[tuple[PluginNote, Found]] = []
        shipped = folders.shipped(self._shipped)
        for place in shipped:
            note = noted.get(place.name, PluginNote(place.name))
            note = replace(note, generation=0)
            found.append((note, self._read(note, place)))
        names = {place.name for place in shipped}
        installed = [one for one in noted.values() if one.generation and one.id not in names]
        folders.sweep(self._programs, {one.id: one.generation for one in installed})
        for note in installed:
            place = folders.placed(self._programs, note.id, note.generation)
            found.append((note, self._read(note, place)))
        return found

    def _read(self, note: PluginNote, place: Path) -> Found:
        """On a thread."""
        if not place.is_dir():  # the log came back with a backup, or the folder was taken away
            return Found(place, None, why=_GONE)
        try:
            manifest = folders.read_named(place, note.id, host_version=self._host_version)
        except PluginError as error:
            return Found(place, None, why=str(error))
        try:
            runs = self._launches.words(manifest, place)
        except FileNotFoundError:
            runs = manifest.command  # said where it is started, and the program may come
        return Found(place, manifest, runs)

    async def _examine(self, folder: Path, stop: threads.Stop) -> PluginOffer:
        self._offered = None
        copied = await _on_disk(
            partial(folders.put_aside, folder, self._programs, check=stop.check)
        )
        aside = self._programs / folders.NEW
        try:
            manifest = await _on_disk(
                partial(folders.read_manifest, aside, host_version=self._host_version)
            )
            before = self._entries.get(manifest.id)
            if before is not None and before.is_shipped:
                raise PluginError(f"A plugin of this id, {manifest.id}, came with Nacre.")
            place = folders.placed(self._programs, manifest.id, self._generation(manifest.id) + 1)
            runs = await _on_disk(partial(self._words, manifest, aside, place))
        except BaseException:
            await _on_disk(partial(folders.remove, aside))
            raise
        note = before.note if before is not None else PluginNote(manifest.id)
        known = before is not None and before.note.is_on and is_covered(note, manifest)
        offer = replace(
            offered(manifest, Found(place, manifest, runs), note, is_known=known),
            before=version_of(before),
            files=copied.files,
            size=copied.size,
        )
        self._offered = offer, manifest
        return offer

    def _words(self, manifest: Manifest, aside: Path, place: Path) -> tuple[str, ...]:
        """What will be started, once the folder is in its place."""
        try:
            first, *rest = self._launches.words(manifest, aside)
        except FileNotFoundError as error:
            words = f"This plugin can't be started here: {error.strerror}."
            raise PluginError(words, way_out="Install that program first.") from error
        if Path(first).is_relative_to(aside):
            first = str(place / Path(first).relative_to(aside))
        return (first, *rest)

    def _generation(self, id_: str) -> int:
        entry = self._entries.get(id_)
        return entry.note.generation if entry is not None else 0

    def _generations(self) -> dict[str, int]:
        return {
            id_: one.note.generation for id_, one in self._entries.items() if not one.is_shipped
        }

    def _entry(self, id_: str) -> Entry:
        entry = self._entries.get(id_)
        if entry is None:
            raise PluginError("This plugin is not there any more.")
        return entry

    async def _put(self, note: PluginNote, found: Found) -> None:
        """In the place of what was there of this id, which is ended first."""
        before = self._entries.get(note.id)
        self._entries[note.id] = entry = Entry(note, found)
        if before is not None:
            await self._end(before)
        self._begin(entry)
        self._tell()

    def _begin(self, entry: Entry) -> None:
        manifest = entry.found.manifest
        if manifest is None or not entry.note.is_on or not entry.is_agreed or self._is_closed:
            return
        assert self._around is not None
        entry.plugin = Plugin(
            manifest,
            self._around,
            launch=partial(self._launches.of, manifest, entry.found.folder),
            granted=entry.granted,
            moved=self._tell,
        )

    async def _end(self, entry: Entry) -> None:
        plugin, entry.plugin = entry.plugin, None
        if plugin is not None:
            self._tell()
            await plugin.close()

    def _tell(self) -> None:
        for hear in list(self._hearers.values()):
            try:
                hear()
            except Exception:  # what is taken back is taken back, whoever fails to show it
                _LOG.exception("a listener of the plugins failed")


async def _on_disk(work: Callable[[], T]) -> T:
    """On a thread, to its end: what changes the disk is not left half done by a closed page."""
    return await threads.write_off_loop(work)
