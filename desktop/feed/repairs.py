"""When a scope reads anew: one repair at a time, seldom, and not for ever (SPEC R09). Pure.

What goes wrong while a repair runs sets one bit: one more repair follows it, however much it was.
"""

from dataclasses import dataclass, replace

PAUSE_SECONDS = 1.0
NEWS_SECONDS = 0.1
MOST_READS = 3


@dataclass(frozen=True, slots=True)
class Repairs:
    """`is_wanted`: what is shown is not known to be right. `is_fault`: something was lost; of what
    other processes write nobody tells, so reading is how it comes, and does not wait so long.
    `has_failed`: the last cycle ended without a consistent read; the next check or the person's
    word begins another."""

    is_wanted: bool = False
    is_fault: bool = False
    is_running: bool = False
    has_failed: bool = False
    began_at: float | None = None

    @property
    def is_settled(self) -> bool:
        return not (self.is_wanted or self.is_running or self.has_failed)

    def wanted(self, *, is_news: bool = False) -> "Repairs":
        return replace(self, is_wanted=True, is_fault=self.is_fault or not is_news)

    def due(self) -> float | None:
        """From when on a repair may begin; None while none is wanted or one runs."""
        if not self.is_wanted or self.is_running:
            return None
        pause = PAUSE_SECONDS if self.is_fault else NEWS_SECONDS
        return 0.0 if self.began_at is None else self.began_at + pause

    def begun(self, now: float) -> "Repairs":
        return replace(
            self, is_wanted=False, is_fault=False, is_running=True, has_failed=False, began_at=now
        )

    def done(self) -> "Repairs":
        return replace(self, is_running=False)

    def overtaken(self) -> "Repairs":
        """Everything is being read anew by somebody else: nothing more is wanted."""
        return replace(self, is_running=False, is_wanted=False, is_fault=False, has_failed=False)

    def failed(self) -> "Repairs":
        """Nothing begins by itself any more: what was wanted meanwhile is part of the failure."""
        return replace(self, is_running=False, is_wanted=False, is_fault=False, has_failed=True)
