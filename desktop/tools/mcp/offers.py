"""What a tool server offers, as it said it and as a request can carry it."""

from collections.abc import Iterable
from dataclasses import dataclass

from desktop.core.tools import ToolSpec
from desktop.tools.mcp.names import legal_name
from desktop.tools.mcp.schemas import Unusable, clean
from desktop.tools.texts import whole_characters

LONGEST_DESCRIPTION = 2_000


class Unreachable(Exception):
    """The server can't be talked to; the text says why, for the person and for the model."""


class CallRefused(Exception):
    """The server answered a call with an error of its own; the text says which."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A tool in the server's own words."""

    name: str
    description: str
    schema: object


@dataclass(frozen=True, slots=True)
class Offered:
    """A tool as a model sees it, and what the server calls it."""

    tool: str
    spec: ToolSpec


def usable(server: str, offers: Iterable[Offer]) -> tuple[tuple[Offered, ...], tuple[str, ...]]:
    """What can be offered, sorted by name, and a sentence about each tool that can't."""
    found: dict[str, Offered] = {}
    problems: list[str] = []
    for offer in offers:
        name = legal_name(server, offer.name)
        if name in found:
            problems.append(f"The tool “{offer.name}” is there twice; the first one is used.")
            continue
        try:
            schema = clean(offer.schema)
        except Unusable as error:
            problems.append(f"The tool “{offer.name}” can't be offered: {error}.")
            continue
        found[name] = Offered(offer.name, ToolSpec(name, _described(offer), schema))
    return tuple(found[name] for name in sorted(found)), tuple(problems)


def _described(offer: Offer) -> str:
    text = whole_characters(offer.description).strip() or offer.name
    if len(text) <= LONGEST_DESCRIPTION:
        return text
    return f"{text[: LONGEST_DESCRIPTION - 1]}…"
