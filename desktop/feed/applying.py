"""How far a scope's records are covered, as a value; every decision about a batch is made here.

`revision` is what the records stand at. Only batches without a gap and snapshots move it; a check
or a readiness only moves `observed`, so a scope never takes what it heard of for what it has
(SPEC R05, R06, R08). What comes out of order waits within bounds (R09). Pure: time is handed in.
"""

from dataclasses import dataclass, field, replace
from typing import Literal

from desktop.feed.batches import Batch

PATIENCE_SECONDS = 1.0
MOST_OPERATIONS = 256
MOST_BYTES = 1 << 20

Why = Literal["gap", "overlap", "reset", "overflow", "epoch", "backwards", "unsound"]


@dataclass(frozen=True, slots=True)
class Applied:
    """`revision` is None where only a snapshot can tell what the records stand at.

    `held` batches wait for a predecessor or for the read that is on its way, by their base.
    `is_reading`: nothing may be applied until the next snapshot, or `released`. `heard` is what was
    observed since that read began: only that can be more than it brings, whatever was said before.
    `behind_since` is when the scope began to know of more than it has, without getting on since.
    """

    epoch: str = ""
    revision: int | None = None
    observed: int = 0
    heard: int = 0
    held: tuple[Batch, ...] = ()
    is_reading: bool = False
    behind_since: float | None = None

    @property
    def is_behind(self) -> bool:
        """Whether it is known that the log has more than the records say."""
        return self.revision is None or self.observed > self.revision or bool(self.held)

    @property
    def is_waiting(self) -> bool:
        """Whether only a read can bring the scope on."""
        return self.is_reading or self.revision is None

    def deadline(self) -> float | None:
        """When waiting for a missing batch ends; None while nothing is missing or a read runs."""
        if self.is_waiting or self.behind_since is None:
            return None
        return self.behind_since + PATIENCE_SECONDS

    def receive(self, batch: Batch, now: float) -> "Step":
        """What to do with a batch that came."""
        if not batch.is_sound:
            return Step(self, why="unsound")
        if batch.epoch != self.epoch:
            if self.revision is None:
                return self._with(batch)._drained(now)
            lost = self.lost(batch.epoch, batch.revision)
            return replace(lost._with(batch)._bounded(now), why="epoch")
        if self.revision is not None and batch.revision <= self.revision:
            return Step(self)
        heard = self._heard(batch.revision)
        if len(batch.operations) > MOST_OPERATIONS or batch.size > MOST_BYTES:
            return heard._overflowed(now)
        return heard._with(batch)._drained(now)

    def observe(self, epoch: str, revision: int, now: float, since: int | None = None) -> "Step":
        """Hears what the log's revision is, which brings no record.

        `since` is the revision of the records when one began to look: a smaller one means that the
        log went back.
        """
        if epoch != self.epoch:
            return Step(self.lost(epoch, revision), why="epoch")
        if since is not None and revision < since:
            return Step(replace(self.lost(epoch, revision), held=()), why="backwards")
        return Step(self._heard(revision)._marked(now))

    def lost(self, epoch: str, observed: int = 0) -> "Applied":
        """What the records stand at is not known any more; they stay until they are read anew."""
        return replace(
            self, epoch=epoch, revision=None, observed=observed, heard=observed, behind_since=None
        )

    def snapshot(self, epoch: str, revision: int, now: float) -> "Step":
        """The records were read anew, as of `revision`; what was held goes on from there."""
        held = tuple(one for one in self.held if one.epoch == epoch)
        observed = max(self.heard, revision) if self.epoch == epoch else revision
        read = replace(
            self,
            epoch=epoch,
            revision=revision,
            observed=max([observed, *(one.revision for one in held)]),
            held=held,
            is_reading=False,
            behind_since=None,
        )
        return read._drained(now)

    def reading(self) -> "Applied":
        """A read begins: what comes meanwhile waits for it."""
        return replace(self, is_reading=True, heard=0)

    def released(self, now: float) -> "Step":
        """The read brought nothing that moves the revision."""
        return replace(self, is_reading=False)._drained(now)

    def late(self, now: float) -> "Step":
        """The time is up for what is missing."""
        deadline = self.deadline()
        if deadline is None or now < deadline:
            return Step(self)
        return Step(replace(self, behind_since=None), why="gap")

    def _heard(self, revision: int) -> "Applied":
        newest = max(self.observed, revision)
        return replace(self, observed=newest, heard=max(self.heard, revision))

    def _with(self, batch: Batch) -> "Applied":
        if batch in self.held:
            return self
        held = sorted((*self.held, batch), key=lambda one: (one.base_revision, one.revision))
        return replace(self, held=tuple(held))

    def _drained(self, now: float) -> "Step":
        """Applies what follows without a gap; what is left waits, or can't be placed."""
        if self.is_reading or self.revision is None:
            return self._bounded(now)
        revision, ready = self.revision, list[Batch]()
        why: Why | None = None
        left = list(self.held)
        while left and left[0].base_revision <= revision and why is None:
            batch = left.pop(0)
            if batch.revision <= revision:
                continue
            if batch.base_revision < revision:
                why = "overlap"
            elif batch.is_reset:
                why = "reset"
            else:
                ready.append(batch)
                revision = batch.revision
        got_on = replace(
            self,
            revision=revision,
            held=tuple(left),
            behind_since=None if ready else self.behind_since,
        )
        step = got_on._bounded(now)
        return replace(step, ready=tuple(ready), why=why or step.why)

    def _bounded(self, now: float) -> "Step":
        count = sum(max(len(one.operations), 1) for one in self.held)
        if count > MOST_OPERATIONS or sum(one.size for one in self.held) > MOST_BYTES:
            return replace(self, held=())._overflowed(now)
        return Step(self._marked(now))

    def _overflowed(self, now: float) -> "Step":
        """What was let go is known to be missing: `observed` says so."""
        return Step(self._marked(now), why=None if self.is_waiting else "overflow")

    def _marked(self, now: float) -> "Applied":
        if not self.is_behind:
            return replace(self, behind_since=None)
        return self if self.behind_since is not None else replace(self, behind_since=now)


@dataclass(frozen=True, slots=True)
class Step:
    """What follows: commit `ready` in this order; with a `why` the records must be read anew."""

    applied: Applied
    ready: tuple[Batch, ...] = field(default=())
    why: Why | None = None
