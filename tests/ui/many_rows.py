"""Many rows at once, as an import would lay them down."""

from collections.abc import Mapping

from desktop.core.chunks import NewChunk, Text
from tests.e2e.nacre import Home
from tests.unit.store.builders import open_log, run


def lay_down(home: Home, tab_id: str, rows: int, *, said: Mapping[int, str] | None = None) -> None:
    """Answers "Row N of many." from 0 on; `said` has other words for some."""
    words = said or {}
    with open_log(home.data) as log:
        chunks = [
            NewChunk(f"row{n}", "many", "assistant", Text(words.get(n, f"Row {n} of many.")))
            for n in range(rows)
        ]
        run(log.session(tab_id).append(chunks))
