"""One contract, every backend: the database, the double in memory, and (where it applies) null."""

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from desktop.core.catalogue import Catalogue
from desktop.core.chunks import (
    ErrorNote,
    Opaque,
    Payload,
    Role,
    Stamp,
    System,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from desktop.core.conversation import LoadedSession
from desktop.core.drafts import BEGINNING, Draft
from desktop.core.errors import StoreError, UnknownConversation, UnknownFolder
from desktop.core.permissions import Rule
from desktop.core.protocols import LogReader, TurnStore
from desktop.core.records import Fold, Page, Receipt, RequestRecord, Snapshot, ViewState
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
        log.catalogue.view_state("nobody"),
        log.catalogue.save_view_state("nobody", ViewState()),
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


def test_s03_a_text_behind_an_interrupted_answer_is_dangling_and_an_answered_one_is_not(
    store: TurnStore,
) -> None:
    """S03: what the program itself lays down behind a text does not answer it."""
    stopped = System("turn_end", fields={"outcome": "stopped"})
    run(store.append([chunk("u1"), chunk("a1", Text("Hal", interrupted=True), role="assistant")]))
    run(store.append([chunk("e1", stopped, role="system")]))
    assert run(store.load()).dangling_user is None
    run(store.append([chunk("u2", "one", turn="t2"), chunk("u3", "two", turn="t2")]))
    failed = ErrorNote("The provider is busy.")
    run(store.append([chunk("x", failed, role="assistant", turn="t2")]))
    run(store.append([chunk("e2", stopped, role="system", turn="t2")]))
    loaded = run(store.load())
    assert loaded.dangling_user == "one\n\ntwo"
    assert [row.id for row in loaded.chunks] == ["u1", "a1", "e1", "x", "e2"]
    gone = System("retracted", fields={"chunkIds": ["u2", "u3"]})
    run(store.append([chunk("g", gone, role="system", turn="t3"), chunk("u4", turn="t3")]))
    assert [row.id for row in run(store.load()).dangling] == ["u4"]


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
    done = replace(
        record,
        usage={"output_tokens": 3},
        stop_reason="end_turn",
        ended_at=9,
        cache={"ttl": "1h", "miss": {"cause": "expired", "tokens": 7}, "later": [1]},
    )
    ended = run(store.finish_request(done))
    again = run(store.finish_request(done))
    revisions = [(one.base_revision, one.revision) for one in (begun, ended, again)]
    assert revisions == [(0, 1), (1, 2), (2, 2)]
    assert run(store.requests()) == (done,)
    assert ended.requests == (done,)


def test_c05_a_waiting_message_is_changed_in_its_place_and_one_that_went_is_not(
    store: TurnStore,
) -> None:
    for n in range(3):
        run(store.enqueue(QueuedMessage(f"m{n}", store.session_id, f"text {n}", n)))
    changed = QueuedMessage("m1", store.session_id, "another", 1, ({"name": "a", "text": "b"},))
    assert run(store.change_queued(changed))
    assert [one.text for one in run(store.queued())] == ["text 0", "another", "text 2"]
    assert run(store.queued())[1] == changed
    assert run(store.cancel_queued("m2")) is not None
    assert not run(store.change_queued(replace(changed, id="m2")))
    receipt = run(store.take_queued(turn_id="t", step=0, stamp=STAMP))
    assert receipt is not None
    assert [one.data for one in receipt.chunks] == [
        Text("text 0"),
        Text("another", attachments=changed.attachments),
    ]
    assert not run(store.change_queued(changed))
    assert run(store.queued()) == ()


def test_c05_the_queue_is_put_in_another_order_and_goes_out_in_it(store: TurnStore) -> None:
    for n in "abcd":
        run(store.enqueue(QueuedMessage(n, store.session_id, f"text {n}", 1)))
    run(store.order_queued(["a", "d", "gone", "b"]))
    assert [one.id for one in run(store.queued())] == ["a", "d", "b", "c"]
    run(store.enqueue(QueuedMessage("e", store.session_id, "text e", 2)))
    run(store.order_queued(["e"]))
    assert [one.id for one in run(store.queued())] == ["e", "a", "d", "b", "c"]
    assert run(store.queued())[2] == QueuedMessage("d", store.session_id, "text d", 1)
    receipt = run(store.take_queued(turn_id="t", step=0, stamp=STAMP))
    assert receipt is not None
    assert [one.id for one in receipt.chunks] == ["e", "a", "d", "b", "c"]
    run(store.order_queued(["a", "b"]))
    assert run(store.queued()) == ()


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


def test_u28_a_subagents_conversation_knows_its_parent_and_is_not_in_the_strip(
    log: AnyLog, tmp_path: Path
) -> None:
    parent = run(log.catalogue.tab(new_tab(log, tmp_path)))
    made = run(log.catalogue.create_tab(parent.workspace_id, title="Look", parent=parent.id))
    assert (made.parent_tab_id, made.is_open, made.title) == (parent.id, False, "Look")
    assert (parent.parent_tab_id, parent.is_open) == (None, True)
    assert run(log.catalogue.tab(made.id)) == made


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
    assert run(catalogue.draft(tab)) == Draft()
    run(catalogue.save_draft(tab, "half a thou"))
    run(catalogue.save_draft(tab, "half a thought", caret=4))
    assert run(catalogue.draft(tab)) == Draft("half a thought", 4)
    run(catalogue.save_draft(tab, ""))
    assert run(catalogue.draft(tab)) == Draft()


@pytest.mark.parametrize("is_begun", [True, False])
def test_u14_a_draft_keeps_what_is_attached_whatever_becomes_of_its_text(
    log: AnyLog, tab: str, *, is_begun: bool
) -> None:
    catalogue, tab = log.catalogue, tab if is_begun else BEGINNING
    picture = {
        "kind": "image",
        "sha256": "0" * 64,
        "mediaType": "image/png",
        "content": b"\x89PNG",
        "original": {"mediaType": "image/bmp", "content": b"BM"},
    }
    attached = ({"name": "a", "text": "odd \ud800\r\n\x00 end", "size": 17}, picture)
    run(catalogue.save_attachments(tab, attached))
    run(catalogue.save_draft(tab, "look", caret=2))
    assert run(catalogue.draft(tab)) == Draft("look", 2, attached)
    run(catalogue.save_draft(tab, "[]", caret=0))
    assert run(catalogue.draft(tab)) == Draft("[]", 0, attached)
    run(catalogue.save_draft(tab, ""))
    assert run(catalogue.draft(tab)) == Draft("", 0, attached)
    run(catalogue.save_attachments(tab, ()))
    assert run(catalogue.draft(tab)) == Draft()


def test_u14_what_is_written_before_a_conversation_is_no_other_draft(log: AnyLog, tab: str) -> None:
    run(log.catalogue.save_draft(tab, "here"))
    run(log.catalogue.save_draft(BEGINNING, "nowhere yet", caret=3))
    assert run(log.catalogue.draft(tab)) == Draft("here")
    assert run(log.catalogue.draft(BEGINNING)) == Draft("nowhere yet", 3)


def test_u37_the_place_in_a_conversation_is_kept_and_taken_away(log: AnyLog, tab: str) -> None:
    catalogue = log.catalogue
    before = run(catalogue.revision())
    assert run(catalogue.view_state(tab)) == ViewState()
    folds: tuple[tuple[str, Fold], ...] = (
        ("a", "open"),
        ("b", "all"),
        ("odd \U0001f600", "folded"),
    )
    for state in (
        ViewState(False, 7, -3, folds, loose=True, height=90),
        ViewState(False, 8, 12, height=40),
        ViewState(folds=folds),
        ViewState(),
    ):
        run(catalogue.save_view_state(tab, state))
        assert run(catalogue.view_state(tab)) == state
    assert run(catalogue.revision()) == before


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


TEXTS = st.text(st.characters(), max_size=12)
OBJECTS = st.dictionaries(
    st.sampled_from(["a", "b"]), TEXTS | st.integers() | st.none(), max_size=2
)
ROWS: "st.SearchStrategy[tuple[Role, Payload]]" = st.one_of(
    st.tuples(st.sampled_from(["user", "assistant"]), st.builds(Text, TEXTS)),
    st.tuples(
        st.just("user"), st.builds(Text, TEXTS, attachments=st.just(({"name": "a", "text": "x"},)))
    ),
    st.tuples(st.just("assistant"), st.builds(Thinking, TEXTS, metadata=OBJECTS)),
    st.tuples(st.just("assistant"), st.builds(ToolCall, TEXTS, TEXTS, OBJECTS)),
    st.tuples(st.just("assistant"), st.builds(Opaque, OBJECTS)),
    st.tuples(st.just("tool"), st.builds(ToolResult, TEXTS, TEXTS, TEXTS, st.booleans())),
    st.tuples(st.sampled_from(["assistant", "system"]), st.builds(ErrorNote, TEXTS)),
    st.tuples(
        st.just("system"),
        st.builds(System, st.sampled_from(["notice", "fact", "compaction", "turn_end"]), TEXTS),
    ),
)
# What is done to a store: a batch of rows, a message that waits or is taken back, the queue put in
# another order or taken, a request begun, or ended.
DEEDS = st.lists(
    st.lists(ROWS, max_size=4)
    | st.sampled_from(["wait", "cancel", "order", "take", "begin", "end"]),
    max_size=10,
)


class Doing:
    """Does deeds to one store, each store alike, and remembers what it was told."""

    def __init__(self, store: TurnStore) -> None:
        self.store = store
        self.told: list[object] = []
        self.rows = self.messages = self.requests = 0

    def do(self, deed: list[tuple[Role, Payload]] | str) -> None:
        told: object = None
        match deed:
            case "wait":
                self.messages += 1
                message = QueuedMessage(f"m{self.messages}", self.store.session_id, "more", 1)
                run(self.store.enqueue(message))
            case "cancel":
                taken_back = run(self.store.cancel_queued(f"m{self.messages}"))
                told = taken_back and taken_back.text
            case "order":
                run(self.store.order_queued([f"m{self.messages}"]))
            case "take":
                told = _receipt(run(self.store.take_queued(turn_id="q", step=1, stamp=STAMP)))
            case "begin":
                self.requests += 1
                told = _receipt(run(self.store.start_request(self._request(None))))
            case "end" if self.requests:
                told = _receipt(run(self.store.finish_request(self._request(len(self.told)))))
            case str():
                return
            case rows:
                new = [
                    chunk(f"c{self.rows + n}", data, role=role, stamp=STAMP if n % 2 else Stamp())
                    for n, (role, data) in enumerate(rows)
                ]
                self.rows += len(new)
                told = _receipt(run(self.store.append(new)))
        self.told.append((told, [one.id for one in run(self.store.queued())]))

    def _request(self, ended: int | None) -> RequestRecord:
        id_ = f"q{self.requests}"
        return RequestRecord(id_, self.store.session_id, "t", 0, "p", "m", 1, ended_at=ended)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(deeds=DEEDS)
def test_random_logs_load_equal_on_every_store_however_they_were_appended(
    tmp_path_factory: pytest.TempPathFactory, deeds: list[list[tuple[Role, Payload]] | str]
) -> None:
    """S01: database, memory, file and null; the last one says the same and keeps nothing."""
    folder = tmp_path_factory.mktemp("random")
    memory = MemoryLog(now_ms=lambda: 7, new_id=counter())
    with open_log(folder) as log, open_jsonl(folder / "sessions", "tab") as file:
        stores: list[TurnStore] = [
            log.session(new_tab(log, folder)),
            memory.session(new_tab(memory, folder)),
            file,
            NullStore("tab", now_ms=clock()),
        ]
        doings = [Doing(store) for store in stores]
        for doing in doings:
            for deed in deeds:
                doing.do(deed)
        assert [one.told for one in doings[1:]] == [doings[0].told] * 3
        *kept, null = stores
        with open_jsonl(folder / "sessions", "tab") as reopened:
            kept.append(reopened)
            said = [_said(run(one.load())) for one in kept]
            assert said[1:] == [said[0]] * 3
            models = [run(one.active_model()) for one in kept]
            assert models[1:] == [models[0]] * 3
            requests = [[(q.id, q.ended_at) for q in run(one.requests())] for one in kept]
            assert requests[1:] == [requests[0]] * 3
        assert run(null.load()) == LoadedSession()
        assert run(null.requests()) == ()


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(rows=st.lists(ROWS, max_size=12), cuts=st.lists(st.integers(0, 12), max_size=4))
def test_a_log_loads_equal_whatever_was_appended_together(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[tuple[Role, Payload]],
    cuts: list[int],
) -> None:
    """S01, S04: the partition into batches leaves no trace."""
    folder = tmp_path_factory.mktemp("partitions")
    chunks = [chunk(f"c{n}", data, role=role) for n, (role, data) in enumerate(rows)]
    edges = [0, *sorted(min(cut, len(chunks)) for cut in cuts), len(chunks)]
    loads: list[LoadedSession] = []
    memories = [MemoryLog(now_ms=lambda: 7, new_id=counter()) for _ in range(2)]
    with (
        open_jsonl(folder / "one", "tab") as whole,
        open_jsonl(folder / "some", "tab") as cut,
        open_log(folder) as log,
    ):
        for store, pieces in (
            (log.session(new_tab(log, folder)), edges),
            (whole, [0, len(chunks)]),
            (cut, edges),
            (memories[0].session(new_tab(memories[0], folder)), [0, len(chunks)]),
            (memories[1].session(new_tab(memories[1], folder)), edges),
        ):
            for start, end in pairwise(pieces):
                run(store.append(chunks[start:end]))
            loads.append(run(store.load()))
    assert [_said(one) for one in loads] == [_said(loads[0])] * 5


def _receipt(receipt: Receipt | None) -> object:
    """What a receipt says, without times and the conversation's id."""
    if receipt is None:
        return None
    rows = [(row.id, row.seq, row.role, row.data, row.step, row.stamp) for row in receipt.chunks]
    requests = [one.id for one in receipt.requests]
    return (receipt.base_revision, receipt.revision, rows, requests)


def _said(loaded: LoadedSession) -> list[list[tuple[str, int, str, Payload]]]:
    """What a load holds, without ids of conversations and times."""
    return [
        [(row.id, row.seq, row.role, row.data) for row in part]
        for part in (loaded.chunks, loaded.dangling)
    ]
