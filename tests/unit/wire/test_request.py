"""The fold from rows to a request (DESIGN §6; SPEC C02 to C11)."""

import itertools
from typing import Any

import pytest

from desktop.core.chunks import Opaque, Stamp, System, Text, Thinking, ToolCall, ToolResult
from desktop.core.conversation import compaction
from desktop.wire.request import serialise
from tests.fakes.messages_api import assert_extends
from tests.unit.wire.rows_of import ME, OPUS, TOOLS, Log, body_of, reloaded, said, text

RESULT = {"type": "tool_result", "tool_use_id": "a", "content": [text("fine")]}


def three_step_turn() -> tuple[Log, list[dict[str, Any]]]:
    """A turn of three steps, and the request before each of them and before the next turn."""
    log = Log()
    log.prompt()
    log.user("What is in there?")
    bodies = [log.body()]
    for step, call in enumerate(("a", "b")):
        log.step = step
        log.thinks(f"thought {step}", f"sig{step}")
        log.calls(call, path=f"file{step}")
        log.result(call, f"content {step}")
        bodies.append(log.body())
    log.step = 2
    log.says("Two files.")
    log.turn, log.step = "t2", 0
    log.user("Thanks")
    bodies.append(log.body())
    return log, bodies


def test_c02_each_request_of_a_tool_turn_extends_the_one_before_byte_by_byte():
    _, bodies = three_step_turn()
    for earlier, later in itertools.pairwise(bodies):
        assert_extends(earlier, later)
    assert [len(body["messages"]) for body in bodies] == [1, 3, 5, 7]


def test_c03_a_rebuild_from_the_stored_json_gives_the_same_bytes():
    log, bodies = three_step_turn()
    assert serialise(body_of(reloaded(log.rows))) == serialise(bodies[-1])


def test_c04_parallel_calls_are_one_message_and_their_results_one_in_call_order():
    log = Log()
    log.user("Read all")
    log.says("Reading.")
    for call in "abcd":
        log.calls(call)
    for call in "cabd":
        log.result(call, f"result {call}")
    roles = said(log.body())
    assert [role for role, _ in roles] == ["user", "assistant", "user"]
    assert [block["type"] for block in roles[1][1]] == ["text", *["tool_use"] * 4]
    assert [block["tool_use_id"] for block in roles[2][1]] == list("abcd")


def test_c05_a_queued_message_and_a_fact_stand_after_the_results_of_their_step():
    log = Log()
    log.user("Read")
    log.calls("a")
    log.result("a")
    before = log.body()
    log.fact("The mode is now read-only.")
    log.user("And hurry")
    log.user("Please")
    body = log.body()
    added = [text("The mode is now read-only."), text("And hurry"), text("Please")]
    assert said(body)[-1] == ("user", [RESULT, *added])
    assert_extends(before, body)


def test_c07_signed_thinking_without_text_goes_back_as_it_came():
    log = Log()
    log.user("Hi")
    log.thinks("", "only a signature")
    log.says("Hello")
    thought = {"type": "thinking", "thinking": "", "signature": "only a signature"}
    log.user("again")
    assert said(log.body())[1][1] == [thought, text("Hello")]


@pytest.mark.parametrize(
    "metadata", [None, {"type": "thinking", "thinking": None, "signature": ""}]
)
def test_c07_unsigned_thinking_is_never_sent(metadata: dict[str, Any] | None):
    log = Log()
    log.user("Hi")
    log.add("assistant", Thinking("half a thought", metadata=metadata))
    log.user("again")
    assert said(log.body()) == [("user", [text("Hi"), text("again")])]


def test_c07_redacted_thinking_goes_to_its_model_and_account_only():
    log = Log()
    block = {"type": "redacted_thinking", "data": "sealed"}
    log.user("Hi")
    log.add("assistant", Thinking("", metadata=block))
    log.says("Hello")
    log.user("again")
    assert said(log.body())[1][1] == [block, text("Hello")]
    for other in (Stamp(ME.provider, "claude-opus-5"), Stamp("anthropic:ffffffff", OPUS)):
        assert said(body_of(log.rows, stamp=other))[1][1] == [text("Hello")]


def test_f_w01b_an_assistant_message_of_thinking_alone_is_left_out():
    log = Log()
    log.user("Hi")
    log.thinks("stopped here")
    log.user("again")
    assert said(log.body()) == [("user", [text("Hi"), text("again")])]


def test_thinking_at_the_end_of_a_cut_message_is_left_out():
    log = Log()
    log.user("Hi")
    log.thinks("first", "s1")
    log.says("Hello")
    log.thinks("stopped here", "s2")
    log.user("again")
    assert [block["type"] for block in said(log.body())[1][1]] == ["thinking", "text"]


def test_c08_errors_and_the_rows_of_the_program_never_reach_the_wire():
    log = Log()
    log.prompt()
    log.user("Hi")
    before = log.body()
    log.error("The server is overloaded.")
    for kind in ("notice", "turn_end", "model", "something new"):
        log.add("system", System(kind, "not for the model"))
    log.add("system", System("notice", "", {"started": ["x"]}))
    assert serialise(log.body()) == serialise(before)


@pytest.mark.parametrize("tail", [[], ["go on"]])
def test_c09_a_call_without_a_result_gets_exactly_one_error_result(tail: list[str]):
    log = Log()
    log.user("Read")
    log.calls("a")
    log.calls("b")
    log.result("a")
    for one in tail:
        log.user(one)
    content = said(log.body())[-1][1]
    assert content[0] == RESULT
    assert content[1]["tool_use_id"] == "b"
    assert content[1]["is_error"] is True
    assert content[2:] == [text(one) for one in tail]


def test_f_w01c_a_result_that_lies_later_in_the_log_stands_after_its_call():
    log = Log()
    log.user("Read")
    log.calls("a")
    log.turn = "t2"
    log.user("Well?")
    log.result("a")
    assert said(log.body())[-1] == ("user", [RESULT, text("Well?")])


def test_f_w01d_a_result_without_a_call_is_left_out():
    log = Log()
    log.user("Hi")
    log.result("gone")
    log.says("Hello")
    log.user("again")
    assert [role for role, _ in said(log.body())] == ["user", "assistant", "user"]


def test_c10_malformed_arguments_are_sent_as_an_empty_object():
    log = Log()
    log.user("Read")
    log.add("assistant", ToolCall("a", "read_file", {}, extra={"malformed": '{"path": "x'}))
    log.result("a", "The arguments were no JSON.", is_error=True)
    assert said(log.body())[1][1] == [
        {"type": "tool_use", "id": "a", "name": "read_file", "input": {}}
    ]


def test_c11_a_log_that_ends_in_an_error_can_be_sent():
    log = Log()
    log.user("Hi")
    log.add("assistant", Text("Hel", interrupted=True))
    log.error("The connection ended.")
    log.turn = "t2"
    log.user("again")
    assert said(log.body()) == [
        ("user", [text("Hi")]),
        ("assistant", [text("Hel")]),
        ("user", [text("again")]),
    ]


def test_f_w02_blocks_go_back_in_the_order_and_with_the_keys_they_came():
    log = Log()
    log.user("Go")
    log.thinks("one", "s1")
    log.add(
        "assistant",
        ToolCall(
            "a",
            "read_file",
            {"z": 1, "a": 2},
            block={
                "id": None,
                "type": "tool_use",
                "caller": {"type": "direct"},
                "name": None,
                "input": None,
            },
        ),
    )
    log.thinks("two", "s2")
    log.add("assistant", Text("   "))
    log.add(
        "assistant", Text("see", block={"text": None, "type": "text", "citations": [{"url": "u"}]})
    )
    log.result("a")
    sent = said(log.body())[1][1]
    assert [list(block.items()) for block in sent] == [
        [("type", "thinking"), ("thinking", "one"), ("signature", "s1")],
        [
            ("id", "a"),
            ("type", "tool_use"),
            ("caller", {"type": "direct"}),
            ("name", "read_file"),
            ("input", {"z": 1, "a": 2}),
        ],
        [("type", "thinking"), ("thinking", "two"), ("signature", "s2")],
        [("text", "see"), ("type", "text"), ("citations", [{"url": "u"}])],
    ]
    assert list(sent[1]["input"]) == ["z", "a"]


@pytest.mark.parametrize("nothing", ["", " \n\t"])
def test_f_w04_no_empty_text_and_no_empty_result_is_sent(nothing: str):
    log = Log()
    log.user("Go")
    log.add("assistant", Text(nothing))
    log.calls("a")
    log.calls("b")
    log.result("a", nothing)
    log.result("b", nothing, is_error=True)
    log.user(nothing)
    messages = said(log.body())
    assert [block["type"] for block in messages[1][1]] == ["tool_use", "tool_use"]
    quiet, failed = messages[2][1]
    assert quiet == {"type": "tool_result", "tool_use_id": "a"}
    assert failed["content"][0]["text"].strip()


def test_f_w05_half_surrogates_are_replaced_alike_everywhere():
    half = "ok \ud83d end"
    log = Log()
    log.prompt(half, [TOOLS[0] | {"description": half}])
    log.user(half)
    log.calls("a", name="read_file", path=half, **{half: [half]})
    log.result("a", half)
    body = log.body()
    sent = serialise(body).decode("utf-8")
    assert sent.count("ok \ufffd end") == 7
    assert "\\ud83d" not in sent


def test_numbers_that_json_lacks_do_not_make_a_body_that_is_no_json():
    log = Log()
    log.user("Go")
    log.calls("a", size=float("inf"), rest=[float("nan"), 1.5])
    assert said(log.body())[1][1][0]["input"] == {"size": None, "rest": [None, 1.5]}


def test_v18_foreign_call_ids_are_scrubbed_alike_and_kept_apart():
    log = Log()
    log.user("Go")
    log.calls("call:1")
    log.calls("call.1")
    log.calls("")
    log.result("call.1", "second")
    log.result("call:1", "first")
    log.result("", "third")
    messages = said(log.body())
    ids = [block["id"] for block in messages[1][1]]
    assert ids == ["call_1", "call_1_2", "call"]
    answers = [(b["tool_use_id"], b["content"][0]["text"]) for b in messages[2][1]]
    assert answers == list(zip(ids, ["first", "second", "third"], strict=True))


def test_an_id_used_again_later_gets_its_own_result():
    log = Log()
    for step in range(2):
        log.step = step
        log.user(f"Go {step}")
        log.calls("same")
        log.result("same", f"result {step}")
    answers = [b for _, c in said(log.body()) for b in c if b["type"] == "tool_result"]
    assert [(a["tool_use_id"], a["content"][0]["text"]) for a in answers] == [
        ("same", "result 0"),
        ("same_2", "result 1"),
    ]


def test_retracted_rows_are_not_sent():
    log = Log()
    log.user("Hi")
    partial = log.says("Hel")
    log.retract(partial)
    assert said(log.body()) == [("user", [text("Hi")])]


def test_after_a_compaction_the_summary_is_the_first_user_text():
    log = Log()
    log.prompt()
    log.user("Hi")
    log.thinks("bound to what is gone")
    log.says("Hello")
    log.add("system", System("compaction", "They greeted each other."))
    log.turn = "t2"
    log.user("again")
    body = log.body()
    assert said(body) == [("user", [text("They greeted each other."), text("again")])]
    assert body["system"][0]["text"] == "You work in a folder."
    assert [tool["name"] for tool in body["tools"]] == ["list_dir", "read_file"]


def test_s08_the_last_summary_and_the_unanswered_texts_it_keeps_are_told():
    """S08, A11, S03: one of them that was taken back meanwhile is not."""
    log = Log()
    log.prompt()
    log.user("Hi")
    log.says("Hello")
    log.add("system", System("compaction", "First summary."))
    log.user("And?")
    log.says("Well.")
    first, second = log.user("one"), log.user("two")
    log.add("system", compaction("Second summary.", [first, second]))
    log.user("three")
    assert said(log.body()) == [
        ("user", [text("Second summary."), text("one"), text("two"), text("three")])
    ]
    log.retract(first)
    assert said(log.body()) == [("user", [text("Second summary."), text("two"), text("three")])]


def test_c29_a_prompt_that_a_compaction_brings_is_the_one_that_is_sent():
    log = Log()
    log.prompt("Old words.")
    log.user("Hi")
    log.says("Hello")
    log.add("system", compaction("Summary.", ()))
    log.prompt("New words.", TOOLS[:1])
    body = log.body()
    assert body["system"][0]["text"] == "New words."
    assert [tool["name"] for tool in body["tools"]] == ["list_dir"]


def test_a_new_tool_set_replaces_that_of_the_prompt():
    log = Log()
    log.prompt()
    log.user("Hi")
    log.add("system", System("tools", "", {"tools": TOOLS[:1]}))
    assert [tool["name"] for tool in log.body()["tools"]] == ["list_dir"]


def test_v38_thinking_that_was_bound_to_other_tools_is_left_out_behind_new_ones():
    log = Log()
    log.prompt()
    log.user("Hi")
    log.thinks("bound to two tools")
    log.says("Hello")
    log.user("And?")
    log.add("system", System("tools", "", {"tools": TOOLS[:1]}))
    log.turn = "t2"
    log.thinks("bound to one tool")
    log.says("Well.")
    said_blocks = [
        block["type"]
        for message in log.body()["messages"]
        if message["role"] == "assistant"
        for block in message["content"]
    ]
    assert said_blocks == ["text", "thinking", "text"]


def test_attached_files_become_texts_under_a_line_that_names_them():
    log = Log()
    files = ({"name": "a.txt", "mediaType": "text/plain", "text": "alpha"}, {"name": "p.png"})
    log.add("user", Text("Look", attachments=files))
    assert said(log.body())[0][1] == [
        text("Look"),
        text("Attached file: a.txt (text/plain)\n\nalpha"),
    ]


def test_v8_a_log_that_begins_with_the_assistant_gets_a_user_message_before_it():
    log = Log()
    log.says("Hello")
    log.user("Hi")
    assert [role for role, _ in said(log.body())] == ["user", "assistant", "user"]


def test_v10_a_request_never_ends_with_the_assistant_unless_it_is_resumed():
    log = Log()
    log.user("Search")
    log.add(
        "assistant",
        Opaque({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}),
    )
    assert said(log.body())[-1][0] == "user"
    resumed = said(log.body(resumed=True))
    assert resumed[-1][0] == "assistant"
    assert resumed[-1][1][0]["id"] == "s"


def test_f_w07_a_pause_is_continued_as_one_message_and_left_out_when_it_was_stopped():
    log = Log()
    call = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "x"}}
    found = {"type": "web_search_tool_result", "tool_use_id": "s", "content": []}
    log.user("Search")
    log.says("Searching.")
    log.add("assistant", Opaque(call))
    paused = log.body(resumed=True)
    stopped = Log(rows=list(log.rows), turn="t2")
    stopped.user("Never mind")
    assert said(stopped.body())[1][1] == [text("Searching.")]
    log.step = 1
    log.add("assistant", Opaque(found))
    log.says("Found.")
    log.turn = "t2"
    log.user("Thanks")
    body = log.body()
    assert said(body)[1][1] == [text("Searching."), call, found, text("Found.")]
    assert_extends(paused, body)


def test_what_was_thought_behind_a_call_that_never_got_its_result_goes_with_it():
    """API V34: it is bound to the call's bytes; what was thought before it stays."""
    log = Log()
    log.user("Search")
    log.thinks("first")
    log.add("assistant", Opaque({"type": "server_tool_use", "id": "s", "name": "x", "input": {}}))
    log.thinks("behind")
    log.calls("c")
    log.result("c")
    log.step = 1
    log.thinks("of the next step, which had the waiting call before it")
    log.says("Nothing came.")
    log.turn = "t2"
    log.user("Go on")
    log.thinks("of the turn after it")
    log.says("Yes.")
    log.user("Thanks")
    thoughts = [
        block["thinking"]
        for role, content in said(log.body())
        for block in content
        if role == "assistant" and block["type"] == "thinking"
    ]
    assert thoughts == ["first", "of the turn after it"]


def test_a_block_of_the_provider_itself_goes_to_nobody_else():
    log = Log()
    log.user("Search")
    log.add("assistant", Opaque({"type": "surprise", "x": 1}))
    log.says("Found.")
    log.user("Thanks")
    other = Stamp("local_4020:00000000", "llama")
    assert said(body_of(log.rows, stamp=other))[1][1] == [text("Found.")]
    assert said(log.body())[1][1][0] == {"type": "surprise", "x": 1}


def test_thinking_and_effort_are_asked_for_as_the_model_takes_them():
    log = Log()
    log.user("Hi")
    body = log.body(effort="high")
    assert body["thinking"] == {"type": "adaptive", "display": "summarized"}
    assert body["output_config"] == {"effort": "high"}
    assert "temperature" not in body
    assert "output_config" not in log.body(effort="medium"), "the default is left out"
    assert "output_config" not in log.body(effort="enormous")
    old = body_of(log.rows, model="claude-haiku-4-5", effort="high")
    assert not old.keys() & {"thinking", "output_config"}
    plain = body_of(log.rows, model="qwen3:8b", effort="high")
    assert plain == {
        "model": "qwen3:8b",
        "max_tokens": 8192,
        "stream": True,
        "messages": [{"role": "user", "content": [text("Hi")]}],
    }


def test_the_bytes_of_a_longer_conversation_begin_with_those_of_a_shorter_one():
    """U25: messages stand last in the body."""
    log = Log()
    log.prompt()
    log.user("Hi")
    log.says("Hello")
    log.user("one")
    plain: list[str] = []
    for _ in range(2):
        body = log.body(model="unknown-model")
        plain.append(serialise(body).decode().removesuffix("]}]}"))
        log.user("two")
    assert plain[1].startswith(plain[0])


def test_malformed_rows_of_an_import_do_not_stop_the_build():
    log = Log()
    log.user("Go")
    log.add("assistant", ToolCall("x", "a tool: with a very long name " * 9, {}))
    log.add("tool", ToolResult("x", "", "fine"))
    name = said(log.body())[1][1][0]["name"]
    assert len(name) == 64
    assert name.isascii()
    assert " " not in name
