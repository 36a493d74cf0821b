"""Keeps a conversation sendable: pictures beyond what a request may hold, and whatever the provider
refuses, are put out of it by `rewrite` rows.

Which ones is a function of the rows and of what was answered before, and the decision is a row: a
rebuild says what was said live (SPEC A12, U22, U23).
"""

from collections.abc import Callable, Iterable

from desktop.agent.ledger import Ledger
from desktop.agent.step import StepEnd
from desktop.core.chunks import LogChunk, NewChunk, System, Thinking
from desktop.core.events import Failure
from desktop.core.media import BUDGET, Budget, Media
from desktop.core.rewrites import leaving_out_thinking, replacing, standing
from desktop.core.shown import Place

TOO_MUCH = (
    "Earlier pictures and documents are not shown to the model any more, for a request holds only "
    "so many: {names}."
)
REFUSED = "The provider refused this, so it is not shown to the model any more: {names}."
NO_THINKING = (
    "The provider refused the thinking of earlier answers, so it is left out from here on."
)
NAMED = 3  # names in a sentence
WIDENINGS = 3  # what was named, what is new, everything


class Rewriting:
    """For one turn. `new_id` names rows."""

    def __init__(self, ledger: Ledger, *, turn_id: str, new_id: Callable[[], str]) -> None:
        self._ledger = ledger
        self._turn_id = turn_id
        self._new_id = new_id
        self._widening = 0
        self._thinking_left_out = False

    async def keep_within(self) -> None:
        """Before a request: the oldest pictures go where there are too many. Raises StoreError."""
        await keep_within(self._ledger, turn_id=self._turn_id, new_id=self._new_id)

    async def mends(self, end: StepEnd) -> bool:
        """After a response: whether it was refused and the next request is another one, without
        what was refused. Raises StoreError."""
        failure = end.failure
        if failure is None:  # what is refused next is another story
            self._widening = 0
            self._thinking_left_out = False
        if failure is None or end.rows:
            return False
        found = self._leave_out_thinking() if failure.kind == "thinking" else None
        if is_about_media(failure):
            found = self._replace(failure.places)
        if found is None:
            return False
        await self._ledger.append([_row(found, self._turn_id, self._new_id)])
        return True

    def _leave_out_thinking(self) -> System | None:
        rows = self._ledger.rows
        if self._thinking_left_out or not any(_is_thinking(row) for row in standing(rows)):
            return None
        self._thinking_left_out = True
        return leaving_out_thinking(rows[-1].seq + 1, NO_THINKING)

    def _replace(self, named: Iterable[Place]) -> System | None:
        """What was named goes; else what no answer has taken yet; else everything."""
        shown = self._ledger.digest.shown()
        taken = self._ledger.digest.bill.answered_up_to
        choices: tuple[dict[Place, Media], ...] = (
            {place: shown[place][1] for place in named if place in shown},
            {place: media for place, (row, media) in shown.items() if row.seq > taken},
            {place: media for place, (_, media) in shown.items()},
        )
        while self._widening < WIDENINGS:
            chosen = choices[self._widening]
            self._widening += 1
            if chosen:
                return replacing(chosen, REFUSED.format(names=_names(chosen.values())))
        return None


async def keep_within(
    ledger: Ledger, *, turn_id: str, new_id: Callable[[], str], budget: Budget = BUDGET
) -> None:
    """Lays the row down that keeps the next request within what may be shown, if one is needed."""
    shown = ledger.digest.shown()
    places = beyond(shown, ledger.digest.bill.answered_up_to, budget)
    if places:
        names = _names(shown[place][1] for place in places)
        data = replacing(places, TOO_MUCH.format(names=names))
        await ledger.append([_row(data, turn_id, new_id)])


def beyond(
    shown: dict[Place, tuple[LogChunk, Media]], taken: int, budget: Budget
) -> tuple[Place, ...]:
    """The oldest pictures, where there are more than the budget holds.

    So many go that half the budget is free, for each time the cache is lost; but of those that no
    answer has seen (behind seq `taken`) no more than must.
    """
    left = [media for _, media in shown.values()]
    if budget.holds(left):
        return ()
    gone: list[Place] = []
    for place, (row, _) in shown.items():
        if (budget if row.seq > taken else budget.half).holds(left):
            break
        gone.append(place)
        del left[0]
    return tuple(gone)


def is_about_media(failure: Failure) -> bool:
    """A picture was refused, or a body that is too large for the wire (API V1)."""
    return failure.kind == "media" or (failure.kind == "too_large" and failure.status_code == 413)


def _row(data: System, turn_id: str, new_id: Callable[[], str]) -> NewChunk:
    return NewChunk(id=new_id(), turn_id=turn_id, role="system", data=data)


def _is_thinking(row: LogChunk) -> bool:
    return isinstance(row.data, Thinking) and bool(row.data.metadata)


def _names(found: Iterable[Media]) -> str:
    """The first names, and how many more."""
    names = [one.name or ("a picture" if one.kind == "image" else "a document") for one in found]
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more} more" if more > 0 else "")
