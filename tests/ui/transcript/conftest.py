"""A desk for every test of the transcript."""

from collections.abc import Iterator

import pytest
import qasync
from pytestqt.qtbot import QtBot

from tests.ui.transcript.desk import Desk


@pytest.fixture
def desk(loop: qasync.QEventLoop, qtbot: QtBot) -> Iterator[Desk]:
    made = Desk(loop, qtbot)
    yield made
    made.close()


@pytest.fixture
def small_desk(loop: qasync.QEventLoop, qtbot: QtBot) -> Iterator[Desk]:
    """A window of 32 rows."""
    made = Desk(loop, qtbot, limit=32)
    yield made
    made.close()
