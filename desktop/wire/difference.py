"""Where a request leaves the one that was sent before it, block by block, cache markers apart.

A print is a short hash of a block's bytes. Messages that can't change any more are printed once and
shared between the shapes of one conversation, so that a comparison costs what is new.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Print = bytes
MARK = "cache_control"


@dataclass(frozen=True, slots=True)
class MessagePrint:
    role: str
    blocks: tuple[Print, ...]


@dataclass(frozen=True, slots=True)
class Shape:
    """A request as it was sent: its head by part, then its messages.

    `settled` only ever grows, the first `count` of it belong to this request; `open` follow them.
    """

    head: tuple[tuple[str, tuple[Print, ...]], ...]
    settled: list[MessagePrint]
    count: int
    open: tuple[MessagePrint, ...]

    def __len__(self) -> int:
        return self.count + len(self.open)

    def message(self, at: int) -> MessagePrint:
        return self.settled[at] if at < self.count else self.open[at - self.count]


def print_of(block: bytes) -> Print:
    return hashlib.blake2b(block, digest_size=8).digest()


def print_of_message(message: dict[str, Any]) -> MessagePrint:
    return MessagePrint(message["role"], _prints(message["content"]))


def head_prints(body: dict[str, Any]) -> tuple[tuple[str, tuple[Print, ...]], ...]:
    """The parts before the messages that the cache depends on, in the order it reads them."""
    parts = [("model", [body["model"]])]
    parts += [(name, body.get(name) or []) for name in ("tools", "system")]
    parts += [(name, [body.get(name)]) for name in ("thinking", "output_config")]
    return tuple((name, _prints(values)) for name, values in parts)


def first_difference(before: Shape, after: Shape) -> str:
    """The path of the first block of `before` that `after` does not repeat; '' when it extends it.

    The last message may get more blocks; any other must be the same.
    """
    for (name, old), (_, new) in zip(before.head, after.head, strict=True):
        if old != new:
            return f"{name}[{_common(old, new)}]" if name in ("tools", "system") else name
    known = min(before.count, after.count) if before.settled is after.settled else 0
    for at in range(known, len(before)):
        old = before.message(at)
        if at >= len(after) or after.message(at).role != old.role:
            return f"messages[{at}]"
        new = after.message(at).blocks
        is_last = at == len(before) - 1
        if old.blocks != (new[: len(old.blocks)] if is_last else new):
            return f"messages[{at}].content[{_common(old.blocks, new)}]"
    return ""


def _prints(values: Sequence[Any]) -> tuple[Print, ...]:
    return tuple(print_of(_bytes(value)) for value in values)


def _bytes(value: Any) -> bytes:
    shown = {k: v for k, v in value.items() if k != MARK} if isinstance(value, dict) else value
    return json.dumps(shown, ensure_ascii=False, separators=(",", ":")).encode()


def _common(old: Sequence[Print], new: Sequence[Print]) -> int:
    at = 0
    while at < min(len(old), len(new)) and old[at] == new[at]:
        at += 1
    return at
