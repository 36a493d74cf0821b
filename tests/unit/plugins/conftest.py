"""What tests of plugins share."""

from pathlib import Path

import pytest

from tests.unit.plugins.hosts import Tell, play


@pytest.fixture
def tell(tmp_path: Path) -> Tell:
    """Plays a story on a stage with the plain plugin."""
    return lambda story: play(tmp_path, story)
