"""Sending a message anew: what of a conversation a fork shares, and what is said in it.

Messages that stand together without an answer between them were answered as one. A fork that
began between two of them would end in an unanswered text, which the next message takes back; so
it begins before the first, and the others are said again in their order, as one turn.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from desktop.core.chunks import Json, LogChunk, Text
from desktop.core.conversation import is_answer, retracted_ids, split_dangling
from desktop.core.errors import NacreError


class PlaceGone(NacreError):
    """The unanswered texts that were to be replaced are answered by now."""


@dataclass(frozen=True, slots=True)
class Resend:
    """`messages` are to be said after the row at `at_seq`.

    `instead_of` are the ids of the unanswered texts at the log's end that they replace; without
    any the message was answered, and a fork is the place for them.
    """

    at_seq: int
    messages: tuple[Text, ...]
    instead_of: frozenset[str] = frozenset()

    @property
    def text(self) -> str:
        return "\n\n".join(one.text for one in self.messages)


def edited(
    rows: Sequence[LogChunk], chunk_id: str, text: str, attachments: Sequence[Json] | None
) -> Resend:
    """Another text in place of a user row; its attachments go along where none are named.

    Raises NacreError where there is no such row or nothing to send.
    """
    found = _user_row(rows, chunk_id)
    had = found.data.attachments if isinstance(found.data, Text) else ()
    new = Text(text, attachments=had if attachments is None else tuple(attachments))
    if not new.text.strip() and not new.attachments:
        raise NacreError("There is nothing to send.")
    return _resend(rows, found, new)


def regenerated(rows: Sequence[LogChunk], chunk_id: str) -> Resend:
    """The same again in a fork, from the user row or any row of its answer. Raises NacreError."""
    found = _user_row(rows, chunk_id)
    assert isinstance(found.data, Text)
    return replace(_resend(rows, found, found.data), instead_of=frozenset())


def _user_row(rows: Sequence[LogChunk], chunk_id: str) -> LogChunk:
    """The row, or for another one the message that it came after."""
    at = next((at for at, row in enumerate(rows) if row.id == chunk_id), -1)
    gone = retracted_ids(rows)
    for row in reversed(rows[: at + 1]):
        if row.role == "user" and (row.id == chunk_id or row.id not in gone):
            return row
    raise NacreError("This conversation has no such message.", detail=chunk_id)


def _resend(rows: Sequence[LogChunk], changed: LogChunk, new: Text) -> Resend:
    gone = retracted_ids(rows)
    at = rows.index(changed)
    earlier = _until_answer(rows[:at][::-1], gone)[::-1]
    # A text that was taken back is said anew as it was then: without what took its place.
    later = [] if changed.id in gone else _until_answer(rows[at + 1 :], gone)
    together = [*earlier, changed, *later]
    messages = tuple(
        new if row is changed else row.data for row in together if isinstance(row.data, Text)
    )
    unanswered = frozenset(row.id for row in split_dangling(rows).dangling)
    return Resend(
        at_seq=together[0].seq - 1,
        messages=messages,
        instead_of=unanswered if changed.id in unanswered else frozenset(),
    )


def _until_answer(rows: Sequence[LogChunk], gone: Collection[str]) -> list[LogChunk]:
    """The user texts that still count, up to the first answer."""
    found: list[LogChunk] = []
    for row in rows:
        if is_answer(row, gone):
            break
        if row.role == "user" and row.id not in gone:
            found.append(row)
    return found
