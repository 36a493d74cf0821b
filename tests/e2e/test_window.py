"""The window as a real process: what it paints, how it ends, and a second process beside it."""

import contextlib
import json
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from tests.e2e.nacre import SECONDS, Home, ended
from tests.fakes.messages_api import MessagesServer, reply, text, thinking, tool_use

SHORT = 6.0  # seconds that the program may take to end: three, and as many on a busy machine
WORK = "touch started; sleep 60 & sleep 61"


def test_the_selftest_paints_the_last_conversation_and_tells_its_text(home: Home) -> None:
    picture = home.root / "window.png"
    script = [reply(thinking("A quiet thought."), text("Layer on **layer**."))]
    with MessagesServer(script) as server:
        there = replace(home, base_url=server.base_url)
        assert there.run("How is nacre made?").code == 0
        found = there.nacre("--selftest-window", str(picture))
    assert found.code == 0, found.err
    told = picture.with_name("window.png.txt").read_text("utf-8")
    assert told.splitlines() == [
        "You: How is nacre made?",
        "Thinking: A quiet thought.",
        "Answer: Layer on **layer**.",
    ]
    width, height = size_of_png(picture)
    assert width > 600
    assert height > 400
    assert_no_traceback(home, found.err)


def test_the_selftest_of_an_empty_home_paints_the_first_page(home: Home) -> None:
    picture = home.root / "window.png"
    found = replace(home, key="").nacre("--selftest-window", str(picture))
    assert found.code == 0, found.err
    assert size_of_png(picture)[0] > 600
    assert_no_traceback(home, found.err)


@pytest.mark.xvfb
def test_u32_sigterm_in_mid_turn_ends_everything_within_three_seconds(
    home: Home, xvfb: str
) -> None:
    """SPEC U32: exit code 0, the turn sealed, no process left, nothing that looks like a fault."""
    desk = replace(home, extra={"QT_QPA_PLATFORM": "xcb", "DISPLAY": xvfb})
    with working_window(desk) as window:
        children = children_at_work(window)
        began = time.monotonic()
        window.send_signal(signal.SIGTERM)
        found = ended(window)
        took = time.monotonic() - began
        _, alive = psutil.wait_procs(children, timeout=5)
    assert found.code == 0, found.err
    assert took < SHORT
    assert alive == []
    assert outcomes(home) == ["done", "stopped"]
    assert home.nacre("doctor").code == 0
    assert_no_traceback(home, found.err)


def test_a_conversation_that_runs_in_one_process_is_refused_in_another(home: Home) -> None:
    """DESIGN §4, leases: the second process says who works there, and changes nothing."""
    with working_window(home) as window:
        before = [row["id"] for row in home.rows()]
        tab = home.rows("select id from tabs")[0]["id"]
        found = home.nacre("run", "--tab", tab, "me too")
        assert [row["id"] for row in home.rows()] == before
        window.send_signal(signal.SIGTERM)
        assert ended(window).code == 0
    assert found.code == 1
    assert "Traceback" not in found.err
    assert "another" in found.err.lower()
    assert outcomes(home) == ["done", "stopped"]


@contextlib.contextmanager
def working_window(home: Home) -> Generator["subprocess.Popen[str]"]:
    """A window in whose conversation a command runs that takes a minute."""
    script = [
        reply(text("Hello.")),
        reply(tool_use("shell", {"command": WORK, "timeout": 120})),
        reply(text("Done.")),
    ]
    with MessagesServer(script) as server:
        there = replace(home, base_url=server.base_url)
        first = there.run("hello", "--permission", "auto")
        assert first.code == 0, first.err
        window = subprocess.Popen(
            [sys.executable, "-m", "tests.e2e.typist", str(home.data), "do the work"],
            env=there.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        )
        try:
            wait_until_exists(home.workspace / "started", window)
            yield window
        finally:
            if window.poll() is None:
                window.kill()
                print(window.communicate()[1])


def children_at_work(window: "subprocess.Popen[str]") -> list[psutil.Process]:
    """All processes below the window, once the command has come to its waiting."""
    deadline = time.monotonic() + SECONDS
    while True:
        found = psutil.Process(window.pid).children(recursive=True)
        if any("sleep" in name_of(one) for one in found):
            return found
        assert time.monotonic() < deadline, [name_of(one) for one in found]
        time.sleep(0.05)


def name_of(process: psutil.Process) -> str:
    """'' for one that has just ended."""
    try:
        return process.name()
    except psutil.NoSuchProcess:
        return ""


def wait_until_exists(path: Path, process: "subprocess.Popen[str]") -> None:
    """Waits for a file that the process is to make."""
    deadline = time.monotonic() + SECONDS
    while not path.exists():
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline, f"{path} did not appear"
        time.sleep(0.05)


def outcomes(home: Home) -> list[str]:
    """How the turns ended, in order."""
    return [
        json.loads(row["data_json"])["outcome"]
        for row in home.rows()
        if row["type"] == "system" and "turn_end" in row["data_json"]
    ]


def assert_no_traceback(home: Home, err: str) -> None:
    """Nothing that only a programmer would read, neither on the terminal nor in the log."""
    assert "Traceback" not in err
    for log in (home.data / "logs").iterdir():
        assert "Traceback" not in log.read_text("utf-8"), log


def size_of_png(path: Path) -> tuple[int, int]:
    """Width and height as the file's head says."""
    head = path.read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", head[16:24])
    return width, height
