"""Many processes on one log, as long as the suite has time for (`tests.bench contention`)."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.timeout(300)
def test_u16_eight_writers_and_nine_readers_meet_no_error_and_a_bounded_log() -> None:
    """SPEC U16: what takes how long is for the measurement to say."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench", "contention", "--seconds", "10"],
        capture_output=True,
        encoding="utf-8",
        cwd=Path(__file__).parents[2],
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert "contention.errors 0 errors <=0 ok" in lines, done.stderr
    (wal,) = [line for line in lines if line.startswith("contention.wal ")]
    assert wal.endswith(" ok")
