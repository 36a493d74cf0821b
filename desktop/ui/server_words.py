"""A tool server in words: how it is doing, and exactly what runs or is talked to (LOOK.md)."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QCoreApplication

from desktop.core.tool_servers import ServerEntry, ServerTool, ServerView
from desktop.ui import command_line, words
from desktop.ui.masking import DOTS, masked, masked_address, masked_arguments
from desktop.ui.visible import visible

_BREAK = "\u200b"
_LONGEST_RUN = 16


def say(text: str) -> str:
    return QCoreApplication.translate("ToolServers", text)


def state(view: ServerView) -> str:
    """In one sentence."""
    why = visible(view.why)
    match view.phase:
        case "ready":
            return say("Connected, {tools}").format(tools=tools(len(view.tools)))
        case "starting":
            return say("Connecting…")
        case "waiting":
            return say("Failed, and tried again by itself: {why}").format(why=why)
        case "failed":
            return say("Failed: {why}").format(why=why)
        case "off":
            return say("Turned off")
        case "broken":
            return say("Its entry is broken: {why}").format(why=why)


def tools(count: int) -> str:
    match count:
        case 0:
            return say("no tools")
        case 1:
            return say("1 tool")
        case _:
            return say("{count} tools").format(count=words.tokens(count))


def where(entry: ServerEntry) -> str:
    """The command with its arguments, or the address; what is hidden in it can be seen."""
    if entry.command:
        line = command_line.join(masked_arguments([entry.command, *entry.args]))
        return visible(line.replace(f"'{DOTS}'", DOTS))
    return visible(masked_address(entry.url))


def runs(entry: ServerEntry) -> str:
    """Exactly what will be done, a line for each part."""
    if not entry.command:
        lines = [say("Talks to: {address}").format(address=visible(masked_address(entry.url)))]
        lines += _pairs(say("Header"), entry.headers)
        return "\n".join(lines)
    program, *arguments = masked_arguments([entry.command, *entry.args])
    lines = [say("Program: {program}").format(program=_quoted(program))]
    for number, one in enumerate(arguments, 1):
        lines.append(say("Argument {number}: {text}").format(number=number, text=_quoted(one)))
    if entry.cwd:
        lines.append(say("In the folder: {folder}").format(folder=_quoted(entry.cwd)))
    lines += _pairs(say("Environment"), entry.env)
    return "\n".join(lines)


def listed(found: Sequence[ServerTool]) -> str:
    """Names and descriptions as the server gave them, each below its name."""
    return "\n\n".join(
        "\n".join(
            [visible(one.name), *(f"    {line}" for line in visible(one.description).split("\n"))]
        )
        for one in found
    )


def breakable(text: str) -> str:
    """For a label, which breaks lines at blanks only: long runs without one may be broken too."""
    found: list[str] = []
    run = 0
    for letter in text:
        run = 0 if letter.isspace() else run + 1
        found.append(letter)
        if run == _LONGEST_RUN:
            found.append(_BREAK)
            run = 0
    return "".join(found)


def _pairs(title: str, pairs: Mapping[str, str]) -> list[str]:
    return [
        f"{title}: {visible(name)} = {visible(masked(name, value))}"
        for name, value in pairs.items()
    ]


def _quoted(text: str) -> str:
    return f"“{visible(text)}”"
