"""What is in view is kept while the program runs (SPEC U37); see also `test_place_at_start`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import qasync
from pytestqt.qtbot import QtBot

from desktop.app import remembering
from desktop.app.remembering import Remembering
from desktop.ui.conversation_area import ConversationArea
from desktop.ui.tasks import Tasks
from desktop.ui.theme import LIGHT, Theme
from desktop.ui.window_cache import WindowCache, read_cache


def test_u37_the_end_of_the_program_is_the_last_to_write_where_one_was(
    loop: qasync.QEventLoop,
    until: Callable[..., Any],
    tmp_path: Path,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(remembering, "SAVE_MS", 5)
    file, area, tasks = tmp_path / "window.json", ConversationArea(Theme("light", LIGHT)), Tasks()
    qtbot.addWidget(area)
    asked: list[WindowCache] = []

    def now() -> WindowCache:
        asked.append(WindowCache(current_tab="tab"))
        return asked[-1]

    kept = Remembering(file, now, tasks, area)
    kept.watch(area)
    area.shown.emit("tab")
    loop.run_until_complete(until(file.exists))
    assert read_cache(file).current_tab == "tab"
    file.unlink()
    area.shown.emit("another")
    kept.end()
    area.shown.emit("the last")
    loop.run_until_complete(until(lambda: not kept.due))
    loop.run_until_complete(tasks.close())
    assert not file.exists()
    assert len(asked) == 1
