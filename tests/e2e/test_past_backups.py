"""Every released version's backup comes back on a clean computer, with all that was in it."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from desktop.store.log import Log
from desktop.store.plain import SCHEMA
from tests.data.make_release_backup import LARGE, ODD, RELEASES, content_of, digest
from tests.e2e.nacre import Home

ARCHIVES = sorted(RELEASES.glob("schema-*.zip"))
SMALL = 50_000


@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda path: path.stem)
def test_u17_a_past_releases_backup_is_restored_with_the_same_content(
    archive: Path, home: Home
) -> None:
    """SPEC U17: also after migrations, read through the same doors as ever."""
    facts = json.loads(archive.with_suffix(".json").read_text())
    back = home.nacre("restore", "--json", str(archive))
    assert back.code == 0, back.err
    assert json.loads(back.out)["schema"] == facts["schema"]
    doctor = home.nacre("doctor", "--json")
    assert doctor.code == 0, doctor.err
    content = asyncio.run(_content(home))
    assert digest(content) == facts["content"]


def test_u17_the_recorded_content_holds_what_a_person_would_miss(home: Home) -> None:
    """So that the digest of an empty log can't be what is compared."""
    assert home.nacre("restore", str(ARCHIVES[0])).code == 0
    content = asyncio.run(_content(home))
    text = json.dumps(content, ensure_ascii=False)
    kinds = {row[5] for tab in content["tabs"].values() for row in tab["rows"]}
    assert kinds == {"text", "thinking", "tool_call", "tool_result", "opaque", "error", "system"}
    assert len(content["tabs"]) == 4
    assert json.dumps(ODD, ensure_ascii=False)[1:-1] in text
    assert {tab["trashed"] is None for tab in content["tabs"].values()} == {True, False}
    assert {tab["forkedFrom"] is None for tab in content["tabs"].values()} == {True, False}
    assert content["settings"]["a.later.version"] == "kept as it is"
    assert len(content["blobs"]) == 1
    assert all(name == found for name, found in content["blobs"].items())
    assert LARGE[:20] in text


def test_there_is_a_small_backup_of_every_past_schema() -> None:
    """Whoever raises the schema keeps the last one: `python -m tests.data.make_release_backup`."""
    there = {path.stem for path in ARCHIVES}
    assert {f"schema-{number}" for number in range(1, SCHEMA)} <= there
    assert there
    assert all(path.stat().st_size < SMALL for path in ARCHIVES)


async def _content(home: Home) -> dict[str, Any]:
    log = await asyncio.to_thread(
        Log.open,
        home.database,
        blobs=home.data / "blobs",
        run=home.data / "run",
        new_id=lambda: "id",
        now_ms=lambda: 0,
    )
    try:
        return await content_of(log, home.data / "blobs")
    finally:
        await log.close()
