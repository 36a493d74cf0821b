"""Fixtures of the tests of whole commands."""

from pathlib import Path

import pytest

from tests.e2e.here import HomeHere
from tests.e2e.nacre import Home


@pytest.fixture
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Home:
    """An empty home without a server.

    `in_this_process` marks the tests whose subject is no process: what they run to its end runs in
    the test's own.
    """
    is_here = request.node.get_closest_marker("in_this_process") is not None
    return HomeHere(tmp_path) if is_here else Home(tmp_path)
