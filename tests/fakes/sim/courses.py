"""Which request goes on from which, and which of them rewrote what was said before.

Bytes are all there is to go by. A request that holds an answer goes on from an earlier request of
its conversation that nobody has gone on from yet, and must extend it; one without an answer begins
a conversation. Conversations are told apart by how they opened and by their first answer, so that a
changed system prompt, tool or first message is found too. Another model begins anew (its thinking
is its own), and so does a summary, which holds no answer. What is asked beside the conversation, as
for that summary, extends it, and nobody goes on from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tests.fakes.sim import prefix
from tests.fakes.sim.extends import assert_extends
from tests.fakes.sim.prefix import Position
from tests.fakes.sim.problems import Json
from tests.fakes.sim.received import Received

BESIDE = "The conversation is about to be replaced by a summary"
"""How a text begins that is asked beside the conversation."""


@dataclass(frozen=True, slots=True)
class _Request:
    name: str
    body: Json
    opening: tuple[bytes, ...]
    """What stands before the first answer."""
    answer: tuple[bytes, ...]
    """The first answer; empty before there is one."""
    is_beside: bool

    def may_go_on_from(self, earlier: _Request) -> bool:
        """Whether both are requests of one conversation, by the looks of it."""
        if self.body.get("model") != earlier.body.get("model"):
            return False
        has_same_opening = bool(earlier.opening) and earlier.opening[-1] in self.opening
        return has_same_opening or (bool(self.answer) and self.answer == earlier.answer)

    def complaint(self, earlier: _Request) -> str:
        """How it rewrote an earlier one; empty when it extends it."""
        try:
            assert_extends(earlier.body, self.body)
        except AssertionError as error:
            return f"{self.name} does not extend {earlier.name}: {error}"
        return ""


def rewrites(requests: Sequence[Received]) -> list[str]:
    """A complaint for every request that left the course of its conversation."""
    ends: list[_Request] = []
    found: list[str] = []
    for number, received in enumerate(requests, start=1):
        if received.number:
            is_beside = received.last_text.startswith(BESIDE)
            request = _read(f"request {number}", received.json, is_beside=is_beside)
            found.extend(_go_on(ends, request))
    return found


def _go_on(ends: list[_Request], request: _Request) -> list[str]:
    """Puts a request at the end of its conversation; says what it rewrote."""
    complaints: list[str] = []
    for earlier in reversed([one for one in ends if request.may_go_on_from(one)]):
        complaint = request.complaint(earlier)
        if not complaint:
            if not request.is_beside:
                ends.remove(earlier)
            complaints.clear()
            break
        complaints.append(complaint)
    if not request.is_beside:
        ends.append(request)
    return complaints[:1] if request.answer else []


def _read(name: str, body: Json, *, is_beside: bool) -> _Request:
    places = [place for place in prefix.positions(body) if place.part == "messages"]
    first = next((at for at, one in enumerate(places) if one.role == "assistant"), len(places))
    answer = _bytes(_answer(places[first:]))
    return _Request(name, body, _bytes(places[:first]), answer, is_beside)


def _answer(places: Iterable[Position]) -> Iterable[Position]:
    for place in places:
        if place.role != "assistant":
            return
        yield place


def _bytes(places: Iterable[Position]) -> tuple[bytes, ...]:
    return tuple(place.raw for place in places)
