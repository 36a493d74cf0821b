"""The place in a conversation, whatever another version or a damaged file wrote (SPEC U11)."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from desktop.core.records import ViewState
from tests.unit.store.builders import new_tab, open_log, run


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (b"", ViewState()),
        (b"\xff\x00", ViewState()),
        (b"[" * 100_000, ViewState()),
        (b"[1]", ViewState()),
        (b'{"seq": -4, "offset": 9}', ViewState(offset=9)),
        (b'{"seq": 1e99, "folds": [1]}', ViewState()),
        (b'{"seq": 99999999999999999999, "height": -1}', ViewState()),
        (
            b'{"seq": 3, "offset": "x", "loose": 1, "folds": {"a": "open", "b": "ajar"}, "new": 1}',
            ViewState(False, 3, folds=(("a", "open"),)),
        ),
    ],
)
def test_u11_what_cannot_be_read_is_the_end(tmp_path: Path, written: bytes, read: object) -> None:
    with open_log(tmp_path) as log:
        tab = new_tab(log, tmp_path)
        run(log.catalogue.save_view_state(tab, ViewState(False, 1)))
        with closing(sqlite3.connect(log.database)) as connection, connection:
            connection.execute("UPDATE view_state SET data_json = CAST(? AS TEXT)", (written,))
        assert run(log.catalogue.view_state(tab)) == read
