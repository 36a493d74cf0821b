"""What a plugin can call, by name. Every read asks twice whether it may: before and at its end.

The names, shapes and faults are written down in PROTOCOL.md.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from desktop.core.errors import InBin, UnknownConversation
from desktop.core.panels import Place
from desktop.core.records import Tab
from desktop.core.sources import Selection
from desktop.feed import kinds
from desktop.feed.cursors import Reader
from desktop.feed.faults import FeedError, NotFound, Unauthenticated
from desktop.feed.source import ConversationSource, Door, Query, Snapshot
from desktop.feed.subscriptions import Subscriptions
from desktop.plugins.bindings import Bindings
from desktop.plugins.delivery import Delivery, Tell
from desktop.plugins.faults import REFUSED, UNKNOWN_METHOD, CallFault, of_feed, wrong
from desktop.plugins.limits import LEAVE_SECONDS, MOST_SUBSCRIPTIONS
from desktop.plugins.listing import Asked, page_of
from desktop.plugins.manifest import PROTOCOL, READ_MESSAGES
from desktop.plugins.panel import Panel, place_of
from desktop.plugins.params import MOST_NUMBER, Params
from desktop.plugins.records import TYPES, seen

Json = Mapping[str, Any]
Method = Callable[[Params], Awaitable[Json]]

_WHAT = ("sessionId", "roles", "order", "size")
_PAGE = ("cursor", "expectedRevision")


@dataclass(frozen=True, slots=True)
class Doors:
    """What all plugins of a program are answered from."""

    door: Door
    subscriptions: Subscriptions
    bindings: Bindings
    sessions: Callable[[], Awaitable[Sequence[Tab]]]
    navigate: Callable[[Place], Awaitable[None]]
    clock: Callable[[], float]


class Methods:
    """Those of one start of a plugin, which reads as `reader`. `close` ends what it began."""

    def __init__(self, doors: Doors, reader: Reader, *, panel: Panel, tell: Tell) -> None:
        self._doors = doors
        self._reader = reader
        self._panel = panel
        self._tell = tell
        self._deliveries: dict[str, Delivery] = {}
        self._leave_until = 0.0
        self._methods: dict[str, Method] = {
            "session.list": self._list,
            "session.conversation.messages": self._messages,
            "session.conversation.turns": self._turns,
            "session.conversation.revision": self._revision,
            "session.conversation.subscribe": self._subscribe,
            "session.conversation.unsubscribe": self._unsubscribe,
            "panel.update": self._update,
            "host.navigate": self._navigate,
        }

    async def __call__(self, method: str, params: Json) -> Json:
        """Raises CallFault."""
        found = self._methods.get(method)
        if found is None:
            raise CallFault(UNKNOWN_METHOD, "unknown_method", "There is no such method.")
        try:
            return await found(Params(params))
        except FeedError as error:
            raise of_feed(error) from error

    def close(self, error: FeedError | None = None) -> None:
        """Ends the subscriptions, with a last word where there is an error."""
        deliveries, self._deliveries = self._deliveries, {}
        for one in deliveries.values():
            one.close() if error is None else one.end(error)

    def _check(self) -> None:
        if not self._doors.bindings.may(self._reader, READ_MESSAGES):
            raise Unauthenticated

    # Reading

    async def _list(self, params: Params) -> Json:
        params.only("beside", "size", "cursor")
        asked = Asked(params.word("beside", default=""), params.size(), params.cursor())
        self._check()
        tabs = await self._doors.sessions()
        self._check()
        return page_of(tabs, asked, reader=self._reader, cursors=self._doors.door.cursors)

    async def _messages(self, params: Params) -> Json:
        source = self._asked(params.only(*_WHAT, *_PAGE))
        cursor, expected = _place(params)
        return self._page(await source.page(cursor, expected=expected), kinds.MESSAGE)

    async def _turns(self, params: Params) -> Json:
        source = self._asked(params.only("sessionId", "order", "size", *_PAGE))
        cursor, expected = _place(params)
        return self._page(await source.turn_page(cursor, expected=expected), kinds.TURN)

    async def _revision(self, params: Params) -> Json:
        epoch, revision = await self._asked(params.only("sessionId")).revision()
        self._check()
        return {"epoch": epoch, "revision": str(revision)}

    def _page(self, snapshot: Snapshot, kind: str) -> Json:
        self._check()
        records = map(seen, snapshot.ranges[kind].records)
        return {
            "records": [one for one in records if one is not None],
            "epoch": snapshot.epoch,
            "revision": str(snapshot.revision),
            "cursor": snapshot.cursor,
            "hasMore": bool(snapshot.cursor),
        }

    def _asked(self, params: Params) -> ConversationSource:
        self._check()
        return ConversationSource(self._query(params), self._doors.door)

    def _source(self, session_id: str) -> ConversationSource:
        return ConversationSource(Query(session_id, reader=self._reader), self._doors.door)

    def _query(self, params: Params, *, with_turns: bool = False) -> Query:
        return Query(
            params.word("sessionId"),
            Selection(params.roles(), TYPES),
            params.order(),
            params.size(),
            with_turns,
            self._reader,
        )

    # Following

    async def _subscribe(self, params: Params) -> Json:
        params.only("protocolVersion", "subscription", "sessionId", "roles", "turns")
        version = params.number("protocolVersion", least=0, most=MOST_NUMBER)
        if version != PROTOCOL:
            words = f"Subscriptions are of protocol {PROTOCOL}."
            raise CallFault(REFUSED, "unsupported_version", words, supported=[PROTOCOL])
        self._check()
        name, query = (
            params.word("subscription"),
            self._query(params, with_turns=params.truth("turns")),
        )
        delivery = self._begin(name)
        # Subscribed first: what happens while the revision is read is not missed.
        self._doors.subscriptions.follow(delivery, query)
        try:
            epoch, revision = await ConversationSource(query, self._doors.door).revision()
            self._check()
        except BaseException:
            delivery.close()
            raise
        delivery.begin_at(revision)
        return {"epoch": epoch, "revision": str(revision)}

    def _begin(self, name: str) -> Delivery:
        if name in self._deliveries:
            raise wrong("subscription is the name of one that there is.")
        if len(self._deliveries) >= MOST_SUBSCRIPTIONS:
            words = f"No more than {MOST_SUBSCRIPTIONS} subscriptions at a time."
            raise CallFault(REFUSED, "too_many", words)
        delivery = self._deliveries[name] = Delivery(name, self._tell)
        delivery.when_over(lambda: self._forget(name, delivery))
        return delivery

    def _forget(self, name: str, delivery: Delivery) -> None:
        if self._deliveries.get(name) is delivery:
            del self._deliveries[name]

    async def _unsubscribe(self, params: Params) -> Json:
        name = params.only("subscription").word("subscription")
        delivery = self._deliveries.get(name)
        if delivery is None:
            raise wrong("There is no subscription of this name.")
        delivery.close()
        return {}

    # Showing

    def give_leave(self) -> None:
        """The person did something on the plugin's page: it may move what they look at, once."""
        self._leave_until = self._doors.clock() + LEAVE_SECONDS

    async def go(self, place: Place) -> None:
        """Where a conversation is there for this reader, brings the row into view. Raises a
        FeedError."""
        await self._source(place.session_id).revision()
        self._check()
        try:
            await self._doors.navigate(place)
        except (InBin, UnknownConversation) as error:
            raise NotFound from error

    async def _navigate(self, params: Params) -> Json:
        place = place_of(params.only("sessionId", "seq"))
        self._check()
        if self._doors.clock() >= self._leave_until:
            words = "The person has asked for nothing that would lead there."
            raise CallFault(REFUSED, "not_asked", words)
        self._leave_until = 0.0
        await self.go(place)
        return {}

    async def _update(self, params: Params) -> Json:
        return self._panel.update(params)


def _place(params: Params) -> tuple[str, int | None]:
    """Where a page begins; behind a first one it is said what that one stood at."""
    cursor, expected = params.cursor(), params.revision("expectedRevision")
    if cursor and expected is None:
        raise wrong("With a cursor, expectedRevision says what the records stand at.")
    return cursor, expected
