"""A place in a conversation as it is kept (SPEC U11, U37), by SQLite's own module alone (`plain`).

A row that can't be read counts as none: a conversation is more than the place in it.
"""

import json
from collections.abc import Mapping
from typing import Any

from desktop.core.records import ViewState
from desktop.store.codec import to_json

GET = "SELECT CAST(data_json AS BLOB) FROM view_state WHERE tab_id = ?"
_FOLDS = ("folded", "open", "all")
_MOST = 2**31 - 1


def of_text(text: bytes) -> ViewState:
    """The place that a row holds."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return ViewState()
    return _state_of(data) if isinstance(data, Mapping) else ViewState()


def text_of(state: ViewState) -> str:
    """As it is kept; of who follows the end, only the folds."""
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
