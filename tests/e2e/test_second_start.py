"""A second `nacre` on a data folder, with real processes (F7)."""

import contextlib
import signal
import socket
import sqlite3
import subprocess
import time
from collections.abc import Callable, Generator
from dataclasses import replace
from pathlib import Path

from tests.e2e.nacre import SECONDS, Home, ended, kill


def test_f7_a_second_start_hands_over_and_a_killed_window_leaves_nothing_in_the_way(
    home: Home,
) -> None:
    with window(home) as first:
        second = home.nacre(str(home.workspace))
        assert (second.code, second.err.replace(RAISE, "")) == (0, "")
        wait_until(lambda: folders(home) == [str(home.workspace)], first)
        kill(first)
        assert sockets(home), "it had no time to clear away"
    with window(home) as again:
        assert home.nacre().code == 0
        again.send_signal(signal.SIGTERM)
        assert ended(again).code == 0
    assert folders(home) == [str(home.workspace)], "a start without a place opens none"
    assert sockets(home) == []


def test_f7_two_data_folders_run_side_by_side_and_a_hung_window_is_named(home: Home) -> None:
    other = Home(home.root / "other")
    other.root.mkdir()
    other = replace(other, extra={"XDG_RUNTIME_DIR": str(home.runtime)})
    with window(home) as one, window(other, beside=1) as two:
        assert one.poll() is None
        assert two.poll() is None
        one.send_signal(signal.SIGSTOP)
        found = home.nacre()
        one.send_signal(signal.SIGCONT)
        assert found.code == 1
        assert found.err.startswith("nacre: Nacre is open on this data folder already")
        assert len(found.err.splitlines()) == 1
        assert other.nacre().code == 0


RAISE = "This plugin does not support raise()\n"


@contextlib.contextmanager
def window(home: Home, *, beside: int = 0) -> Generator["subprocess.Popen[str]"]:
    """A window that hears second starts, besides those of other data folders."""
    process = home.start()
    runtime = Path(home.environment()["XDG_RUNTIME_DIR"])
    try:
        wait_until(lambda: sum(map(is_heard, runtime.iterdir())) > beside, process)
        yield process
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()


def folders(home: Home) -> list[str]:
    """The folders that the window has opened."""
    try:
        return [str(row["directory"]) for row in home.rows("select directory from workspaces")]
    except sqlite3.OperationalError:
        return []  # it is still being made


def sockets(home: Home) -> list[Path]:
    return list(home.runtime.iterdir())


def is_heard(where: Path) -> bool:
    """Whether somebody listens there."""
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            connection.connect(str(where))
        except OSError:
            return False
        return True


def wait_until(holds: Callable[[], object], process: "subprocess.Popen[str]") -> None:
    """Waits for a state of a window that is to live meanwhile."""
    deadline = time.monotonic() + SECONDS
    while not holds():
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline
        time.sleep(0.05)
