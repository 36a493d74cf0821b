"""The provider's rules for a request (API §3), one module a family; `check` applies them all."""

from __future__ import annotations

from tests.fakes.sim.models import Model
from tests.fakes.sim.prefix import Position
from tests.fakes.sim.problems import Json, Refusal
from tests.fakes.sim.rules import (
    blocks,
    envelope,
    markers,
    pairing,
    pictures,
    thinking,
    tools,
    turns,
)
from tests.fakes.sim.rules.envelope import Terms


def check(body: Json, model: Model, terms: Terms, places: list[Position]) -> list[turns.Turn]:
    """Refuse the request where the provider would; gives the joined turns back.

    The outer shape was checked before (`envelope.check_shape`), since the model's name is in it.
    """
    envelope.check_limits(body, model)
    system = body.get("system")
    if isinstance(system, list):
        blocks.check_texts(system, "system")
    tools.check(body, model)
    pictures.check(body, model)
    joined = turns.join(body["messages"])
    pairing.check(joined)
    thinks = thinking.kind_of(body, model) == "enabled"
    turns.check(body["messages"], joined, model, thinks=thinks)
    markers.breakpoints(body, places)
    thinking.check(body, model, terms, joined)
    return joined


def check_window(tokens: int, model: Model) -> None:
    """The input alone fits the model's window (V5)."""
    if tokens > model.window:
        raise Refusal(f"prompt is too long: {tokens} tokens > {model.window} maximum")
