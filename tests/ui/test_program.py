"""The whole program as a person meets it: window, agents, tools, HTTP and database, all real."""

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QComboBox,
    QLineEdit,
    QListWidget,
    QPlainTextEdit,
    QPushButton,
    QTabBar,
    QWidget,
)

from desktop.credentials import api_key
from desktop.settings import BASE_URL, THEME
from desktop.ui.attachments import AttachmentChip
from desktop.ui.composer import Composer
from desktop.ui.permission_bar import PermissionBar
from tests.data import make_legacy_database as legacy
from tests.e2e.nacre import Home
from tests.fakes.messages_api import (
    MessagesServer,
    Received,
    Reply,
    assert_extends,
    reply,
    text,
    thinking,
    tool_use,
)
from tests.ui.conftest import Enter
from tests.ui.program import Person, outcomes, said, sealed, spoken

SLOW = pytest.mark.timeout(300)
SHORT = 6.0  # seconds that an end may take: three, and as many on a busy machine
pytestmark = SLOW


# -- a conversation ---------------------------------------------------------------------------


def test_what_is_streamed_is_shown_and_is_what_is_sealed(home: Home, enter: Enter) -> None:
    """SPEC A01, A03: the view and the log are one reducer's work."""
    script = [reply(thinking("A quiet thought."), text("Layer on layer."))]
    with MessagesServer(script) as server:
        person = enter(server)
        person.open_folder(home.workspace)
        tab_id = person.begin("How is nacre made?")
        person.wait(lambda: person.reads("Layer on layer.") and person.idle())
        shown = person.transcript()
        assert person.leave() == 0
    assert shown == [
        "You: How is nacre made?",
        "Thinking: A quiet thought.",
        "Answer: Layer on layer.",
    ]
    assert server.rejected == []
    assert spoken(sealed(home, tab_id)) == [
        ("text", "How is nacre made?"),
        ("thinking", "A quiet thought."),
        ("text", "Layer on layer."),
    ]
    assert outcomes(home, tab_id) == ["done"]
    workspace = home.rows(
        "select workspaces.directory from tabs join workspaces on workspaces.id = tabs.workspace_id"
    )
    assert [row["directory"] for row in workspace] == [str(home.workspace)]


def test_c27_model_effort_and_mode_are_the_same_after_a_restart(home: Home, enter: Enter) -> None:
    """SPEC C27; the open conversation comes back with its tail, and goes on from there."""
    with MessagesServer([reply("First."), reply("Second.")]) as server:
        person = enter(server)
        person.wait(lambda: has_choice(person, "modelChoice", "claude-sonnet-5-5"))
        person.begin("one")
        person.wait(lambda: person.reads("First.") and person.idle())
        person.choose("modelChoice", "claude-sonnet-5-5")
        person.wait(lambda: choice(person)[0] == "claude-sonnet-5-5")
        person.choose("effortChoice", "low")
        person.wait(lambda: choice(person)[1] == "low")
        person.choose("modeChoice", "accept-edits")
        person.wait(lambda: choice(person)[2] == "accept-edits")
        assert person.leave() == 0

        again = enter(server)
        again.wait(lambda: again.reads("First."))
        again.wait(lambda: choice(again) == ("claude-sonnet-5-5", "low", "accept-edits"))
        again.say("two")
        again.wait(lambda: again.reads("Second.") and again.idle())
        assert again.leave() == 0
    assert server.rejected == []
    last = server.requests[1].json
    assert last["model"] == "claude-sonnet-5-5"
    assert last["output_config"]["effort"] == "low"
    assert "one" in said(server, 2, "user")
    assert said(server, 2, "assistant") == ["First."]


# -- permission -------------------------------------------------------------------------------


def write_call(name: str, content: str) -> Reply:
    return reply(text("I write it."), tool_use("write_file", {"path": name, "content": content}))


def test_u31_a_stray_enter_allows_nothing_and_1_allows_once(home: Home, enter: Enter) -> None:
    script = [
        write_call("a.txt", "pearl\n"),
        reply("Done."),
        write_call("b.txt", "x\n"),
        reply("No."),
    ]
    with MessagesServer(script) as server:
        person = enter(server)
        person.open_folder(home.workspace)
        tab_id = person.begin("write a.txt")

        def stray_enter() -> None:
            assert bar(person).guarded
            for part in (bar(person), person.composer):
                person.hit(Qt.Key.Key_Return, part)
            person.hit(Qt.Key.Key_1, bar(person))

        person.when(lambda: person.shows("permissionBar"), stray_enter)
        assert not (home.workspace / "a.txt").exists()
        person.wait(lambda: person.part_enabled("allowOnce"))
        assert not (home.workspace / "a.txt").exists()
        detail = person.part(QPlainTextEdit, "permissionDetail").toPlainText()
        assert "+pearl" in detail
        assert not any(one.isDefault() for one in person.parts(QPushButton, "allowOnce"))
        person.press(Qt.Key.Key_1, bar(person))
        person.wait(lambda: person.reads("Done.") and person.idle())
        assert (home.workspace / "a.txt").read_text() == "pearl\n"

        person.say("write b.txt")
        person.wait(lambda: person.part_enabled("deny"))
        person.press(Qt.Key.Key_3, bar(person))
        person.type_into("denyReason", "not in this folder")
        person.click("denyNow")
        person.wait(lambda: person.reads("No.") and person.idle())
        assert person.leave() == 0
    assert not (home.workspace / "b.txt").exists()
    assert server.rejected == []
    (result,) = server.requests[3].tool_results
    assert result["is_error"] is True
    assert "not in this folder" in json.dumps(result["content"])
    assert outcomes(home, tab_id) == ["done", "done"]


def test_u31_a_1_in_what_is_written_over_a_question_allows_nothing(
    home: Home, enter: Enter
) -> None:
    with MessagesServer([write_call("a.txt", "pearl\n"), reply("Done.")]) as server:
        person = enter(server)
        person.open_folder(home.workspace)
        person.begin("write a.txt")
        person.wait(lambda: person.part_enabled("allowOnce"))

        def write() -> None:
            assert person.window.focusWidget() is bar(person)
            for letter in "step 1, then 3":
                QTest.keyClicks(person.window.focusWidget(), letter)

        person.now(write)
        assert person.composer.toPlainText() == "step 1, then 3"
        assert person.shows("permissionBar")
        person.do("stop")
        person.wait(person.idle)
        assert person.leave() == 0
    assert not (home.workspace / "a.txt").exists()


def test_u30_a_kept_rule_is_honoured_by_the_next_start(home: Home, enter: Enter) -> None:
    script = [write_call("a.txt", "1"), reply("Done."), write_call("b.txt", "2"), reply("Again.")]
    with MessagesServer(script) as server:
        person = enter(server)
        person.open_folder(home.workspace)
        person.begin("write a.txt")
        person.click("allowAlways")
        assert not (home.workspace / "a.txt").exists(), "the rule is shown before it is kept"
        assert "without asking in this folder" in person.labels()
        person.click("keepRule")
        person.wait(lambda: person.reads("Done.") and person.idle())
        assert person.leave() == 0

        again = enter(server)
        again.wait(lambda: again.reads("Done."))
        again.say("write b.txt")
        again.wait(lambda: again.shows("permissionBar") or (again.reads("Again.") and again.idle()))
        assert not again.shows("permissionBar")
        assert again.leave() == 0
    assert (home.workspace / "b.txt").read_text() == "2"
    rules = home.rows("select * from permission_rules")
    assert [(row["tool"], row["workspace_id"]) for row in rules] == [("write_file", 1)]


# -- stopping and queueing --------------------------------------------------------------------

LONG = "What was shown so far stays as it is and is marked."


@pytest.mark.parametrize("place", ["composer", "transcript"])
def test_c26_esc_stops_within_a_second_and_keeps_what_was_shown(
    home: Home, enter: Enter, place: str
) -> None:
    """SPEC C26, A03: the next request carries exactly the text that was on the screen."""
    with MessagesServer([reply(text(LONG)).gate_after(5, "mid"), reply("On we go.")]) as server:
        person = enter(server)
        tab_id = person.begin("begin")
        person.wait_at_gate(server, "mid")
        person.wait(lambda: answers(person) == [LONG[:24]])
        began = time.monotonic()
        person.press(Qt.Key.Key_Escape, person.part(QWidget, place))
        person.wait(person.idle)
        took = time.monotonic() - began
        person.wait(lambda: person.reads("Stopped"))
        assert answers(person) == [LONG[:24]]
        server.release("mid")
        person.say("go on")
        person.wait(lambda: person.reads("On we go.") and person.idle())
        assert person.leave() == 0
    assert took < 5  # and not until the server goes on
    assert server.rejected == []
    assert said(server, 2, "assistant") == [LONG[:24]]
    assert outcomes(home, tab_id) == ["stopped", "done"]
    kept = [data for kind, data in sealed(home, tab_id) if kind == "text"][1]
    assert kept == {"text": LONG[:24], "interrupted": True}


def test_c05_a_queued_message_can_be_taken_back_or_goes_out_with_the_results(
    home: Home, enter: Enter
) -> None:
    step = reply(text("Let me look around."), tool_use("list_dir", {"path": "."}))
    with MessagesServer([step.gate_after(4, "mid"), reply("Both done.")]) as server:
        person = enter(server)
        person.open_folder(home.workspace)
        tab_id = person.begin("look")
        person.wait_at_gate(server, "mid")
        person.say("never mind")
        person.wait(lambda: "Waiting: never mind" in person.labels())
        person.click("takeBack")
        person.wait(lambda: person.composer.toPlainText() == "never mind")
        assert not person.shows("queueBar")
        person.clear()
        person.say("and count them")
        person.say("in words")
        person.wait(lambda: len(person.parts(QPushButton, "takeBack")) == 2)
        server.release("mid")
        person.wait(lambda: person.reads("Both done.") and person.idle())
        assert not person.shows("queueBar")
        assert person.leave() == 0
    assert server.rejected == []
    assert_extends(server.requests[0].json, server.requests[1].json)
    assert [block["type"] for block in server.requests[1].last_blocks][:1] == ["tool_result"]
    mine = [one for one in said(server, 2, "user") if one in ("and count them", "in words")]
    assert mine == ["and count them", "in words"]
    assert "never mind" not in json.dumps(server.requests[1].json)
    assert outcomes(home, tab_id) == ["done"]


def test_c06_a_message_queued_at_a_natural_end_begins_the_next_turn(
    home: Home, enter: Enter
) -> None:
    with MessagesServer([reply(text(LONG)).gate_after(5, "mid"), reply("And more.")]) as server:
        person = enter(server)
        tab_id = person.begin("begin")
        person.wait_at_gate(server, "mid")
        person.say("next")
        person.wait(lambda: person.shows("queueBar"))
        server.release("mid")
        person.wait(lambda: person.reads("And more.") and person.idle())
        assert not person.shows("queueBar")
        assert person.leave() == 0
    assert server.rejected == []
    assert server.requests[1].last_text == "next"
    assert outcomes(home, tab_id) == ["done", "done"]


def test_c06_after_a_stop_the_queue_is_held_until_the_person_releases_it(
    home: Home, enter: Enter
) -> None:
    """SPEC C06, also over a restart."""
    with MessagesServer([reply(text(LONG)).gate_after(5, "mid"), reply("Sent.")]) as server:
        person = enter(server)
        tab_id = person.begin("begin")
        person.wait_at_gate(server, "mid")
        person.say("later")
        person.wait(lambda: person.shows("queueBar"))
        person.press(Qt.Key.Key_Escape)
        person.wait(lambda: person.idle() and person.shows("releaseQueue"))
        assert person.leave() == 0
        assert len(server.requests) == 1

        again = enter(server)
        again.click("releaseQueue")
        again.wait(lambda: again.reads("Sent.") and again.idle())
        assert again.leave() == 0
    assert server.rejected == []
    assert server.requests[1].last_text == "later"
    assert outcomes(home, tab_id) == ["stopped", "done"]


# -- several conversations --------------------------------------------------------------------


def side_by_side(received: Received) -> Reply:
    """An answer that says twelve times what was asked and waits in its middle."""
    name = received.last_text
    return reply(text(f"{name} " * 12)).gate_after(5, name)


def test_f_r09_two_conversations_run_side_by_side_each_with_its_own_text(
    home: Home, enter: Enter
) -> None:
    with MessagesServer(side_by_side) as server:
        person = enter(server)
        first = person.begin("alpha")
        second = person.begin("omega")
        for gate in ("alpha", "omega"):
            person.wait_at_gate(server, gate)
        assert not person.idle()
        person.wait(lambda: answers(person) == [("omega " * 12)[:24]])
        person.go_to(first)
        person.wait(lambda: answers(person) == [("alpha " * 12)[:24]])
        assert not person.idle()
        server.release("alpha")
        person.wait(lambda: answers(person) == ["alpha " * 12] and person.idle())
        server.release("omega")
        person.go_to(second)
        person.wait(lambda: answers(person) == ["omega " * 12] and person.idle())
        assert person.leave() == 0
    assert server.rejected == []
    for tab_id, name in ((first, "alpha"), (second, "omega")):
        assert spoken(sealed(home, tab_id)) == [("text", name), ("text", f"{name} " * 12)]


def test_c25_a_closed_conversation_goes_on_to_its_end(home: Home, enter: Enter) -> None:
    """SPEC C25, P06: closing hides a conversation and does nothing else."""
    with MessagesServer(side_by_side) as server:
        person = enter(server)
        tab_id = person.begin("alpha")
        person.wait_at_gate(server, "alpha")
        person.keys("Ctrl+W")
        person.wait(lambda: tab_id not in person.tab_ids())
        server.release("alpha")
        person.wait(lambda: outcomes(home, tab_id) == ["done"])
        (tab,) = home.rows("select * from tabs")
        assert (tab["is_open"], tab["archived_at"], tab["trashed_at"]) == (0, None, None)
        person.keys("Ctrl+Shift+T")
        person.wait(lambda: answers(person) == ["alpha " * 12])
        assert person.leave() == 0


def test_c25_reopened_in_mid_stream_it_shows_all_of_it_so_far(home: Home, enter: Enter) -> None:
    """No gap and no repeat, whatever came while nobody looked."""
    answer = reply(text("0123456789ab" * 6))
    gated = answer.gate_after(8, "second").gate_after(5, "first")
    with MessagesServer([gated]) as server:
        person = enter(server)
        tab_id = person.begin("count")
        person.wait_at_gate(server, "first")
        person.wait(lambda: answers(person) == ["0123456789ab" * 2])
        person.keys("Ctrl+W")
        person.wait(lambda: tab_id not in person.tab_ids())
        server.release("first")
        person.wait_at_gate(server, "second")
        person.keys("Ctrl+Shift+T")
        person.wait(lambda: answers(person) == ["0123456789ab" * 5])
        server.release("second")
        person.wait(person.idle)
        assert answers(person) == ["0123456789ab" * 6]
        assert person.leave() == 0
    assert spoken(sealed(home, tab_id))[1:] == [("text", "0123456789ab" * 6)]


# -- kept as a file ---------------------------------------------------------------------------


def begun(home: Home, server: MessagesServer, folder: Path) -> str:
    """A conversation of one turn that another process kept as a file; its id."""
    there = replace(home, base_url=server.base_url)
    done = there.run("hello", "--store", f"jsonl:{folder}")
    assert done.code == 0, done.err
    return str(home.rows("select id from tabs")[0]["id"])


def file_rows(file: Path) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in file.read_bytes().splitlines()]
    return [line for line in lines if line.get("kind") == "row"]


def test_the_window_shows_a_conversation_kept_as_a_file_and_goes_on_in_it(
    home: Home, enter: Enter
) -> None:
    """S01, C03."""
    folder = home.root / "sessions"
    with MessagesServer([reply(text("From the file.")), reply(text("To the file."))]) as server:
        tab_id = begun(home, server, folder)
        before = file_rows(folder / f"{tab_id}.jsonl")
        person = enter(server)
        person.go_to(tab_id)
        person.wait(lambda: person.reads("From the file."))
        person.say("and now?")
        person.wait(lambda: person.reads("To the file.") and person.idle())
        shown = person.transcript()
        assert person.leave() == 0
    assert shown == [
        "You: hello",
        "Answer: From the file.",
        "You: and now?",
        "Answer: To the file.",
    ]
    assert home.rows() == []
    after = file_rows(folder / f"{tab_id}.jsonl")
    assert after[: len(before)] == before
    assert [row["data"]["text"] for row in after if row["type"] == "text"] == [
        "hello",
        "From the file.",
        "and now?",
        "To the file.",
    ]
    assert_extends(*(request.json for request in server.requests))


def test_what_another_process_lays_down_in_the_file_comes_into_the_window(
    home: Home, enter: Enter
) -> None:
    """U15: the window looks again by itself."""
    folder = home.root / "sessions"
    with MessagesServer([reply(text("One.")), reply(text("Two."))]) as server:
        tab_id = begun(home, server, folder)
        person = enter(server)
        person.go_to(tab_id)
        person.wait(lambda: person.reads("One.") and person.idle())
        there = replace(home, base_url=server.base_url)
        other = there.start("run", "--json", "--tab", tab_id, "more")
        person.wait(lambda: other.poll() is not None)
        other.communicate()
        person.wait(lambda: person.reads("Two."))
        assert person.leave() == 0
    assert other.returncode == 0


def test_a_conversation_whose_folder_is_gone_is_named_and_never_shown_empty(
    home: Home, enter: Enter
) -> None:
    """F-S02: and it is there again when the folder is."""
    folder = home.root / "sessions"
    with MessagesServer([reply(text("One.")), reply(text("Two."))]) as server:
        tab_id = begun(home, server, folder)
        folder.rename(home.root / "away")
        person = enter(server)
        person.go_to(tab_id)
        person.wait(lambda: f"the folder {folder}, which is not there" in person.banner())
        person.write("more")
        person.wait(lambda: person.part_enabled("sendButton"))
        person.click("sendButton")
        person.wait(lambda: person.part_enabled("sendButton"))  # it was tried, and told
        assert person.composer.toPlainText() == "more"
        assert len(server.requests) == 1
        assert not folder.exists()
        (home.root / "away").rename(folder)
        person.wait(lambda: person.reads("One."))
        person.click("sendButton")
        person.wait(lambda: person.reads("Two.") and person.idle())
        assert person.leave() == 0
    assert home.rows() == []


def test_a_torn_end_and_a_damaged_row_are_told_in_the_window_and_it_goes_on(
    home: Home, enter: Enter
) -> None:
    """F-S02, C12: what is intact is shown, what is not is set aside and named."""
    folder = home.root / "sessions"
    with MessagesServer([reply(text("One.")), reply(text("Two."))]) as server:
        tab_id = begun(home, server, folder)
        file = folder / f"{tab_id}.jsonl"
        whole = file.read_bytes()
        file.write_bytes(whole.replace(b'{"text":"hello"', b'{"text":\0\0\0\0"llo"') + bytes(1206))
        person = enter(server)
        person.go_to(tab_id)
        person.wait(lambda: person.reads("One.") and "can't be read" in person.banner())
        person.say("more")
        person.wait(lambda: person.reads("Two.") and "was set aside in" in person.banner())
        person.wait(person.idle)
        assert person.leave() == 0
    assert (folder / f"{tab_id}.jsonl.torn-1").read_bytes() == bytes(1206)
    assert server.rejected == []


# -- the first page ---------------------------------------------------------------------------


def test_k02_keys_of_an_old_database_that_wait_for_a_keyring_are_told_in_the_window(
    home: Home, enter: Enter
) -> None:
    """SPEC C01, K02: the window works on; the next start tries again."""
    home.data.mkdir()
    database = legacy.make(home.data, messages=20, huge=0)
    before = legacy.rows(database)
    with MessagesServer([reply("Hello.")]) as server:
        person = enter(server)
        assert f"{len(legacy.SECRETS)} keys of an older database" in person.banner()
        assert str(database) in person.banner()
        person.begin("hello")
        person.wait(lambda: person.reads("Hello.") and person.idle())
        assert person.leave() == 0
    after = legacy.rows(database)
    assert [after[one] for one in ("credentials", "api_keys")] == [
        before[one] for one in ("credentials", "api_keys")
    ]


@pytest.fixture
def without_key(home: Home, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    return home


def test_a_wrong_key_is_told_under_the_field_and_a_right_one_leads_in(
    without_key: Home, enter: Enter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC K01: what can't be a key is refused unasked; nothing of any key is kept in a file."""
    wrong, right = "wrong-key-0123456789", "right-key-0123456789"
    with MessagesServer([reply("Welcome in.")], invalid_keys=(wrong,)) as server:
        # The provider stands on loopback for once: a key is asked for at the provider only.
        monkeypatch.setattr(api_key, "PROVIDER_URL", server.base_url)
        person = enter()
        person.wait(lambda: person.shows("welcomePage"))
        person.type_into("keyField", "NAME=secret-in-a-line")
        person.click("sessionKey")
        person.wait(lambda: "the key is only what stands after the equals sign" in person.labels())
        assert server.log == []
        person.type_into("keyField", wrong)
        person.click("sessionKey")
        person.wait(lambda: "key" in person.labels() and len(server.log) == 1)
        person.wait(lambda: "Checking the key…" not in person.labels())
        assert person.shows("welcomePage")
        assert "key" in person.labels().partition("Enter a key")[2].lower()
        assert person.part(QLineEdit, "keyField").text() == wrong, "what was typed is not lost"

        person.type_into("keyField", right)
        person.click("sessionKey")
        person.wait(lambda: person.shows("newPage"))
        person.begin("hello")
        person.wait(lambda: person.reads("Welcome in.") and person.idle())
        assert person.leave() == 0
        again = enter()
        again.wait(lambda: again.reads("Welcome in."))
        assert again.leave() == 0
    for path in without_key.root.rglob("*"):
        if path.is_file():
            for secret in (wrong, right, "secret-in-a-line"):
                assert secret.encode() not in path.read_bytes(), path


@pytest.mark.keyring
def test_a_key_that_is_kept_is_there_after_a_restart_and_can_be_forgotten(
    without_key: Home,
    enter: Enter,
    in_secret_service: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """SPEC K01, K02, U34: into the system's keyring and out of it again, and nowhere else."""
    key = "kept-key-0123456789"
    with MessagesServer([reply("Welcome in."), reply("Here again.")]) as server:
        monkeypatch.setattr(api_key, "PROVIDER_URL", server.base_url)
        person = enter()
        person.wait(lambda: person.shows("welcomePage"))
        person.type_into("keyField", key)
        person.click("saveKey")
        person.wait(lambda: person.shows("newPage"))
        person.begin("hello")
        person.wait(lambda: person.reads("Welcome in.") and person.idle())
        assert person.leave() == 0

        again = enter()
        again.wait(lambda: again.reads("Welcome in."))
        again.say("still there?")
        again.wait(lambda: again.reads("Here again.") and again.idle())
        again.do("settings")
        again.wait(lambda: "The key comes from the system's keyring." in again.labels())
        again.click("forgetKey")
        again.wait(lambda: "No key is set." in again.labels())
        assert again.leave() == 0
        assert {one.headers["authorization"] for one in server.requests} == {f"Bearer {key}"}

        last = enter()
        last.wait(lambda: last.reads("Here again."))
        last.do("settings")
        last.wait(lambda: "No key is set." in last.labels())
        assert last.leave() == 0
    for path in without_key.root.rglob("*"):
        if path.is_file():
            assert key.encode() not in path.read_bytes(), path


def test_a_local_server_needs_its_address_only(without_key: Home, enter: Enter) -> None:
    with MessagesServer([reply("From this computer.")], strict=False) as server:
        person = enter()
        person.wait(lambda: person.shows("welcomePage"))
        person.type_into("serverField", "http://127.0.0.1:9")
        person.click("connectServer")
        person.wait(lambda: "127.0.0.1:9" in person.labels())
        assert person.shows("welcomePage")
        person.type_into("serverField", "not an address")
        person.click("connectServer")
        person.wait(lambda: "not an address" in person.labels())
        person.type_into("serverField", server.base_url)
        person.click("connectServer")
        person.wait(lambda: person.shows("newPage"))
        person.begin("hello")
        person.wait(lambda: person.reads("From this computer.") and person.idle())
        assert person.leave() == 0
    query = f"select value from settings where key = '{BASE_URL.key}'"
    assert [row["value"] for row in without_key.rows(query)] == [server.base_url]


def test_the_tour_plays_to_its_end_and_says_that_it_is_a_recording(
    without_key: Home, enter: Enter
) -> None:
    person = enter()
    person.click("playTour")
    person.wait(lambda: person.shows("transcript"))
    assert "recording" in person.tabs.tabText(0)
    tab_id = person.tab_ids()[0]
    person.wait(lambda: outcomes(without_key, tab_id) == ["done"] and person.idle())
    assert person.leave() == 0
    rows = sealed(without_key, tab_id)
    results = [data for kind, data in rows if kind == "tool_result"]
    assert results
    assert not any(data["isError"] for data in results)
    assert any("recording" in words for _, words in spoken(rows))


# -- what is written --------------------------------------------------------------------------


def test_u14_what_was_not_sent_is_there_after_a_restart(home: Home, enter: Enter) -> None:
    with MessagesServer([reply("Yes.")]) as server:
        person = enter(server)
        person.begin("hello")
        person.wait(lambda: person.reads("Yes.") and person.idle())
        person.write("a thought that is not ready")
        assert person.leave() == 0

        again = enter(server)
        again.wait(lambda: again.shows("transcript"))
        again.wait(lambda: again.composer.toPlainText() == "a thought that is not ready")
        assert again.leave() == 0
    assert len(server.requests) == 1


def test_u07_ten_megabytes_become_an_attachment_that_is_sent_byte_for_byte(
    home: Home, enter: Enter
) -> None:
    lines = "".join(f"{number:07d} é\t" for number in range(860_000))
    big = f"{lines[: 10 * 1024 * 1024 - 1]}\n"
    with MessagesServer([reply("That is a lot.")], strict=False) as server:
        person = enter(server)
        began = time.monotonic()
        person.write("read this")
        person.paste(big)
        person.wait(lambda: person.parts(AttachmentChip, ""))
        took = time.monotonic() - began
        assert person.composer.toPlainText() == "read this"
        tab_id = person.begin("")
        person.wait(lambda: person.reads("That is a lot.") and person.idle())
        assert person.leave() == 0
    assert took < 30  # letter by letter it would take minutes
    leaves = [block.get("text", "") for block in server.requests[0].last_blocks]
    assert any(one.endswith(big) for one in leaves)
    (row,) = [data for _, data in sealed(home, tab_id) if data.get("attachments")]
    assert row["text"] == "read this"


@pytest.mark.parametrize("odd", ["a\ud800b", "nul\0byte"])
def test_f_s07_odd_text_is_sent_and_shown(home: Home, enter: Enter, odd: str) -> None:
    """FIELD F-S07: a lone surrogate goes out as U+FFFD, and nothing stumbles over a NUL."""
    with MessagesServer([reply("Odd."), reply("Fine.")]) as server:
        person = enter(server)
        person.paste(odd)
        person.begin("")
        person.wait(lambda: person.reads("Odd.") and person.idle())
        assert person.reads("You: a") or person.reads("You: nul")
        person.say("and on")
        person.wait(lambda: person.reads("Fine.") and person.idle())
        assert person.leave() == 0
        again = enter(server)
        again.wait(lambda: again.reads("Fine."))
        assert again.leave() == 0
    assert server.rejected == []
    assert_extends(server.requests[0].json, server.requests[1].json)


# -- the end ----------------------------------------------------------------------------------


def test_closing_while_a_turn_runs_asks_and_stopping_seals_it(home: Home, enter: Enter) -> None:
    with MessagesServer([reply(text(LONG)).gate_after(5, "mid")]) as server:
        person = enter(server)
        tab_id = person.begin("begin")
        person.wait_at_gate(server, "mid")
        person.wait(lambda: answers(person) == [LONG[:24]])
        person.close()
        person.answer_box("Stay")
        assert not person.gone()
        assert not person.idle()
        person.close()
        began = time.monotonic()
        person.answer_box("Stop and quit")
        assert person.ended() == 0
        took = time.monotonic() - began
    assert took < SHORT
    assert outcomes(home, tab_id) == ["stopped"]
    assert spoken(sealed(home, tab_id))[1:] == [("text", LONG[:24])]


def test_finish_then_quit_lets_the_turn_go_on_to_its_end(home: Home, enter: Enter) -> None:
    with MessagesServer([reply(text(LONG)).gate_after(5, "mid")]) as server:
        person = enter(server)
        tab_id = person.begin("begin")
        person.wait_at_gate(server, "mid")
        person.close()
        person.answer_box("Finish, then quit")
        person.wait(lambda: not person.window.isVisible())
        server.release("mid")
        assert person.ended() == 0
    assert outcomes(home, tab_id) == ["done"]
    assert spoken(sealed(home, tab_id))[1:] == [("text", LONG)]


def test_an_idle_window_is_gone_in_under_three_seconds(home: Home, enter: Enter) -> None:
    with MessagesServer() as server:
        person = enter(server)
        person.point_at(person.part(QComboBox, "modelChoice"))
        person.wait(lambda: [one for one in server.log if one.status == 200])
        began = time.monotonic()
        assert person.leave() == 0
    assert time.monotonic() - began < SHORT


# -- looks and names --------------------------------------------------------------------------


def test_the_dark_colours_apply_at_once_and_come_back_with_the_next_start(
    home: Home, enter: Enter
) -> None:
    with MessagesServer() as server:
        person = enter(server)
        person.do("settings")
        person.wait(lambda: person.shows("settingsDialog"))
        person.choose_section(THEME.section)
        person.choose(THEME.key, "light")
        assert lightness(person.window) > 200
        person.choose(THEME.key, "dark")
        assert lightness(person.window) < 60
        person.close_dialog("settingsDialog")
        assert person.leave() == 0
        again = enter(server)
        assert lightness(again.window) < 60
        assert again.leave() == 0


def test_u38_everything_that_can_be_used_has_a_name(home: Home, enter: Enter) -> None:
    """SPEC U38: what a screen reader is told of every button, field and list on the screen."""
    script = [write_call("a.txt", "x"), reply("Done.")]
    with MessagesServer(script) as server:
        person = enter(server)
        assert nameless(person.window) == []
        person.open_folder(home.workspace)
        person.begin("write a.txt")
        person.wait(lambda: person.part_enabled("allowOnce"))
        person.say("and this one waits")
        person.wait(lambda: person.shows("queueBar"))
        assert nameless(person.window) == []
        person.click("allowAlways")
        assert nameless(person.window) == []
        person.click("deny")
        assert nameless(person.window) == []
        person.click("denyNow")
        person.wait(lambda: person.reads("Done.") and person.idle())
        person.do("settings")
        person.wait(lambda: person.shows("settingsDialog"))
        sections = person.window.findChild(QListWidget)
        assert sections is not None
        for at in range(sections.count()):
            person.choose_section(sections.item(at).text())
            assert nameless(person.window) == []
        person.close_dialog("settingsDialog")
        assert person.leave() == 0


def test_u38_the_first_page_has_names_too(without_key: Home, enter: Enter) -> None:
    person = enter()
    person.wait(lambda: person.shows("welcomePage"))
    assert nameless(person.window) == []
    assert person.leave() == 0


# -- words of these tests ---------------------------------------------------------------------


def bar(person: Person) -> PermissionBar:
    return person.part(PermissionBar, "permissionBar")


def choice(person: Person) -> tuple[str, str, str]:
    """Model, effort and mode under the composer in view."""
    return person.part(Composer, "composerFrame").choice()


def has_choice(person: Person, name: str, value: Any) -> bool:
    return person.part(QComboBox, name).findData(value) >= 0


def answers(person: Person) -> list[str]:
    """The answers on the screen."""
    return [
        line.removeprefix("Answer: ") for line in person.transcript() if line.startswith("Answer: ")
    ]


def lightness(widget: QWidget) -> int:
    """0 black to 255 white, of the window's ground as it is painted."""
    return widget.grab().toImage().pixelColor(widget.width() - 3, widget.height() // 2).lightness()


USABLE = (
    QAbstractButton,
    QLineEdit,
    QPlainTextEdit,
    QComboBox,
    QAbstractSpinBox,
    QAbstractItemView,
    QTabBar,
)


def nameless(window: QWidget) -> list[str]:
    """The usable widgets on the screen that have nothing to be called by."""
    return [
        f"{type(one).__name__} {one.objectName()}"
        for one in window.findChildren(QWidget)
        if isinstance(one, USABLE) and one.isVisible() and not inner(one) and not name_of(one)
    ]


def inner(widget: QWidget) -> bool:
    """Whether it is a part of one of Qt's own widgets, which speaks for it."""
    parent = widget.parentWidget()
    return isinstance(parent, (QLineEdit, QComboBox, QAbstractSpinBox)) or (
        isinstance(parent, QTabBar) and widget.objectName().startswith("Scroll")
    )


def name_of(widget: QWidget) -> str:
    spoken_ = QAccessible.queryAccessibleInterface(widget)
    return spoken_.text(QAccessible.Text.Name).strip() if spoken_ else ""
