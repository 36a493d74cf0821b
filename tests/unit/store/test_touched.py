"""Receipts of the catalogue: whoever writes, whatever cascades (SPEC R01, R04)."""

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from desktop.core.errors import UnknownFolder
from desktop.core.permissions import PermissionMode
from desktop.core.records import CatalogueReceipt, CatalogueView, Snapshot
from desktop.store.log import Log
from tests.effort import examples
from tests.unit.store.builders import chunk, new_tab, open_log, put_in_bin, run


class Heard:
    def __init__(self, log: Log, receipts: list[CatalogueReceipt]) -> None:
        self.log, self.receipts = log, receipts


@pytest.fixture
def heard(tmp_path: Path) -> Iterator[Heard]:
    receipts: list[CatalogueReceipt] = []
    with open_log(tmp_path, on_catalogue_change=receipts.append) as log:
        yield Heard(log, receipts)


def followed(view: CatalogueView, receipts: list[CatalogueReceipt]) -> dict[str, Any]:
    """The catalogue as receipts leave it, by table and id."""
    found: dict[str, Any] = {
        "projects": {str(one.id): one for one in view.projects},
        "workspaces": {str(one.id): one for one in view.workspaces},
        "tabs": {one.id: one for one in view.tabs},
    }
    revision = view.revision
    for receipt in receipts:
        assert (receipt.base_revision, receipt.is_partial) == (revision, False)
        revision = receipt.revision
        found["projects"] |= {str(one.id): one for one in receipt.projects}
        found["workspaces"] |= {str(one.id): one for one in receipt.workspaces}
        found["tabs"] |= {one.id: one for one in receipt.tabs}
        for kind, id_ in receipt.gone:
            found[kind].pop(id_, None)
    found["tabs"] = {id_: tab for id_, tab in found["tabs"].items() if tab.trashed_at is None}
    return found


ACTIONS = (
    "create", "say", "rename", "close", "archive", "unarchive", "trash", "restore", "purge",
    "fork", "snapshot", "archive project", "unarchive project", "open folder", "same again",
)  # fmt: skip


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(25))
@given(actions=st.lists(st.tuples(st.sampled_from(ACTIONS), st.integers(0, 5)), max_size=12))
def test_r04_receipts_alone_lead_to_the_catalogue_that_a_read_gives(
    heard: Heard, tmp_path: Path, actions: list[tuple[str, int]]
) -> None:
    async def story() -> None:
        await asyncio.sleep(0)
        log = heard.log
        before = await log.catalogue.view()
        heard.receipts.clear()
        for action, number in actions:
            await _act(log, tmp_path, action, number)
        await asyncio.sleep(0)
        after = await log.catalogue.view()
        assert followed(before, heard.receipts) == followed(after, [])
        assert (
            before.revision + sum(one.revision - one.base_revision for one in heard.receipts)
            == after.revision
        )

    run(story())


async def _act(log: Log, folder: Path, action: str, number: int) -> None:
    catalogue = log.catalogue
    view = await catalogue.view()
    tabs = [tab.id for tab in view.tabs] + [tab.id for tab in await catalogue.trashed_tabs()]
    tab = tabs[number % len(tabs)] if tabs else ""
    if action == "open folder" or not view.workspaces:
        (folder / f"f{number}").mkdir(exist_ok=True)
        await catalogue.open_workspace(folder / f"f{number}")
        return
    workspace = view.workspaces[number % len(view.workspaces)]
    if action == "create" or not tab:
        await catalogue.create_tab(workspace.id)
        return
    trashed = (await catalogue.tab(tab)).trashed_at is not None
    match action:
        case "say":
            count = (await log.reader.page(tab, limit=1)).total
            await log.session(tab).append([chunk(f"{tab}-{count}-{len(tabs)}")])
        case "rename" | "same again":
            await catalogue.rename_tab(tab, action)
        case "close":
            await catalogue.set_tab_open(tab, is_open=False)
        case "archive":
            await catalogue.archive_tab(tab)
        case "unarchive":
            await catalogue.unarchive_tab(tab)
        case "trash":
            await catalogue.trash_tab(tab)
        case "restore":
            await catalogue.restore_tab(tab)
        case "purge" if trashed:
            await catalogue.purge_tab(tab)
        case "fork" if not trashed:
            await catalogue.fork_tab(tab, at_seq=0)
        case "archive project":
            await catalogue.archive_project(workspace.project_id)
        case "unarchive project":
            await catalogue.unarchive_project(workspace.project_id)
        case "snapshot":
            mode: PermissionMode = "ask"
            home = (await catalogue.tab(tab)).workspace_id
            await catalogue.save_snapshot(Snapshot(tab, home, "p", "m", "e", mode))
        case _:
            pass


def test_r01_what_a_deleted_project_takes_along_is_told(heard: Heard, tmp_path: Path) -> None:
    """Cascades are noted like any other change."""
    tab = new_tab(heard.log, tmp_path)
    view = run(heard.log.catalogue.view())
    heard.receipts.clear()

    async def story() -> None:
        lanes = heard.log.catalogue._lanes  # pyright: ignore[reportPrivateUsage] (nothing deletes one)
        await lanes.write(lambda connection: connection.exec_driver_sql("DELETE FROM projects"))
        await asyncio.sleep(0)

    run(story())
    (receipt,) = heard.receipts
    project, workspace = str(view.projects[0].id), str(view.workspaces[0].id)
    assert receipt.gone == (("projects", project), ("tabs", tab), ("workspaces", workspace))
    assert not receipt.is_partial


def test_a_first_write_that_fails_leaves_the_next_ones_told(heard: Heard, tmp_path: Path) -> None:
    async def story() -> None:
        with pytest.raises(UnknownFolder):
            await heard.log.catalogue.create_tab(999)
        await heard.log.catalogue.open_workspace(tmp_path)
        await asyncio.sleep(0)

    run(story())
    assert [(len(one.workspaces), one.is_partial) for one in heard.receipts] == [(1, False)]


def test_r01_a_write_that_fails_or_changes_nothing_tells_nothing(
    heard: Heard, tmp_path: Path
) -> None:
    tab = new_tab(heard.log, tmp_path)
    put_in_bin(heard.log, tab)
    heard.receipts.clear()

    async def story() -> None:
        with pytest.raises(UnknownFolder):
            await heard.log.catalogue.create_tab(999)
        await heard.log.catalogue.trash_tab(tab)
        await heard.log.catalogue.rename_tab(tab, "")
        await asyncio.sleep(0)
        assert heard.receipts == []
        await heard.log.catalogue.rename_tab(tab, "x")
        await asyncio.sleep(0)

    run(story())
    (receipt,) = heard.receipts
    assert ([one.title for one in receipt.tabs], receipt.is_partial) == (["x"], False)


def test_what_another_process_wrote_before_is_not_told_as_ones_own(
    heard: Heard, tmp_path: Path
) -> None:
    """The receipt begins behind it: who follows finds the gap."""
    tab = new_tab(heard.log, tmp_path)
    revision = run(heard.log.catalogue.revision())
    with closing(sqlite3.connect(heard.log.database)) as plain, plain:
        plain.execute("UPDATE tabs SET title = 'other'")
    heard.receipts.clear()

    async def story() -> None:
        await heard.log.catalogue.set_tab_open(tab, is_open=False)
        await asyncio.sleep(0)

    run(story())
    assert [one.base_revision for one in heard.receipts] == [revision + 1]
