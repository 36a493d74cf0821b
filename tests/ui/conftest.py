"""The loop that the program runs on, for tests of widgets.

pytest-qt's own waits do not run qasync's tasks, so asynchronous code runs as
`loop.run_until_complete(until(lambda: …))`.
"""

import asyncio
import gc
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest
import qasync
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.e2e.nacre import KEY, Home
from tests.fakes.messages_api import MessagesServer
from tests.ui.program import Enter, Person
from tests.ui.waiting import until


@pytest.fixture(name="until")
def _until() -> Callable[..., Coroutine[Any, Any, None]]:  # pyright: ignore[reportUnusedFunction]
    return until


@pytest.fixture
def loop(qapp: QApplication) -> Iterator[qasync.QEventLoop]:
    """One qasync loop on the application, closed at the end; a task that is left fails the test."""
    event_loop = qasync.QEventLoop(qapp)
    asyncio.set_event_loop(event_loop)
    yield event_loop
    left = [task for task in asyncio.all_tasks(event_loop) if not task.done()]
    for task in left:
        task.cancel()
    if left:
        event_loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
    asyncio.set_event_loop(None)
    event_loop.close()
    # Exceptions that nobody fetched are reported when their task is collected: now, not later.
    gc.collect()
    assert not left, f"the test left tasks running: {', '.join(map(repr, left))}"


@pytest.fixture(autouse=True)
def _no_window_left() -> Iterator[None]:  # pyright: ignore[reportUnusedFunction]
    """Widgets that a test shows go through `qtbot.addWidget`, which closes them."""
    yield
    if QApplication.instance() is None:
        return
    left = [widget for widget in QApplication.topLevelWidgets() if widget.isVisible()]
    for widget in left:
        widget.close()
        widget.deleteLater()
    assert not left, f"the test left windows open: {', '.join(map(repr, left))}"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """An empty home whose key comes from the environment."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    return Home(tmp_path)


@pytest.fixture
def enter(
    home: Home, loop: qasync.QEventLoop, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Enter]:
    """Opens the program on the home, with this server as the provider's."""
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    font, palette, sheet = app.font(), app.palette(), app.styleSheet()
    quits = app.quitOnLastWindowClosed()
    app.setQuitOnLastWindowClosed(False)  # as the program's root does
    people: list[Person] = []

    def begin(server: MessagesServer | None = None) -> Person:
        if server is not None:
            monkeypatch.setenv("ANTHROPIC_BASE_URL", server.base_url)
        person = Person(home, loop, qtbot)
        people.append(person)
        return person

    yield begin
    for person in people:
        person.give_up()
    app.setQuitOnLastWindowClosed(quits)
    app.setFont(font)
    app.setPalette(palette)
    app.setStyleSheet(sheet)
    logs = [path.read_text("utf-8") for path in (home.data / "logs").glob("*")]
    assert not any("Traceback" in log for log in logs), "\n".join(logs)
