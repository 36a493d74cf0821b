"""How the plugins of one opened data folder are answered and started.

In the sandbox a plugin has no network, no secrets and nothing of Nacre's data but a folder of its
own; without one it has the person's rights, in an environment of its own.
"""

import os
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path

from desktop.core.catalogue import Catalogue
from desktop.core.panels import Place
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
from desktop.plugins.command import command_of, program_places
from desktop.plugins.host import Surroundings
from desktop.plugins.manifest import Manifest
from desktop.plugins.methods import Doors
from desktop.tools.launching import Launch
from desktop.tools.limits import limited
from desktop.tools.sandbox import Sandbox

_KEPT = ("PATH", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ")
SECRET_BYTES = 32

Navigate = Callable[[Place], Awaitable[None]]


class Launches:
    """How plugins are started. For threads that may wait."""

    def __init__(
        self, folder: DataFolder, sandbox: Sandbox, environment: Mapping[str, str]
    ) -> None:
        self._folder = folder
        self._sandbox = sandbox
        self._environment = environment

    def words(self, manifest: Manifest, place: Path) -> tuple[str, ...]:
        """Exactly what is started. Raises FileNotFoundError where it is not there."""
        return command_of(manifest, place, self._environment)

    def of(self, manifest: Manifest, place: Path) -> Launch:
        """The program in the folder `place`. Raises OSError where it can't be started."""
        own = self._folder.plugin_folders / manifest.id
        own.mkdir(mode=0o700, parents=True, exist_ok=True)
        kept = {name: self._environment[name] for name in _KEPT if name in self._environment}
        environment = {**kept, "HOME": str(own), "NACRE_PLUGIN_DATA": str(own)}
        argv = limited(self.words(manifest, place), memory=0)
        if not self._sandbox.state_now().is_sandboxed:
            return Launch(argv, environment, place)
        return self._sandbox.around_server(
            argv,
            folder=place,
            readable=(place, *program_places()),
            writable=(own,),
            environment=environment,
            network=False,
        )


def surroundings(
    folder: DataFolder,
    *,
    sources: SourceReader,
    catalogue: Catalogue,
    hub: Hub,
    navigate: Navigate,
    start: Start,
    later: Later,
) -> Surroundings:
    """What all plugins of this run share: a door with a secret of its own, and the clock."""
    bindings, epoch = Bindings(), secrets.token_hex(8)
    cursors = Cursors(secrets.token_bytes(SECRET_BYTES), epoch=epoch, now=time.time)
    door = Door(sources, bindings.access, cursors, epoch)
    subscriptions = Subscriptions(hub, door, start=start, later=later, clock=time.monotonic)

    async def sessions() -> Sequence[Tab]:
        return (await catalogue.view()).tabs

    return Surroundings(
        doors=Doors(door, subscriptions, bindings, sessions, navigate, time.monotonic),
        errors=lambda name: folder.logs / f"plugin-{name}.log",
        host_version=program_version(),
        start=start,
        later=later,
        clock=time.monotonic,
    )


def launches(folder: DataFolder, sandbox: Sandbox) -> Launches:
    """With this program's own environment, of which little is handed on."""
    return Launches(folder, sandbox, os.environ)
