"""What is being written in each conversation: text, place in it, attachments (SPEC U14).

Attached bytes are blobs, kept before the row that names them and once however often the text is
saved; a blob goes with the sweep after nothing names it any more. What is written before there is a
conversation has its columns among the settings, whose unknown rows every version keeps.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlalchemy import Connection, delete, select
from sqlalchemy.dialects.sqlite import insert as upsert

from desktop.core.chunks import Json
from desktop.core.drafts import Draft, is_beginning, units
from desktop.store import tabs
from desktop.store.blobs import Blobs
from desktop.store.codec import clean, to_json
from desktop.store.lanes import Lanes
from desktop.store.tables import BLOBS, DRAFTS, SETTINGS

_NONE = "[]"
# How each setting's key ends, after that of the beginning itself, by the column of a draft that it
# stands for. The text was there before the others: a database that has it alone is read, and a
# version that knows it alone reads it.
BEGINNING_KEY = "draft.new"
ENDS = {"text": "", "caret": ".caret", "attachments_json": ".attachments"}


@dataclass(frozen=True, slots=True)
class _Bytes:
    sha256: str
    content: bytes
    media_type: str


class Drafts:
    """The drafts of a database."""

    def __init__(self, lanes: Lanes, blobs: Blobs, *, now_ms: Callable[[], int]) -> None:
        self._lanes = lanes
        self._blobs = blobs
        self._now_ms = now_ms

    async def get(self, tab_id: str) -> Draft:
        return await self._lanes.load(partial(_get, tab_id=tab_id, blobs=self._blobs))

    async def save(self, tab_id: str, text: str, *, caret: int = 0) -> None:
        await self._put(tab_id, text=clean(text), caret=caret)

    async def save_attachments(self, tab_id: str, attachments: Sequence[Json]) -> None:
        entries, apart = await self._lanes.file(partial(_keep, attachments, self._blobs))
        await self._put(tab_id, apart, attachments_json=entries)

    async def _put(self, tab_id: str, apart: Sequence[_Bytes] = (), **values: object) -> None:
        values["updated_at"] = self._now_ms()
        await self._lanes.write(partial(_put, tab_id=tab_id, apart=apart, values=values))


def _get(connection: Connection, *, tab_id: str, blobs: Blobs) -> Draft:
    if is_beginning(tab_id):
        return _get_beginning(connection, _keys(tab_id), blobs)
    row = connection.execute(select(DRAFTS).where(DRAFTS.c.tab_id == tab_id)).first()
    if row is None:
        tabs.find(connection, tab_id)
        return Draft()
    return Draft(row.text, row.caret, tuple(_entries(row.attachments_json, blobs)))


def _put(
    connection: Connection, *, tab_id: str, apart: Sequence[_Bytes], values: Mapping[str, object]
) -> None:
    if not is_beginning(tab_id):
        tabs.find(connection, tab_id)
    for one in apart:
        row = upsert(BLOBS).values(
            sha256=one.sha256, size=len(one.content), media_type=clean(one.media_type)
        )
        connection.execute(row.on_conflict_do_nothing())
    if is_beginning(tab_id):
        _put_beginning(connection, _keys(tab_id), values)
        return
    new = {"tab_id": tab_id, "text": "", "caret": 0, "attachments_json": _NONE, **values}
    statement = upsert(DRAFTS).values(new)
    connection.execute(
        statement.on_conflict_do_update(index_elements=[DRAFTS.c.tab_id], set_=dict(values))
    )
    is_empty = (DRAFTS.c.text == "") & (DRAFTS.c.attachments_json == _NONE)
    connection.execute(delete(DRAFTS).where(DRAFTS.c.tab_id == tab_id, is_empty))


def _keys(tab_id: str) -> Mapping[str, str]:
    return {column: f"{BEGINNING_KEY}{tab_id}{end}" for column, end in ENDS.items()}


def _get_beginning(connection: Connection, keys: Mapping[str, str], blobs: Blobs) -> Draft:
    rows = connection.execute(
        select(SETTINGS.c.key, SETTINGS.c.value).where(SETTINGS.c.key.in_(keys.values()))
    )
    # A legacy table may hold anything.
    kept = {str(key): value for key, value in rows if isinstance(value, str)}
    text = kept.get(keys["text"], "")
    caret = kept.get(keys["caret"], "")
    attached = kept.get(keys["attachments_json"], _NONE)
    return Draft(
        text,
        int(caret) if caret.isdecimal() else units(text),
        tuple(_entries(attached, blobs)),
    )


def _put_beginning(
    connection: Connection, keys: Mapping[str, str], values: Mapping[str, object]
) -> None:
    """Its text with the place in it, or what is attached."""
    is_empty = values.get("text") == "" or values.get("attachments_json") == _NONE
    for column in keys.keys() & values.keys():
        key = keys[column]
        if is_empty:
            connection.execute(delete(SETTINGS).where(SETTINGS.c.key == key))
            continue
        statement = upsert(SETTINGS).values(key=key, value=str(values[column]))
        connection.execute(
            statement.on_conflict_do_update(
                index_elements=[SETTINGS.c.key], set_={"value": statement.excluded.value}
            )
        )


def _keep(attachments: Sequence[Json], blobs: Blobs) -> tuple[str, list[_Bytes]]:
    """The entries as JSON that names their bytes, which are files now."""
    apart: list[_Bytes] = []
    entries = [_set_apart(one, apart) for one in attachments]
    for one in apart:
        blobs.write(one.sha256, one.content)
    return to_json(entries), apart


def _set_apart(entry: Mapping[str, Any], apart: list[_Bytes]) -> dict[str, Any]:
    """The entry with `{"sha256"}` in the place of each long value; one may lie in another."""
    found: dict[str, Any] = {}
    for key, value in entry.items():
        if isinstance(value, Mapping):
            found[key] = _set_apart(value, apart)
            continue
        content = _content(key, value)
        if content is None:
            found[key] = value
            continue
        digest = hashlib.sha256(content).hexdigest()
        apart.append(_Bytes(digest, content, str(entry.get("mediaType") or "")))
        found[key] = {"sha256": digest}
    return found


def _content(key: str, value: object) -> bytes | None:
    if key == "text" and isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    return value if key == "content" and isinstance(value, bytes) else None


def _entries(attachments_json: str, blobs: Blobs) -> list[dict[str, Any]]:
    try:
        found = json.loads(attachments_json)
    except ValueError:
        return []
    entries = found if isinstance(found, list) else []
    return [_put_back(one, blobs) for one in entries if isinstance(one, Mapping)]


def _put_back(entry: Mapping[str, Any], blobs: Blobs) -> dict[str, Any]:
    """The entry with its bytes; without them where their blob is gone."""
    back: dict[str, Any] = {}
    for key, value in entry.items():
        if not isinstance(value, Mapping):
            back[key] = value
        elif key not in ("text", "content"):
            back[key] = _put_back(value, blobs)
        else:
            found = _read(key, str(value.get("sha256")), blobs)
            if found is not None:
                back[key] = found
    return back


def _read(key: str, sha256: str, blobs: Blobs) -> str | bytes | None:
    if key == "text":
        return blobs.text(sha256)
    path = blobs.path(sha256)
    try:
        return None if path is None else path.read_bytes()
    except OSError:
        return None
