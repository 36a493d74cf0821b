"""A tool's call and its words: what it did, how it ended, what it was asked to do.

Pure functions; the only Qt here is translation.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, assert_never

from desktop.core.chunks import Json, LogChunk, ToolResult
from desktop.core.growing import Growing
from desktop.ui.transcript.saying import say
from desktop.ui.visible import visible
from desktop.ui.words import seconds

CallState = Literal["preparing", "waiting", "running", "done", "failed", "unfinished"]


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
    "shell": (_COMMAND, "Ran {0}", "Running {0}", "Ran {0}"),
}
# What is said to have been done where a call failed, and was not where it never began.
_UNDONE: dict[str, tuple[str, str]] = {
    "agent": ("No subagent began on “{0}”", "No subagent began"),
    "shell": ("Did not run {0}", "Did not run a command"),
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


@dataclass(frozen=True, slots=True)
class Headline:
    """A sentence, and the code that stands in it between `before` and `after`."""

    before: str
    code: str = ""
    after: str = ""

    @property
    def plain(self) -> str:
        return f"{self.before}{self.code}{self.after}"

    @property
    def marked(self) -> str:
        """As text that has no fonts: the code between signs."""
        return f"{self.before}`{self.code}`{self.after}" if self.code else self.before


def headline(call: Call) -> Headline:
    """What the tool did or does, in plain words: `Read notes.txt`."""
    known = _VERBS.get(call.name)
    active = call.state in ("preparing", "waiting", "running")
    if known is None:
        tool, server = map(visible, _tool_and_server(call.name))
        alone, of_server = _USING if active else _NOT_USED if call.is_undone else _USED
        return Headline(say(of_server if server else alone).format(tool, server))
    which, done, doing, failed = known
    bare, bare_doing = _BARE[call.name]
    if call.is_undone:
        failed, bare = _UNDONE.get(call.name, (failed, bare))
    thing = visible(which(call.arguments))
    if call.name == "list_dir" and thing == ".":
        thing = ""
    if not thing or call.state == "preparing":
        return Headline(say(bare_doing if active else bare))
    sentence = say(doing if active else failed if call.state == "failed" else done)
    if which is not _COMMAND:
        return Headline(sentence.format(thing))
    before, _, after = sentence.partition("{0}")
    return Headline(before, thing, after)


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
