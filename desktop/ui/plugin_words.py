"""A plugin in words: how it is doing, what it may, and exactly what is started (LOOK.md)."""

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication

from desktop.core.plugins import PluginOffer, PluginView
from desktop.ui import command_line
from desktop.ui.visible import apart, visible

# What the capabilities of `desktop/plugins/PROTOCOL.md` mean to a person.
_CAPABILITIES = {
    "api_read:messages": "Read what was said in every conversation that is not in the bin, and the"
    " titles of conversations",
}


def say(text: str) -> str:
    return QCoreApplication.translate("Plugins", text)


def name(text: str) -> str:
    """A name that somebody chose, as one unit whatever its direction."""
    return apart(visible(text))


def titled(view: PluginView | PluginOffer) -> str:
    if not view.version:
        return name(view.name)
    return say("{name} {version}").format(name=name(view.name), version=visible(view.version))


def state(view: PluginView) -> str:
    """In one sentence."""
    match view.phase:
        case "running":
            return say("Running")
        case "resting":
            return say("On; it starts when its page in the right pane is opened")
        case "off" if not view.is_allowed:
            return say("Turned off, and it may nothing")
        case "off":
            return say("Turned off")
        case "stopped":
            return say("Stopped because {why}").format(why=visible(view.why))
        case "asking":
            return say("Turned off: it wants more than you have allowed")
        case "broken":
            return visible(view.why)


def capability(word: str) -> str:
    return say(_CAPABILITIES[word]) if word in _CAPABILITIES else visible(word)


def may(view: PluginView) -> str:
    """What it may do, in plain words."""
    if view.phase == "broken":
        return ""
    if not view.wants:
        return say("It may read nothing of yours; it only shows its page.")
    first = say("It may:") if view.is_allowed else say("It wants to:")
    return "\n".join([first, *(f"• {capability(word)}" for word in view.wants)])


def came(view: PluginView, *, is_sandboxed: bool | None) -> str:
    """Where it is from, and where it runs."""
    origin = say("Came with Nacre") if view.is_shipped else say("Installed from a folder")
    match is_sandboxed:
        case True:
            return say("{origin} · runs in the sandbox").format(origin=origin)
        case False:
            return say("{origin} · runs with your rights, without a sandbox").format(origin=origin)
        case None:
            return origin


def line(runs: Sequence[str]) -> str:
    """The command as one line; what is hidden in it can be seen."""
    return visible(command_line.join(runs))


def exactly(offer: PluginOffer) -> str:
    """What is started, a line for each word."""
    program, *arguments = offer.runs
    lines = [say("Program: {program}").format(program=_quoted(program))]
    for number, one in enumerate(arguments, 1):
        lines.append(say("Argument {number}: {text}").format(number=number, text=_quoted(one)))
    lines.append(say("In the folder: {folder}").format(folder=_quoted(offer.folder)))
    return "\n".join(lines)


def where(is_sandboxed: bool | None) -> str:
    match is_sandboxed:
        case True:
            return say(
                "Plugins run in a sandbox: without a network, without your files and secrets,"
                " and with a folder of their own."
            )
        case False:
            return say(
                "There is no sandbox on this computer: plugins run with your rights, and can do"
                " what you can. Install only what you trust."
            )
        case None:
            return ""


def _quoted(text: str) -> str:
    return f"“{visible(text)}”"
