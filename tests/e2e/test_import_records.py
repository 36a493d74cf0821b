"""`nacre import-records` as a person runs it: P03, P13, DESIGN.md §9."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.data.make_legacy_records import agent, write_folder, write_records
from tests.e2e.nacre import Home

NOT_NEEDED = ("anthropic", "httpx2", "keyring", "secretstorage", "PySide6", "desktop.wire")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home without a key: nothing here asks for one."""
    return Home(tmp_path, key="")


def test_legacy_records_are_imported_reported_and_then_found(home: Home) -> None:
    """P03: one corrupt file is named with exit code 1; the second import has nothing to do."""
    source = write_folder(home.root / "source", places=home.root / "places", agents=60)
    broken = source / "agents" / "0" / "agent-00007.json"
    whole = broken.read_bytes()
    broken.write_bytes(whole[:40])

    first = home.nacre("import-records", str(source), "--json")

    assert (first.code, first.err) == (1, "")
    [report] = [json.loads(line) for line in first.out.splitlines()]
    assert report["projects"] == {"imported": 6, "alreadyThere": 2, "skipped": 0}
    assert report["workspaces"] == {"imported": 12, "alreadyThere": 0, "skipped": 0}
    assert report["agents"] == {"imported": 59, "alreadyThere": 0, "skipped": 1}
    [skip] = report["skips"]
    assert skip["path"] == "agents/0/agent-00007.json"
    assert skip["reason"].startswith("is not JSON")
    assert len(home.nacre("tabs").out.splitlines()) == 59
    assert not home.rows("select * from agent_snapshots where lifecycle = 'running'")

    broken.write_bytes(whole)
    second = home.nacre("import-records", str(source))

    assert (second.code, second.err) == (0, "")
    assert "agents: 1 imported, 59 already there, 0 skipped" in second.out
    [copy] = home.data.glob("nacre.db.before-import-*")
    assert str(copy) in second.out

    third = home.nacre("import-records", str(source))

    assert third.code == 0
    assert "agents: 0 imported, 60 already there, 0 skipped" in third.out
    assert list(home.data.glob("nacre.db.before-import-*")) == [copy]


def test_a_skip_is_told_on_one_line_that_can_not_steer_a_terminal(home: Home) -> None:
    source = write_records(
        home.root / "source",
        agents={"a\x1b[2J\n.json": agent(1, "relative\x1b]0;x\x07\nplace")},
    )

    ended = home.nacre("import-records", str(source))

    assert ended.code == 1
    assert "\x1b" not in ended.out and "\x07" not in ended.out
    [line] = [one for one in ended.out.splitlines() if one.startswith("skipped")]
    assert "is not the full path of a folder" in line


@pytest.mark.parametrize("name", ["missing", "file", "empty"])
def test_a_folder_without_records_is_bad_use_and_writes_no_record(home: Home, name: str) -> None:
    (home.root / "file").write_text("", encoding="utf-8")
    (home.root / "empty").mkdir()

    ended = home.nacre("import-records", str(home.root / name))

    assert ended.code == 2
    assert ended.out == ""
    assert ended.err.startswith("nacre: ") and name in ended.err
    assert "Traceback" not in ended.err


def test_no_provider_keyring_or_window_is_loaded() -> None:
    code = (
        "import sys; from desktop.headless import importing;"
        f"print([one for one in {NOT_NEEDED!r} if one in sys.modules])"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert ended.stdout.strip() == "[]"
