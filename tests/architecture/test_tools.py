"""The formatter, the linter and the type checker are content with the whole tree."""

import os
import subprocess
import sys

import pytest

from tests.architecture.source import ROOT


@pytest.mark.parametrize("arguments", [["check"], ["format", "--check"]], ids=" ".join)
def test_ruff_is_content(arguments: list[str]) -> None:
    command = [sys.executable, "-m", "ruff", *arguments, "--no-cache", str(ROOT)]
    result = subprocess.run(command, capture_output=True, encoding="utf-8", check=False, cwd=ROOT)
    assert result.returncode == 0, result.stdout + result.stderr


# A minute of work, three on a busy machine: `poe types` at the desk, always in CI.
@pytest.mark.skipif("CI" not in os.environ, reason="the type checker takes a minute; CI runs it")
@pytest.mark.timeout(600)
def test_the_type_checker_is_content() -> None:
    command = [sys.executable, "-m", "basedpyright", "--pythonpath", sys.executable]
    result = subprocess.run(command, capture_output=True, encoding="utf-8", check=False, cwd=ROOT)
    assert result.returncode == 0, result.stdout + result.stderr
