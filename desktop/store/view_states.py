"""Where each conversation was read last (SPEC U11, U37). Who follows the end has no row.

A row that can't be read counts as none: a conversation is more than the place in it.
"""

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from sqlalchemy import Connection

from desktop.core.records import ViewState
from desktop.store import tabs
from desktop.store.codec import to_json
from desktop.store.lanes import Lanes

_GET = "SELECT CAST(data_json AS BLOB) FROM view_state WHERE tab_id = ?"
_PUT = (
    "INSERT INTO view_state(tab_id, data_json, updated_at) VALUES (?1, ?2, ?3)"
    " ON CONFLICT(tab_id) DO UPDATE SET data_json = ?2, updated_at = ?3"
)
_TAKE = "DELETE FROM view_state WHERE tab_id = ?"
_FOLDS = ("folded", "open", "all")
_MOST = 2**31 - 1


class ViewStates:
    """The view states of a database."""

    def __init__(self, lanes: Lanes, *, now_ms: Callable[[], int]) -> None:
        self._lanes = lanes
        self._now_ms = now_ms

    async def get(self, tab_id: str) -> ViewState:
        return await self._lanes.read(partial(_get, tab_id=tab_id))

    async def save(self, tab_id: str, state: ViewState) -> None:
        now = self._now_ms()
        await self._lanes.write(partial(_put, tab_id=tab_id, state=state, now=now))


def _get(connection: Connection, *, tab_id: str) -> ViewState:
    row = connection.exec_driver_sql(_GET, (tab_id,)).first()
    if row is None:
        tabs.find(connection, tab_id)
        return ViewState()
    try:
        data = json.loads(row[0])
    except (ValueError, RecursionError):
        return ViewState()
    return _state_of(data) if isinstance(data, Mapping) else ViewState()


def _put(connection: Connection, *, tab_id: str, state: ViewState, now: int) -> None:
    tabs.find(connection, tab_id)
    if state == ViewState():
        connection.exec_driver_sql(_TAKE, (tab_id,))
    else:
        connection.exec_driver_sql(_PUT, (tab_id, _json_of(state), now))


def _json_of(state: ViewState) -> str:
    place = {} if state.following else {"seq": state.seq, "offset": state.offset}
    return to_json(
        {**place, "height": state.height, "loose": state.loose, "folds": dict(state.folds)}
    )


def _state_of(data: Mapping[str, Any]) -> ViewState:
    seq, folds = _number(data.get("seq")), data.get("folds")
    kept = folds.items() if isinstance(folds, Mapping) else ()
    return ViewState(
        following=seq < 1,
        seq=max(seq, 0),
        offset=_number(data.get("offset")),
        height=max(_number(data.get("height")), 0),
        folds=tuple((id_, fold) for id_, fold in kept if fold in _FOLDS),
        loose=data.get("loose") is True,
    )


def _number(value: object) -> int:
    """0 for what is none, or none of any screen."""
    return value if isinstance(value, int) and abs(value) <= _MOST else 0
