"""The archive and the bin, and folders that are made on purpose: one contract, both backends."""

import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from desktop.core.errors import InBin, LeaseHeld, UnknownConversation, UnknownFolder
from desktop.core.records import CatalogueView, Snapshot, Tab
from desktop.store.log import Log
from tests.fakes.stores import MemoryLog
from tests.unit.store.builders import AnyLog, chunk, open_any, open_log, run, tool_turn


@pytest.fixture(params=["sql", "memory"])
def log(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[AnyLog]:
    with open_any(request.param, tmp_path) as made:
        yield made


@pytest.fixture
def place(tmp_path: Path) -> Path:
    folder = tmp_path / "place"
    folder.mkdir()
    (folder / "file.txt").write_text("mine")
    return folder


class Shop:
    """Two projects: `alpha` with two workspaces of two conversations each, `beta` with one."""

    def __init__(self, log: AnyLog, place: Path) -> None:
        self.catalogue = log.catalogue
        for name in ("alpha", "alpha-tree", "beta"):
            (place / name).mkdir()
        alpha = run(self.catalogue.create_project(place / "alpha"))
        beta = run(self.catalogue.create_project(place / "beta"))
        self.alpha, self.beta = alpha.id, beta.id
        make = self.catalogue.create_workspace
        self.main = run(make(alpha.id, place / "alpha", kind="checkout")).id
        self.tree = run(make(alpha.id, place / "alpha-tree", kind="worktree")).id
        self.other = run(make(beta.id, place / "beta", kind="checkout")).id
        self.tabs = [self.tab(one) for one in (self.main, self.main, self.tree, self.tree)]
        self.elsewhere = self.tab(self.other)

    def tab(self, workspace_id: int) -> str:
        return run(self.catalogue.create_tab(workspace_id)).id

    def view(self) -> CatalogueView:
        return run(self.catalogue.view())

    def archived(self) -> tuple[set[int], set[int], set[str]]:
        """What is archived: projects, workspaces, conversations."""
        view = self.view()
        return (
            {one.id for one in view.projects if one.archived_at is not None},
            {one.id for one in view.workspaces if one.archived_at is not None},
            {one.id for one in view.tabs if one.archived_at is not None},
        )


@pytest.fixture
def shop(log: AnyLog, place: Path) -> Shop:
    return Shop(log, place)


def child(log: AnyLog, parent: str, workspace_id: int) -> str:
    """A conversation that an agent began from another."""
    return run(log.catalogue.create_tab(workspace_id, parent=parent)).id


def plainly(log: Log, statement: str, *values: object) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(log.database)) as plain, plain:
        plain.execute("PRAGMA foreign_keys=ON")
        return plain.execute(statement, values).fetchall()


# Folders that are made on purpose.


def test_P01_a_project_that_is_there_is_the_one_that_is_made(log: AnyLog, place: Path) -> None:
    (place / ".git").mkdir()
    made = run(log.catalogue.create_project(place))
    assert (made.directory, made.display_name, made.kind) == (str(place), "place", "git")
    link = place.with_name("link")
    link.symlink_to(place)
    for way in (place, link, place / ".." / "place", Path(f"{place}/"), Path(f"/{place}")):
        assert run(log.catalogue.create_project(way)) == made
    opened = run(log.catalogue.open_workspace(place))
    assert opened.project_id == made.id
    assert run(log.catalogue.view()).projects == (made,)


def test_P01_a_workspace_that_is_there_is_the_one_that_is_made(
    log: AnyLog, place: Path, shop: Shop
) -> None:
    make = log.catalogue.create_workspace
    before = run(log.catalogue.view())
    again = run(make(shop.alpha, place / "alpha" / "..", kind="worktree"))
    assert (again.directory, again.kind) == (str(place), "worktree")
    assert run(make(shop.alpha, place, kind="checkout")) == again
    assert run(log.catalogue.view()).workspaces == (*before.workspaces, again)


def test_a_folder_of_another_project_is_refused_by_name(log: AnyLog, place: Path) -> None:
    shop = Shop(log, place)
    with pytest.raises(UnknownFolder) as refused:
        run(log.catalogue.create_workspace(shop.beta, place / "alpha", kind="checkout"))
    assert "project" in str(refused.value)
    with pytest.raises(UnknownFolder):
        run(log.catalogue.create_workspace(99, place, kind="checkout"))
    with pytest.raises(UnknownFolder):
        run(log.catalogue.create_workspace(shop.beta, place / "nowhere", kind="checkout"))
    with pytest.raises(UnknownFolder):
        run(log.catalogue.create_project(place / "file.txt"))


def test_P14_a_conversation_is_made_in_the_workspace_that_was_named(
    log: AnyLog, place: Path, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever the program was started, and whatever folder lies in which."""
    monkeypatch.chdir(place / "beta")
    before = shop.view()
    made = run(log.catalogue.create_tab(shop.tree))
    assert made.workspace_id == shop.tree
    after = shop.view()
    assert (after.projects, after.workspaces) == (before.projects, before.workspaces)


def test_P01_a_snapshot_without_its_workspace_is_refused(log: AnyLog, shop: Shop) -> None:
    snapshot = Snapshot(shop.tabs[0], 99, "anthropic", "model-1", "high", "ask")
    for workspace_id in (99, shop.other):
        with pytest.raises(UnknownFolder):
            run(log.catalogue.save_snapshot(replace(snapshot, workspace_id=workspace_id)))
    assert run(log.catalogue.snapshot(shop.tabs[0])) is None


def test_P01_deleting_a_project_takes_its_workspaces_and_snapshots_along(
    tmp_path: Path, place: Path
) -> None:
    with open_any("sql", tmp_path) as log:
        assert isinstance(log, Log)
        shop = Shop(log, place)
        tabs = [*shop.tabs, shop.elsewhere]
        for tab in tabs:
            workspace_id = run(log.catalogue.tab(tab)).workspace_id
            run(log.catalogue.save_snapshot(Snapshot(tab, workspace_id, "p", "m", "", "ask")))
            run(log.session(tab).append(tool_turn_of(tab)))
        plainly(log, "DELETE FROM projects WHERE id = ?", shop.alpha)
        view = shop.view()
        assert [one.id for one in view.projects] == [shop.beta]
        assert [one.id for one in view.workspaces] == [shop.other]
        assert [one.id for one in view.tabs] == [shop.elsewhere]
        assert plainly(log, "SELECT agent_id FROM agent_snapshots") == [(shop.elsewhere,)]
        assert plainly(log, "SELECT DISTINCT tab_id FROM chunks") == [(shop.elsewhere,)]


def tool_turn_of(tab: str) -> list[Any]:
    return [replace(one, id=f"{tab}-{one.id}") for one in tool_turn()]


# The archive.


def test_P05_an_archived_workspace_takes_its_conversations_along_and_brings_them_back(
    log: AnyLog, shop: Shop, place: Path
) -> None:
    run(log.catalogue.set_tab_open(shop.tabs[0], is_open=False))
    before = shop.view()
    folders = sorted(place.rglob("*"))

    archived = run(log.catalogue.archive_workspace(shop.main))

    assert archived.archived_at is not None
    assert shop.archived() == (set(), {shop.main}, set(shop.tabs[:2]))
    assert sorted(place.rglob("*")) == folders
    back = run(log.catalogue.unarchive_workspace(shop.main))
    assert back.archived_at is None
    after = shop.view()
    assert replace(after, revision=0) == replace(before, revision=0)


def test_P05_an_archived_project_takes_everything_along_and_brings_it_back(
    log: AnyLog, shop: Shop
) -> None:
    before = shop.view()
    run(log.catalogue.archive_project(shop.alpha))
    assert shop.archived() == ({shop.alpha}, {shop.main, shop.tree}, set(shop.tabs))
    run(log.catalogue.unarchive_project(shop.alpha))
    assert replace(shop.view(), revision=0) == replace(before, revision=0)


def test_P05_what_was_archived_alone_before_stays_archived(log: AnyLog, shop: Shop) -> None:
    run(log.catalogue.archive_tab(shop.tabs[0]))
    run(log.catalogue.archive_workspace(shop.main))
    run(log.catalogue.archive_project(shop.alpha))

    run(log.catalogue.unarchive_project(shop.alpha))
    assert shop.archived() == (set(), {shop.main}, set(shop.tabs[:2]))
    run(log.catalogue.unarchive_workspace(shop.main))
    assert shop.archived() == (set(), set(), {shop.tabs[0]})
    run(log.catalogue.unarchive_tab(shop.tabs[0]))
    assert shop.archived() == (set(), set(), set())


@pytest.mark.parametrize("kind", ["sql", "memory"])
def test_P05_archiving_twice_in_one_millisecond_is_told_apart(
    kind: str, tmp_path: Path, place: Path
) -> None:
    """A clock that stands still joins nothing that did not go together."""
    with open_any(kind, tmp_path, now_ms=lambda: 5_000) as log:
        shop = Shop(log, place)
        run(log.catalogue.archive_tab(shop.tabs[0]))
        run(log.catalogue.archive_workspace(shop.main))
        run(log.catalogue.archive_project(shop.alpha))
        run(log.catalogue.unarchive_project(shop.alpha))
        assert shop.archived() == (set(), {shop.main}, set(shop.tabs[:2]))
        run(log.catalogue.unarchive_workspace(shop.main))
        assert shop.archived() == (set(), set(), {shop.tabs[0]})


def test_P05_archiving_and_bringing_back_can_be_repeated(log: AnyLog, shop: Shop) -> None:
    catalogue = log.catalogue
    for archive, unarchive, id_ in (
        (catalogue.archive_project, catalogue.unarchive_project, shop.alpha),
        (catalogue.archive_workspace, catalogue.unarchive_workspace, shop.main),
    ):
        first = run(archive(id_))
        view = shop.view()
        assert run(archive(id_)) == first
        assert shop.view() == view
        run(unarchive(id_))
        view = shop.view()
        run(unarchive(id_))
        assert shop.view() == view
    first_tab = run(catalogue.archive_tab(shop.tabs[0]))
    view = shop.view()
    assert run(catalogue.archive_tab(shop.tabs[0])) == first_tab
    assert shop.view() == view
    for _ in range(2):
        assert run(catalogue.unarchive_tab(shop.tabs[0])).archived_at is None


def test_a_conversation_that_comes_back_brings_its_folder_and_not_its_neighbours(
    log: AnyLog, shop: Shop
) -> None:
    run(log.catalogue.archive_project(shop.alpha))
    run(log.catalogue.unarchive_tab(shop.tabs[2]))
    assert shop.archived() == (set(), {shop.main}, {*shop.tabs[:2], shop.tabs[3]})


def test_a_workspace_that_comes_back_brings_its_project(log: AnyLog, shop: Shop) -> None:
    run(log.catalogue.archive_project(shop.alpha))
    run(log.catalogue.unarchive_workspace(shop.tree))
    assert shop.archived() == (set(), {shop.main}, set(shop.tabs[:2]))


def test_who_asks_for_an_archived_folder_gets_it_back_without_its_conversations(
    log: AnyLog, shop: Shop, place: Path
) -> None:
    catalogue = log.catalogue

    def ask(number: int) -> None:
        if number == 0:
            assert run(catalogue.open_workspace(place / "alpha")).archived_at is None
        elif number == 1:
            made = run(catalogue.create_workspace(shop.alpha, place / "alpha", kind="checkout"))
            assert made.archived_at is None
        elif number == 2:
            run(catalogue.create_tab(shop.main))
        else:
            assert run(catalogue.fork_tab(shop.tabs[0], at_seq=0)).archived_at is None

    for number in range(4):
        run(catalogue.archive_project(shop.alpha))
        ask(number)
        projects, workspaces, tabs = shop.archived()
        assert (projects, workspaces) == (set(), {shop.tree})
        assert tabs >= set(shop.tabs)
    run(catalogue.archive_project(shop.alpha))
    assert run(catalogue.create_project(place / "alpha")).archived_at is None
    assert shop.archived()[1] == {shop.main, shop.tree}


def test_P06_closing_never_archives_and_archiving_keeps_what_was_open(
    log: AnyLog, shop: Shop
) -> None:
    closed = run(log.catalogue.set_tab_open(shop.tabs[0], is_open=False))
    assert (closed.archived_at, closed.trashed_at) == (None, None)
    run(log.catalogue.archive_workspace(shop.main))
    view = {one.id: one for one in shop.view().tabs}
    assert [view[one].is_open for one in shop.tabs[:2]] == [False, True]
    run(log.catalogue.unarchive_workspace(shop.main))
    view = {one.id: one for one in shop.view().tabs}
    assert [view[one].is_open for one in shop.tabs[:2]] == [False, True]


def test_P06_an_archived_conversation_is_listed_read_and_found(log: AnyLog, shop: Shop) -> None:
    run(log.session(shop.tabs[0]).append([chunk("u", "needle")]))
    run(log.catalogue.archive_project(shop.alpha))
    assert shop.tabs[0] in {one.id for one in shop.view().tabs}
    assert run(log.reader.page(shop.tabs[0], limit=5)).total == 1
    assert [hit.tab_id for hit in run(log.search.find("needle", limit=5)).hits] == [shop.tabs[0]]


def test_P05_the_rows_are_the_same_after_the_archive_each_once(log: AnyLog, shop: Shop) -> None:
    tab = shop.tabs[0]
    rows = run(log.session(tab).append(tool_turn())).chunks
    for _ in range(2):
        run(log.catalogue.archive_workspace(shop.main))
        run(log.catalogue.unarchive_workspace(shop.main))
    assert run(log.reader.page(tab, limit=50)).rows == rows


def test_P05_the_agent_of_what_is_put_away_is_closed(log: AnyLog, shop: Shop) -> None:
    """Also one of which a crash left noted that it runs."""
    tab = shop.tabs[0]
    kept = Snapshot(tab, shop.main, "p", "m", "high", "ask", lifecycle="running")
    for archive, unarchive in (
        (log.catalogue.archive_workspace(shop.main), log.catalogue.unarchive_workspace(shop.main)),
        (log.catalogue.trash_tab(tab), log.catalogue.restore_tab(tab)),
    ):
        run(log.catalogue.save_snapshot(kept))
        run(archive)
        assert run(log.catalogue.snapshot(tab)) == replace(kept, lifecycle="closed")
        run(unarchive)
        assert run(log.catalogue.snapshot(tab)) == replace(kept, lifecycle="idle")


def test_P04_a_snapshot_keeps_title_creation_and_archive_state(log: AnyLog, shop: Shop) -> None:
    tab = shop.tabs[0]
    kept = Snapshot(tab, shop.main, "p", "m", "", "ask")
    run(log.catalogue.save_snapshot(kept))
    run(log.catalogue.rename_tab(tab, "Mine"))
    archived = run(log.catalogue.archive_tab(tab))
    run(log.catalogue.save_snapshot(replace(kept, model="other")))
    assert run(log.catalogue.tab(tab)) == archived
    assert (archived.title, archived.archived_at is None) == ("Mine", False)


def test_P04_a_snapshot_keeps_its_own_creation_time(tmp_path: Path, place: Path) -> None:
    with open_any("sql", tmp_path) as log:
        assert isinstance(log, Log)
        shop = Shop(log, place)
        kept = Snapshot(shop.tabs[0], shop.main, "p", "m", "", "ask")
        times: list[tuple[Any, ...]] = []
        for model in ("m", "n"):
            run(log.catalogue.save_snapshot(replace(kept, model=model)))
            times += plainly(log, "SELECT created_at, updated_at FROM agent_snapshots")
        assert times[0][0] == times[0][1] == times[1][0] < times[1][1]


def test_P04_a_name_that_was_given_later_stays(log: AnyLog, shop: Shop) -> None:
    """The name a program thinks of goes only to a conversation without one."""
    tab = shop.tabs[0]
    assert run(log.catalogue.name_tab(tab, "First words")).title == "First words"
    run(log.catalogue.rename_tab(tab, "Mine"))
    assert run(log.catalogue.name_tab(tab, "Other words")).title == "Mine"
    with pytest.raises(UnknownConversation):
        run(log.catalogue.name_tab("nobody", "x"))


# The bin.


def test_what_is_in_the_bin_is_out_of_lists_and_search_and_wholly_there(
    log: AnyLog, shop: Shop
) -> None:
    tab = shop.tabs[0]
    rows = run(log.session(tab).append([chunk("u", "needle")])).chunks
    before = shop.view()

    thrown = run(log.catalogue.trash_tab(tab))

    assert thrown.trashed_at is not None
    assert tab not in {one.id for one in shop.view().tabs}
    assert run(log.search.find("needle", limit=5)).hits == ()
    assert run(log.catalogue.trashed_tabs()) == (thrown,)
    assert run(log.catalogue.tab(tab)) == thrown
    assert run(log.reader.page(tab, limit=5)).rows == rows
    assert run(log.catalogue.trash_tab(tab)) == thrown
    for _ in range(2):
        assert run(log.catalogue.restore_tab(tab)) == replace(thrown, trashed_at=None)
    assert replace(shop.view(), revision=0) == replace(before, revision=0)
    assert [hit.tab_id for hit in run(log.search.find("needle", limit=5)).hits] == [tab]
    assert run(log.catalogue.trashed_tabs()) == ()


def test_the_bin_shows_what_was_thrown_away_last_first(log: AnyLog, shop: Shop) -> None:
    order = [shop.tabs[1], shop.elsewhere, shop.tabs[0]]
    for tab in order:
        run(log.catalogue.trash_tab(tab))
    assert [one.id for one in run(log.catalogue.trashed_tabs())] == order[::-1]


def test_in_the_bin_nothing_can_be_run(log: AnyLog, shop: Shop) -> None:
    store = log.session(shop.tabs[0])
    run(store.acquire_lease())
    run(log.catalogue.trash_tab(shop.tabs[0]))
    with pytest.raises(InBin, match="bin"):
        run(store.acquire_lease())
    run(log.catalogue.restore_tab(shop.tabs[0]))
    run(store.acquire_lease())


def test_what_was_archived_before_the_bin_is_archived_after_it(log: AnyLog, shop: Shop) -> None:
    archived = run(log.catalogue.archive_tab(shop.tabs[0]))
    run(log.catalogue.trash_tab(shop.tabs[0]))
    assert run(log.catalogue.restore_tab(shop.tabs[0])) == archived


def test_what_comes_out_of_the_bin_brings_its_archived_folder(log: AnyLog, shop: Shop) -> None:
    run(log.catalogue.trash_tab(shop.tabs[0]))
    run(log.catalogue.archive_project(shop.alpha))
    assert run(log.catalogue.restore_tab(shop.tabs[0])).archived_at is None
    assert shop.archived() == (set(), {shop.tree}, set(shop.tabs[1:]))


def test_conversations_that_were_begun_from_one_go_and_come_with_it(
    log: AnyLog, shop: Shop
) -> None:
    parent = shop.tabs[0]
    first = child(log, parent, shop.main)
    second = child(log, first, shop.main)
    alone = child(log, parent, shop.main)
    family = {parent, first, second}
    run(log.catalogue.trash_tab(alone))
    run(log.catalogue.trash_tab(parent))
    assert {one.id for one in run(log.catalogue.trashed_tabs())} == {*family, alone}
    run(log.catalogue.restore_tab(parent))
    assert [one.id for one in run(log.catalogue.trashed_tabs())] == [alone]
    run(log.catalogue.restore_tab(alone))

    run(log.catalogue.archive_tab(alone))
    run(log.catalogue.archive_tab(parent))
    assert shop.archived()[2] == {*family, alone}
    run(log.catalogue.unarchive_tab(parent))
    assert shop.archived()[2] == {alone}


def test_one_that_comes_back_brings_those_it_was_begun_from(log: AnyLog, shop: Shop) -> None:
    parent = shop.tabs[0]
    first = child(log, parent, shop.main)
    second = child(log, first, shop.main)
    brother = child(log, parent, shop.main)
    run(log.catalogue.trash_tab(parent))
    run(log.catalogue.restore_tab(second))
    assert [one.id for one in run(log.catalogue.trashed_tabs())] == [brother]
    run(log.catalogue.archive_tab(parent))
    run(log.catalogue.unarchive_tab(second))
    assert shop.archived()[2] == set()
    run(log.catalogue.restore_tab(brother))
    run(log.catalogue.archive_workspace(shop.main))
    run(log.catalogue.unarchive_tab(first))
    assert shop.archived()[2] == {shop.tabs[1], brother}


# Another program.


def test_P05_what_another_living_process_works_in_is_not_put_away(
    tmp_path: Path, place: Path
) -> None:
    """And the sentence says who and where; what only a dead one held goes."""
    with open_any("sql", tmp_path) as log, open_log(tmp_path / "data", prefix="z") as second:
        assert isinstance(log, Log)
        shop = Shop(log, place)
        run(log.catalogue.rename_tab(shop.tabs[2], "The long one"))
        run(second.session(shop.tabs[2]).acquire_lease())
        before = shop.view()
        for act in (
            log.catalogue.archive_tab(shop.tabs[2]),
            log.catalogue.archive_workspace(shop.tree),
            log.catalogue.archive_project(shop.alpha),
            log.catalogue.trash_tab(shop.tabs[2]),
            log.catalogue.refuse_elsewhere([shop.tabs[0], shop.tabs[2]]),
        ):
            with pytest.raises(LeaseHeld) as refused:
                run(act)
            assert f"process {os.getpid()}" in refused.value.sentence
            assert "“The long one”" in refused.value.sentence
        assert shop.view() == before
        run(log.catalogue.archive_workspace(shop.main))
        run(log.catalogue.refuse_elsewhere([shop.tabs[0]]))
        run(second.session(shop.tabs[2]).release_lease())
        plainly(log, "INSERT INTO leases VALUES (?, '1-dead', 1)", shop.tabs[2])
        run(log.catalogue.archive_project(shop.alpha))
        assert shop.archived()[0] == {shop.alpha}


def test_memory_refuses_what_is_held_elsewhere_too(tmp_path: Path, place: Path) -> None:
    with open_any("memory", tmp_path) as log:
        assert isinstance(log, MemoryLog)
        shop = Shop(log, place)
        log.hold_elsewhere(shop.tabs[2])
        for act in (
            log.catalogue.archive_tab(shop.tabs[2]),
            log.catalogue.archive_project(shop.alpha),
            log.catalogue.trash_tab(shop.tabs[2]),
            log.catalogue.refuse_elsewhere([shop.tabs[2]]),
        ):
            with pytest.raises(LeaseHeld):
                run(act)
        assert shop.archived() == (set(), set(), set())


def test_what_is_unknown_is_named(log: AnyLog) -> None:
    catalogue = log.catalogue
    for act in (
        catalogue.archive_tab("nobody"),
        catalogue.unarchive_tab("nobody"),
        catalogue.trash_tab("nobody"),
        catalogue.restore_tab("nobody"),
    ):
        with pytest.raises(UnknownConversation):
            run(act)
    for other in (
        catalogue.archive_project(9),
        catalogue.unarchive_project(9),
        catalogue.archive_workspace(9),
        catalogue.unarchive_workspace(9),
    ):
        with pytest.raises(UnknownFolder):
            run(other)


@pytest.mark.parametrize(
    ("table", "column"),
    [
        ("projects", "display_name"),
        ("projects", "directory"),
        ("workspaces", "display_name"),
        ("tabs", "title"),
    ],
)
def test_P13_one_unreadable_record_does_not_hide_the_others(
    tmp_path: Path, place: Path, table: str, column: str
) -> None:
    with open_any("sql", tmp_path) as log:
        assert isinstance(log, Log)
        shop = Shop(log, place)
        before = shop.view()
        plainly(
            log,
            f"UPDATE {table} SET {column} = CAST(x'ff41' AS TEXT)"
            f" WHERE rowid = (SELECT min(rowid) FROM {table})",
        )
        after = shop.view()
        assert len(after.projects) == len(before.projects)
        assert len(after.workspaces) == len(before.workspaces)
        assert len(after.tabs) == len(before.tabs)
        rows: Mapping[str, Any] = {
            "projects": after.projects, "workspaces": after.workspaces, "tabs": after.tabs
        }  # fmt: skip
        assert [getattr(one, column) for one in rows[table]].count("�A") == 1
        assert shop.view() == after


words = st.lists(
    st.tuples(
        st.sampled_from(["archive", "unarchive", "trash", "restore", "open", "close", "create"]),
        st.sampled_from(["tab", "workspace", "project"]),
        st.integers(0, 5),
    ),
    max_size=25,
)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(words=words)
def test_any_order_of_words_gives_the_same_on_both_and_hides_nothing(
    tmp_path_factory: pytest.TempPathFactory, words: list[tuple[str, str, int]]
) -> None:
    """P05, P06: no conversation in use is in an archived folder, and each is in a list."""
    top = tmp_path_factory.mktemp("words")
    seen: list[list[object]] = []
    for kind in ("sql", "memory"):
        place = top / kind
        (place / "folders").mkdir(parents=True)
        with open_any(kind, place) as log:
            shop = Shop(log, place / "folders")
            tabs = [*shop.tabs, child(log, shop.tabs[0], shop.main)]
            story: list[object] = []
            for word, what, number in words:
                _say(log, shop, tabs, word, what, number)
                story.append(_state(log, tabs))
                _nothing_hidden(shop.view(), run(log.catalogue.trashed_tabs()), len(tabs) + 1)
            seen.append(story)
    assert seen[0] == seen[1]


def _say(log: AnyLog, shop: Shop, tabs: list[str], word: str, what: str, number: int) -> None:
    catalogue = log.catalogue
    tab = tabs[number % len(tabs)]
    workspace_id = (shop.main, shop.tree)[number % 2]
    match word, what:
        case "archive" | "unarchive", "tab":
            run((catalogue.archive_tab if word == "archive" else catalogue.unarchive_tab)(tab))
        case "archive", "workspace":
            run(catalogue.archive_workspace(workspace_id))
        case "unarchive", "workspace":
            run(catalogue.unarchive_workspace(workspace_id))
        case "archive", _:
            run(catalogue.archive_project(shop.alpha))
        case "unarchive", _:
            run(catalogue.unarchive_project(shop.alpha))
        case "trash", _:
            run(catalogue.trash_tab(tab))
        case "restore", _:
            run(catalogue.restore_tab(tab))
        case "create", _:
            tabs.append(run(catalogue.create_tab(workspace_id)).id)
        case _:
            run(catalogue.set_tab_open(tab, is_open=word == "open"))


def _state(log: AnyLog, tabs: list[str]) -> object:
    view = run(log.catalogue.view())
    found = [run(log.catalogue.tab(one)) for one in tabs]
    return (
        [one.archived_at is None for one in (*view.projects, *view.workspaces)],
        [(one.archived_at is None, one.trashed_at is None, one.is_open) for one in found],
    )


def _nothing_hidden(view: CatalogueView, thrown: tuple[Tab, ...], count: int) -> None:
    assert len(view.tabs) + len(thrown) == count
    workspaces = {one.id: one for one in view.workspaces}
    projects = {one.id: one for one in view.projects}
    for tab in view.tabs:
        if tab.archived_at is None:
            assert workspaces[tab.workspace_id].archived_at is None
    for workspace in view.workspaces:
        if workspace.archived_at is None:
            assert projects[workspace.project_id].archived_at is None
