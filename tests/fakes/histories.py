"""The check of the whole suite that a conversation is only ever added to (DESIGN §6, SPEC C02).

Every stand-in for a model looks at what it was asked and complains here of a request that rewrote
the one before it; a test in which something complained fails at its end. Where rewriting is the
test's subject (a fork, an edit, a retraction), the test says so with a reason, and as often as it
happens: a reason that nothing needed fails too.
"""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

_complaints: list[str] = []


@dataclass(slots=True)
class Excuses:
    """The reasons for which requests may leave the conversation's course; each is good once."""

    reasons: list[str] = field(default_factory=list[str])

    def add(self, reason: str, *, times: int = 1) -> None:
        if not reason.strip():
            raise ValueError("a request may only rewrite its predecessor for a reason")
        self.reasons.extend([reason] * times)

    def weigh(self, rewrites: list[str]) -> None:
        """Complains of what is not excused, and of reasons that nothing needed."""
        _complaints.extend(rewrites[len(self.reasons) :])
        for reason in self.reasons[len(rewrites) :]:
            _complaints.append(f"nothing was rewritten, though it was announced: {reason}")


@contextmanager
def only_added_to() -> Generator[None]:
    """Within it, every conversation is checked; AssertionError at the end names what was not."""
    _complaints.clear()
    try:
        yield
        found = list(_complaints)
    finally:
        _complaints.clear()
    assert not found, "a request rewrote the one before it: " + "\n".join(found)


@contextmanager
def unchecked() -> Generator[None]:
    """For tests that talk to a stand-in themselves, where there is no conversation to keep."""
    yield
    _complaints.clear()
