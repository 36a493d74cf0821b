"""Signed words for a place in a list: whoever holds one can go on there, and nowhere else.

A cursor is bound to its reader, the conversation, the selection, the order and the size of pages,
and to this run of the program; it holds the values of the key and not a row, which may be gone
(SPEC R10, R11). It says where one was, not what the log was like then. Ten minutes long.
"""

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Callable
from dataclasses import dataclass

from desktop.core.sources import Order, Selection
from desktop.feed.faults import CursorExpired, InvalidQuery

LIFETIME_SECONDS = 600
SIGNATURE_BYTES = hashlib.sha256().digest_size
MOST_CHARACTERS = 1_000


@dataclass(frozen=True, slots=True)
class Reader:
    """Who asks. A plugin's `generation` is another one after each start; the program's is 0."""

    name: str = "core"
    generation: int = 0


@dataclass(frozen=True, slots=True)
class Listing:
    """Which list a cursor is a place of."""

    reader: Reader
    session_id: str
    kind: str
    selection: Selection
    order: Order
    size: int

    def as_bytes(self) -> bytes:
        return json.dumps(
            [
                [self.reader.name, self.reader.generation],
                self.session_id,
                self.kind,
                _sorted(self.selection.roles),
                _sorted(self.selection.types),
                self.order,
                self.size,
            ]
        ).encode()


class Cursors:
    """Makes cursors and opens them. `now` in seconds; `secret` is random and known to nobody."""

    def __init__(self, secret: bytes, *, epoch: str, now: Callable[[], float]) -> None:
        self._secret = secret
        self._epoch = epoch
        self._now = now

    def sign(self, listing: Listing, place: int) -> str:
        expiry = int(self._now()) + LIFETIME_SECONDS
        body = json.dumps([self._epoch, expiry, place]).encode()
        return base64.urlsafe_b64encode(self._signature(listing, body) + body).decode()

    def open(self, cursor: str, listing: Listing) -> int:
        """The place; raises InvalidQuery where it is of another list, or CursorExpired."""
        try:
            if len(cursor) > MOST_CHARACTERS:
                raise InvalidQuery("the cursor is too long")
            signed = base64.b64decode(cursor.encode("ascii"), altchars=b"-_", validate=True)
        except (UnicodeEncodeError, binascii.Error) as error:
            raise InvalidQuery("no cursor") from error
        signature, body = signed[:SIGNATURE_BYTES], signed[SIGNATURE_BYTES:]
        if not hmac.compare_digest(signature, self._signature(listing, body)):
            raise InvalidQuery("a cursor of another list")
        epoch, expiry, place = json.loads(body)
        if epoch != self._epoch or self._now() >= expiry:
            raise CursorExpired
        return place

    def _signature(self, listing: Listing, body: bytes) -> bytes:
        bound = listing.as_bytes()
        size = len(bound).to_bytes(8, "big")
        return hmac.digest(self._secret, size + bound + body, hashlib.sha256)


def _sorted(names: frozenset[str] | None) -> list[str] | None:
    return None if names is None else sorted(names)
