"""The plugins of one opened data folder: which there are, what answers them, how they start.

Made when somebody wants to see them and not before. Those that are shipped with the program are
granted what their manifest names. In its sandbox a plugin has no network, no secrets and nothing
of Nacre's data but a folder of its own.
"""

import asyncio
import os
import secrets
import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from desktop.core.errors import NacreError
from desktop.core.protocols import Catalogue
from desktop.core.records import Tab
from desktop.core.sources import SourceReader
from desktop.diagnostics import program_version
from desktop.feed.cursors import Cursors
from desktop.feed.hub import Hub
from desktop.feed.source import Door
from desktop.feed.subscriptions import Subscriptions
from desktop.feed.timing import Later, Start
from desktop.paths import DataFolder
from desktop.plugins.bindings import Bindings
from desktop.plugins.host import Plugin, Surroundings
from desktop.plugins.manifest import FILE, MOST_BYTES, PYTHON, Manifest, manifest_of
from desktop.plugins.methods import Doors
from desktop.tools import threads
from desktop.tools.launching import Launch
from desktop.tools.limits import limited
from desktop.tools.sandbox import Sandbox

_KEPT = ("PATH", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ")
SECRET_BYTES = 32


@dataclass(frozen=True, slots=True)
class Shipped:
    """The folders of plugins below `folder`, each with its manifest."""

    folder: Path

    def read(self) -> list[Manifest]:
        """Blocks. Raises BadManifest: what is shipped is whole or the installation is not."""
        return [_manifest(path.parent) for path in sorted(self.folder.glob(f"*/{FILE}"))]


class Launches:
    """How plugins are started. For threads that may wait."""

    def __init__(
        self, shipped: Shipped, folder: DataFolder, sandbox: Sandbox, environment: Mapping[str, str]
    ) -> None:
        self._shipped = shipped
        self._folder = folder
        self._sandbox = sandbox
        self._environment = environment

    def of(self, manifest: Manifest) -> Launch:
        """Raises OSError where it can't be started."""
        place = self._shipped.folder / manifest.id
        own = self._folder.plugin_folders / manifest.id
        own.mkdir(mode=0o700, parents=True, exist_ok=True)
        kept = {name: self._environment[name] for name in _KEPT if name in self._environment}
        environment = {**kept, "HOME": str(own), "NACRE_PLUGIN_DATA": str(own)}
        argv = limited(_command(manifest, environment), memory=0)
        if not self._sandbox.state_now().is_sandboxed:
            return Launch(argv, environment, place)
        return self._sandbox.around_server(
            argv, folder=place, writable=(own,), environment=environment, network=False
        )


class Plugins:
    """`read` gives the panels, `close` ends what runs."""

    def __init__(
        self,
        folder: DataFolder,
        *,
        resources: Path,
        sandbox: Sandbox,
        sources: SourceReader,
        catalogue: Catalogue,
        hub: Hub,
        start: Start,
        later: Later,
    ) -> None:
        self._shipped = Shipped(resources / "plugins")
        self._plugins: list[Plugin] = []
        bindings, epoch = Bindings(), secrets.token_hex(8)
        cursors = Cursors(secrets.token_bytes(SECRET_BYTES), epoch=epoch, now=time.time)
        door = Door(sources, bindings.access, cursors, epoch)
        subscriptions = Subscriptions(hub, door, start=start, later=later, clock=time.monotonic)

        async def sessions() -> Sequence[Tab]:
            return (await catalogue.view()).tabs

        self._around = Surroundings(
            doors=Doors(door, subscriptions, bindings, sessions),
            launch=Launches(self._shipped, folder, sandbox, os.environ).of,
            errors=lambda name: folder.logs / f"plugin-{name}.log",
            host_version=program_version(),
            start=start,
            later=later,
            clock=time.monotonic,
        )

    async def read(self) -> list[Plugin]:
        """Those that there are. Raises NacreError."""
        for manifest in await threads.start(self._shipped.read, "plugins-read"):
            self._plugins.append(Plugin(manifest, self._around, granted=manifest.capabilities))
        return self._plugins

    async def close(self) -> None:
        await asyncio.gather(*(plugin.close() for plugin in self._plugins))


def _manifest(folder: Path) -> Manifest:
    try:
        with (folder / FILE).open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise NacreError(f"The plugin in {folder} can't be read.", detail=str(error)) from error
    return manifest_of(data, folder=folder.name, host_version=program_version())


def _command(manifest: Manifest, environment: Mapping[str, str]) -> tuple[str, ...]:
    first, *rest = manifest.command
    program = (
        sys.executable if first == PYTHON else shutil.which(first, path=environment.get("PATH"))
    )
    if not program:
        raise FileNotFoundError(2, f"its command “{first}” was not found")
    return (program, *rest)
