"""What the model is told about its surroundings: once at the start, and later what has changed.

A fact is a row of its own after the cached beginning, never part of the prompt (SPEC C29). Its
fields say what was told, so that the next message, also after a restart, tells only what is new.
"""

import asyncio
import platform
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from desktop.core.chunks import LogChunk, System
from desktop.core.conversation import is_compaction
from desktop.core.permissions import PermissionMode

_MODES: dict[PermissionMode, str] = {
    "read-only": "read-only: you may read inside the workspace folder and change nothing.",
    "ask": "ask: the person is asked before each change and each command.",
    "accept-edits": "accept-edits: files inside the workspace folder may be changed without "
    "asking; the person is asked before each command.",
    "auto": "auto: files inside the workspace folder may be changed and commands run without "
    "asking.",
}


@dataclass(frozen=True, slots=True)
class Facts:
    """The surroundings at one moment. `today` is ISO; `is_git`: the folder is in a repository."""

    today: str
    system: str
    folder: str
    is_git: bool = False


async def observe(folder: Path, *, today: date) -> Facts:
    """Looks at the machine and the workspace folder, off the loop."""
    is_git = await asyncio.to_thread(_in_repository, folder)
    return Facts(
        today.isoformat(), f"{platform.system()} {platform.release()}", str(folder), is_git
    )


def opening(facts: Facts, mode: PermissionMode) -> System:
    """The first fact of a conversation."""
    lines = (
        f"Today is {facts.today}.",
        f"The system is {facts.system}.",
        f"The workspace folder is {facts.folder}; "
        + ("it is in a git repository." if facts.is_git else "it is not in a git repository."),
        f"The permission mode is {_MODES[mode]}",
    )
    return System("fact", "\n".join(lines), {"today": facts.today, "mode": mode})


def news(rows: Iterable[LogChunk], facts: Facts, mode: PermissionMode) -> System | None:
    """What changed since the model was last told; None when nothing did.

    What stands before a compaction it is told no more.
    """
    told: dict[str, object] = {}
    for row in rows:
        if is_compaction(row.data):
            told.clear()
        elif isinstance(row.data, System) and row.data.kind == "fact":
            told.update(row.data.fields)
    lines: list[str] = []
    fields: dict[str, object] = {}
    if told.get("today") != facts.today:
        lines.append(f"Today is {facts.today}.")
        fields["today"] = facts.today
    if told.get("mode") != mode:
        lines.append(f"The permission mode is now {_MODES[mode]}")
        fields["mode"] = mode
    return System("fact", "\n".join(lines), fields) if lines else None


def _in_repository(folder: Path) -> bool:
    try:
        return any((place / ".git").exists() for place in (folder, *folder.parents))
    except OSError:
        return False
