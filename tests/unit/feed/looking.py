"""Who follows looks, for tests: what they were told, and what they knew when it was looked."""

from dataclasses import dataclass, field


@dataclass(eq=False)
class Told:
    revision: int | None = None
    heard: list[int] = field(default_factory=list[int])
    since: list[int | None] = field(default_factory=list["int | None"])

    def found(self, revision: int, since: int | None) -> None:
        self.heard.append(revision)
        self.since.append(since)
