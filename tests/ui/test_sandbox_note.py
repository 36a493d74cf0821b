"""Settings → Tools says whether commands run in a sandbox."""

import asyncio

import pytest
import qasync
from pytestqt.qtbot import QtBot

from desktop.core.confinement import Confinement
from desktop.ui.sandbox_note import SandboxNote
from desktop.ui.tasks import Tasks
from tests.ui.conftest import until


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (Confinement(True), "Commands run in a sandbox: they can write"),
        (
            Confinement(False, "It is not installed.", "Install it: sudo apt install bubblewrap"),
            "Commands run without a sandbox, so each one is asked for, unless you have chosen to "
            "run commands without asking. It is not installed. "
            "Install it: sudo apt install bubblewrap",
        ),
    ],
)
def test_it_is_asked_once_it_is_seen_and_waits_for_nobody(
    found: Confinement, said: str, qtbot: QtBot, loop: qasync.QEventLoop
) -> None:
    asked: list[int] = []

    async def play() -> None:
        gate = asyncio.Event()

        async def ask() -> Confinement:
            asked.append(1)
            await gate.wait()
            return found

        note = SandboxNote(ask, Tasks())
        qtbot.addWidget(note)
        assert asked == []
        note.show()
        await until(lambda: bool(asked))
        assert note.text().startswith("Looking")
        gate.set()
        await until(lambda: note.text().startswith(said))
        note.hide()
        note.show()

    loop.run_until_complete(play())
    assert asked == [1]
