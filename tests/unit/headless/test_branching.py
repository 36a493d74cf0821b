"""A fork on the whole path: database, agent, wire and a server as strict as the provider."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from desktop import paths
from desktop.core.chunks import LogChunk, Text
from desktop.diagnostics import Redaction
from desktop.headless.runtime import Runtime, start
from tests.fakes.messages_api import MessagesServer, assert_extends, reply, text, thinking
from tests.unit.store.builders import run

LONG = "word " * 1_500  # long enough for the provider to keep it


def played(
    server: MessagesServer, folder: Path, act: Callable[[Runtime, str], Awaitable[None]]
) -> None:
    """Runs something with a runtime in a new conversation."""

    async def scenario() -> None:
        runtime = await start(
            paths.choose(str(folder / "data")).folder, redaction=Redaction(), has_person=False
        )
        try:
            await runtime.find_key()
            workspace = await runtime.catalogue.open_workspace(folder)
            tab = await runtime.catalogue.create_tab(workspace.id)
            await act(runtime, tab.id)
        finally:
            await runtime.close()

    paths.choose(str(folder / "data")).folder.prepare()
    run(asyncio.wait_for(scenario(), 60))
    assert server.rejected == []


async def turn(runtime: Runtime, tab: str, words: str) -> None:
    await runtime.commands.send(tab, words)
    await runtime.until_idle()


async def said(runtime: Runtime, tab: str, words: str) -> str:
    page = await runtime.reader.page(tab, limit=100)
    return next(
        row.id
        for row in page.rows
        if isinstance(row, LogChunk) and isinstance(row.data, Text) and words in row.data.text
    )


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> Callable[[MessagesServer], None]:
    def use(server: MessagesServer) -> None:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "test-key-0123456789")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.base_url)

    return use


def test_U19_U25_a_fork_begins_with_what_it_shares_byte_for_byte_and_the_cache_knows_it(
    environment: Callable[[MessagesServer], None], tmp_path: Path
) -> None:
    """The parent goes on afterwards as if nothing had been."""

    async def act(runtime: Runtime, tab: str) -> None:
        for words in (f"One {LONG}", "Two", "Three"):
            await turn(runtime, tab, words)
        fork = await runtime.commands.edit(tab, await said(runtime, tab, "Three"), "Other")
        await runtime.until_idle()
        again = await runtime.commands.regenerate(fork, await said(runtime, fork, "Other"))
        await runtime.until_idle()
        await turn(runtime, again, "Further")
        await turn(runtime, tab, "Four")
        assert len({tab, fork, again}) == 3
        (branch,) = await runtime.catalogue.branches(again)
        assert branch.tab_ids == (tab, fork, again)

    replies = [reply(thinking("Hm."), text(f"Answer {number}.")) for number in range(7)]
    with MessagesServer(replies) as server:
        environment(server)
        server.may_rewrite("an edit and a regenerated answer fork in the middle")
        played(server, tmp_path, act)
        one, two, three, edited, again, further, four = server.requests
    for before, after in (
        *((one, two), (two, three), (three, four)),
        *((two, edited), (two, again), (again, further)),
    ):
        assert_extends(before.json, after.json)
        assert before.account is not None
        assert after.account is not None
        written = before.account.write_5m + before.account.write_1h
        assert after.account.read >= before.account.read + written > 0
    assert [one.last_text for one in (edited, again, further)] == ["Other", "Other", "Further"]
