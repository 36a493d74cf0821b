"""A row in words: the line of a tool card, a notice, what a screen reader says, what is copied.

Pure functions over rows and their relations; the only Qt here is translation.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, assert_never, cast

from PySide6.QtCore import QCoreApplication

from desktop.core.chunks import (
    DamagedRow,
    ErrorNote,
    Json,
    LogChunk,
    Opaque,
    System,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from desktop.core.groups import OpenRow, Relations, Row, takes_space
from desktop.core.growing import Growing
from desktop.core.media import is_media, media_of
from desktop.core.shown import entries
from desktop.core.status import TabStatus
from desktop.ui.kept_files import OUTPUT_SUFFIX
from desktop.ui.visible import visible
from desktop.ui.words import seconds, size

SPOKEN_LIMIT = 2_000

CallState = Literal["preparing", "waiting", "running", "done", "failed", "unfinished"]


@dataclass(frozen=True, slots=True)
class Context:
    """What stands around a row: the other loaded rows, and what the conversation does now."""

    relations: Relations
    status: TabStatus


def say(text: str) -> str:
    """The sentence in the person's language."""
    return QCoreApplication.translate("transcript", text)


# Calls of tools


@dataclass(frozen=True, slots=True)
class Call:
    """A call as a card shows it; `live` is what it prints, `started` when that began, ms UTC."""

    call_id: str
    name: str
    arguments: Json
    state: CallState
    result: LogChunk | None = None
    live: Growing | None = None
    started: int | None = None

    @property
    def answer(self) -> ToolResult | None:
        data = self.result.data if self.result else None
        return data if isinstance(data, ToolResult) else None

    @property
    def is_undone(self) -> bool:
        """Whether it has an answer and its tool never began: denied, stopped before, not possible.
        The mark of its beginning lies between the two rows, so it is there when they are."""
        answer = self.answer
        is_begun = self.started is not None or (answer is not None and answer.shell_output)
        return self.state == "failed" and not is_begun


def call_in(row: Row, context: Context) -> Call | None:
    """The call of this row with all that is known of it; None when the row is no call."""
    known = context.relations
    if isinstance(row, OpenRow):
        opened = row.block.opened
        if opened.type != "tool_call":
            return None
        return Call(opened.call_id, opened.name, {}, "preparing")
    if not isinstance(row, LogChunk) or not isinstance(row.data, ToolCall):
        return None
    data = row.data
    result, live = known.results.get(data.call_id), known.live.get(data.call_id)
    return Call(
        data.call_id,
        data.name,
        data.arguments,
        _state(row, data.call_id, result, context.status),
        result,
        live.block.output if live is not None else None,
        known.started.get(data.call_id),
    )


def _state(row: LogChunk, call_id: str, result: LogChunk | None, status: TabStatus) -> CallState:
    if result is not None:
        data = result.data
        return "failed" if isinstance(data, ToolResult) and data.is_error else "done"
    if status.phase != "running" or status.turn_id != row.turn_id:
        return "unfinished"
    if any(question.call_id == call_id for question in status.questions):
        return "waiting"
    return "running"


def _argument(*names: str) -> Callable[[Json], str]:
    def find(arguments: Json) -> str:
        for name in names:
            value = arguments.get(name)
            if isinstance(value, str) and value:
                return value.splitlines()[0] if value.strip() else value
        return ""

    return find


_PATH = _argument("path", "file_path", "file", "directory", "dir")
_PATTERN = _argument("pattern", "query", "regex", "glob")
_COMMAND = _argument("command", "cmd")
_TASK = _argument("title", "task")

# Name of the tool: (which argument is named, done, running, failed).
_VERBS: dict[str, tuple[Callable[[Json], str], str, str, str]] = {
    "read_file": (_PATH, "Read {0}", "Reading {0}", "Could not read {0}"),
    "list_dir": (_PATH, "Listed {0}", "Listing {0}", "Could not list {0}"),
    "glob": (_PATTERN, "Looked for “{0}”", "Looking for “{0}”", "Could not look for “{0}”"),
    "grep": (_PATTERN, "Searched for “{0}”", "Searching for “{0}”", "Could not search for “{0}”"),
    "write_file": (_PATH, "Wrote {0}", "Writing {0}", "Could not write {0}"),
    "edit_file": (_PATH, "Edited {0}", "Editing {0}", "Could not edit {0}"),
    "agent": (
        _TASK,
        "A subagent worked on “{0}”",
        "A subagent works on “{0}”",
        "A subagent could not finish “{0}”",
    ),
    "shell": (_COMMAND, "Ran `{0}`", "Running `{0}`", "Ran `{0}`"),
}
# What is said to have been done where a call failed, and was not where it never began.
_UNDONE: dict[str, tuple[str, str]] = {
    "agent": ("No subagent began on “{0}”", "No subagent began"),
    "shell": ("Did not run `{0}`", "Did not run a command"),
}
# Of a tool of a server: alone, and with its server.
_USED = ("Used {0}", "Used {0} of {1}")
_USING = ("Using {0}", "Using {0} of {1}")
_NOT_USED = ("Did not use {0}", "Did not use {0} of {1}")
_BARE: dict[str, tuple[str, str]] = {
    "read_file": ("Read a file", "Reading a file"),
    "list_dir": ("Listed the folder", "Listing the folder"),
    "glob": ("Looked for files", "Looking for files"),
    "grep": ("Searched in files", "Searching in files"),
    "write_file": ("Wrote a file", "Writing a file"),
    "edit_file": ("Edited a file", "Editing a file"),
    "agent": ("A subagent worked", "Giving a task to a subagent"),
    "shell": ("Ran a command", "Running a command"),
}


def headline(call: Call) -> str:
    """What the tool did or does, in plain words: `Read notes.txt`."""
    known = _VERBS.get(call.name)
    active = call.state in ("preparing", "waiting", "running")
    if known is None:
        tool, server = map(visible, _tool_and_server(call.name))
        alone, of_server = _USING if active else _NOT_USED if call.is_undone else _USED
        return say(of_server if server else alone).format(tool, server)
    which, done, doing, failed = known
    bare, bare_doing = _BARE[call.name]
    if call.is_undone:
        failed, bare = _UNDONE.get(call.name, (failed, bare))
    thing = visible(which(call.arguments))
    if call.name == "list_dir" and thing == ".":
        thing = ""
    if not thing or call.state == "preparing":
        return say(bare_doing if active else bare)
    sentence = doing if active else failed if call.state == "failed" else done
    return say(sentence).format(thing)


def _tool_and_server(name: str) -> tuple[str, str]:
    """`mcp__files__look` is `look` of `files`; any other name is its own, of nobody."""
    start, _, rest = name.partition("__")
    server, _, tool = rest.partition("__")
    return (tool, server) if start == "mcp" and server and tool else (name, "")


def outcome(call: Call) -> str:
    """How it ended, in a few words; empty where there is nothing to say."""
    match call.state:
        case "preparing":
            return ""
        case "waiting":
            return say("waiting for you")
        case "running":
            return say("running")
        case "unfinished":
            return say("no result")
        case "failed" | "done":
            return _ended(call)
        case _:
            assert_never(call.state)


def _ended(call: Call) -> str:
    answer = call.answer
    shell = (answer.shell_output if answer else None) or {}
    parts: list[str] = []
    if shell.get("timedOut"):
        parts.append(say("time limit reached"))
    elif shell.get("exitCode"):
        parts.append(say("exit code {0}").format(shell["exitCode"]))
    elif call.is_undone and (call.name in _UNDONE or call.name not in _VERBS):
        parts.append(say("not run"))
    elif call.state == "failed":
        parts.append(say("failed"))
    elif answer is not None and call.name in ("read_file", "grep", "glob", "list_dir"):
        parts.append(_lines(answer.result))
    duration = shell.get("durationMs")
    if isinstance(duration, int):
        parts.append(short_time(duration))
    return " · ".join(part for part in parts if part)


def _lines(text: str) -> str:
    count = len(text.splitlines())
    return say("1 line") if count == 1 else say("{0} lines").format(f"{count:,}")


def short_time(milliseconds: int) -> str:
    """`0.3 s` below ten seconds, whole seconds above."""
    if milliseconds < 10_000:
        return say("{0} s").format(f"{milliseconds / 1000:.1f}")
    return seconds(milliseconds)


def argument_lines(call: Call, *, without: frozenset[str] = frozenset()) -> list[tuple[str, str]]:
    """The arguments as labelled lines, in the order the model gave them."""
    return [
        (visible(name), visible(value if isinstance(value, str) else _json(value)))
        for name, value in call.arguments.items()
        if name not in without
    ]


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


# Notices


def notice(data: System) -> str:
    """The line of a system row; empty when there is nothing to say."""
    fields = data.fields
    match data.kind:
        case "turn_end":
            return _turn_end(str(fields.get("outcome", "")), fields.get("durationMs"))
        case "model":
            return say("Model changed from {0} to {1}").format(
                fields.get("from", ""), fields.get("to", "")
            )
        case "compaction":
            return say("Compacted: the agent goes on with a summary; everything stays here to read")
        case "tools":
            return say("From here on with the tools that are there now")
        case "rewrite":
            return data.text or say("A part was left out because the provider refused it")
        case _:
            return data.text


def _turn_end(outcome_: str, duration: Any) -> str:
    after = seconds(duration) if isinstance(duration, int) else ""
    match outcome_:
        case "stopped":
            return say("Stopped after {0}").format(after) if after else say("Stopped")
        case "failed":
            return say("Ended with an error after {0}").format(after) if after else say("Failed")
        case "refused":
            return say("The model declined to answer")
        case "interrupted":
            return say("Interrupted: Nacre was closed while this ran")
        case _:
            return ""


def error_lines(data: ErrorNote) -> list[str]:
    """What happened, what was kept, what one can do: a sentence each."""
    more = (data.extra.get(key) for key in ("kept", "wayOut"))
    return [data.message, *(one for one in more if isinstance(one, str) and one)]


def taken_back_line() -> str:
    """What a prompt says that another took the place of."""
    return say("Taken back: the model is not shown this any more")


def retracted_line() -> str:
    """What stands for a piece of an answer that was asked for again."""
    return say("The beginning of an answer that was asked for again")


def thinking_line(row: Row, context: Context) -> str:
    """`Thinking…` while it streams, then `Thought for 12 s`.

    The time is that since the row before: the log keeps when a row sealed, not when it began.
    """
    if isinstance(row, OpenRow):
        return say("Thinking…")
    before = context.relations.before.get(row.id)
    if isinstance(row, LogChunk) and isinstance(before, LogChunk):
        spent = row.created_at - before.created_at
        if spent >= 1_000 and before.turn_id == row.turn_id:
            return say("Thought for {0}").format(seconds(spent))
    return say("Thought")


def attachment_line(attachment: Json) -> str:
    """`notes.txt, 12 KB`; `cat.png · 1600 × 900 · 240 KB` of what is shown."""
    name = visible(str(attachment.get("name") or say("Attachment")))
    media = media_of(attachment)
    if media is not None:
        measures = f"{media.width} × {media.height}" if media.width else ""
        many = say("{0} pages") if media.pages > 1 else say("{0} page")
        pages = many.format(media.pages) if media.pages else ""
        return " · ".join(part for part in (name, measures or pages, size(media.size)) if part)
    length = attachment.get("size")
    return f"{name}, {size(length)}" if isinstance(length, int) else name


def size_of_whole(answer: ToolResult) -> tuple[str, int]:
    """The kept file that holds all of an output, and its size; "" where the result is all of it."""
    full = answer.extra.get("full")
    if not isinstance(full, Mapping):
        return "", 0
    found = cast("Mapping[str, object]", full)
    sha256, length = found.get("sha256"), found.get("size")
    if not isinstance(sha256, str) or not isinstance(length, int) or not sha256.isalnum():
        return "", 0
    return f"{sha256}{OUTPUT_SUFFIX}", length


def shown_lines(data: Text | ToolResult) -> list[str]:
    """The lines of the pictures and documents of a row."""
    return [attachment_line(one) for one in entries(data) if is_media(one)]


# Whole rows


def plain_text(row: Row, context: Context) -> str:
    """A row as it is copied: the text as it was said, a card as its line and its output."""
    if not takes_space(row, context.relations):
        return ""
    call = call_in(row, context)
    if call is not None:
        ended = outcome(call)
        head = f"{headline(call)} · {ended}" if ended else headline(call)
        body = call.answer.result if call.answer else call.live.text if call.live else ""
        body = "\n".join([body, *(shown_lines(call.answer) if call.answer else ())]).strip("\n")
        return f"{head}\n{body}" if body else head
    if isinstance(row, OpenRow):
        return row.text
    if isinstance(row, DamagedRow):
        return say("This row can't be read: {0}").format(row.reason)
    match row.data:
        case Text() if row.role != "user" and row.id in context.relations.retracted:
            return f"{retracted_line()}\
{row.data.text}"
        case Text():
            return "\
".join(part for part in (row.data.text, *shown_lines(row.data)) if part)
        case Thinking():
            return row.data.text
        case ToolResult():
            return "\n".join(part for part in (row.data.result, *shown_lines(row.data)) if part)
        case ErrorNote():
            return "\n".join(error_lines(row.data))
        case System():
            return notice(row.data)
        case Opaque():
            return say("A block of the provider")
        case ToolCall():
            return ""
        case _:
            assert_never(row.data)


def accessible_text(row: Row, context: Context) -> str:
    """`You: …`, `Answer: …`: who speaks and the text, cut at a length that one can listen to."""
    text = plain_text(row, context)
    if not text:
        return ""
    if len(text) > SPOKEN_LIMIT:
        text = text[:SPOKEN_LIMIT] + "…"
    if isinstance(row, LogChunk) and row.role == "user" and row.id in context.relations.retracted:
        text = f"{taken_back_line()}. {text}"
    return f"{_speaker(row)}: {text}"


def _speaker(row: Row) -> str:
    type_ = row.block.opened.type if isinstance(row, OpenRow) else None
    role = row.block.opened.role if isinstance(row, OpenRow) else None
    if isinstance(row, LogChunk):
        type_, role = row.type, row.role
    match type_:
        case "text":
            return say("You") if role == "user" else say("Answer")
        case "thinking":
            return say("Thinking")
        case "tool_call" | "tool_result":
            return say("Tool")
        case "error":
            return say("Error")
        case _:
            return say("Notice")
