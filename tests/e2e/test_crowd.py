"""Many processes on one log, as long as the suite has time for (`tests.bench contention`,
`between`)."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.timeout(300)
def test_u16_eight_writers_and_nine_readers_meet_no_error_and_a_bounded_log() -> None:
    """SPEC U16: what takes how long is for the measurement to say."""
    lines = measured("contention", seconds=5)
    assert "contention.errors 0 errors <=0 ok" in lines
    (wal,) = [line for line in lines if line.startswith("contention.wal ")]
    assert wal.endswith(" ok")


@pytest.mark.timeout(300)
def test_u16_what_two_processes_and_plain_sql_seal_is_seen_once_and_in_order() -> None:
    """How soon is for the measurement to say; ten minutes of it: `--seconds 600`."""
    lines = measured("between", seconds=30 if os.environ.get("CI") else 3)
    for name in ("lost", "doubled", "out_of_order"):
        assert f"between.{name} 0 rows <=0 ok" in lines


def measured(name: str, *, seconds: int) -> list[str]:
    """The lines of a measurement; what it said of errors is shown with a test that fails."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench", name, "--seconds", str(seconds)],
        capture_output=True,
        encoding="utf-8",
        cwd=Path(__file__).parents[2],
        check=False,
    )
    print(done.stderr)
    assert done.returncode == 0
    return done.stdout.splitlines()
