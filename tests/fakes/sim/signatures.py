"""Thinking signatures: made for one model, one exact prefix and one text, and checked when they
come back (API S20, V32 to V37).

The prefix is everything before the block, thinking of earlier turns included, without cache
markers. The key is fixed, so a second server reads what the first one signed.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal

from tests.fakes.sim import prefix
from tests.fakes.sim.models import Model
from tests.fakes.sim.prefix import Position
from tests.fakes.sim.problems import Json, Refusal

Binding = Literal["enforce", "drop", "off"]

INVALID = "{path}: Invalid `signature` in `thinking` block"
BOUND = (
    "{path}: Invalid `signature` in `thinking` block. The block is bound to a different "
    "conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "
    '"drop_block".'
)
MODIFIED = (
    "{path}: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be "
    "modified. These blocks must remain as they were in the original response."
)
_KEY = b"the stand-in's own secret, known to everybody"
_FAMILY = {
    "claude-fable-5-2": ("fable-5-2", "mythos-5-2"),
    "claude-mythos-5-2": ("fable-5-2", "mythos-5-2"),
    "claude-fable-5-1": ("fable-5-1", "mythos-5-1", "fable-5-2", "mythos-5-2"),
    "claude-mythos-5-1": ("fable-5-1", "mythos-5-1", "fable-5-2", "mythos-5-2"),
    "claude-opus-5-5": ("opus-5-5", "fable-5-1", "mythos-5-1"),
    "claude-sonnet-5-5": ("sonnet-5-5",),
    "claude-haiku-5-5": ("haiku-5-5",),
}


@dataclass(frozen=True, slots=True)
class Claims:
    """What a signature says: who thought it, after what, and what it was (hashes in hex)."""

    model: str
    prefix: str
    text: str


@dataclass(frozen=True, slots=True)
class Dropped:
    """A thinking block the server ignored, and why: `model` or `prefix`."""

    path: str
    reason: str


class Signer:
    """Makes signatures and reads them; those that a script brings are remembered."""

    def __init__(self) -> None:
        self._literal: dict[str, Claims] = {}

    def sign(self, model: Model, before: Digest, text: str) -> str:
        """The signature of a thinking text, or the data of a redacted block."""
        body = prefix.compact(asdict(claims(model, before, text)))
        return base64.b64encode(body + b"." + _seal(body)).decode()

    def remember(self, signature: str, model: Model, before: Digest, text: str) -> None:
        """A signature that a script brought along becomes valid for this place."""
        self._literal[signature] = claims(model, before, text)

    def read(self, signature: str) -> Claims | None:
        """The claims of a signature, None when it is not one of ours (V33)."""
        if signature in self._literal:
            return self._literal[signature]
        try:
            body, _, seal = base64.b64decode(signature, validate=True).rpartition(b".")
        except (binascii.Error, ValueError):
            return None
        if not hmac.compare_digest(seal, _seal(body)):
            return None
        return Claims(**json.loads(body))


class Digest:
    """A running hash over the positions before a thinking block."""

    def __init__(self, places: Iterable[Position] = ()) -> None:
        self._hash = hashlib.sha256()
        for place in places:
            self.add(place.part, place.role, place.block)

    def add(self, part: str, role: str, block: Any) -> None:
        """One more position. Key order and null fields do not count, nor does a text with nothing
        in it, which can't be sent back (V13); thinking counts by its signature, since its text may
        be left out."""
        is_text = isinstance(block, dict) and block.get("type") == "text"
        if is_text and not str(block.get("text", "")).strip():
            return
        raw = prefix.compact([part, role, _bare(block)], ordered=False)
        self._hash.update(_sendable(raw) + b"\n")

    def hex(self) -> str:
        """The hash so far."""
        return self._hash.hexdigest()


def _sendable(raw: bytes) -> bytes:
    """With U+FFFD for half characters, as they come back."""
    text = raw.decode("utf-8", "surrogatepass")
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def claims(model: Model, before: Digest, text: str) -> Claims:
    """What a signature for this text at this place says."""
    return Claims(model.id, before.hex(), hashlib.sha256(text.encode()).hexdigest())


def check(
    places: list[Position], model: Model, signer: Signer, *, binding: Binding, drops: bool
) -> list[Dropped]:
    """Verify every thinking block of a request; gives the ones that are ignored.

    `binding` says what a changed prefix means; `drops` is the request's own wish to drop (V36).
    """
    if binding == "off":
        return []
    before = Digest()
    dropped: list[Dropped] = []
    latest = _latest_assistant(places)
    dropping = False
    for at, place in enumerate(places):
        kind = place.block.get("type") if isinstance(place.block, dict) else "text"
        if kind not in ("thinking", "redacted_thinking"):
            dropping = False
        elif dropping:
            dropped.append(Dropped(place.path, "prefix"))
        else:
            reason = _fault(
                place,
                before,
                model,
                signer,
                latest=at >= latest,
                strict=binding == "enforce" and not drops,
            )
            dropping = reason == "prefix"
            if reason is not None:
                dropped.append(Dropped(place.path, reason))
        before.add(place.part, place.role, place.block)
    return dropped


def _fault(
    place: Position, before: Digest, model: Model, signer: Signer, *, latest: bool, strict: bool
) -> str | None:
    """Refuse a block that is not what was sent; the reason when it is only ignored."""
    redacted = place.block["type"] == "redacted_thinking"
    found = signer.read(place.block["data" if redacted else "signature"])
    if found is None:
        raise Refusal(INVALID.format(path=place.path))
    if not _readable(found.model, model):
        return "model"
    text = "" if redacted else place.block["thinking"]
    if text and hashlib.sha256(text.encode()).hexdigest() != found.text:
        raise Refusal((MODIFIED if latest else INVALID).format(path=place.path))
    if not model.binds_prefix or found.prefix == before.hex():
        return None
    if strict:
        raise Refusal(BOUND.format(path=place.path))
    return "prefix"


def _readable(author: str, reader: Model) -> bool:
    """Newest models' thinking is readable by their family only, older thinking by all (V37)."""
    family = _FAMILY.get(author)
    return family is None or reader.id.removeprefix("claude-") in family


def _latest_assistant(places: list[Position]) -> int:
    """The first position of the latest assistant turn."""
    at = len(places)
    while at > 0 and places[at - 1].role != "assistant":
        at -= 1
    while at > 0 and places[at - 1].role == "assistant":
        at -= 1
    return at


def _bare(block: Any) -> Json | str:
    if not isinstance(block, dict):
        return str(block)
    kind = block.get("type")
    if kind == "thinking":
        return {"thinking": block["signature"]}
    if kind == "redacted_thinking":
        return {"redacted": block["data"]}
    bare = {key: value for key, value in prefix.unmarked(block).items() if value is not None}
    # Arguments that are no JSON can't be sent back: they count as none.
    return {**bare, "input": {}} if isinstance(bare.get("input"), str) else bare


def _seal(body: bytes) -> bytes:
    return hmac.new(_KEY, body, hashlib.sha256).hexdigest().encode()
