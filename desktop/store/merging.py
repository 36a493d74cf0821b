"""The pieces of the search index: every transaction leaves one, merging makes few of many."""

from sqlalchemy import Connection

from desktop.store.connection import driver


def merge(connection: Connection, *, pages: int) -> bool:
    """Merges pieces of the search index, of about `pages` pages; whether there was something.

    SQLite's own sign for "nothing to do" is fewer than two changes.
    """
    raw = driver(connection)
    before = raw.total_changes
    connection.exec_driver_sql(
        "INSERT INTO chunks_search(chunks_search, rank) VALUES ('merge', ?)", (pages,)
    )
    return raw.total_changes - before >= 2
