"""The life of one plugin: started when it is first shown, watched, ended, brought back.

A plugin that dies, hangs, floods or prints garbage is ended with everything that it started and
named with what it did; then it is tried again after a growing pause, a few times. Each start is
another generation. The program goes on either way. All on the loop's thread.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from desktop.core.errors import PluginError
from desktop.core.panels import PanelChoice, PanelRow, PanelState, Place
from desktop.feed.cursors import Reader
from desktop.feed.faults import NotFound, Unauthenticated
from desktop.feed.timing import Cancellable, Later, Start
from desktop.plugins.limits import (
    ANSWER_SECONDS,
    LINE_BYTES,
    MOST_OUTSTANDING,
    MOST_SUBSCRIPTIONS,
    PING_SECONDS,
)
from desktop.plugins.manifest import PROTOCOL, Manifest
from desktop.plugins.methods import Doors, Methods
from desktop.plugins.panel import Panel
from desktop.plugins.peer import NoAnswer, Peer
from desktop.plugins.process import CantStart, Process
from desktop.tools.launching import Launch

_LOG = logging.getLogger(__name__)

PAUSES = (1.0, 4.0, 15.0, 60.0)
STEADY_SECONDS = 60.0  # a start that lasted so long begins the count of failures anew


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What all plugins of a program share."""

    doors: Doors
    errors: Callable[[str], Path]
    host_version: str
    start: Start
    later: Later
    clock: Callable[[], float]
    patience: float = ANSWER_SECONDS


class Plugin:
    """A `core.panels.PluginPanel`. `close` ends it for good. `launch` is called on a thread;
    `moved` on the loop, whenever `state` is another."""

    def __init__(
        self,
        manifest: Manifest,
        around: Surroundings,
        *,
        launch: Callable[[], Launch],
        granted: frozenset[str],
        moved: Callable[[], None] = lambda: None,
    ) -> None:
        self._manifest = manifest
        self._around = around
        self._launch = launch
        self._moved = moved
        self._granted = granted & manifest.capabilities
        self._panel = Panel(self._changed)
        self._listener: Callable[[], None] | None = None
        self._session_id: str | None = None
        self._run: _Run | None = None
        self._failures = 0
        self._timer: Cancellable | None = None
        self._ending: set[asyncio.Future[None]] = set()
        self._is_closed = False
        self.state = PanelState()
        self.reason = ""  # why it was ended last, after "because"; "" while it runs

    # What the window sees

    @property
    def id(self) -> str:
        return self._manifest.id

    @property
    def name(self) -> str:
        return self._manifest.name

    @property
    def choices(self) -> Sequence[PanelChoice]:
        return self._panel.choices

    @property
    def chosen(self) -> str:
        return self._panel.chosen

    def rows(self) -> Sequence[PanelRow]:
        return self._panel.rows()

    def listen(self, listener: Callable[[], None] | None) -> None:
        self._listener = listener

    def show(self, session_id: str | None) -> None:
        self._session_id = session_id
        self._panel.next_view()
        if self._ready is not None:
            self._show_on(self._ready)
        elif self.state.phase == "off" and session_id is not None:
            self._begin()

    def choose(self, id_: str) -> None:
        if self._panel.choose(id_):
            self.show(self._session_id)

    def open(self, row: PanelRow) -> None:
        run = self._ready
        if run is None:
            return
        if row.place is not None:
            self._around.start(run.go(row.place), "go to a place that a plugin names")
        else:
            run.opened(row.id, self._panel.view)

    def retry(self) -> None:
        if self.state.phase in ("waiting", "failed"):
            self._failures = 0
            self._begin()

    def revoke(self, capability: str) -> None:
        """At once, for what it has begun as well."""
        self._granted -= {capability}
        if self._run is not None:
            self._run.revoke(capability)

    def reload(self) -> None:
        """Ends it; another start begins at once where it is seen, else when it is next."""
        self._stop_timer()
        if self._run is not None:
            self._end(self._run)
        self._failures = 0
        self.reason = ""
        self._panel.next_view()
        self._now(PanelState())
        if self._session_id is not None:
            self._begin()

    async def close(self) -> None:
        self._is_closed = True
        self._stop_timer()
        if self._run is not None:
            self._end(self._run)
        while self._ending:
            await asyncio.wait(self._ending)

    # Its starts

    def _begin(self) -> None:
        self._stop_timer()
        if self._is_closed:
            return
        self.reason = ""
        self._now(PanelState("starting"))
        run = self._run = _Run(
            self._manifest, self._around, self._granted, self._panel, launch=self._launch
        )
        run.over = lambda why: self._lost(run, why)
        self._around.start(self._stand(run), f"plugin {self._manifest.id}")

    @property
    def _ready(self) -> "_Run | None":
        return self._run if self.state.phase == "ready" else None

    def _show_on(self, run: "_Run") -> None:
        run.show(self._session_id, self._panel.view, self._panel.chosen)

    async def _stand(self, run: "_Run") -> None:
        while self._ending:  # two starts of one plugin never share its folder
            await asyncio.wait(self._ending)
        if self._run is not run:
            return
        try:
            await run.begin()
        except (CantStart, NoAnswer) as error:
            self._lost(run, str(error))
            return
        if self._run is run:
            self._now(PanelState("ready"))
            self._show_on(run)

    def _lost(self, run: "_Run", why: str) -> None:
        if self._run is not run:
            return
        self._end(run)
        _LOG.warning("a plugin was ended")
        is_steady = self._around.clock() - run.began > STEADY_SECONDS
        self._failures = 1 if is_steady else self._failures + 1
        self._panel.next_view()
        self.reason = why
        sentence = f"The plugin “{self.name}” was ended: {why}."
        if self._failures > len(PAUSES):
            self._now(PanelState("failed", sentence))
            return
        self._timer = self._around.later(PAUSES[self._failures - 1], self._begin)
        self._now(PanelState("waiting", sentence))

    def _end(self, run: "_Run") -> None:
        self._run = None
        ending = asyncio.ensure_future(run.end())
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _now(self, state: PanelState) -> None:
        self.state = state
        self._changed()
        self._moved()

    def _changed(self) -> None:
        if self._listener is not None:
            self._listener()


class _Run:
    """One generation: a process, the messages to and from it, and what it may."""

    def __init__(
        self,
        manifest: Manifest,
        around: Surroundings,
        granted: frozenset[str],
        panel: Panel,
        *,
        launch: Callable[[], Launch],
    ) -> None:
        self._manifest = manifest
        self._around = around
        self._launch = launch
        self._granted = granted
        self._bindings = around.doors.bindings
        self._reader: Reader = self._bindings.begin(manifest.id, granted)
        self._process = Process(
            errors=around.errors(manifest.id), hear=self._hear, over=self._is_lost
        )
        self._methods = Methods(around.doors, self._reader, panel=panel, tell=self._tell)
        self._peer = Peer(
            send=self._process.send,
            answer=self._methods,
            start=around.start,
            patience=around.patience,
        )
        self._ping: Cancellable | None = None
        self._is_over = False
        self.over: Callable[[str], None] = lambda why: None
        self.began = around.clock()

    async def begin(self) -> None:
        """Raises CantStart and NoAnswer; `end` is due either way."""
        await self._process.start(self._launch)
        answer = await self._peer.ask("host.initialize", self._greeting())
        spoken = answer.get("protocolVersion") if isinstance(answer, dict) else None
        if spoken != PROTOCOL:
            raise NoAnswer(f"it does not speak version {PROTOCOL} of the protocol")
        self._ping_later()

    def show(self, session_id: str | None, view: int, choice: str) -> None:
        self._ask("panel.show", {"sessionId": session_id, "view": view, "choice": choice})

    async def go(self, place: Place) -> None:
        """Raises NacreError with words for the person."""
        try:
            await self._methods.go(place)
        except NotFound as error:
            words = "The conversation that this row leads to is not there any more."
            raise PluginError(words) from error

    def opened(self, row_id: str, view: int) -> None:
        """It is told, and may lead somewhere for a moment."""
        self._methods.give_leave()
        self._tell("panel.opened", {"view": view, "id": row_id})

    def revoke(self, capability: str) -> None:
        self._bindings.revoke(self._reader, capability)
        self._methods.close(Unauthenticated())

    async def end(self) -> None:
        self._is_over = True
        self._bindings.end(self._reader)
        if self._ping is not None:
            self._ping.cancel()
        self._methods.close()
        self._peer.close()
        await self._process.end()

    def _greeting(self) -> Mapping[str, Any]:
        return {
            "protocolVersion": PROTOCOL,
            "hostVersion": self._around.host_version,
            "plugin": {"id": self._manifest.id, "generation": self._reader.generation},
            "capabilities": sorted(self._granted),
            "limits": {
                "lineBytes": LINE_BYTES,
                "outstanding": MOST_OUTSTANDING,
                "subscriptions": MOST_SUBSCRIPTIONS,
            },
        }

    def _ping_later(self) -> None:
        self._ping = None
        if not self._is_over:
            self._ping = self._around.later(
                PING_SECONDS, lambda: self._ask("host.ping", {}, then=self._ping_later)
            )

    def _ask(
        self, method: str, params: Mapping[str, Any], *, then: Callable[[], None] | None = None
    ) -> None:
        """Whoever does not answer is lost."""
        self._around.start(self._asking(method, params, then), f"{method} of a plugin")

    async def _asking(
        self, method: str, params: Mapping[str, Any], then: Callable[[], None] | None
    ) -> None:
        try:
            await self._peer.ask(method, params)
        except NoAnswer as error:
            self._is_lost(str(error))
            return
        if then is not None:
            then()

    def _hear(self, message: object) -> None:
        self._peer.hear(message)

    def _tell(self, method: str, params: Mapping[str, Any]) -> None:
        self._peer.tell(method, params)

    def _is_lost(self, why: str) -> None:
        if not self._is_over:
            self.over(why)
