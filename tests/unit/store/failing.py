"""Real SQLite statements that fail at a chosen place, on any connection that can write a file."""

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest


@dataclass(slots=True)
class Statements:
    """Counts the statements that begin on writing connections; the one numbered `fail_at` fails."""

    fail_at: int
    seen: int = 0

    @property
    def failed(self) -> bool:
        return self.seen >= self.fail_at

    def begin(self, _sql: str) -> None:
        self.seen += 1

    def is_over(self) -> bool:
        return self.seen == self.fail_at


@contextmanager
def failing_at(number: int, database: Path) -> Generator[Statements]:
    """Inside, the `number`th statement on `database` is interrupted by SQLite itself."""
    statements = Statements(number)
    connect = sqlite3.connect

    def watched(name: Any, *arguments: Any, **options: Any) -> sqlite3.Connection:
        connection = connect(name, *arguments, **options)
        if f"/{database.name}?mode=rw" in str(name):
            connection.set_trace_callback(statements.begin)
            connection.set_progress_handler(statements.is_over, 1)
        return connection

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sqlite3, "connect", watched)
        yield statements
