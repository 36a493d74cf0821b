"""Reads a list of which one row may be damaged: that row is mended or left out, the others come.

SQLite's driver fails a whole read at the first text that is not UTF-8; one unreadable project must
not take all others along (SPEC P13).
"""

import logging
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, TypeVar

from sqlalchemy import Connection, Row, Select
from sqlalchemy.exc import DBAPIError

from desktop.store.connection import driver

T = TypeVar("T")

logger = logging.getLogger(__name__)


def readable(
    connection: Connection, query: Select[Any], value_of: Callable[[Row[Any]], T]
) -> tuple[T, ...]:
    """What the rows are; a text that can't be read has U+FFFD where it is damaged."""
    try:
        return tuple(value_of(row) for row in connection.execute(query))
    except DBAPIError as error:
        if "decode to UTF-8" not in str(error.orig):
            raise
        logger.warning("A list has a text that is no UTF-8")  # the error would say which
    with _mending(connection):
        return tuple(value_of(row) for row in connection.execute(query))


@contextmanager
def _mending(connection: Connection) -> Generator[None]:
    raw = driver(connection)
    before = raw.text_factory
    raw.text_factory = lambda content: content.decode("utf-8", "replace")
    try:
        yield
    finally:
        raw.text_factory = before
