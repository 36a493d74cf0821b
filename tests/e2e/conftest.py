"""Fixtures of the tests with the real process."""

from pathlib import Path

import pytest

from tests.e2e.nacre import Home


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """An empty home without a server."""
    return Home(tmp_path)
