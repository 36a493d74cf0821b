"""Rules for every test: an empty home, no keyring, no network, and nothing left behind."""

import os
import shutil
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import settings

from tests import effort, guards, private_session
from tests.fakes import histories

USUAL_SECONDS = 300

# Before any module of the program is imported, for it may look at the environment then.
HOME = Path(tempfile.mkdtemp(prefix="nacre-tests-"))
guards.isolate_environment(HOME)

network = guards.NetworkGuard()
network.install()

settings.register_profile("desk", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
# By hand, with many more examples: `pytest --hypothesis-profile=campaign --timeout=0 FILE`.
settings.register_profile(effort.CAMPAIGN, deadline=None, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "desk")


def pytest_unconfigure() -> None:
    shutil.rmtree(HOME, ignore_errors=True)


@pytest.fixture(autouse=True)
def _left_as_found(  # pyright: ignore[reportUnusedFunction]
    request: pytest.FixtureRequest,
) -> Iterator[None]:
    """Nothing outlives the test: no thread, no process, no error that a loop only logged.

    `leaves_threads(reason)` marks the few tests whose subject is a thread that is stuck.
    """
    network.take()
    if request.node.get_closest_marker("leaves_threads"):
        yield
    else:
        with guards.no_stray_processes(), guards.no_stray_threads(), guards.no_loop_errors():
            yield
    attempts = network.take()
    assert not attempts, f"the test tried to reach: {', '.join(attempts)}"


@pytest.fixture(autouse=True)
def _only_added_to(  # pyright: ignore[reportUnusedFunction]
    request: pytest.FixtureRequest,
) -> Iterator[None]:
    """No request rewrites the one before it, unless the test says why (`histories`).

    `talks_to_the_stand_in(reason)` marks the tests of the stand-in itself.
    """
    marker = request.node.get_closest_marker("talks_to_the_stand_in")
    if marker is None:
        with histories.only_added_to():
            yield
        return
    assert marker.args and str(marker.args[0]).strip(), "the marker needs a reason"
    with histories.unchecked():
        yield


@pytest.fixture(scope="session")
def secret_service() -> Iterator[dict[str, str]]:
    """The environment of a private session bus with an unlocked keyring, for child processes.

    For the current process ask for `in_secret_service`.
    """
    try:
        with private_session.secret_service() as environment:
            yield environment
    except private_session.NotAvailable as reason:
        pytest.skip(str(reason))


@pytest.fixture
def in_secret_service(
    secret_service: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> dict[str, str]:
    """This process talks to the private keyring for the length of the test."""
    for name in ("DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, secret_service[name])
    monkeypatch.delenv("PYTHON_KEYRING_BACKEND", raising=False)
    return secret_service


@pytest.fixture(scope="session")
def xvfb() -> Iterator[str]:
    """The name of a display on a private X server, for child processes with a real window."""
    try:
        with private_session.x_server() as display:
            yield display
    except private_session.NotAvailable as reason:
        pytest.skip(str(reason))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Side by side, what takes longest begins first: begun last it would keep one processor busy
    while the others have nothing left to do."""
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: not _is_long(item))


def _is_long(item: pytest.Item) -> bool:
    """Whether it asked for more time than a test with a window or with processes."""
    marker = item.get_closest_marker("timeout")
    return marker is not None and marker.args[0] > USUAL_SECONDS


@pytest.hookimpl(wrapper=True)
def pytest_report_to_serializable() -> Generator[None, Any, Any]:
    """Between processes a report can't hold the half characters that some tests are about."""
    return _encodable((yield))


def _encodable(value: Any) -> Any:
    match value:
        case str():
            return value.encode("utf-8", "backslashreplace").decode()
        case dict():
            held = cast("dict[Any, Any]", value)
            return {_encodable(key): _encodable(one) for key, one in held.items()}
        case list():
            return [_encodable(one) for one in cast("list[Any]", value)]
        case tuple():
            return tuple(_encodable(one) for one in cast("tuple[Any, ...]", value))
        case _:
            return value
