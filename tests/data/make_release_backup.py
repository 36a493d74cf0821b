"""Makes the backup that a release leaves behind, for every later version to bring back (SPEC U17).

    python -m tests.data.make_release_backup

It writes `tests/data/releases/schema-N.zip` and beside it what must be read out of it again. Run it
once for each schema, by the last version that has it, and never again once that was released.
"""

import asyncio
import hashlib
import itertools
import json
import sqlite3
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

from desktop.core.chunks import (
    ErrorNote,
    LogChunk,
    NewChunk,
    Opaque,
    Payload,
    Role,
    Stamp,
    System,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    payload_to_json,
)
from desktop.core.permissions import Rule
from desktop.core.records import RequestRecord, Snapshot
from desktop.core.status import QueuedMessage
from desktop.diagnostics import program_version
from desktop.store import backup
from desktop.store.log import Log
from desktop.store.plain import SCHEMA

RELEASES = Path(__file__).parent / "releases"
NOW = 1_790_000_000_000
STAMP = Stamp("anthropic:1a2b3c4d", "claude-opus-5-5")
ODD = "grüße 日本 🐚 \u2028 שלום \t tab"
LARGE = "a line of a large result\n" * 4_000


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        content = asyncio.run(_fill(root))
        archive = RELEASES / f"schema-{SCHEMA}.zip"
        archive.unlink(missing_ok=True)
        backup.write(
            root / "nacre.db",
            archive,
            blobs=root / "blobs",
            program=program_version(),
            now_ms=lambda: NOW,
            tell=lambda *_: None,
        )
    facts = {"schema": SCHEMA, "program": program_version(), "content": digest(content)}
    archive.with_suffix(".json").write_text(json.dumps(facts, indent=1) + "\n")
    print(f"{archive}: {archive.stat().st_size} bytes")
    return 0


def digest(content: dict[str, Any]) -> str:
    text = json.dumps(content, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


async def content_of(log: Log, blobs: Path) -> dict[str, Any]:
    """All that a person has in a log, through the doors only: tables may change, this may not."""
    view = await log.catalogue.view()
    tabs = (*view.tabs, *await log.catalogue.trashed_tabs())
    return {
        "projects": sorted([one.directory, one.display_name, one.kind] for one in view.projects),
        "workspaces": sorted([one.directory, one.display_name] for one in view.workspaces),
        "settings": dict(await log.catalogue.settings()),
        "blobs": await asyncio.to_thread(_blobs, blobs),
        "tabs": {tab.id: await _conversation(log, tab) for tab in tabs},
    }


def _blobs(folder: Path) -> dict[str, str]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


async def _conversation(log: Log, tab: Any) -> dict[str, Any]:
    session = log.session(tab.id)
    page = await log.reader.page(tab.id, limit=1_000)
    snapshot = await log.catalogue.snapshot(tab.id)
    return {
        "title": tab.title,
        "open": tab.is_open,
        "created": tab.created_at,
        "lastMessage": tab.last_message_at,
        "archived": tab.archived_at,
        "trashed": tab.trashed_at,
        "forkedFrom": tab.forked_from,
        "draft": (await log.catalogue.draft(tab.id)).text,
        "queued": [[one.id, one.text] for one in await session.queued()],
        "requests": [[one.id, one.turn_id, one.usage] for one in await session.requests()],
        "model": snapshot and [snapshot.model, snapshot.effort, snapshot.mode],
        "rules": sorted(
            [rule.tool, rule.match] for rule in await log.catalogue.rules(tab.workspace_id)
        ),
        "rows": [
            [
                row.seq,
                row.id,
                row.turn_id,
                row.step,
                row.role,
                row.type,
                row.created_at,
                [row.stamp.provider, row.stamp.model],
                payload_to_json(row.data),
            ]
            for row in page.rows
            if isinstance(row, LogChunk)
        ],
    }


async def _fill(root: Path) -> dict[str, Any]:
    """A log with every kind of row and record; returns its content."""
    log = _open(root)
    try:
        await _talk(log, root)
    finally:
        await log.close()
    _rename_folders(root)
    log = _open(root)
    try:
        return await content_of(log, root / "blobs")
    finally:
        await log.close()


def _open(root: Path) -> Log:
    ids, times = itertools.count(1), itertools.count(NOW)
    return Log.open(
        root / "nacre.db",
        blobs=root / "blobs",
        run=root / "run",
        new_id=lambda: f"00000000-0000-4000-8000-{next(ids):012d}",
        now_ms=lambda: next(times),
    )


async def _talk(log: Log, root: Path) -> None:
    catalogue = log.catalogue
    (root / "one").mkdir()
    (root / "two").mkdir()
    one, two = [await catalogue.open_workspace(root / name) for name in ("one", "two")]
    tab = await catalogue.create_tab(one.id, title=f"The first {ODD}")
    session = log.session(tab.id)
    await session.append(_turn("turn-1", "first"))
    await session.append([_chunk("u2", "turn-2", "user", Text("and again?"))])
    await session.enqueue(QueuedMessage("q1", tab.id, f"queued {ODD}", NOW))
    await session.start_request(_request(tab.id))
    await catalogue.save_draft(tab.id, f"half a thought {ODD}")
    await catalogue.save_snapshot(
        Snapshot(tab.id, one.id, "anthropic", "claude-opus-5-5", "high", "accept-edits")
    )
    await catalogue.add_rule(Rule(one.id, "shell", "git status"))
    await catalogue.save_setting("appearance.theme", "dark")
    await catalogue.save_setting("a.later.version", "kept as it is")
    await catalogue.fork_tab(tab.id, at_seq=len(_turn("turn-1", "first")))
    archived = await catalogue.create_tab(two.id, title="Put away")
    await log.session(archived.id).append(_turn("turn-3", "second"))
    await catalogue.archive_tab(archived.id)
    trashed = await catalogue.create_tab(two.id, title="In the bin")
    await log.session(trashed.id).append(_turn("turn-4", "third"))
    await catalogue.trash_tab(trashed.id)


def _turn(turn: str, name: str) -> list[NewChunk]:
    def row(kind: str, role: Role, data: Payload, *, step: int = 0) -> NewChunk:
        return _chunk(f"{name}-{kind}", turn, role, data, step=step)

    call = ToolCall(f"call-{name}", "shell", {"command": "make", "deep": {"list": [1, None, ODD]}})
    done = System("turn_end", fields={"outcome": "done", "durationMs": 1_234})
    return [
        row("prompt", "system", System("prompt", "You help.", {"tools": [{"name": "shell"}]})),
        row("ask", "user", Text(ODD, attachments=({"name": "notes.txt", "text": LARGE},))),
        row("think", "assistant", Thinking("so it is", {"signature": "c2lnbmVk"})),
        row("call", "assistant", call),
        row("result", "tool", ToolResult(call.call_id, "shell", LARGE, shell_output={"exit": 0})),
        row("opaque", "assistant", Opaque({"type": "server_tool_use", "id": "x"}), step=1),
        row("say", "assistant", Text(f"It is done. {ODD}"), step=1),
        row("error", "assistant", ErrorNote("overloaded", 529), step=1),
        row("end", "system", done, step=0),
    ]


def _chunk(id_: str, turn: str, role: Role, data: Payload, *, step: int = 0) -> NewChunk:
    return NewChunk(id=id_, turn_id=turn, role=role, data=data, step=step, stamp=STAMP)


def _request(tab_id: str) -> RequestRecord:
    return RequestRecord(
        id="request-1",
        tab_id=tab_id,
        turn_id="turn-1",
        step=0,
        provider=STAMP.provider,
        model=STAMP.model,
        started_at=NOW,
        usage={"input_tokens": 10, "output_tokens": 5},
    )


def _rename_folders(root: Path) -> None:
    """The folders as they would be on a person's computer."""
    with closing(sqlite3.connect(root / "nacre.db")) as plain, plain:
        for table in ("projects", "workspaces"):
            plain.execute(
                f"UPDATE {table} SET directory = replace(directory, ?, '/home/person')",
                (str(root.resolve()),),
            )


if __name__ == "__main__":
    sys.exit(main())
