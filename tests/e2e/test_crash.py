"""A window whose process really crashes, and what the next one says of it (F9)."""

import signal
import subprocess
import sys
from pathlib import Path

from tests.e2e.nacre import Home, ended
from tests.e2e.test_second_start import wait_until, window


def test_f9_a_crash_leaves_a_trace_and_the_next_start_takes_it_as_told(home: Home) -> None:
    crashed = ended(
        subprocess.Popen(
            [sys.executable, "-m", "tests.e2e.crasher", str(home.data)],
            env=home.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        )
    )
    assert crashed.code == -signal.SIGSEGV
    logs = home.data / "logs"
    assert "in fall_over" in (logs / "crash.log").read_text("utf-8")
    assert (logs / "crash.log").stat().st_mode & 0o077 == 0
    with window(home) as following:
        wait_until((logs / "last-crash.log").exists, following)
        following.send_signal(signal.SIGTERM)
        assert ended(following).code == 0
    assert not (logs / "crash.log").exists(), "a good end leaves none"
