"""A small file that lets the window come up as it was before anything else is loaded.

It may be deleted at any time and is never trusted: what can't be used is left out.
"""

from __future__ import annotations

import base64
import binascii
import json
import logging
import os
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

_LOG = logging.getLogger(__name__)
MOST_WINDOWS = 16


@dataclass(frozen=True, slots=True)
class WindowCache:
    """`geometry` as Qt saved it (base64), `theme` and `font_scale` as chosen, what was shown;
    `right_pane` is its width, 0 while it is closed. `number` tells it from the other windows,
    `further` is the same of these."""

    geometry: str = ""
    sidebar: int = 0
    sidebar_hidden: bool = False
    theme: str = "system"
    font_scale: int = 100
    current_tab: str = ""
    right_pane: int = 0
    number: int = 0
    further: tuple[WindowCache, ...] = ()

    def geometry_bytes(self) -> bytes:
        try:
            return base64.b64decode(self.geometry, validate=True)
        except binascii.Error:
            return b""


def read_cache(path: Path) -> WindowCache:
    """What the file holds, as far as it is usable; never raises."""
    try:
        held = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return WindowCache()
    further = held.get("further") if isinstance(held, dict) else None
    others = further[:MOST_WINDOWS] if isinstance(further, list) else []
    return replace(_usable(held), further=tuple(map(_usable, others)))


def _usable(held: object) -> WindowCache:
    if not isinstance(held, dict):
        return WindowCache()
    plain = asdict(WindowCache())
    good = {
        key: held[key] for key, default in plain.items() if type(held.get(key)) is type(default)
    }
    return WindowCache(**good)


def write_cache(path: Path, cache: WindowCache) -> None:
    """Whole or not at all; a folder that can't be written costs the window's place only."""
    fresh = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        with fresh.open("w", encoding="utf-8") as file:
            json.dump(asdict(cache), file)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    except OSError as error:
        _LOG.info("the window's cache was not kept: %s", error)
        with suppress(OSError):
            fresh.unlink(missing_ok=True)
