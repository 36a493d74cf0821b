"""What the agents of one program share, and what one of them was set to."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from desktop.agent.approvals import Approvals
from desktop.agent.facts import Facts
from desktop.agent.spending import Tariff
from desktop.core.caching import Ttl
from desktop.core.model import Model, ModelInfo
from desktop.core.permissions import PermissionMode
from desktop.core.protocols import Publisher
from desktop.core.tools import Scene, Tool


@dataclass(frozen=True, slots=True)
class Chosen:
    """Model, effort ('' is the model's default) and permission mode of a conversation (C27)."""

    model: str
    effort: str = ""
    mode: PermissionMode = "ask"


def _five_minutes() -> Ttl:
    return "5m"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """`model_for` raises ModelUnavailable; `model_info` answers from what is known by now.

    `prompt` is the system prompt of new conversations. `now_ms` is UTC, `monotonic` seconds. `ttl`
    is for how long the next request is to be kept in the provider's cache.
    """

    model_for: Callable[[str], Model]
    model_info: Callable[[str], ModelInfo | None]
    tools: Sequence[Tool]
    prompt: str
    publisher: Publisher
    approvals: Approvals
    tariff: Tariff
    new_id: Callable[[], str]
    now_ms: Callable[[], int]
    monotonic: Callable[[], float]
    ttl: Callable[[], Ttl] = _five_minutes

    def tool(self, name: str) -> Tool | None:
        return next((one for one in self.tools if one.spec.name == name), None)


@dataclass(frozen=True, slots=True)
class Place:
    """Where one conversation works."""

    tab_id: str
    workspace_id: int
    scene: Scene
    facts: Callable[[], Awaitable[Facts]]
