"""The kill campaign at the size that the suite takes (`python -m tests.bench kill`)."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

RUNS = 40


@pytest.mark.skipif(os.name != "posix", reason="kills by signal")
@pytest.mark.timeout(600)
def test_killed_at_any_moment_nothing_that_was_promised_is_lost() -> None:
    """SPEC C01, C09, C15, A07, S02, U12, U17, U21: conversations, migrations, backups."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench", "kill", "--runs", str(RUNS), "--seed", "1"],
        capture_output=True,
        encoding="utf-8",
        cwd=Path(__file__).parents[2],
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert "kill.violations 0 violations <=0 ok" in lines, done.stderr
    hits = sum(int(line.split()[1]) for line in lines if line.startswith("kill.hits."))
    assert hits >= RUNS // 2, done.stdout
