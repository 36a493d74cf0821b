"""What is given away of a fault: where it was, nothing of what was worked on (F9)."""

import logging
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from desktop.diagnostics import Hooks, LogFile, Redaction
from desktop.headless.crashes import CrashFile, crash_left
from desktop.headless.last_errors import MOST, last_errors
from desktop.headless.report import about_window, shortened, written
from desktop.paths import DataFolder
from tests.architecture.source import ROOT

SAID = "my secret plan"
NOW = datetime(2026, 11, 30, tzinfo=UTC)
DIES = """
import os, sys, faulthandler
from pathlib import Path
from desktop.headless.crashes import CrashFile
crashes = CrashFile(Path(sys.argv[1]))
assert not crashes.begin()
def where_it_dies(what):
    faulthandler._sigsegv() if sys.argv[2] == "segv" else os.abort()
where_it_dies("my secret plan")
"""


@pytest.fixture
def logs(tmp_path: Path) -> Iterator[Path]:
    """A folder with a log that is written to."""
    log = LogFile(tmp_path, Redaction())
    yield tmp_path
    log.close()


def fail(said: str) -> None:
    try:
        raise LookupError(said)
    except LookupError as error:
        raise ValueError(f"bad: {said}") from error


def test_f9_the_last_errors_say_where_and_what_kind_and_no_value(logs: Path) -> None:
    hooks = Hooks(lambda sentence, detail: None, Redaction())
    try:
        fail(f"{SAID}\nValueError: {SAID}")
    except ValueError as error:
        hooks.report(error, where="the loop")
    logging.getLogger("desktop.store").warning("could not start: %s", SAID)
    logging.getLogger("some.library").warning(SAID)
    logging.getLogger("desktop.app").info("started")
    found = "\n".join(last_errors(logs))
    assert SAID not in found
    assert "ValueError" in found
    assert "LookupError" in found
    assert f"    {Path(__file__).name}:" in found
    assert "in fail" in found
    assert "desktop.store: could not start: …" in found
    assert f"some.library: {Path(__file__).name}:" in found
    assert "started" not in found


def test_f9_lines_of_an_older_version_are_left_out(tmp_path: Path) -> None:
    """They said what was in an error."""
    (tmp_path / "nacre.log").write_text(
        f"2026-11-01 10:00:00,123 ERROR 7 MainThread desktop.x in {SAID}\n"
        f'Traceback (most recent call last):\n  File "x.py", line 1, in x\nValueError: {SAID}\n'
    )
    assert last_errors(tmp_path) == []


def test_f9_only_the_last_errors_are_told_and_a_missing_log_has_none(
    logs: Path, tmp_path: Path
) -> None:
    for number in range(MOST + 5):
        logging.getLogger("desktop.app").warning("number %d", number)
    found = last_errors(logs)
    assert len(found) == MOST
    assert found[-1].endswith(f": number {MOST + 4}")
    assert last_errors(tmp_path / "nowhere") == []


@pytest.mark.parametrize("how", ["segv", "abort"])
def test_f9_a_crash_leaves_its_place_and_is_told_once(tmp_path: Path, how: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", DIES, str(tmp_path), how], capture_output=True, check=False, cwd=ROOT
    )
    assert done.returncode < 0
    crashes = CrashFile(tmp_path)
    assert crashes.begin()
    crashes.end()
    when, trace = crash_left(tmp_path)
    assert when.startswith("20")
    assert "Fatal Python error" in trace
    assert "in where_it_dies" in trace
    assert SAID not in trace
    again = CrashFile(tmp_path)
    assert not again.begin()
    again.end()
    assert crash_left(tmp_path)[1] == trace, "it is kept for a report"


def test_f9_an_error_that_ends_the_program_is_a_crash_and_its_words_are_left_out(
    tmp_path: Path,
) -> None:
    crashes = CrashFile(tmp_path)
    assert not crashes.begin()
    try:
        fail(SAID)
    except ValueError as error:
        crashes.write(error)
    crashes.end()
    following = CrashFile(tmp_path)
    assert following.begin()
    following.end()
    trace = crash_left(tmp_path)[1]
    assert "ValueError\n" in trace
    assert "LookupError\n" in trace
    assert "in fail" in trace
    assert SAID not in trace


def test_f9_a_good_end_leaves_nothing_and_a_folder_without_logs_stops_nobody(
    tmp_path: Path,
) -> None:
    crashes = CrashFile(tmp_path)
    assert not crashes.begin()
    crashes.end()
    assert list(tmp_path.iterdir()) == []
    nowhere = CrashFile(tmp_path / "nowhere" / "logs")
    assert not nowhere.begin()
    nowhere.end()


async def _report(folder: DataFolder) -> dict[str, object]:
    return await about_window(folder, None)


def test_f9_the_report_stands_without_an_open_log_and_names_no_home(tmp_path: Path) -> None:
    import asyncio

    folder = DataFolder(tmp_path / "anna" / "data")
    folder.prepare()
    (folder.logs / "last-crash.log").write_text(f'File "{tmp_path}/anna/x.py"\nsk-ant-api03-abcd')
    report = asyncio.run(_report(folder))
    text = written(report, folder.logs, home=tmp_path / "anna", now=NOW)
    assert "dataFolder: ~/data\n" in text
    assert 'File "~/x.py"' in text
    assert "anna" not in text
    assert "sk-ant" not in text
    assert "log: not open" in text
    assert "Last errors, without what was in them\nnone" in text


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("/home/anna/x", "~/x"),
        ("/home/anna", "~"),
        ("'/home/anna':", "'~':"),
        ("/home/annabel/x", "/home/annabel/x"),
        ("/home/anna-old/x", "/home/anna-old/x"),
    ],
)
def test_f9_only_the_home_folder_itself_is_shortened(text: str, short: str) -> None:
    assert shortened(text, Path("/home/anna")) == short
    assert shortened(text, Path("/")) == text
