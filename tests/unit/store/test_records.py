"""Legacy records on their way into the catalogue: P01 to P04 and P13, DESIGN.md §9."""

import json
import os
import sqlite3
import stat
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from desktop.core.errors import StoreError, UnknownFolder
from desktop.store.legacy import DEEPEST, LARGEST, tab_id_of
from desktop.store.legacy_fields import time_of
from desktop.store.log import Log
from desktop.store.records import ImportReport, Taken
from tests.data.make_legacy_records import (
    ARCHIVED_MS,
    CREATED_MS,
    UPDATED_MS,
    agent,
    project,
    workspace,
    write_folder,
    write_records,
)
from tests.unit.store.builders import chunk, new_tab, open_log, run

Rows = list[dict[str, Any]]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    return folder


@pytest.fixture
def log(data: Path) -> Iterator[Log]:
    with open_log(data) as made:
        yield made


@pytest.fixture
def place(tmp_path: Path) -> Path:
    folder = tmp_path / "place"
    folder.mkdir()
    return folder


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    folder.mkdir()
    return folder


def take(log: Log, source: Path) -> ImportReport:
    return run(log.legacy.take_over(source, model="default-model"))


def rows(data: Path, query: str) -> Rows:
    """As a plain connection reads them."""
    with closing(sqlite3.connect(data / "nacre.db")) as connection:
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute(query)]


def counts(data: Path) -> dict[str, int]:
    tables = ("projects", "workspaces", "tabs", "agent_snapshots")
    return {one: rows(data, f"select count(*) as n from {one}")[0]["n"] for one in tables}


def reasons(report: ImportReport) -> list[tuple[str, str, str]]:
    return [(one.path, one.entry, one.reason) for one in report.skips]


def copies(data: Path) -> list[Path]:
    return sorted(data.glob("nacre.db.before-import-*"))


def test_a_whole_folder_of_odd_records_goes_in(log: Log, data: Path, tmp_path: Path) -> None:
    """P03: every entry, whatever characters its folder has."""
    source = write_folder(tmp_path / "source", places=tmp_path / "places", agents=40)

    report = take(log, source)

    assert report.skips == () and report.notes == ()
    # Two of the eight projects are others' folders written another way.
    assert report.projects == Taken(6, 2)
    assert report.workspaces == Taken(12, 0)
    assert report.agents == Taken(40, 0)
    assert counts(data) == {"projects": 6, "workspaces": 12, "tabs": 40, "agent_snapshots": 40}
    assert rows(data, "pragma foreign_key_check") == []


def test_a_second_import_imports_nothing(log: Log, data: Path, tmp_path: Path) -> None:
    """P03: not one row differs, no revision moves and no further copy is made."""
    source = write_folder(tmp_path / "source", places=tmp_path / "places", agents=20)
    take(log, source)
    before, revision = dump(data), run(log.catalogue.revision())

    report = take(log, source)

    assert report.taken() == {
        "projects": Taken(0, 8),
        "workspaces": Taken(0, 12),
        "agents": Taken(0, 20),
    }
    assert dump(data) == before
    assert run(log.catalogue.revision()) == revision
    assert report.copy is None and copies(data) == []


def dump(data: Path) -> list[str]:
    with closing(sqlite3.connect(data / "nacre.db")) as connection:
        return list(connection.iterdump())


def test_P03_five_thousand_agents_with_one_corrupt_are_all_but_one(
    log: Log, data: Path, tmp_path: Path, place: Path
) -> None:
    """The one is named with its reason, a copy was made, nothing runs, and once is enough."""
    own = new_tab(log, place)
    source = write_folder(tmp_path / "source", places=tmp_path / "places", agents=5000)
    broken = source / "agents" / "3" / "agent-00010.json"
    whole = broken.read_bytes()
    broken.write_text('{"id": "half', encoding="utf-8")

    report = take(log, source)

    assert report.agents == Taken(4999, 0)
    assert counts(data)["tabs"] == counts(data)["agent_snapshots"] + 1 == 5000
    [(path, entry, reason)] = reasons(report)
    assert (path, entry) == ("agents/3/agent-00010.json", "")
    assert reason.startswith("is not JSON: ")
    assert report.copy is not None and copies(data) == [report.copy]
    with closing(sqlite3.connect(report.copy)) as copy:
        assert copy.execute("select id from tabs").fetchall() == [(own,)]
    states = rows(
        data,
        "select distinct lifecycle, json_extract(persistence_json, '$.legacyStatus') as status"
        " from agent_snapshots",
    )
    assert len(states) > 2
    assert all((one["lifecycle"] == "idle") == (one["status"] == "idle") for one in states)
    assert {one["lifecycle"] for one in states} <= {"idle", "closed"}
    view = run(log.catalogue.view())
    assert len(view.tabs) == 5000 and sum(one.is_open for one in view.tabs) == 1

    before = dump(data)
    assert take(log, source).agents == Taken(0, 4999)
    assert dump(data) == before
    broken.write_bytes(whole)
    assert take(log, source).agents == Taken(1, 4999)
    assert counts(data)["tabs"] == 5001


def test_titles_times_kinds_and_archived_states_are_kept(
    log: Log, data: Path, source: Path, place: Path
) -> None:
    write_records(
        source,
        projects=[project(place, displayName="Ürsprung", kind="git", archivedAt=ARCHIVED_MS)],
        workspaces=[workspace(place, place, kind="worktree", archivedAt="2025-03-03T11:06:40Z")],
        agents={"a.json": agent(1, place, title="Über 🐚", archivedAt=ARCHIVED_MS / 1000)},
    )

    take(log, source)

    for table in ("projects", "workspaces", "agent_snapshots"):
        [row] = rows(data, f"select * from {table}")
        assert (row["created_at"], row["updated_at"]) == (CREATED_MS, UPDATED_MS)
    [one] = rows(data, "select * from projects")
    assert (one["display_name"], one["kind"], one["directory"]) == ("Ürsprung", "git", str(place))
    assert one["archived_at"] == ARCHIVED_MS
    [two] = rows(data, "select * from workspaces")
    assert (two["kind"], two["archived_at"]) == ("worktree", ARCHIVED_MS)
    [tab] = rows(data, "select * from tabs")
    assert (tab["title"], tab["created_at"], tab["archived_at"], tab["is_open"]) == (
        "Über 🐚",
        CREATED_MS,
        ARCHIVED_MS,
        0,
    )
    assert tab["last_message_at"] is None


def test_P06_what_stood_in_an_archived_folder_is_archived_with_it(
    log: Log, data: Path, source: Path, place: Path
) -> None:
    """Else it would be in no list; and what was archived alone keeps its own time."""
    inner = place / "inner"
    write_records(
        source,
        projects=[project(place, archivedAt=ARCHIVED_MS)],
        workspaces=[workspace(inner, place)],
        agents={
            "a.json": agent(1, inner),
            "b.json": agent(2, inner, archivedAt=ARCHIVED_MS - 5),
        },
    )

    take(log, source)

    assert rows(data, "select archived_at as t from workspaces") == [{"t": ARCHIVED_MS}]
    times = rows(data, "select archived_at as t from tabs order by t")
    assert times == [{"t": ARCHIVED_MS - 5}, {"t": ARCHIVED_MS}]
    [shown] = run(log.catalogue.view()).projects
    run(log.catalogue.unarchive_project(shown.id))
    assert rows(data, "select archived_at as t from tabs order by t") == [
        {"t": None},
        {"t": ARCHIVED_MS - 5},
    ]


@pytest.mark.parametrize(
    ("status", "lifecycle"),
    [
        ("running", "closed"),
        ("initializing", "closed"),
        ("error", "closed"),
        ("closed", "closed"),
        ("something new", "closed"),
        (None, "closed"),
        ("idle", "idle"),
    ],
)
def test_what_ran_is_closed(
    log: Log, data: Path, source: Path, place: Path, status: str | None, lifecycle: str
) -> None:
    """P03: only an idle agent stays what it was."""
    write_records(source, agents={"a.json": agent(1, place, lastStatus=status)})

    take(log, source)

    [row] = rows(data, "select * from agent_snapshots")
    assert row["lifecycle"] == lifecycle
    assert json.loads(row["persistence_json"])["legacyStatus"] == (status or "")


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"requiresAttention": True, "attentionReason": "permission"}, "permission"),
        ({"requiresAttention": True, "attentionReason": None}, "finished"),
        ({"requiresAttention": False, "attentionReason": "error"}, None),
        ({"requiresAttention": None}, None),
    ],
)
def test_what_needed_attention_still_does(
    log: Log, data: Path, source: Path, place: Path, fields: dict[str, Any], kind: str | None
) -> None:
    write_records(source, agents={"a.json": agent(1, place, **fields)})

    take(log, source)

    [row] = rows(data, "select * from agent_snapshots")
    assert row["attention_kind"] == kind
    assert row["attention_at"] == (None if kind is None else UPDATED_MS)


def test_an_agent_without_a_model_gets_the_one_for_new_conversations(
    log: Log, data: Path, source: Path, place: Path
) -> None:
    """Else its first turn would ask for a model without a name."""
    write_records(
        source, agents={"a.json": agent(1, place, model=None), "b.json": agent(2, place, model="m")}
    )

    take(log, source)

    found = rows(data, "select model, permission_mode from agent_snapshots order by model")
    assert [row["model"] for row in found] == ["default-model", "m"]
    assert {row["permission_mode"] for row in found} == {"ask"}


def test_an_id_is_kept_where_it_is_a_uuid_and_made_into_the_same_one_each_time_where_not() -> None:
    uuid_text = "0B7F3C1E-5C8A-4C57-9D5C-0A6B8E1F2D3C"
    assert tab_id_of(uuid_text) == uuid_text.lower()
    assert tab_id_of("agent-7") == tab_id_of("agent-7") != tab_id_of("agent-8")
    # Other ways to write a uuid are other ids: they must not fall together.
    assert (
        len({tab_id_of(one) for one in (uuid_text, f"{{{uuid_text}}}", uuid_text.replace("-", ""))})
        == 3
    )


@pytest.mark.skipif(os.name == "nt", reason="these spellings are POSIX")
def test_one_folder_written_in_five_ways_is_one_workspace(
    log: Log, data: Path, source: Path, place: Path
) -> None:
    """P02: slash at the end, doubled, dots, a link; and the project of each is found."""
    link = place.with_name("link")
    link.symlink_to(place, target_is_directory=True)
    ways = [f"{place}", f"{place}/", f"{place.parent}//place", f"{place}/../place/.", str(link)]
    write_records(
        source,
        projects=[project(way) for way in ways],
        workspaces=[workspace(way, way) for way in ways],
        agents={f"{n}.json": agent(n, way) for n, way in enumerate(ways)},
    )

    report = take(log, source)

    assert counts(data) == {"projects": 1, "workspaces": 1, "tabs": 5, "agent_snapshots": 5}
    assert report.notes == () and report.skips == ()
    assert rows(data, "select directory from workspaces") == [{"directory": str(place)}]
    # The folder is then the same one for whoever opens it.
    assert run(log.catalogue.open_workspace(link)).directory == str(place)
    assert counts(data)["workspaces"] == 1


def test_of_two_entries_for_one_folder_the_one_in_use_counts(
    log: Log, data: Path, source: Path, place: Path
) -> None:
    write_records(
        source,
        projects=[
            project(place, displayName="old", archivedAt=ARCHIVED_MS),
            project(place, displayName="in use"),
        ],
    )

    report = take(log, source)

    assert report.projects == Taken(1, 1)
    assert rows(data, "select display_name, archived_at from projects") == [
        {"display_name": "in use", "archived_at": None}
    ]


def test_what_nacre_has_already_stays_as_it_is(
    log: Log, data: Path, source: Path, place: Path
) -> None:
    """P01, P04: a folder or a conversation that is there keeps its name and its times."""
    own = run(log.catalogue.open_workspace(place))
    write_records(source, agents={"a.json": agent(1, place, title="legacy")})
    take(log, source)
    [tab] = run(log.catalogue.view()).tabs
    run(log.catalogue.rename_tab(tab.id, "mine"))
    write_records(
        source,
        projects=[project(place, displayName="other", archivedAt=ARCHIVED_MS)],
        workspaces=[workspace(place, place, displayName="other")],
    )

    report = take(log, source)

    assert report.projects == report.workspaces == report.agents == Taken(0, 1)
    view = run(log.catalogue.view())
    assert view.workspaces == (own,)
    assert [one.display_name for one in view.projects] == ["place"]
    assert [one.title for one in view.tabs] == ["mine"]


def test_a_folder_that_is_gone_keeps_its_name(log: Log, data: Path, source: Path) -> None:
    """A conversation about a folder that was deleted is history, not an error."""
    gone = source.parent / "gone"
    write_records(
        source,
        projects=[project(gone)],
        workspaces=[workspace(f"{gone}/", gone)],
        agents={"a.json": agent(1, gone)},
    )

    report = take(log, source)

    assert report.skips == ()
    assert rows(data, "select directory from workspaces") == [{"directory": str(gone)}]


def test_an_agent_in_a_folder_without_a_workspace_brings_it_along(
    log: Log, data: Path, source: Path, place: Path
) -> None:
    (place / ".git").mkdir()
    write_records(source, agents={f"{n}.json": agent(n, place) for n in range(3)})

    report = take(log, source)

    assert report.agents == Taken(3, 0)
    assert counts(data) == {"projects": 1, "workspaces": 1, "tabs": 3, "agent_snapshots": 3}
    assert rows(data, "select kind, directory from projects") == [
        {"kind": "git", "directory": str(place)}
    ]


def test_a_broken_projects_file_does_not_stop_the_workspaces_and_agents(
    log: Log, data: Path, source: Path, place: Path
) -> None:
    """P13: what the broken file would have said is told."""
    write_records(
        source,
        workspaces=[workspace(place, place, displayName="kept")],
        agents={"a.json": agent(1, place)},
    )
    (source / "projects" / "projects.json").write_bytes(b"[\xff]")

    report = take(log, source)

    assert reasons(report) == [("projects/projects.json", "", "is not UTF-8 text (byte 1)")]
    assert report.workspaces == report.agents == Taken(1, 0)
    [note] = report.notes
    assert note.entry == f"workspace:{place}" and "its project" in note.reason
    assert rows(data, "select display_name from workspaces") == [{"display_name": "kept"}]


BAD_FIELDS: Sequence[tuple[Mapping[str, Any], str]] = [
    ({"rootPath": None}, "rootPath is missing"),
    ({"rootPath": 7}, "rootPath is not a text"),
    ({"rootPath": "  "}, "rootPath is empty"),
    ({"rootPath": "a/b"}, "rootPath: a/b is not the full path of a folder on this system"),
    ({"rootPath": "/a\x00b"}, "rootPath: There is no folder"),
    ({"rootPath": "/a\ud800b"}, "rootPath: There is no folder"),
    ({"rootPath": "/a\udc80b"}, "rootPath: The name of"),
    ({"projectId": None}, "projectId is missing"),
    ({"kind": "planet"}, "kind is 'planet', which has no meaning here"),
    ({"kind": ["git"]}, "kind is not a text"),
    ({"displayName": None}, "displayName is missing"),
    ({"createdAt": None}, "createdAt is missing"),
    ({"createdAt": "yesterday"}, "createdAt is 'yesterday', which is no time"),
    ({"updatedAt": True}, "updatedAt is no time"),
    ({"updatedAt": float("nan")}, "updatedAt is no time"),
    ({"archivedAt": 10**17}, "archivedAt is a time that can't be"),
]


@pytest.mark.parametrize(("fields", "reason"), BAD_FIELDS)
def test_an_entry_with_a_wrong_field_is_named_and_the_others_go_in(
    log: Log, source: Path, place: Path, fields: dict[str, Any], reason: str
) -> None:
    bad = {**project("/x", projectId="bad"), **fields}
    write_records(source, projects=[bad, project(place)])

    report = take(log, source)

    assert report.projects == Taken(1, 0)
    [(path, entry, found)] = reasons(report)
    assert path == "projects/projects.json"
    assert entry == ("entry 1" if "projectId" in fields else "bad")
    assert found.startswith(reason)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"id": 5}, "id is not a text"),
        ({"cwd": None}, "cwd is missing"),
        ({"provider": None}, "provider is missing"),
        ({"title": {}}, "title is not a text"),
        ({"lastStatus": 3}, "lastStatus is not a text"),
        ({"requiresAttention": "yes"}, "requiresAttention is neither true nor false"),
    ],
)
def test_an_agent_with_a_wrong_field_is_named_and_the_others_go_in(
    log: Log, source: Path, place: Path, fields: dict[str, Any], reason: str
) -> None:
    write_records(
        source, agents={"a.json": {**agent(1, place), **fields}, "b.json": agent(2, place)}
    )

    report = take(log, source)

    assert report.agents == Taken(1, 0)
    [(path, _, found)] = reasons(report)
    assert (path, found) == ("agents/a.json", reason)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is not JSON: "),
        (b"{}{}", "is not JSON: "),
        (b"[1]", "is not an object with fields"),
        (b"null", "is not an object with fields"),
        (b"[" * 100_000, "is not JSON that can be read"),
        (b'{"id": ' + b"9" * 5000 + b"}", "is not JSON that can be read"),
        (b"\xff\xfe{\x00}\x00", "is not UTF-8 text (byte 0)"),
    ],
)
def test_a_file_that_says_nothing_is_named_and_the_others_go_in(
    log: Log, source: Path, place: Path, content: bytes, reason: str
) -> None:
    write_records(source, agents={"b.json": agent(2, place)})
    (source / "agents" / "a.json").write_bytes(content)

    report = take(log, source)

    assert report.agents == Taken(1, 0)
    [(path, _, found)] = reasons(report)
    assert path == "agents/a.json" and found.startswith(reason)


def test_a_file_with_a_byte_order_mark_is_read(log: Log, source: Path, place: Path) -> None:
    file = write_records(source, agents={"a.json": agent(1, place)}) / "agents" / "a.json"
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())

    assert take(log, source).agents == Taken(1, 0)


def test_of_two_files_with_one_id_the_second_is_named(
    log: Log, data: Path, source: Path, place: Path
) -> None:
    write_records(
        source,
        agents={"a.json": agent(1, place, title="first"), "b/c.json": agent(1, place)},
    )

    report = take(log, source)

    assert [(path, found) for path, _, found in reasons(report)] == [
        ("agents/b/c.json", "has the same id as agents/a.json")
    ]
    assert rows(data, "select title from tabs") == [{"title": "first"}]


def test_links_that_lead_out_large_files_and_deep_ones_are_refused_by_name(
    log: Log, source: Path, place: Path
) -> None:
    deep = "/".join("d" * (DEEPEST + 1))
    outside = write_records(place, agents={"x.json": agent(9, place)}) / "agents"
    write_records(
        source,
        agents={
            "ok.json": agent(1, place),
            f"{deep[:-2]}/just.json": agent(2, place),
            f"{deep}/deep.json": agent(3, place),
        },
    )
    agents = source / "agents"
    (agents / "folder-out").symlink_to(outside, target_is_directory=True)
    (agents / "file-out.json").symlink_to(outside / "x.json")
    (agents / "nowhere.json").symlink_to(agents / "missing")
    (agents / "loop").symlink_to(agents, target_is_directory=True)
    os.mkfifo(agents / "pipe.json")
    with (agents / "large.json").open("wb") as file:
        file.truncate(LARGEST + 1)
    (source / "projects").symlink_to(place, target_is_directory=True)
    (place / "projects.json").write_text("[]", encoding="utf-8")

    report = take(log, source)

    assert report.agents == Taken(2, 0)
    out = "is a link that leads out of the folder"
    assert sorted((path, found) for path, _, found in reasons(report)) == [
        (f"agents/{deep}", f"lies more than {DEEPEST} folders deep"),
        ("agents/file-out.json", out),
        ("agents/folder-out", out),
        ("agents/large.json", "is larger than 16 MB"),
        ("agents/nowhere.json", "can't be read: No such file or directory"),
        ("agents/pipe.json", "is no regular file"),
        ("projects/projects.json", out),
    ]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_what_may_not_be_read_is_named(log: Log, source: Path, place: Path) -> None:
    write_records(source, agents={"a.json": agent(1, place), "shut/b.json": agent(2, place)})
    (source / "agents" / "a.json").chmod(0)
    (source / "agents" / "shut").chmod(0)
    try:
        report = take(log, source)
    finally:
        (source / "agents" / "shut").chmod(0o700)
    assert [(path, found) for path, _, found in reasons(report)] == [
        ("agents/a.json", "can't be read: Permission denied"),
        ("agents/shut", "can't be read: Permission denied"),
    ]


def test_a_folder_without_records_is_refused(log: Log, source: Path) -> None:
    with pytest.raises(UnknownFolder, match="holds no records"):
        take(log, source)


def test_texts_that_a_column_can_not_hold_are_mended(
    log: Log, data: Path, source: Path, place: Path
) -> None:
    write_records(
        source, agents={"a.json": agent(1, place, id="x\ud800\x00", title="\ud800 a\x00")}
    )

    take(log, source)

    assert rows(data, "select title from tabs") == [{"title": "� a�"}]


def test_the_database_is_copied_before_the_first_write(
    log: Log, data: Path, source: Path, place: Path
) -> None:
    """P03: the copy is whole, sound, private, and knows nothing of the import."""
    tab = new_tab(log, place)
    run(log.session(tab).append([chunk("u", "kept")]))
    write_records(source, agents={"a.json": agent(1, place)})

    report = take(log, source)

    assert report.copy is not None and copies(data) == [report.copy]
    assert stat.S_IMODE(report.copy.stat().st_mode) == 0o600
    with closing(sqlite3.connect(report.copy)) as copy:
        assert copy.execute("pragma integrity_check").fetchone() == ("ok",)
        assert copy.execute("select id from tabs").fetchall() == [(tab,)]
        assert "kept" in copy.execute("select data_json from chunks").fetchone()[0]


def test_an_empty_database_is_not_copied(log: Log, data: Path, source: Path, place: Path) -> None:
    write_records(source, agents={"a.json": agent(1, place)})

    assert take(log, source).copy is None
    assert copies(data) == []


INJECTED = [
    (table, when)
    for table in ("projects", "workspaces", "tabs", "agent_snapshots")
    for when in range(3)
]


@pytest.mark.parametrize(("table", "when"), INJECTED)
def test_a_failure_between_two_statements_takes_back_that_kind_and_no_other(
    log: Log, data: Path, source: Path, tmp_path: Path, table: str, when: int
) -> None:
    """The kinds before it stay; once the cause is gone the next run brings the rest."""
    places = [tmp_path / f"place-{n}" for n in range(3)]
    write_records(
        source,
        projects=[project(one) for one in places],
        workspaces=[workspace(one, one) for one in places],
        agents={f"{n}.json": agent(n, one) for n, one in enumerate(places)},
    )
    with closing(sqlite3.connect(data / "nacre.db")) as plain:
        plain.execute(
            f"CREATE TRIGGER injected BEFORE INSERT ON {table}"
            f" WHEN (SELECT count(*) FROM {table}) = {when}"
            " BEGIN SELECT RAISE(ABORT, 'injected'); END"
        )

    with pytest.raises(StoreError):
        take(log, source)

    order = ["projects", "workspaces", "tabs", "agent_snapshots"]
    reached = order.index(table)
    whole = {"projects": 3, "workspaces": 3} if reached >= 2 else dict.fromkeys(order[:reached], 3)
    assert counts(data) == {**dict.fromkeys(order, 0), **whole}
    with closing(sqlite3.connect(data / "nacre.db")) as plain:
        plain.execute("DROP TRIGGER injected")
    take(log, source)
    assert counts(data) == dict.fromkeys(order, 3)


@pytest.mark.parametrize(
    ("written", "ms"),
    [
        ("2025-03-01T08:15:30.250Z", CREATED_MS),
        ("2025-03-01T09:15:30.250+01:00", CREATED_MS),
        ("2025-03-01T08:15:30.250", CREATED_MS),
        (" 2025-03-01 08:15:30.250999 ", CREATED_MS),
        (CREATED_MS, CREATED_MS),
        (float(CREATED_MS), CREATED_MS),
        (CREATED_MS / 1000, CREATED_MS),
        (str(CREATED_MS), CREATED_MS),
        (1_740_816_930, 1_740_816_930_000),
        ("2025-03-01", 1_740_787_200_000),
        (0, 0),
    ],
)
def test_times_are_understood_as_text_and_as_counts(written: object, ms: int) -> None:
    assert time_of(written) == ms


@pytest.mark.parametrize(
    "written",
    [
        None, True, "", "now", "2025-13-01", -1, 1e300, 10**30, float("inf"), [], {}, "١٢٣٤٥٦٧٨٩٠",
        "0001-01-01T00:00:00+14:00", "1969-12-31T23:59:59Z", "9" * 18,
    ],
)  # fmt: skip
def test_what_is_no_time_is_refused(written: object) -> None:
    with pytest.raises(ValueError, match="time"):
        time_of(written)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)
broken_or_not = st.fixed_dictionaries(
    {}, optional={"title": json_values, "createdAt": json_values, "lastStatus": json_values,
                  "id": json_values, "archivedAt": json_values, "kind": json_values,
                  "requiresAttention": json_values},
)  # fmt: skip


@settings(max_examples=25)
@given(
    projects=st.lists(st.tuples(st.sampled_from("abc"), broken_or_not), max_size=4),
    workspaces=st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from("abcd"), broken_or_not), max_size=4
    ),
    agents=st.lists(
        st.tuples(st.integers(0, 4), st.sampled_from("abc"), broken_or_not), max_size=6
    ),
)
def test_any_records_imported_twice_are_imported_once(
    projects: list[tuple[str, dict[str, Any]]],
    workspaces: list[tuple[str, str, dict[str, Any]]],
    agents: list[tuple[int, str, dict[str, Any]]],
) -> None:
    """P03, P13: nothing raises, every entry is counted once, the second run changes no byte."""
    with tempfile.TemporaryDirectory() as temporary:
        top = Path(temporary).resolve()
        source, data = top / "source", top / "data"
        data.mkdir()
        write_records(
            source,
            projects=[project(top / one, **fields) for one, fields in projects],
            workspaces=[workspace(top / a, top / b, **fields) for a, b, fields in workspaces],
            agents={
                f"{n}.json": agent(number, top / one, **fields)
                for n, (number, one, fields) in enumerate(agents)
            },
        )
        with open_log(data) as log:
            first = take(log, source)
            before = dump(data)
            second = take(log, source)
            after = dump(data)
    assert after == before
    assert second.skips == first.skips
    entries = {"projects": len(projects), "workspaces": len(workspaces), "agents": len(agents)}
    for kind, taken in first.taken().items():
        skipped = sum(one.kind == kind for one in first.skips)
        assert taken.imported + taken.already_there + skipped == entries[kind]
        assert second.taken()[kind] == Taken(0, taken.imported + taken.already_there)
