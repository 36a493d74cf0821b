"""What is published reaches everyone, and a late reader sees all so far (SPEC C25)."""

import logging

import pytest

from desktop.core.records import CatalogueReceipt, Receipt
from desktop.core.reducer import BlockOp, Dropped, Grew, Opened, Sealed
from desktop.core.status import TabStatus
from desktop.feed.hub import CatalogueNews, Hub
from tests.unit.feed.looking import Told
from tests.unit.feed.rows_of import new, text


class Record:
    """A listener that keeps what it hears."""

    def __init__(self) -> None:
        self.heard: list[object] = []

    def receipt(self, receipt: Receipt) -> None:
        self.heard.append(receipt)

    def live(self, tab_id: str, op: BlockOp) -> None:
        self.heard.append((tab_id, op))

    def status(self, status: TabStatus) -> None:
        self.heard.append(status)


class Broken(Record):
    def live(self, tab_id: str, op: BlockOp) -> None:
        raise RuntimeError("no")


OPENED = Opened("b1", "t1", 0, "assistant", "text")


def test_a_listener_of_one_tab_hears_only_that_one() -> None:
    """F-R09"""
    hub, one, every = Hub(), Record(), Record()
    hub.subscribe(one, tab_id="a")
    hub.subscribe(every)
    hub.live("a", OPENED)
    hub.live("b", Opened("b2", "t2", 0, "assistant", "text"))
    assert one.heard == [("a", OPENED)]
    assert len(every.heard) == 2


def test_whoever_unsubscribed_hears_nothing_more() -> None:
    hub, one = Hub(), Record()
    end = hub.subscribe(one, tab_id="a")
    end()
    end()
    hub.live("a", OPENED)
    assert one.heard == []


def test_open_blocks_are_kept_until_their_row_arrives() -> None:
    """C25"""
    hub = Hub()
    hub.live("a", OPENED)
    hub.live("a", Grew("b1", "Hel"))
    hub.live("a", Grew("b1", "lo"))
    hub.live("a", Sealed(new("b1", "Hello")))
    assert [block.text for block in hub.open_blocks("a")] == ["Hello"]
    sealed = text(1, "Hello")
    hub.receipt(
        Receipt("a", 0, 1, (type(sealed)("b1", "a", 1, "t1", 0, "assistant", sealed.data, 0),))
    )
    assert len(hub.open_blocks("a")) == 0


def test_a_reader_s_copy_does_not_grow_with_the_hub_s() -> None:
    hub = Hub()
    hub.live("a", OPENED)
    mine = hub.open_blocks("a")
    hub.live("a", Grew("b1", "x"))
    assert [block.text for block in mine] == [""]


def test_a_tab_that_comes_to_rest_has_no_open_block() -> None:
    hub, one = Hub(), Record()
    hub.subscribe(one, tab_id="a")
    hub.live("a", OPENED)
    hub.status(TabStatus("a", phase="idle"))
    assert len(hub.open_blocks("a")) == 0
    assert one.heard[1:] == [("a", Dropped("b1")), TabStatus("a", phase="idle")]
    assert hub.last_status("a") == TabStatus("a", phase="idle")


def test_f_s04_what_was_shown_and_could_not_be_saved_stays_until_its_row_is_there() -> None:
    hub, one = Hub(), Record()
    hub.subscribe(one, tab_id="a")
    hub.live("a", OPENED)
    hub.live("a", Grew("b1", "Hello"))
    hub.live("a", Opened("b2", "t1", 0, "assistant", "thinking"))
    hub.status(TabStatus("a", phase="idle", unsaved=("b1",)))
    assert [block.text for block in hub.open_blocks("a")] == ["Hello"]
    assert ("a", Dropped("b1")) not in one.heard
    assert ("a", Dropped("b2")) in one.heard
    hub.status(TabStatus("a", phase="idle"))
    assert len(hub.open_blocks("a")) == 0


def test_a_listener_that_fails_does_not_keep_the_others_from_hearing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    hub, good = Hub(), Record()
    hub.subscribe(Broken())
    hub.subscribe(good)
    with caplog.at_level(logging.ERROR):
        hub.live("a", OPENED)
    assert good.heard == [("a", OPENED)]
    assert "a listener of the feed failed" in caplog.text


def test_a_change_of_the_catalogue_is_told_until_one_stops_listening() -> None:
    hub = Hub()
    calls: list[CatalogueNews] = []
    end = hub.on_catalogue(calls.append)
    hub.catalogue_changed(CatalogueReceipt(0, 1))
    hub.catalogue_changed(2)
    end()
    hub.catalogue_changed(3)
    assert calls == [CatalogueReceipt(0, 1), 2]


def test_who_comes_later_can_ask_for_the_last_status_of_every_conversation() -> None:
    hub = Hub()
    hub.status(TabStatus("a", phase="elsewhere", holder="4711-x"))
    hub.status(TabStatus("b", phase="running"))
    hub.status(TabStatus("a", phase="idle"))
    assert hub.statuses == (TabStatus("a", phase="idle"), TabStatus("b", phase="running"))


def test_what_a_look_found_is_told_to_those_who_follow_that_conversation() -> None:
    hub = Hub()
    first, second = Told(), Told()
    end, _ = hub.on_revision("a", first), hub.on_revision("b", second)
    hub.revision_found("a", 3)
    end()
    hub.revision_found("a", 4)
    assert (first.heard, second.heard, hub.followed) == ([3], [], ("b",))


def test_r05_who_gets_on_while_it_is_looked_is_told_what_was_known_before() -> None:
    """A log that went back is told from one that was looked at too early."""
    hub, one = Hub(), Told(revision=5)
    hub.on_revision("a", one)
    known, one.revision = hub.known(), 7
    late = Told(revision=7)
    hub.on_revision("a", late)
    hub.revision_found("a", 6, known)
    assert (one.since, late.since) == ([5], [None])
