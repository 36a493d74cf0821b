"""The settings that reach the agents, read anew whenever one of them asks."""

from dataclasses import dataclass

from desktop.agent.surroundings import Chosen
from desktop.core.caching import Ttl
from desktop.settings import (
    CACHE_TTL,
    COMPACT_AT,
    EFFORT,
    KEEP_WARM,
    MESSAGE_THREADS,
    MODEL,
    PERMISSION_MODE,
    SUBAGENT_BUDGET,
    Preferences,
)


@dataclass(slots=True)
class Preferred:
    """`current` is the preferences as last read."""

    current: Preferences

    def chosen(self) -> Chosen:
        """What a new conversation is set to."""
        effort = self.current.value(EFFORT)
        return Chosen(
            model=self.current.value(MODEL),
            effort="" if effort == "default" else effort,
            mode=self.current.value(PERMISSION_MODE),  # pyright: ignore[reportArgumentType]
        )

    def ttl(self) -> Ttl:
        """For how long a request is kept in the provider's cache."""
        return "1h" if self.current.value(CACHE_TTL) == "1h" else "5m"

    def compact_at(self) -> int:
        """The percentage of a model's window; 0 for never."""
        value = self.current.value(COMPACT_AT)
        return 0 if value == "off" else int(value)

    def threads(self) -> bool:
        """Whether the provider may hold conversations between steps."""
        return self.current.value(MESSAGE_THREADS)

    def keep_warm(self) -> int:
        """How often in a pause; 0 for never."""
        value = self.current.value(KEEP_WARM)
        return 0 if value == "off" else int(value)

    def subagent_dollars(self) -> float:
        """What a message may cost with its subagents; 0 for no limit."""
        value = self.current.value(SUBAGENT_BUDGET)
        return 0.0 if value == "off" else float(value)
