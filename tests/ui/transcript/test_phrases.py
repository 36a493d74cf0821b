"""Rows in words (LOOK.md "Rows of the transcript")."""

import pytest

from desktop.core.chunks import LogChunk, Payload, System, Text, Thinking, ToolCall, ToolResult
from desktop.core.conversation import started_mark
from desktop.core.groups import relations
from desktop.core.permissions import Act, Question
from desktop.core.status import TabStatus
from desktop.ui.transcript.calls import headline, outcome
from desktop.ui.transcript.diff import Line, changes, diff_of
from desktop.ui.transcript.phrases import Context, accessible_text, call_in, notice, thinking_line


def row(seq: int, data: Payload, *, at: int = 0, role: str = "assistant") -> LogChunk:
    return LogChunk(f"c{seq}", "tab", seq, "t1", 0, role, data, at)  # type: ignore[arg-type]


RUNNING = TabStatus("tab", phase="running", turn_id="t1")
IDLE = TabStatus("tab")


def words(
    name: str, arguments: dict[str, object], result: ToolResult | None, status: TabStatus = IDLE
) -> str:
    rows = [row(1, ToolCall("k", name, arguments))]
    if result is not None:
        rows.append(row(2, result))
    call = call_in(rows[0], Context(relations(rows), status))
    assert call is not None
    return f"{headline(call).marked} | {outcome(call)}"


def done(name: str, text: str = "", **more: object) -> ToolResult:
    return ToolResult("k", name, text, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "arguments", "result", "said"),
    [
        ("read_file", {"path": "notes.txt"}, done("read_file", "a\nb"), "Read notes.txt | 2 lines"),
        ("list_dir", {}, done("list_dir", "a"), "Listed the folder | 1 line"),
        ("glob", {"pattern": "*.py"}, done("glob", "a"), "Looked for “*.py” | 1 line"),
        ("grep", {"pattern": "def"}, done("grep", ""), "Searched for “def” | 0 lines"),
        ("write_file", {"path": "a"}, done("write_file"), "Wrote a | "),
        ("edit_file", {"path": "a"}, done("edit_file"), "Edited a | "),
        (
            "shell",
            {"command": "pytest -q\nls"},
            done("shell", shell_output={"exitCode": 0, "durationMs": 1_500}),
            "Ran `pytest -q` | 1.5 s",
        ),
        (
            "shell",
            {"command": "ls\u00a0\u202e-l"},
            done("shell", shell_output={"exitCode": 0}),
            "Ran `ls‹NBSP›‹U+202E›-l` | ",
        ),
        (
            "shell",
            {"command": "x"},
            done("shell", is_error=True, shell_output={"exitCode": 2, "durationMs": 61_000}),
            "Ran `x` | exit code 2 · 1 min 1 s",
        ),
        (
            "shell",
            {"command": "x"},
            done("shell", is_error=True, shell_output={"exitCode": -9, "timedOut": True}),
            "Ran `x` | time limit reached",
        ),
        (
            "read_file",
            {"path": "no.txt"},
            done("read_file", "There is no such file.", is_error=True),
            "Could not read no.txt | failed",
        ),
        ("other", {}, done("other"), "Used other | "),
        ("mcp__files__a__b", {}, done("mcp__files__a__b"), "Used a__b of files | "),
        ("mcp____x", {}, done("mcp____x"), "Used mcp____x | "),
        ("read_file", {"path": 7}, done("read_file"), "Read a file | 0 lines"),
        ("shell", {"command": "x"}, None, "Ran `x` | no result"),
    ],
)
def test_a_call_is_said_in_plain_words(
    name: str, arguments: dict[str, object], result: ToolResult, said: str
) -> None:
    assert words(name, arguments, result) == said


@pytest.mark.parametrize(
    ("name", "arguments", "undone", "begun"),
    [
        ("shell", {"command": "x"}, "Did not run `x` | not run", "Ran `x` | failed"),
        ("shell", {}, "Did not run a command | not run", "Ran a command | failed"),
        ("mcp__a__b", {}, "Did not use b of a | not run", "Used b of a | failed"),
        ("other", {}, "Did not use other | not run", "Used other | failed"),
        (
            "agent",
            {"task": "x"},
            "No subagent began on “x” | not run",
            "A subagent could not finish “x” | failed",
        ),
        ("edit_file", {"path": "a"}, "Could not edit a | failed", "Could not edit a | failed"),
    ],
)
def test_a_call_that_was_denied_or_stopped_before_it_began_is_not_said_to_have_run(
    name: str, arguments: dict[str, object], undone: str, begun: str
) -> None:
    """FIELD F-W14: denied says denied."""
    result = done(name, "Denied by the person: nothing was done.", is_error=True)
    assert words(name, arguments, result) == undone
    rows = [row(1, ToolCall("k", name, arguments)), row(2, started_mark(["k"])), row(3, result)]
    call = call_in(rows[0], Context(relations(rows), IDLE))
    assert call is not None
    assert f"{headline(call).marked} | {outcome(call)}" == begun


def test_a_call_that_runs_or_waits_says_so() -> None:
    assert words("read_file", {"path": "a"}, None, RUNNING) == "Reading a | running"
    act = Act("shell", "execute", "Run x", "x")
    question = Question("q", "tab", "k", act, 0)
    waiting = TabStatus("tab", phase="running", turn_id="t1", questions=(question,))
    assert words("shell", {"command": "x"}, None, waiting) == "Running `x` | waiting for you"
    other_turn = TabStatus("tab", phase="running", turn_id="t2")
    assert words("shell", {"command": "x"}, None, other_turn) == "Ran `x` | no result"


def test_thinking_says_how_long_it_took_when_that_is_known() -> None:
    rows = [row(1, Text("q"), at=1_000, role="user"), row(2, Thinking("hm"), at=13_000)]
    assert thinking_line(rows[1], Context(relations(rows), IDLE)) == "Thought for 12 s"
    assert thinking_line(rows[1], Context(relations(rows[1:]), IDLE)) == "Thought"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (
            System("turn_end", "", {"outcome": "stopped", "durationMs": 12_000}),
            "Stopped after 12 s",
        ),
        (System("turn_end", "", {"outcome": "done"}), ""),
        (System("turn_end", "", {"outcome": 3}), ""),
        (System("model", "", {"from": "a", "to": "b"}), "Model changed from a to b"),
        (System("notice", "Words"), "Words"),
    ],
)
def test_a_notice_is_one_line(data: System, said: str) -> None:
    assert notice(data) == said


def test_what_is_spoken_is_cut_at_a_length_one_can_listen_to() -> None:
    """U38"""
    one = row(1, Text("word " * 10_000))
    spoken = accessible_text(one, Context(relations([one]), IDLE))
    assert spoken.startswith("Answer: word word")
    assert len(spoken) < 2_100


def test_s13_a_prompt_that_was_taken_back_says_so() -> None:
    rows = [
        row(1, Text("first"), role="user"),
        row(2, System("retracted", "", {"chunkIds": ["c1"]})),
    ]
    spoken = accessible_text(rows[0], Context(relations(rows), IDLE))
    assert spoken == "You: Taken back: the model is not shown this any more. first"


def test_an_edit_is_shown_as_a_diff() -> None:
    diff = diff_of("edit_file", {"path": "a", "old": "a\nb\nc", "new": "a\nB\nc"})
    assert diff is not None
    assert diff.lines == (Line(" ", "a"), Line("-", "b"), Line("+", "B"), Line(" ", "c"))
    assert (diff.added, diff.removed) == (1, 1)
    assert diff_of("shell", {"old": "a", "new": "b"}) is None
    assert diff_of("edit_file", {"old": 1}) is None


def test_a_diff_that_would_take_long_falls_back_to_out_and_in() -> None:
    """U39"""
    diff = changes("a\n" * 2_000, "b\n" * 2_000)
    assert (diff.added, diff.removed, len(diff.lines)) == (2_000, 2_000, 4_000)
