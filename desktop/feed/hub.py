"""Where agents tell what happened and readers hear it; one loop, no Qt.

A listener is a `Publisher` itself: it gets what was published, for one tab or for all. The hub
keeps the open blocks and the last status of the tabs, so that a reader who comes in mid-stream sees
all so far (SPEC C25). A listener that fails is logged and never keeps the others from hearing.
"""

import logging
from collections.abc import Callable, Mapping
from typing import Protocol, TypeVar

from desktop.core.protocols import Publisher, Unsubscribe
from desktop.core.records import CatalogueReceipt, Receipt
from desktop.core.reducer import BlockOp, Dropped, OpenBlocks, Sealed
from desktop.core.status import TabStatus

T = TypeVar("T")

_LOG = logging.getLogger(__name__)

CatalogueNews = CatalogueReceipt | int
"""What this process changed in the catalogue, or the revision that a look at it found."""


WHOLE_LOG = ""
"""Instead of a conversation: all rows of all; the revision is the newest one's number."""


class Looking(Protocol):
    """Who follows one conversation, or the whole log, by the looks at what others did."""

    @property
    def revision(self) -> int | None:
        """What is known of the conversation."""
        ...

    def found(self, revision: int, since: int | None) -> None:
        """A look found the log at this revision; `since` is what was known when it began."""
        ...


class Hub:
    """Implements `Publisher` and hands everything on, in the order it came, at once."""

    def __init__(self) -> None:
        self._everywhere: dict[object, Publisher] = {}
        self._by_tab: dict[str, dict[object, Publisher]] = {}
        self._catalogue: dict[object, Callable[[CatalogueNews], None]] = {}
        self._looking: dict[str, dict[object, Looking]] = {}
        self._open: dict[str, OpenBlocks] = {}
        self._status: dict[str, TabStatus] = {}

    def subscribe(self, listener: Publisher, *, tab_id: str | None = None) -> Unsubscribe:
        """Hears one tab, or (without `tab_id`) all. The returned call ends it; twice is harmless.

        For the state at this moment see `open_blocks` and `last_status`.
        """
        token = object()
        if tab_id is None:
            self._everywhere[token] = listener
            return lambda: self._drop_everywhere(token)
        self._by_tab.setdefault(tab_id, {})[token] = listener
        return lambda: self._drop(tab_id, token)

    def on_catalogue(self, listener: Callable[[CatalogueNews], None]) -> Unsubscribe:
        """Is told what changed of projects, workspaces and tabs, and the revision at each look."""
        token = object()
        self._catalogue[token] = listener
        return lambda: self._drop_catalogue(token)

    def on_revision(self, tab_id: str, listener: Looking) -> Unsubscribe:
        """Is told the revision of a conversation's log at each look at what others did."""
        token = object()
        self._looking.setdefault(tab_id, {})[token] = listener
        return lambda: self._drop_looking(tab_id, token)

    @property
    def followed(self) -> tuple[str, ...]:
        """The conversations whose revision somebody wants to be told."""
        return tuple(one for one in self._looking if one != WHOLE_LOG)

    def known(self) -> Mapping[object, int | None]:
        """What all who follow know at this moment: for `revision_found`, once it was looked."""
        return {
            token: one.revision
            for of_tab in self._looking.values()
            for token, one in of_tab.items()
        }

    def open_blocks(self, tab_id: str) -> OpenBlocks:
        """A copy of the blocks that stream in this tab now, all of their text so far."""
        blocks = self._open.get(tab_id)
        return blocks.copy() if blocks is not None else OpenBlocks()

    def last_status(self, tab_id: str) -> TabStatus | None:
        return self._status.get(tab_id)

    @property
    def statuses(self) -> tuple[TabStatus, ...]:
        """The last status of every conversation that told one, for who comes later."""
        return tuple(self._status.values())

    def receipt(self, receipt: Receipt) -> None:
        blocks = self._open.get(receipt.tab_id)
        if blocks is not None:
            for chunk in receipt.chunks:
                blocks.remove(chunk.id)
            self._forget_if_empty(receipt.tab_id)
        for listener in self._listeners(receipt.tab_id):
            _tell(lambda listener=listener: listener.receipt(receipt))

    def live(self, tab_id: str, op: BlockOp) -> None:
        if isinstance(op, Sealed):
            # Its receipt says it; a block must not leave the view before its row is there.
            return
        self._open.setdefault(tab_id, OpenBlocks()).apply(op)
        self._forget_if_empty(tab_id)
        for listener in self._listeners(tab_id):
            _tell(lambda listener=listener: listener.live(tab_id, op))

    def status(self, status: TabStatus) -> None:
        """Keeps it and hands it on. A tab that came to rest has no open block any more, but what
        was shown and could not be saved (FIELD F-S04)."""
        self._status[status.tab_id] = status
        if status.phase == "idle":
            for block in self.open_blocks(status.tab_id):
                if block.opened.id not in status.unsaved:
                    self.live(status.tab_id, Dropped(block.opened.id))
        for listener in self._listeners(status.tab_id):
            _tell(lambda listener=listener: listener.status(status))

    def catalogue_changed(self, news: CatalogueNews) -> None:
        for listener in tuple(self._catalogue.values()):
            _tell(lambda listener=listener: listener(news))

    def revision_found(
        self, tab_id: str, revision: int, known: Mapping[object, int | None] | None = None
    ) -> None:
        """`known` as it was before the look."""
        for token, one in tuple(self._looking.get(tab_id, {}).items()):
            since = known.get(token) if known else None
            _tell(lambda one=one, since=since: one.found(revision, since))

    def _listeners(self, tab_id: str) -> tuple[Publisher, ...]:
        return (*self._by_tab.get(tab_id, {}).values(), *self._everywhere.values())

    def _forget_if_empty(self, tab_id: str) -> None:
        if not self._open[tab_id]:
            del self._open[tab_id]

    def _drop_everywhere(self, token: object) -> None:
        self._everywhere.pop(token, None)

    def _drop_catalogue(self, token: object) -> None:
        self._catalogue.pop(token, None)

    def _drop(self, tab_id: str, token: object) -> None:
        _drop_from(self._by_tab, tab_id, token)

    def _drop_looking(self, tab_id: str, token: object) -> None:
        _drop_from(self._looking, tab_id, token)


def _drop_from(listeners: dict[str, dict[object, T]], tab_id: str, token: object) -> None:
    of_tab = listeners.get(tab_id, {})
    of_tab.pop(token, None)
    if not of_tab:
        listeners.pop(tab_id, None)


def _tell(call: Callable[[], None]) -> None:
    try:
        call()
    except Exception:  # one reader's fault must not stop the agent or the other readers
        _LOG.exception("a listener of the feed failed")
