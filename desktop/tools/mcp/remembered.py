"""The tools that each server offered last, so that a conversation need not wait for a server.

A file that may be deleted at any time; what can't be read or written is as if it were not there.
Whatever was remembered is cleaned again, since others can write in the file.
"""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from desktop.core.tool_servers import ServerEntry
from desktop.tools.mcp.offers import Offer

MOST_BYTES = 20_000_000


def read(path: Path, entries: Iterable[ServerEntry]) -> dict[str, list[Offer]]:
    """What is remembered of these servers, by name; only of the very same command or address."""
    document: object = None
    with suppress(OSError, ValueError, RecursionError):
        if path.stat().st_size <= MOST_BYTES:
            document = json.loads(path.read_bytes())
    servers = document if isinstance(document, dict) else {}
    found: dict[str, list[Offer]] = {}
    for entry in entries:
        one = servers.get(entry.name)
        if isinstance(one, dict) and one.get("of") == entry.fingerprint:
            found[entry.name] = _offers(one.get("tools"))
    return found


def write(path: Path, offers: Mapping[str, tuple[ServerEntry, Sequence[Offer]]]) -> None:
    """Replaces the file."""
    document = {
        name: {
            "of": entry.fingerprint,
            "tools": [[one.name, one.description, one.schema] for one in found],
        }
        for name, (entry, found) in offers.items()
    }
    fresh = path.with_name(f"{path.name}.{os.getpid()}.new")
    with suppress(OSError):
        fresh.write_text(json.dumps(document), encoding="utf-8")
        fresh.replace(path)


def _offers(tools: object) -> list[Offer]:
    return [
        Offer(one[0], one[1], one[2])
        for one in (tools if isinstance(tools, list) else [])
        if isinstance(one, list)
        and len(one) == 3
        and isinstance(one[0], str)
        and isinstance(one[1], str)
    ]
