"""The provider's rules for a body that was never sent, for tests without a server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.fakes.sim import models, prefix, rules
from tests.fakes.sim.rules import envelope
from tests.fakes.sim.rules.envelope import Terms

TERMS = Terms("2026-10-21", frozenset())


def refuse_as_the_provider_does(body: Mapping[str, Any]) -> None:
    """Raises `Refusal` where the provider would answer 400. Signatures are not looked at: what
    signs them is a server."""
    taken = dict(body)
    envelope.check_shape(taken, TERMS, counting=False)
    model = models.find(taken["model"])
    assert model is not None, taken["model"]
    rules.check(taken, model, TERMS, prefix.positions(taken))
