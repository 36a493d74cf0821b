"""What the agents of one program share, and what one of them was set to."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from desktop.agent.approvals import Approvals
from desktop.agent.facts import Facts
from desktop.agent.spending import Tariff
from desktop.core.caching import Ttl
from desktop.core.model import Model, ModelInfo
from desktop.core.permissions import PermissionMode
from desktop.core.protocols import Publisher
from desktop.core.tools import Scene, Tool

DEFAULT_WINDOW = 200_000


@dataclass(frozen=True, slots=True)
class Chosen:
    """Model, effort ('' is the model's default) and permission mode of a conversation (C27)."""

    model: str
    effort: str = ""
    mode: PermissionMode = "ask"


class Kin(Protocol):
    """What a running agent's family has to do with it."""

    def answering(self, tab_id: str) -> None:
        """A response in this conversation has begun."""
        ...

    def spent_up(self, tab_id: str) -> str:
        """Why a subagent's turn may not go on; '' when it may, and in any other conversation."""
        ...

    def below(self, tab_id: str) -> tuple[str, ...]:
        """The conversations of its subagents that run now, and of theirs."""
        ...

    def asking(self, tab_id: str) -> tuple[str, ...]:
        """Those of them that wait for the person's answer."""
        ...


class Alone:
    """The Kin of agents without subagents."""

    def answering(self, tab_id: str) -> None: ...

    def spent_up(self, tab_id: str) -> str:
        del tab_id
        return ""

    def below(self, tab_id: str) -> tuple[str, ...]:
        del tab_id
        return ()

    def asking(self, tab_id: str) -> tuple[str, ...]:
        del tab_id
        return ()


def _five_minutes() -> Ttl:
    return "5m"


def _never() -> int:
    return 0


@dataclass(frozen=True, slots=True)
class Surroundings:
    """`model_for` raises ModelUnavailable; `model_info` answers from what is known by now.

    `prompt` is the system prompt of new conversations and `tools` what they are offered, which may
    change: a conversation keeps what it began with, and `gone` answers for what it was offered and
    is there no more; `server_of` names the tool server that offers a tool, '' for Nacre's own.
    `now_ms` is UTC, `monotonic` seconds. `ttl` is for how long the next request
    is to be kept in the provider's cache. `compact_at` is the percentage of a model's window at
    which a conversation is compacted by itself, 0 for never; `keep_warm` is how often in one pause
    a resting one is kept in the provider's cache, 0 for never. `kin` knows of subagents.
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
    gone: Callable[[str], Tool | None] = lambda name: None
    server_of: Callable[[str], str] = lambda name: ""
    ttl: Callable[[], Ttl] = _five_minutes
    compact_at: Callable[[], int] = _never
    keep_warm: Callable[[], int] = _never
    kin: Kin = Alone()

    def window(self, model: str) -> int:
        """Tokens that a model can read; what is likely where nothing is known of it."""
        info = self.model_info(model)
        return info.window if info else DEFAULT_WINDOW

    def tool(self, name: str) -> Tool | None:
        found = next((one for one in self.tools if one.spec.name == name), None)
        return self.gone(name) if found is None else found


@dataclass(frozen=True, slots=True)
class Place:
    """Where one conversation works."""

    tab_id: str
    workspace_id: int
    scene: Scene
    facts: Callable[[], Awaitable[Facts]]
