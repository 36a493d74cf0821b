"""Whether there is a newer version: asked of a feed that the person named, at most once a day.

Without an address nothing is ever asked. What is found is told and nothing more: nothing is
downloaded, installed or started again (SPEC U35, decisions/0051). What was found and when it was
asked is one row of the settings, which is no setting.
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import cast

from desktop.core.addresses import is_feed_address, is_page_address
from desktop.core.backups import DAY_MS
from desktop.core.errors import FeedError, StoreError
from desktop.core.loading import at_rest
from desktop.core.releases import (
    Release,
    ReleaseNews,
    Version,
)
from desktop.feed.timing import Start
from desktop.headless.rounds import Later, every
from desktop.wire.failures import RequestFailed

KEY = "note.releases"
# The window is up and settled by then.
SETTLE_SECONDS = 60.0
LOOK_SECONDS = 1_800.0
_LOOK = "look for a newer version"

FEED_TYPES = "application/atom+xml, application/xml;q=0.9, text/xml;q=0.8"
CHECK_FEED = "Check the network and the address of the feed."


@dataclass(frozen=True, slots=True)
class Around:
    """What the watch stands on. `own` is this program's version, `address` the feed's or '';
    `newest` asks it and raises FeedError; `read` and `save` know the rows of the settings."""

    own: str
    address: Callable[[], str]
    newest: Callable[[str], Awaitable[Release]]
    read: Callable[[], Awaitable[Mapping[str, str]]]
    save: Callable[[str, str], Awaitable[None]]
    now_ms: Callable[[], int]


@dataclass(frozen=True, slots=True)
class _Note:
    """`asked_at` counts tries, `answered_at` answers; `closed` is the version put away."""

    address: str = ""
    asked_at: int = 0
    answered_at: int | None = None
    found: Release | None = None
    closed: str = ""


class ReleaseWatch:
    """Implements `core.releases.Releases`. Made once the log is open; `watch` begins."""

    def __init__(self, around: Around) -> None:
        self._around = around
        self._note: _Note | None = None
        self._problem: FeedError | None = None
        self._is_asking = False
        self._has_settled = False
        self._listeners: list[Callable[[], None]] = []

    # -- the watch ----------------------------------------------------------------------------

    def watch(self, later: Later, start: Start) -> None:
        every(
            LOOK_SECONDS,
            self._look_once_settled,
            _LOOK,
            later=later,
            start=start,
            first=SETTLE_SECONDS,
        )

    async def _look_once_settled(self) -> None:
        self._has_settled = True
        await self.look()

    def address_changed(self, start: Start) -> None:
        """The person named another feed, or none any more."""
        self._problem = None
        self._changed()
        if self._has_settled:
            start(self.look(), _LOOK)

    async def look(self) -> None:
        """Asks if it is time to; what was found before is told in any case."""
        address = self._around.address()
        if not address:
            return
        note = await self._noted()
        self._changed()
        since = self._around.now_ms() - note.asked_at
        # A clock that went back is no reason to wait for ever.
        if note.address != address or not 0 <= since < DAY_MS:
            await self.ask()

    # -- for the window -----------------------------------------------------------------------

    def news(self) -> ReleaseNews:
        address, note = self._around.address(), self._note or _Note()
        if note.address != address:
            note = _Note()
        newer = (
            note.found if note.found and _is_after(note.found.version, self._around.own) else None
        )
        return ReleaseNews(
            self._around.own,
            address,
            asked_at=note.answered_at,
            newer=newer if address else None,
            is_closed=newer is not None and note.closed == newer.version,
            is_asking=self._is_asking,
            problem=str(self._problem or ""),
            detail=self._problem.detail if self._problem else "",
        )

    async def ask(self) -> None:
        address = self._around.address()
        if self._is_asking or not address:
            return
        self._is_asking = True
        self._problem = None
        self._changed()
        try:
            note = await self._noted()
            if note.address != address:
                note = _Note(address, closed=note.closed)
            # Kept before it is asked: a program that ends meanwhile has asked as well.
            await self._keep(replace(note, asked_at=self._around.now_ms()))
            found = await self._around.newest(address)
            await self._keep(
                replace(
                    self._note or note,
                    address=address,
                    answered_at=self._around.now_ms(),
                    found=found,
                )
            )
        except FeedError as error:
            self._problem = error
        finally:
            self._is_asking = False
            self._changed()

    async def close_notice(self) -> None:
        newer = self.news().newer
        if newer is not None:
            await self._keep(replace(await self._noted(), closed=newer.version))
            self._changed()

    def hear(self, listener: Callable[[], None]) -> Callable[[], None]:
        self._listeners.append(listener)

        def stop() -> None:
            with suppress(ValueError):
                self._listeners.remove(listener)

        return stop

    # -- the note -----------------------------------------------------------------------------

    async def _noted(self) -> _Note:
        if self._note is None:
            rows: Mapping[str, str] = {}
            with suppress(StoreError):
                rows = await self._around.read()
            self._note = self._note or _read(rows.get(KEY, ""))
        return self._note

    async def _keep(self, note: _Note) -> None:
        self._note = note
        with suppress(StoreError):  # it is asked once more, or told once more
            await self._around.save(KEY, _written(note))

    def _changed(self) -> None:
        for listener in tuple(self._listeners):
            listener()


def _is_after(version: str, own: str) -> bool:
    one, ours = Version.of(version), Version.of(own)
    return one is not None and ours is not None and one.is_after(ours)


def _written(note: _Note) -> str:
    return json.dumps(
        {
            "address": note.address,
            "askedAt": note.asked_at,
            "answeredAt": note.answered_at,
            "version": note.found.version if note.found else "",
            "link": note.found.link if note.found else "",
            "closed": note.closed,
        }
    )


def _read(text: str) -> _Note:
    """What can't be read was never there."""
    try:
        found = json.loads(text or "{}")
    except (ValueError, RecursionError):
        found = None
    row = cast("dict[str, object]", found) if isinstance(found, dict) else {}

    def words(name: str) -> str:
        value = row.get(name)
        return value if isinstance(value, str) else ""

    def moment(name: str) -> int | None:
        value = row.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    version, link = words("version"), words("link")
    release = Release(version, link) if Version.of(version) and is_page_address(link) else None
    return _Note(
        words("address"), moment("askedAt") or 0, moment("answeredAt"), release, words("closed")
    )


async def newest_of(address: str) -> Release:
    """What a feed names as the newest; on the transport's thread, where the library for it is
    loaded. Raises FeedError."""
    with at_rest():
        from desktop.wire import release_feed
        from desktop.wire.download import NotGiven, download

    # What is asked over https leads nowhere else, nor into this computer by http.
    may_ask = is_page_address if address.startswith("https:") else is_feed_address
    try:
        there, feed = await download(address, accept=FEED_TYPES, may_ask=may_ask)
        return release_feed.newest(feed, address=there)
    except (NotGiven, release_feed.NoReleases) as error:
        raise FeedError(
            f"The feed can't be used: {error}.", way_out="Check its address."
        ) from error
    except RequestFailed as error:
        found = error.failure
        raise FeedError(found.sentence, way_out=CHECK_FEED, detail=found.detail) from error
