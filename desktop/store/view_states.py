"""Where each conversation was read last (SPEC U11, U37). Who follows the end has no row."""

from collections.abc import Callable
from functools import partial

from sqlalchemy import Connection

from desktop.core.records import ViewState
from desktop.store import places, tabs
from desktop.store.lanes import Lanes

_PUT = (
    "INSERT INTO view_state(tab_id, data_json, updated_at) VALUES (?1, ?2, ?3)"
    " ON CONFLICT(tab_id) DO UPDATE SET data_json = ?2, updated_at = ?3"
)
_TAKE = "DELETE FROM view_state WHERE tab_id = ?"


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
    row = connection.exec_driver_sql(places.GET, (tab_id,)).first()
    if row is None:
        tabs.find(connection, tab_id)
        return ViewState()
    return places.of_text(row[0])


def _put(connection: Connection, *, tab_id: str, state: ViewState, now: int) -> None:
    tabs.find(connection, tab_id)
    if state == ViewState():
        connection.exec_driver_sql(_TAKE, (tab_id,))
    else:
        connection.exec_driver_sql(_PUT, (tab_id, places.text_of(state), now))
