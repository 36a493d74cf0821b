"""What other processes do to the log is heard of soon, and cheaply (DESIGN.md §7, SPEC U05)."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pytest

from desktop.core.errors import StoreBusy
from desktop.core.sources import Sight
from desktop.core.status import Elsewhere
from desktop.feed.hub import CatalogueNews, Hub
from desktop.feed.outside import CHECK_SECONDS, PAUSE_SECONDS, Outside
from tests.unit.feed.looking import Told
from tests.unit.feed.times import Room, Time

NEVER = 1_000 * CHECK_SECONDS


@dataclass
class OtherProcesses:
    """A Lookout by hand. While `held` is there, an answer waits for it."""

    version: int = 1
    revisions: dict[str, int] = field(default_factory=dict[str, int])
    elsewhere: dict[str, Elsewhere] = field(default_factory=dict[str, Elsewhere])
    catalogue: int = 1
    asked: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])
    failures: list[Exception] = field(default_factory=list[Exception])
    held: asyncio.Event | None = None

    def write(self, tab_id: str) -> None:
        self.version += 1
        self.revisions[tab_id] = self.revisions.get(tab_id, 0) + 1

    async def moved(self) -> int:
        if self.held is not None:
            await self.held.wait()
        return self.version

    async def look(self, tab_ids: Sequence[str]) -> Sight:
        self.asked.append(tuple(tab_ids))
        if self.failures:
            raise self.failures.pop(0)
        found = {one: self.revisions[one] for one in tab_ids if one in self.revisions}
        return Sight(self.catalogue, found, dict(self.elsewhere))


class Desk:
    """Somebody follows the conversation `a`; `told` is what they heard."""

    def __init__(self) -> None:
        self.time, self.room, self.hub, self.others = Time(), Room(), Hub(), OtherProcesses()
        self.follower = Told()
        self.catalogue: list[CatalogueNews] = []
        self.heard: list[Mapping[str, Elsewhere]] = []
        self.arms = 0
        self.unfollow: Callable[[], None] = self.hub.on_revision("a", self.follower)
        self.hub.on_catalogue(self.catalogue.append)
        self.outside = Outside(
            self.others,
            self.hub,
            heard=self.heard.append,
            start=self.room.start,
            later=self.time.later,
            arm=self.arm,
        )

    @property
    def told(self) -> list[int]:
        return self.follower.heard

    def arm(self) -> None:
        self.arms += 1

    def open(self) -> None:
        self.outside.open()
        self.pass_by(PAUSE_SECONDS)

    def pass_by(self, seconds: float) -> None:
        self.room.settle()
        self.time.advance(seconds)
        self.room.settle()

    def wake(self) -> None:
        self.outside.wake()
        self.room.settle()


@pytest.fixture
def desk() -> Iterator[Desk]:
    made = Desk()
    yield made
    made.outside.close()
    made.room.close()


def test_rows_of_another_process_are_told_with_the_wake_up_before_any_time_passes(
    desk: Desk,
) -> None:
    desk.open()
    desk.others.write("a")
    desk.others.write("b")
    desk.wake()
    assert desk.told == [1]
    assert desk.others.asked[-1] == ("a",)


def test_what_this_process_wrote_itself_costs_one_number_and_no_look(desk: Desk) -> None:
    desk.open()
    asked, looks = desk.outside.asked, desk.outside.looks
    for _ in range(20):
        desk.wake()
        desk.pass_by(PAUSE_SECONDS)
    assert (desk.outside.asked - asked, desk.outside.looks - looks) == (20, 0)


def test_a_storm_of_wake_ups_is_ten_questions_a_second_at_most(desk: Desk) -> None:
    desk.open()
    before, seconds = desk.outside.asked, 2
    for _ in range(seconds * 1_000):
        desk.others.write("a")
        desk.wake()
        desk.pass_by(0.001)
    assert 0.9 * 10 * seconds <= desk.outside.asked - before <= 10 * seconds + 1
    desk.pass_by(PAUSE_SECONDS)
    assert desk.told[-1] == desk.others.revisions["a"]


def test_what_is_written_while_it_is_asked_is_asked_for_again(desk: Desk) -> None:
    """However slow the answer is, questions don't pile up."""
    desk.open()
    before = desk.outside.asked
    desk.others.held = asyncio.Event()
    desk.wake()
    for _ in range(10):
        desk.others.write("a")
        desk.wake()
        desk.pass_by(PAUSE_SECONDS)
    assert desk.outside.asked - before == 1
    desk.others.held.set()
    desk.pass_by(PAUSE_SECONDS)
    assert desk.outside.asked - before == 2
    assert desk.told == [10]


def test_each_wake_up_is_asked_for_before_the_question(desk: Desk) -> None:
    """What is written between the two wakes again."""
    desk.open()
    for _ in range(3):
        assert desk.arms == desk.outside.asked
        desk.wake()
        desk.pass_by(PAUSE_SECONDS)


def test_without_a_wake_up_the_check_brings_the_same(desk: Desk) -> None:
    """The floor: a network drive, a watcher that failed."""
    desk.open()
    desk.others.write("a")
    desk.others.elsewhere["a"] = Elsewhere("4711-x", 3)
    desk.pass_by(CHECK_SECONDS - 2 * PAUSE_SECONDS)
    assert desk.told == []
    desk.pass_by(2 * PAUSE_SECONDS)
    assert desk.told == [1]
    assert desk.heard[-1] == {"a": Elsewhere("4711-x", 3)}


def test_u05_an_idle_log_is_looked_at_every_five_seconds_and_no_oftener(desk: Desk) -> None:
    desk.open()
    asked, looks = desk.outside.asked, desk.outside.looks
    for _ in range(60):
        desk.pass_by(1.0)
    assert (desk.outside.asked - asked, desk.outside.looks - looks) == (0, 12)


def test_a_look_that_failed_is_made_again_with_the_next_wake_up(desk: Desk) -> None:
    desk.open()
    desk.others.write("a")
    desk.others.failures.append(StoreBusy("Locked."))
    desk.wake()
    assert desk.told == []
    desk.pass_by(PAUSE_SECONDS)
    desk.wake()
    assert desk.told == [1]


def test_a_check_that_failed_is_not_the_last_one(desk: Desk) -> None:
    desk.open()
    desk.others.failures.append(StoreBusy("Locked."))
    desk.pass_by(CHECK_SECONDS)
    desk.others.write("a")
    desk.pass_by(CHECK_SECONDS)
    assert desk.told == [1]


def test_only_conversations_that_somebody_follows_are_asked_for(desk: Desk) -> None:
    desk.open()
    desk.unfollow()
    desk.unfollow()  # twice is harmless
    desk.others.write("a")
    desk.wake()
    assert desk.others.asked[-1] == ()
    assert desk.told == []
    assert desk.catalogue[-1] == 1


def test_once_closed_it_tells_nothing_and_sets_no_timer(desk: Desk) -> None:
    desk.open()
    desk.others.held = asyncio.Event()
    desk.others.write("a")
    desk.wake()
    desk.outside.close()
    desk.others.held.set()
    desk.wake()
    desk.pass_by(NEVER)
    assert desk.told == []
    assert desk.time.is_idle
