"""When a feed of releases is asked, and what is remembered of its answers."""

import asyncio
import json
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from desktop.core.backups import DAY_MS
from desktop.core.errors import FeedError, StoreError
from desktop.core.releases import Release
from desktop.headless.releases import KEY, LOOK_SECONDS, SETTLE_SECONDS, Around, ReleaseWatch

FEED = "https://host.example/releases.atom"
NEW = Release("0.2.0", "https://host.example/releases/v0.2.0")
NOW = 1_790_000_000_000


@dataclass
class Desk:
    """A person's program: its settings, its clock, and the feed's answers."""

    address: str = FEED
    own: str = "0.1.0"
    answer: Release | FeedError = NEW
    now: int = NOW
    rows: dict[str, str] = field(default_factory=dict[str, str])
    asked: list[str] = field(default_factory=list[str])
    is_broken: bool = False
    waiting: list[tuple[float, Callable[[], None]]] = field(default_factory=list[Any])

    async def newest(self, address: str) -> Release:
        self.asked.append(address)
        await asyncio.sleep(0)
        if isinstance(self.answer, FeedError):
            raise self.answer
        return self.answer

    async def read(self) -> dict[str, str]:
        if self.is_broken:
            raise StoreError("The disk is gone.")
        return self.rows

    async def save(self, key: str, value: str) -> None:
        if self.is_broken:
            raise StoreError("The disk is gone.")
        self.rows[key] = value

    def start_program(self) -> ReleaseWatch:
        return ReleaseWatch(
            Around(
                own=self.own,
                address=lambda: self.address,
                newest=self.newest,
                read=self.read,
                save=self.save,
                now_ms=lambda: self.now,
            )
        )


def look(watch: ReleaseWatch) -> None:
    asyncio.run(watch.look())


def test_u35_without_an_address_nothing_is_ever_asked() -> None:
    desk = Desk(address="")
    watch = desk.start_program()
    look(watch)
    asyncio.run(watch.ask())
    assert desk.asked == []
    assert desk.rows == {}
    assert watch.news().newer is None


def test_u35_a_feed_is_asked_once_a_day_over_all_starts() -> None:
    desk = Desk()
    for _ in range(3):
        watch = desk.start_program()
        for _ in range(3):
            look(watch)
            desk.now += DAY_MS // 24
        assert watch.news().newer == NEW, "what was found stays known without asking"
    assert desk.asked == [FEED]
    desk.now = NOW + DAY_MS
    look(desk.start_program())
    assert desk.asked == [FEED, FEED]


def test_u35_a_try_that_failed_counts_and_is_said_in_the_settings_only() -> None:
    desk = Desk(answer=FeedError("The feed is gone.", detail="404"))
    watch = desk.start_program()
    look(watch)
    look(watch)
    look(desk.start_program())
    assert desk.asked == [FEED]
    news = watch.news()
    assert (news.problem, news.detail, news.newer) == ("The feed is gone.", "404", None)


def test_u35_a_failure_takes_nothing_away_of_what_was_known() -> None:
    desk = Desk()
    watch = desk.start_program()
    look(watch)
    desk.answer = FeedError("The feed is gone.")
    asyncio.run(watch.ask())
    assert watch.news().newer == NEW
    assert watch.news().asked_at == NOW
    desk.answer = NEW
    asyncio.run(watch.ask())
    assert watch.news().problem == ""


def test_u35_asking_now_asks_at_once_and_not_twice_at_a_time() -> None:
    desk = Desk()
    watch = desk.start_program()

    async def twice() -> None:
        await asyncio.gather(watch.ask(), watch.ask())
        await watch.ask()

    asyncio.run(twice())
    assert len(desk.asked) == 2


def test_u35_another_address_is_asked_at_once_and_the_old_answer_counts_no_more() -> None:
    desk = Desk()
    watch = desk.start_program()
    look(watch)
    desk.address = "https://other.example/releases.atom"
    assert watch.news().newer is None
    desk.answer = replace(NEW, version="0.1.0")
    look(watch)
    assert desk.asked == [FEED, desk.address]
    assert watch.news().newer is None
    desk.address = ""
    assert watch.news().newer is None


def test_u35_a_clock_that_went_back_does_not_stop_it_for_years() -> None:
    desk = Desk()
    look(desk.start_program())
    desk.now -= 400 * DAY_MS
    look(desk.start_program())
    assert len(desk.asked) == 2


@pytest.mark.parametrize(
    ("own", "found", "is_told"),
    [
        ("0.1.0", "0.2.0", True),
        ("0.2.0", "0.2.0", False),
        ("0.3.0", "0.2.0", False),
        ("0.2.0rc1", "0.2.0", True),
        ("0 (not installed)", "0.2.0", False),
    ],
)
def test_u35_only_a_later_version_is_told(own: str, found: str, is_told: bool) -> None:
    desk = Desk(own=own, answer=replace(NEW, version=found))
    watch = desk.start_program()
    look(watch)
    assert (watch.news().newer is not None) is is_told


def test_u35_a_closed_notice_stays_closed_until_the_next_version() -> None:
    desk = Desk()
    watch = desk.start_program()
    look(watch)
    assert not watch.news().is_closed
    asyncio.run(watch.close_notice())
    assert watch.news().is_closed
    desk.now += DAY_MS
    again = desk.start_program()
    look(again)
    assert again.news().is_closed
    desk.now += DAY_MS
    desk.answer = replace(NEW, version="0.3.0")
    look(again)
    assert not again.news().is_closed


@pytest.mark.parametrize(
    "row",
    [
        "",
        "no json",
        "[]",
        "[" * 100_000,
        '{"address": 7, "askedAt": "x", "version": [], "closed": {}}',
        json.dumps({"address": FEED, "askedAt": NOW, "version": "9.9", "link": "http://x/"}),
        json.dumps({"address": FEED, "askedAt": NOW, "version": "9.9", "link": "javascript:x"}),
        json.dumps({"address": FEED, "askedAt": NOW, "version": "<b>", "link": "https://x/"}),
    ],
)
def test_u35_a_note_that_can_not_be_read_is_none(row: str) -> None:
    desk = Desk(rows={KEY: row}, answer=FeedError("Not now."))
    watch = desk.start_program()
    look(watch)
    assert watch.news().newer is None


def test_u35_a_log_that_can_not_be_written_stops_nothing() -> None:
    desk = Desk(is_broken=True)
    watch = desk.start_program()
    look(watch)
    assert watch.news().newer == NEW


def test_u35_the_first_look_is_after_the_start_and_the_next_ones_follow() -> None:
    desk = Desk()
    watch = desk.start_program()

    def later(seconds: float, call: Callable[[], None]) -> None:
        desk.waiting.append((seconds, call))

    def start(work: Coroutine[Any, Any, None], name: str) -> None:
        del name
        asyncio.run(work)

    watch.watch(later, start)
    watch.address_changed(start)
    assert desk.asked == [], "the settings being read is no reason to ask at the start"
    (seconds, call) = desk.waiting.pop()
    assert seconds == SETTLE_SECONDS
    call()
    assert desk.asked == [FEED]
    desk.address = "https://other.example/feed"
    watch.address_changed(start)
    assert len(desk.asked) == 2
    assert [seconds for seconds, _ in desk.waiting] == [LOOK_SECONDS]


def test_u35_listeners_hear_of_each_change_until_they_go() -> None:
    desk = Desk()
    watch = desk.start_program()
    seen: list[bool] = []
    stop = watch.hear(lambda: seen.append(watch.news().is_asking))
    asyncio.run(watch.ask())
    assert seen == [True, False]
    stop()
    stop()
    asyncio.run(watch.ask())
    assert len(seen) == 2
