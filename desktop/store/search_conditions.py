"""What a hit must be beside its text, as SQL: its conversation, its folder, who, when, which tool.

A row is one of its own conversation; where that is in the bin or purged, a living fork that reads
the row is named in its place, and without one the row is left out, unless the bin is asked for.
"""

from dataclasses import dataclass

from desktop.core.records import SearchFilter
from desktop.store.branches import stand_in

_NAMED = stand_in("c.tab_id", "c.seq")
_SHELF = (
    "CASE WHEN t.trashed_at IS NOT NULL THEN 'bin'"
    " WHEN t.archived_at IS NOT NULL THEN 'archived' ELSE '' END"
)
# As bytes: a damaged name would otherwise fail the whole search.
_TOOL = (
    "CASE WHEN c.type IN ('tool_call', 'tool_result') AND json_valid(c.data_json)"
    " THEN CAST(json_extract(c.data_json, '$.name') AS BLOB) END"
)
FIELDS = (
    f"c.ordinal, t.id, t.title, w.directory, c.seq, c.role, c.type, c.created_at, {_SHELF}, {_TOOL}"
)


@dataclass(frozen=True, slots=True)
class Conditions:
    """`tab` is whom a row is named after, `sql` is true of what is asked for, with `values`."""

    tab: str
    sql: str
    values: tuple[object, ...]

    @classmethod
    def of(cls, only: SearchFilter) -> "Conditions":
        """Those of the row come first: they cost least."""
        tests: list[tuple[str, tuple[object, ...]]] = []
        if only.role is not None:
            tests.append(("c.role = ?", (only.role,)))
        if only.types:
            tests.append((_any_of("c.type", len(only.types)), only.types))
        if only.since is not None:
            tests.append(("c.created_at >= ?", (only.since,)))
        if only.until is not None:
            tests.append(("c.created_at < ?", (only.until,)))
        if only.workspace_ids:
            count = len(only.workspace_ids)
            tests.append((_any_of("t.workspace_id", count), only.workspace_ids))
        tests.append(("t.id IS NOT NULL AND t.purged_at IS NULL", ()))
        if only.tool:
            tests.append((f"{_TOOL} = CAST(? AS BLOB)", (only.tool,)))
        return cls(
            tab=f"coalesce({_NAMED}, c.tab_id)" if only.in_bin else _NAMED,
            sql=" AND ".join(sql for sql, _ in tests),
            values=tuple(value for _, values in tests for value in values),
        )


def _any_of(column: str, count: int) -> str:
    return f"{column} IN ({', '.join('?' * count)})"
