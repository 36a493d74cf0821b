"""`nacre tabs` and `nacre show` as a person and a script use them: the archive, the bin, pieces."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, TypeVar

import pytest

from desktop.core.errors import LeaseHeld
from desktop.headless.opening import open_log
from desktop.paths import DataFolder
from desktop.store.log import Log
from tests.e2e.nacre import SECONDS, Ended, Home, ended
from tests.fakes.messages_api import MessagesServer, reply, text

T = TypeVar("T")


def in_log(home: Home, work: Callable[[Log], Awaitable[T]]) -> T:
    """As another program on the same database does it."""

    async def whole() -> T:
        log = open_log(DataFolder(home.data))
        try:
            return await work(log)
        finally:
            await log.close()

    return asyncio.run(whole())


def lines(found: Ended) -> list[dict[str, Any]]:
    assert found.code == 0, found.err
    return [json.loads(line) for line in found.out.splitlines()]


def conversation(home: Home, answer: str = "It is in src.") -> str:
    with MessagesServer([reply(text(answer))]) as server:
        assert replace(home, base_url=server.base_url).run("where is it?").code == 0
    return str(home.rows("select id from tabs order by created_at desc")[0]["id"])


@pytest.mark.in_this_process
def test_P06_tabs_shows_what_is_archived_and_what_is_in_the_bin(home: Home) -> None:
    kept, archived, thrown = (conversation(home) for _ in range(3))

    async def put_away(log: Log) -> None:
        await log.catalogue.archive_tab(archived)
        await log.catalogue.trash_tab(thrown)

    in_log(home, put_away)
    listed = {one["id"]: one for one in lines(home.nacre("tabs", "--json"))}
    assert set(listed) == {kept, archived}
    assert (listed[kept]["archivedAt"], listed[kept]["trashedAt"]) == (None, None)
    assert listed[archived]["archivedAt"] > 0
    assert [one["id"] for one in lines(home.nacre("tabs", "--json", "--archived"))] == [archived]
    [binned] = lines(home.nacre("tabs", "--json", "--bin"))
    assert (binned["id"], binned["trashedAt"] > 0) == (thrown, True)

    words = home.nacre("tabs")
    assert "1 more in the bin: nacre tabs --bin" in words.err
    by_id = {line.split()[0]: line for line in words.out.splitlines()}
    assert "(archived 20" in by_id[archived] and by_id[kept].endswith(str(home.workspace))
    assert "(in the bin since 20" in home.nacre("tabs", "--bin").out
    assert home.nacre("tabs", "--bin", "--archived").code == 2
    # What is in the bin can be read; nothing can be sent there.
    assert "It is in src." in home.nacre("show", thrown).out
    refused = home.nacre("run", "--tab", thrown, "go on")
    assert refused.code == 1
    assert "nacre: This conversation is in the bin. Restore it to go on." in refused.err


@pytest.mark.in_this_process
def test_who_goes_on_in_an_archived_conversation_gets_it_back(home: Home) -> None:
    tab = conversation(home)
    in_log(home, lambda log: log.catalogue.archive_tab(tab))
    with MessagesServer([reply(text("Yes."))]) as server:
        assert (
            replace(home, base_url=server.base_url).nacre("run", "--tab", tab, "there?").code == 0
        )
    assert [one["archivedAt"] for one in lines(home.nacre("tabs", "--json"))] == [None]


@pytest.mark.in_this_process
def test_P05_what_another_program_works_in_is_not_put_away_until_it_is_done(home: Home) -> None:
    with MessagesServer([reply(text("All of it.")).gate_after(4, "mid")]) as server:
        there = replace(home, base_url=server.base_url)
        process = there.start("run", "--workspace", str(home.workspace), "begin")
        server.wait_at_gate("mid", timeout=SECONDS)
        [tab] = [str(row["id"]) for row in home.rows("select id from tabs")]
        [workspace] = [int(row["id"]) for row in home.rows("select id from workspaces")]
        for act in (
            lambda log: log.catalogue.archive_tab(tab),
            lambda log: log.catalogue.archive_workspace(workspace),
            lambda log: log.catalogue.trash_tab(tab),
        ):
            with pytest.raises(LeaseHeld, match=f"process {process.pid}"):
                in_log(home, act)
        server.release("mid")
        assert ended(process).code == 0
    in_log(home, lambda log: log.catalogue.archive_workspace(workspace))
    assert [one["archivedAt"] is None for one in lines(home.nacre("tabs", "--json"))] == [False]


@pytest.mark.in_this_process
def test_P07_show_prints_a_piece_and_where_to_go_on(home: Home) -> None:
    tab = conversation(home)
    whole = lines(home.nacre("show", "--json", tab))
    last = whole[-1]["seq"]
    assert last > 3

    where, *rows = lines(home.nacre("show", "--json", tab, "--limit", "2"))
    assert rows == whole[-2:]
    assert (where["page"]["hasOlder"], where["page"]["hasNewer"]) == (True, False)
    where, *rows = lines(
        home.nacre("show", "--json", tab, "--before", where["page"]["first"], "--limit", "1")
    )
    assert rows == [whole[-3]] and where["page"]["hasNewer"]
    place, read = "0", []
    while True:
        where, *rows = lines(home.nacre("show", "--json", tab, "--after", place, "--limit", "2"))
        read += rows
        place = where["page"]["last"]
        if not where["page"]["hasNewer"]:
            break
    assert read == whole

    where, *rows = lines(home.nacre("show", "--json", tab, "--after", f"{last}:other"))
    assert where["page"]["isReset"] and rows == whole
    words = home.nacre("show", tab, "--after", str(last + 1), "--limit", "1")
    assert "that row is not in this conversation any more" in words.err
    assert f"older rows: --before {last}:" in words.err
    for wrong in (("--limit", "0"), ("--limit", "501"), ("--after", "x"), ("--before", "-1")):
        assert home.nacre("show", tab, *wrong).code == 2
    assert home.nacre("show", tab, "--after", "1", "--before", "2").code == 2


def test_P08_looking_moves_no_time_and_no_order(home: Home) -> None:
    first, second = conversation(home), conversation(home)
    before = home.rows("select * from tabs order by id")
    for command in (("show", first), ("show", first, "--limit", "1"), ("tabs",)):
        assert home.nacre(*command).code == 0
    assert [tuple(one) for one in home.rows("select * from tabs order by id")] == [
        tuple(one) for one in before
    ]
    assert [one["id"] for one in lines(home.nacre("tabs", "--json"))] == [first, second]
