"""One contract, every backend: the database, the double in memory, and (where it applies) null."""

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from desktop.core.chunks import Payload, Stamp, System, Text
from desktop.core.conversation import LoadedSession
from desktop.core.errors import StoreError, UnknownConversation, UnknownFolder
from desktop.core.permissions import Rule
from desktop.core.protocols import Catalogue, LogReader, TurnStore
from desktop.core.records import Page, RequestRecord, Snapshot
from desktop.core.status import QueuedMessage
from desktop.store.jsonl import FSJSONLStore
from desktop.store.jsonl_pages import FSJSONLPages
from desktop.store.null import NullStore
from tests.fakes.stores import MemoryLog
from tests.unit.store.builders import (
    STAMP,
    AnyLog,
    chunk,
    clock,
    counter,
    new_tab,
    open_any,
    open_log,
    run,
    tool_turn,
)


@pytest.fixture(params=["sql", "memory"])
def log(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[AnyLog]:
    with open_any(request.param, tmp_path) as made:
        yield made


@contextmanager
def open_jsonl(folder: Path, session_id: str) -> Generator[FSJSONLStore]:
    store = FSJSONLStore(folder, session_id, now_ms=clock())
    try:
        yield store
    finally:
        run(store.close())


@pytest.fixture(params=["sql", "memory", "jsonl"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[TurnStore]:
    """The store of a new conversation, whatever keeps it."""
    if request.param == "jsonl":
        with open_jsonl(tmp_path / "sessions", "tab") as made:
            yield made
        return
    with open_any(request.param, tmp_path) as log:
        yield log.session(new_tab(log, tmp_path))


PageOf = Callable[..., Page]


@pytest.fixture(params=["sql", "memory", "jsonl"])
def read(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[TurnStore, PageOf]]:
    """The store of a new conversation, and what gives its pages."""
    if request.param == "jsonl":
        with open_jsonl(tmp_path / "sessions", "tab") as store:
            run(store.make())
            yield store, FSJSONLPages(tmp_path / "sessions", "tab").page
        return
    with open_any(request.param, tmp_path) as log:
        tab_id = new_tab(log, tmp_path)
        yield log.session(tab_id), lambda **asked: run(log.reader.page(tab_id, **asked))


@pytest.fixture(autouse=True)
def data_folder(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()


@pytest.fixture
def tab(log: AnyLog, tmp_path: Path) -> str:
    return new_tab(log, tmp_path)


def test_the_doors_have_the_shape_of_the_protocols(log: AnyLog, tab: str) -> None:
    store: TurnStore = log.session(tab)
    reader: LogReader = log.reader
    catalogue: Catalogue = log.catalogue
    null: TurnStore = NullStore("tab", now_ms=clock())
    with open_jsonl(Path("unused"), "tab") as file:
        jsonl: TurnStore = file
    assert (store.session_id, null.session_id, jsonl.session_id) == (tab, "tab", "tab")
    assert reader is not None
    assert catalogue is not None


def revision_of(store: TurnStore) -> int:
    """The revision that an append of nothing tells."""
    return run(store.append([])).revision


def test_append_gives_places_in_order_and_says_what_it_changed(store: TurnStore) -> None:
    """C14, R04."""
    first = run(store.append(tool_turn()[:2]))
    second = run(store.append(tool_turn()[2:]))
    assert [one.seq for one in (*first.chunks, *second.chunks)] == [1, 2, 3, 4, 5]
    assert (first.base_revision, first.revision) == (0, 2)
    assert (second.base_revision, second.revision) == (2, 5)
    assert revision_of(store) == 5
    assert {one.tab_id for one in first.chunks} == {store.session_id}


def test_a_reload_equals_what_was_appended(store: TurnStore) -> None:
    """S01, C03."""
    receipt = run(store.append(tool_turn()))
    assert run(store.load()) == LoadedSession(chunks=receipt.chunks)


def test_an_empty_append_changes_nothing(store: TurnStore) -> None:
    receipt = run(store.append([]))
    assert (receipt.base_revision, receipt.revision, receipt.chunks) == (0, 0, ())


def test_a_batch_with_a_known_id_leaves_nothing(store: TurnStore) -> None:
    """S04."""
    run(store.append([chunk("one")]))
    with pytest.raises(StoreError):
        run(store.append([chunk("two"), chunk("one")]))
    assert len(run(store.load()).dangling) == 1
    assert revision_of(store) == 1
    assert run(store.append([chunk("three")])).chunks[0].seq == 2


def test_an_unknown_conversation_is_named(log: AnyLog) -> None:
    store = log.session("nobody")
    for coroutine in (
        store.append([chunk("one")]),
        store.load(),
        store.acquire_lease(),
        log.catalogue.tab("nobody"),
        log.catalogue.rename_tab("nobody", "x"),
        log.catalogue.draft("nobody"),
        log.reader.page("nobody", limit=1),
        log.reader.revision("nobody"),
    ):
        with pytest.raises(UnknownConversation):
            run(coroutine)


def test_trailing_user_texts_without_answer_are_dangling(store: TurnStore) -> None:
    """S03."""
    run(store.append([*tool_turn(), chunk("x", "and?", turn="t2"), chunk("y", "well?", turn="t2")]))
    loaded = run(store.load())
    assert [one.id for one in loaded.chunks] == ["u", "c", "r", "a", "e"]
    assert loaded.dangling_user == "and?\n\nwell?"


def test_the_active_model_is_the_last_stamp(store: TurnStore) -> None:
    """S11."""
    assert run(store.active_model()) is None
    other = Stamp("anthropic:9", "model-2")
    run(store.append([chunk("a"), chunk("b", stamp=other), chunk("c", stamp=Stamp())]))
    assert run(store.active_model()) == other


def test_a_request_is_kept_and_moves_the_revision(store: TurnStore) -> None:
    """R01: +1 for a new one, +1 for a change, +0 for none."""
    record = RequestRecord("q1", store.session_id, "t", 0, "anthropic:1", "model-1", started_at=5)
    begun = run(store.start_request(record))
    done = replace(record, usage={"output_tokens": 3}, stop_reason="end_turn", ended_at=9)
    ended = run(store.finish_request(done))
    again = run(store.finish_request(done))
    revisions = [(one.base_revision, one.revision) for one in (begun, ended, again)]
    assert revisions == [(0, 1), (1, 2), (2, 2)]
    assert run(store.requests()) == (done,)
    assert ended.requests == (done,)


def test_the_queue_keeps_its_order_and_goes_out_once(store: TurnStore) -> None:
    """C05, C06."""
    attachments = ({"name": "a.png", "mediaType": "image/png", "sha256": "0" * 64, "size": 3},)
    messages = [
        QueuedMessage(f"m{n}", store.session_id, f"text {n}", 9 - n, attachments) for n in range(3)
    ]
    for message in [*messages, messages[0]]:
        run(store.enqueue(message))
    assert run(store.queued()) == tuple(messages)
    assert run(store.cancel_queued("m1")) == messages[1]
    assert run(store.cancel_queued("m1")) is None
    receipt = run(store.take_queued(turn_id="t", step=2, stamp=STAMP))
    assert receipt is not None
    assert [(one.id, one.seq, one.step) for one in receipt.chunks] == [("m0", 1, 2), ("m2", 2, 2)]
    assert receipt.chunks[0].data == Text("text 0", attachments=attachments)
    assert run(store.queued()) == ()
    assert run(store.take_queued(turn_id="t", step=2, stamp=STAMP)) is None
    assert run(store.cancel_queued("m0")) is None


@pytest.mark.parametrize(
    ("asked", "places", "older", "newer"),
    [
        ({}, [7, 8, 9, 10], True, False),
        ({"before": 7}, [3, 4, 5, 6], True, True),
        ({"before": 3}, [1, 2], False, True),
        ({"before": 1}, [], False, True),
        ({"before": 99}, [7, 8, 9, 10], True, False),
        ({"after": 0}, [1, 2, 3, 4], False, True),
        ({"after": 8}, [9, 10], True, False),
        ({"after": 10}, [], True, False),
        ({"around": 5}, [3, 4, 5, 6], True, True),
        ({"around": 1}, [1, 2, 3, 4], False, True),
        ({"around": 10}, [7, 8, 9, 10], True, False),
    ],
)
def test_a_page_is_a_contiguous_piece_and_knows_its_neighbours(
    read: tuple[TurnStore, PageOf],
    asked: dict[str, int],
    places: list[int],
    older: bool,
    newer: bool,
) -> None:
    """P07."""
    store, page_of = read
    run(store.append([chunk(f"c{n}") for n in range(1, 11)]))
    page = page_of(limit=4, **asked)
    assert [row.seq for row in page.rows] == places
    assert (page.has_older, page.has_newer) == (older, newer)
    assert (page.total, page.revision) == (10, 10)


def test_a_page_of_an_empty_conversation_is_empty(read: tuple[TurnStore, PageOf]) -> None:
    page = read[1](limit=4)
    assert (page.rows, page.total, page.has_older, page.has_newer) == ((), 0, False, False)


def test_a_kept_file_is_found_by_its_hash_and_gone_from_its_place(
    log: AnyLog, tab: str, tmp_path: Path
) -> None:
    for _ in range(2):
        spooled = tmp_path / "out.txt"
        spooled.write_bytes(b"x" * 100_000)
        sha256, size = run(log.session(tab).keep_file(spooled, "text/plain"))
        assert not spooled.exists()
        path = run(log.reader.blob_path(sha256))
        assert path is not None
        assert path.read_bytes() == b"x" * size
    assert run(log.reader.blob_path("../../etc/passwd")) is None


def test_one_folder_is_one_workspace(log: AnyLog, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    (folder / ".git").mkdir(parents=True)
    link = tmp_path / "link"
    link.symlink_to(folder)
    first = run(log.catalogue.open_workspace(folder))
    assert run(log.catalogue.open_workspace(link)) == first
    assert run(log.catalogue.workspace(first.id)) == first
    view = run(log.catalogue.view())
    assert [(one.directory, one.kind) for one in view.projects] == [(str(folder.resolve()), "git")]
    assert first.display_name == "work"


def test_what_is_no_folder_is_refused(log: AnyLog, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", tmp_path / "nowhere", Path("a\0b")):
        with pytest.raises(UnknownFolder):
            run(log.catalogue.open_workspace(path))
    with pytest.raises(UnknownFolder):
        run(log.catalogue.create_tab(77))
    assert run(log.catalogue.view()).projects == ()


def test_the_scratch_workspace_is_made_once(log: AnyLog) -> None:
    first = run(log.catalogue.scratch_workspace())
    assert run(log.catalogue.scratch_workspace()) == first
    assert Path(first.directory).is_dir()


def test_tabs_are_opened_closed_renamed_and_moved(log: AnyLog, tmp_path: Path) -> None:
    tabs = [new_tab(log, tmp_path) for _ in range(3)]
    closed = run(log.catalogue.set_tab_open(tabs[0], is_open=False))
    assert (closed.is_open, closed.position) == (False, 0)
    assert run(log.catalogue.rename_tab(tabs[1], "A name")).title == "A name"
    run(log.catalogue.move_tabs([tabs[2], tabs[1]]))
    view = run(log.catalogue.view())
    assert [one.id for one in view.tabs] == [tabs[2], tabs[1], tabs[0]]
    assert [one.position for one in view.tabs] == [0, 1, 2]


def test_only_messages_and_turn_ends_move_the_last_message_time(log: AnyLog, tab: str) -> None:
    """S12: a rename or an opening does not reorder."""
    store = log.session(tab)
    run(store.append([chunk("p", System("prompt", "be kind"), role="system")]))
    assert run(log.catalogue.tab(tab)).last_message_at is None
    sent = run(store.append([chunk("u")])).chunks[0].created_at
    run(store.append([chunk("a", "partial", role="assistant")]))
    run(log.catalogue.rename_tab(tab, "other"))
    assert run(log.catalogue.tab(tab)).last_message_at == sent
    ended = run(store.append([chunk("e", System("turn_end"), role="system")])).chunks[0].created_at
    assert run(log.catalogue.tab(tab)).last_message_at == ended


def test_the_catalogue_revision_moves_with_changes_only(log: AnyLog, tab: str) -> None:
    """R01."""
    tab_row = run(log.catalogue.tab(tab))
    before = run(log.catalogue.view()).revision
    run(log.catalogue.rename_tab(tab, tab_row.title))
    run(log.session(tab).append([chunk("a", "x", role="assistant")]))
    assert run(log.catalogue.view()).revision == before
    run(log.catalogue.rename_tab(tab, "new"))
    assert run(log.catalogue.view()).revision == before + 1
    assert run(log.catalogue.revision()) == before + 1


def test_an_agents_choice_is_kept(log: AnyLog, tab: str) -> None:
    """C27."""
    assert run(log.catalogue.snapshot(tab)) is None
    workspace_id = run(log.catalogue.tab(tab)).workspace_id
    chosen = Snapshot(tab, workspace_id, "anthropic:1", "model-1", "high", "ask")
    run(log.catalogue.save_snapshot(chosen))
    before = run(log.catalogue.view()).revision
    run(log.catalogue.save_snapshot(chosen))
    assert run(log.catalogue.view()).revision == before
    other = replace(chosen, mode="auto", lifecycle="running", attention="question")
    run(log.catalogue.save_snapshot(other))
    assert run(log.catalogue.snapshot(tab)) == other
    assert run(log.catalogue.view()).revision == before + 1


def test_rules_settings_and_drafts_are_kept_and_taken_away(log: AnyLog, tab: str) -> None:
    catalogue = log.catalogue
    workspace_id = run(catalogue.tab(tab)).workspace_id
    rule = Rule(workspace_id, "shell", "git status")
    for _ in range(2):
        run(catalogue.add_rule(rule))
    assert run(catalogue.rules(workspace_id)) == {rule}
    assert run(catalogue.rules(workspace_id + 1)) == frozenset()
    run(catalogue.remove_rule(rule))
    assert run(catalogue.rules(workspace_id)) == frozenset()
    run(catalogue.save_setting("theme", "dark"))
    run(catalogue.save_setting("theme", "light"))
    run(catalogue.save_setting("gone", "x"))
    run(catalogue.save_setting("gone", None))
    assert run(catalogue.settings()) == {"theme": "light"}
    assert run(catalogue.draft(tab)) == ""
    run(catalogue.save_draft(tab, "half a thou"))
    run(catalogue.save_draft(tab, "half a thought"))
    assert run(catalogue.draft(tab)) == "half a thought"
    run(catalogue.save_draft(tab, ""))
    assert run(catalogue.draft(tab)) == ""


def test_the_lease_is_renewed_by_its_holder(store: TurnStore) -> None:
    for _ in range(2):
        run(store.acquire_lease())
    run(store.release_lease())
    run(store.acquire_lease())


def test_null_counts_places_and_keeps_nothing(tmp_path: Path) -> None:
    """S06."""
    store = NullStore("tab", now_ms=clock())
    receipt = run(store.append(tool_turn()))
    assert [one.seq for one in receipt.chunks] == [1, 2, 3, 4, 5]
    run(store.enqueue(QueuedMessage("m", "tab", "more", 1)))
    taken = run(store.take_queued(turn_id="t", step=1, stamp=STAMP))
    assert taken is not None
    assert (taken.base_revision, taken.revision, taken.chunks[0].seq) == (5, 6, 6)
    spooled = tmp_path / "x"
    spooled.write_bytes(b"abc")
    assert run(store.keep_file(spooled, "text/plain"))[1] == 3
    assert run(store.load()) == LoadedSession()
    assert list(tmp_path.iterdir()) == [tmp_path / "data"]


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    texts=st.lists(st.text(st.characters(), max_size=20), max_size=12),
    cuts=st.lists(st.integers(0, 12), max_size=4),
)
def test_random_logs_load_equal_however_they_were_appended(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], cuts: list[int]
) -> None:
    """S01."""
    folder = tmp_path_factory.mktemp("random")
    chunks = [
        chunk(f"c{n}", text, role="assistant" if n % 3 else "user") for n, text in enumerate(texts)
    ]
    edges = [0, *sorted(min(cut, len(chunks)) for cut in cuts), len(chunks)]
    loads: list[LoadedSession] = []
    memory = MemoryLog(now_ms=lambda: 7, new_id=counter())
    with open_log(folder) as log:
        stores: list[TurnStore] = [
            backend.session(new_tab(backend, folder)) for backend in (log, memory)
        ]
        with open_jsonl(folder / "sessions", stores[0].session_id) as jsonl:
            for store in (*stores, jsonl):
                for start, end in pairwise(edges):
                    run(store.append(chunks[start:end]))
                loads.append(run(store.load()))
        with open_jsonl(folder / "sessions", stores[0].session_id) as reopened:
            loads.append(run(reopened.load()))
    assert [_said(one) for one in loads] == [_said(loads[0])] * 4


def _said(loaded: LoadedSession) -> list[list[tuple[str, int, str, Payload]]]:
    """What a load holds, without ids of conversations and times."""
    return [
        [(row.id, row.seq, row.role, row.data) for row in part]
        for part in (loaded.chunks, loaded.dangling)
    ]
