"""What travels to a scope: records whole, and the interval of revisions that they account for.

A batch says everything that happened to a selection between two revisions; an empty one says that
nothing did. Joining two is allowed only where the second begins at the first's end, so that no
revision is ever covered by silence. Pure.
"""

from dataclasses import dataclass

Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Record:
    """A thing that scopes show, whole. `kind` and `id` say which, `place` where in its order.

    `size` is about the bytes that its value takes on a wire.
    """

    kind: str
    id: str
    place: int
    value: object
    size: int = 0

    @property
    def key(self) -> Key:
        return (self.kind, self.id)


@dataclass(frozen=True, slots=True)
class Upsert:
    """The record is this now, whether it was there or not."""

    record: Record

    @property
    def key(self) -> Key:
        return self.record.key

    @property
    def size(self) -> int:
        return self.record.size


@dataclass(frozen=True, slots=True)
class Removal:
    """The record is not of the selection any more."""

    kind: str
    id: str

    @property
    def key(self) -> Key:
        return (self.kind, self.id)

    @property
    def size(self) -> int:
        return len(self.id)


Operation = Upsert | Removal


@dataclass(frozen=True, slots=True)
class Batch:
    """All that happened to a selection after `base_revision`, up to and with `revision`.

    `is_reset`: something happened that is not told; only a fresh read knows.
    """

    epoch: str
    base_revision: int
    revision: int
    operations: tuple[Operation, ...] = ()
    is_reset: bool = False

    @property
    def size(self) -> int:
        return sum(one.size for one in self.operations)

    @property
    def is_sound(self) -> bool:
        """Whether it covers an interval at all."""
        return 0 <= self.base_revision < self.revision and not (self.is_reset and self.operations)


def joined(first: Batch, second: Batch) -> Batch | None:
    """Both as one, with the last operation of each record; None across a gap or another epoch."""
    if first.epoch != second.epoch or first.revision != second.base_revision:
        return None
    is_reset = first.is_reset or second.is_reset
    last: dict[Key, Operation] = {}
    if not is_reset:
        for one in (*first.operations, *second.operations):
            last.pop(one.key, None)
            last[one.key] = one
    return Batch(
        first.epoch, first.base_revision, second.revision, tuple(last.values()), is_reset=is_reset
    )
