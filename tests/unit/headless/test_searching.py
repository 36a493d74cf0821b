"""What a search is narrowed to, wherever the conversations are kept (SPEC U40)."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import pytest

from desktop.core.catalogue import Catalogue
from desktop.core.chunks import NewChunk, Text, Thinking, ToolCall, ToolResult
from desktop.core.protocols import Search
from desktop.core.records import EVERYTHING, SearchFilter, SearchHit, Snapshot
from desktop.headless.stores import Stores
from desktop.store import search
from desktop.store.home_notes import Home
from tests.unit.store.builders import chunk, open_any, open_log, put_in_bin, run

Work = Callable[["Shelves"], Awaitable[None]]
KINDS = ("sql", "memory", "files")


class Shelves:
    """Two conversations in two folders, each with every kind of row, and the search over them."""

    def __init__(self, finder: Search, catalogue: Catalogue, tabs: Sequence[str]) -> None:
        self.finder = finder
        self.catalogue = catalogue
        self.tabs = tuple(tabs)

    async def find(self, only: SearchFilter = EVERYTHING, *, limit: int = 3) -> list[SearchHit]:
        """All hits, page by page."""
        page = await self.finder.find("needle", limit=limit, only=only)
        hits = list(page.hits)
        while page.next is not None:
            page = await self.finder.find("needle", limit=limit, only=only, place=page.next)
            hits += page.hits
        return hits


def rows(name: str) -> list[NewChunk]:
    said = chunk(f"{name}u", Text("needle?"))
    thought = chunk(f"{name}h", Thinking("a needle, then"), role="assistant")
    call = chunk(f"{name}c", ToolCall("1", "grep", {"pattern": "needle"}), role="assistant")
    result = chunk(f"{name}r", ToolResult("1", "grep", "needle.txt: a needle"), role="tool")
    other = chunk(f"{name}o", ToolResult("2", "shell", "no needle"), role="tool")
    answer = chunk(f"{name}a", Text("The needle is there."), role="assistant")
    return [said, thought, call, result, other, answer]


async def check(shelves: Shelves) -> None:
    everything = await shelves.find()
    assert len(everything) == 12
    first, second = [(await shelves.catalogue.tab(one)).workspace_id for one in shelves.tabs]
    middle = sorted(hit.created_at for hit in everything)[6]
    of_first = {hit for hit in everything if hit.tab_id == shelves.tabs[0]}
    for only, expected in (
        (SearchFilter(role="user"), {one for one in everything if one.role == "user"}),
        (SearchFilter(types=("text",)), {one for one in everything if one.type == "text"}),
        (
            SearchFilter(types=("tool_call", "tool_result")),
            {one for one in everything if one.type.startswith("tool")},
        ),
        (SearchFilter(tool="grep"), {one for one in everything if one.tool == "grep"}),
        (SearchFilter(tool="none"), set[SearchHit]()),
        (SearchFilter(workspace_ids=(first,)), of_first),
        (SearchFilter(workspace_ids=(first, second)), set(everything)),
        (SearchFilter(since=middle), {one for one in everything if one.created_at >= middle}),
        (SearchFilter(until=middle), {one for one in everything if one.created_at < middle}),
        (
            SearchFilter(workspace_ids=(first,), role="assistant", types=("text",)),
            {one for one in of_first if (one.role, one.type) == ("assistant", "text")},
        ),
    ):
        found = await shelves.find(only)
        assert (len(found), set(found)) == (len(expected), expected), only
    assert [hit.tool for hit in everything if hit.type == "tool_call"] == ["grep", "grep"]
    assert {hit.shelf for hit in everything} == {""}


@pytest.mark.parametrize("kind", KINDS)
def test_u40_a_search_is_narrowed_by_folder_time_role_and_tool(kind: str, tmp_path: Path) -> None:
    with_shelves(kind, tmp_path, check)


async def check_shelves(shelves: Shelves) -> None:
    await shelves.catalogue.archive_tab(shelves.tabs[0])
    await shelves.catalogue.trash_tab(shelves.tabs[1])
    assert {(hit.tab_id, hit.shelf) for hit in await shelves.find()} == {
        (shelves.tabs[0], "archived")
    }
    assert {(hit.tab_id, hit.shelf) for hit in await shelves.find(SearchFilter(in_bin=True))} == {
        (shelves.tabs[0], "archived"),
        (shelves.tabs[1], "bin"),
    }


@pytest.mark.parametrize("kind", KINDS)
def test_u40_what_is_archived_is_found_and_the_bin_only_when_it_is_asked_for(
    kind: str, tmp_path: Path
) -> None:
    with_shelves(kind, tmp_path, check_shelves)


def with_shelves(kind: str, folder: Path, work: Work) -> None:
    places = [folder / name for name in ("one", "two")]
    for one in places:
        one.mkdir()
    if kind != "files":
        with open_any(kind, folder) as log:

            async def said() -> Shelves:
                tabs: list[str] = []
                for place in places:
                    workspace = await log.catalogue.open_workspace(place)
                    tab = (await log.catalogue.create_tab(workspace.id)).id
                    await log.session(tab).append(rows(tab))
                    tabs.append(tab)
                return Shelves(log.search, log.catalogue, tabs)

            asyncio.run(_then(said, work))
        return
    with open_log(folder) as log:
        stores = Stores(log, choice=Home(folder / "kept"), report=print)

        async def kept() -> Shelves:
            tabs: list[str] = []
            for name, place in zip(("a", "b"), places, strict=True):
                workspace = await log.catalogue.open_workspace(place)
                snapshot = Snapshot(name, workspace.id, "anthropic:1", "model-1", "high", "ask")
                tabs.append((await stores.begin(snapshot)).id)
                await (await stores.store_for(name)).append(rows(name))
            return Shelves(stores.search, log.catalogue, tabs)

        async def whole() -> None:
            try:
                await _then(kept, work)
            finally:
                await stores.close()

        asyncio.run(whole())


async def _then(make: Callable[[], Awaitable[Shelves]], work: Work) -> None:
    await work(await make())


def test_u40_a_page_costs_no_more_however_few_rows_a_filter_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The index names thousands, the filter takes two: the pages between are empty and go on."""
    monkeypatch.setattr(search, "NAMED", 5)
    monkeypatch.setattr(search, "SLICE", 5)
    with open_log(tmp_path) as log:
        workspace = run(log.catalogue.open_workspace(tmp_path))
        tab = run(log.catalogue.create_tab(workspace.id)).id
        texts = [chunk(f"n{at}", "needle", role="assistant") for at in range(21)]
        run(log.session(tab).append([chunk("u1", "needle"), *texts, chunk("u2", "needle")]))
        mine = SearchFilter(role="user")
        page = run(log.search.find("needle", limit=9, only=mine))
        pages = [[hit.seq for hit in page.hits]]
        while page.next is not None:
            page = run(log.search.find("needle", limit=9, only=mine, place=page.next))
            pages.append([hit.seq for hit in page.hits])
        assert pages == [[23], [], [], [], [1]]
        prefix = run(log.search.find("needl", limit=9, only=mine))
        assert ([hit.seq for hit in prefix.hits], prefix.next is None) == ([23], False)


def test_u40_rows_of_a_conversation_in_the_bin_hold_no_page_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "NAMED", 5)
    with open_log(tmp_path) as log:
        workspace = run(log.catalogue.open_workspace(tmp_path))
        tabs = [run(log.catalogue.create_tab(workspace.id)).id for _ in range(2)]
        run(log.session(tabs[0]).append([chunk("k", "needle")]))
        run(log.session(tabs[1]).append([chunk(f"n{at}", "needle") for at in range(12)]))
        put_in_bin(log, tabs[1])
        page = run(log.search.find("needle", limit=9))
        assert page.hits == () and page.next is not None
