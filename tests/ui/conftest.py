"""The loop that the program runs on, for tests of widgets.

pytest-qt's own waits do not run qasync's tasks, so asynchronous code runs as
`loop.run_until_complete(until(lambda: …))`.
"""

import asyncio
import gc
import time
from collections.abc import Callable, Coroutine, Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import qasync
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.fakes.messages_api import MessagesServer

if TYPE_CHECKING:
    from tests.e2e.nacre import Home
    from tests.ui.program import Person

Enter = Callable[..., "Person"]

FRAME = 0.005  # seconds between two looks


async def until(predicate: Callable[[], object], timeout: float = 5.0) -> None:  # noqa: ASYNC109
    """Return as soon as the predicate holds; AssertionError when it does not within the time-out.

    An assertion that fails inside the predicate counts as not yet, and is what is raised at last.
    """
    deadline = time.monotonic() + timeout
    while True:
        reason: AssertionError | None = None
        try:
            if predicate():
                return
        except AssertionError as failed:
            reason = failed
        if time.monotonic() > deadline:
            raise AssertionError(f"did not hold within {timeout} s") from reason
        await asyncio.sleep(FRAME)


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
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> "Home":
    """An empty home whose key comes from the environment."""
    from tests.e2e.nacre import KEY, Home

    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    return Home(tmp_path)


@pytest.fixture
def enter(
    home: "Home", loop: qasync.QEventLoop, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Enter]:
    """Opens the program on the test's home, with this server as the provider's."""
    from tests.ui.program import Person

    app = QApplication.instance()
    assert isinstance(app, QApplication)
    font, palette, sheet = app.font(), app.palette(), app.styleSheet()
    quits = app.quitOnLastWindowClosed()
    app.setQuitOnLastWindowClosed(False)  # as the program's root does
    people: list[Person] = []

    def begin(server: MessagesServer | None = None, **how: Any) -> "Person":
        if server is not None:
            monkeypatch.setenv("ANTHROPIC_BASE_URL", server.base_url)
        person = Person(home, loop, qtbot, **how)
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


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol() -> Generator[None, object, object]:
    """Garbage is collected between tests, on this thread: what is left of a window must not be
    destroyed on a thread of a later test. What survives is never looked through again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()
