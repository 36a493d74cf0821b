"""Tool servers in the sandbox: what they reach, how they end, and what is told without one."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop.tools.mcp.enclosure import Enclosure
from desktop.tools.sandbox import Sandbox
from tests.unit.tools.mcp.conftest import Open, full, play, until
from tests.unit.tools.sandboxed import Desk, a_desk, alive, needs_python_in_sandbox
from tests.unit.tools.test_sandbox_of_commands import a_server, fetch

if sys.platform != "linux":
    pytest.skip("the sandbox is of Linux", allow_module_level=True)


@pytest.fixture
def desk() -> Iterator[Desk]:
    needs_python_in_sandbox()
    with a_desk("me") as made:
        yield made


def enclosure(desk: Desk, said: list[str], *, has_sandbox: bool = True) -> Enclosure:
    environment = {**os.environ, "HOME": str(desk.home)}
    sandbox = Sandbox(
        environment=environment,
        private=lambda: (desk.home / "data",),
        find=None if has_sandbox else lambda: None,
    )
    return Enclosure(sandbox, desk.home / "data" / "tool-servers", said.append)


def test_a_server_writes_its_own_folder_and_reads_no_secret(opened: Open, desk: Desk) -> None:
    desk.write(".ssh/id", "sk-STOLEN")
    desk.write("data/nacre.db", "sk-STOLEN")
    given = desk.write("given/old", "old").parent
    steal = f"cat {desk.home}/.ssh/id {desk.home}/data/nacre.db; cat /proc/*/environ"
    write = f"pwd; echo x > kept; echo x > {given}/new; echo x > {desk.home}/other; cat kept"

    async def act() -> None:
        entry = full(sandbox={"write": [str(given)]}, env={"OWN_TOKEN": "given"})
        del entry["cwd"]
        entry["env"]["PYTHONPATH"] = str(desk.user.source)
        async with opened({"fake": entry}, enclosure=enclosure(desk, [])) as servers:
            await servers.until_offered("mcp__fake__runs")
            assert "STOLEN" not in (await servers.use("mcp__fake__runs", command=steal)).text
            text = (await servers.use("mcp__fake__runs", command=write)).text
            assert text.endswith("x\n")
            assert "Read-only file system" in text
            own = Path(text.splitlines()[0])
            assert (await servers.use("mcp__fake__variable", name="OWN_TOKEN")).text == "given"
            cache = (await servers.use("mcp__fake__variable", name="XDG_CACHE_HOME")).text
            assert Path(cache).parent == own
        assert own.parent == desk.home / "data" / "tool-servers"
        assert (own / "kept").exists()
        assert (given / "new").exists()
        assert not (desk.home / "other").exists()

    play(act)


def test_a_server_has_the_network_unless_its_entry_says_no(opened: Open, desk: Desk) -> None:
    async def act() -> None:
        entries = {"open": full(), "shut": full(sandbox={"network": False})}
        with a_server() as port:
            async with opened(entries, enclosure=enclosure(desk, [])) as servers:
                await servers.until_offered("mcp__open__runs", "mcp__shut__runs")
                got = await servers.use("mcp__open__runs", command=fetch(port))
                assert "hello from outside" in got.text
                got = await servers.use("mcp__shut__runs", command=fetch(port))
                assert "hello" not in got.text

    play(act)


def test_u32_nothing_of_a_server_in_the_sandbox_is_left(opened: Open, desk: Desk) -> None:
    away = "setsid env -i /bin/bash -c 'exec -a nacre-server-runaway sleep 600' >/dev/null 2>&1 &"

    async def act() -> None:
        async with opened({"fake": full()}, enclosure=enclosure(desk, [])) as servers:
            await servers.until_offered("mcp__fake__runs")
            await servers.use("mcp__fake__runs", command=away)
            await until(lambda: bool(alive("nacre-server-runaway")))
        assert not alive("nacre-server-runaway")

    play(act)


def test_without_a_sandbox_a_server_runs_and_that_is_told_once(opened: Open, desk: Desk) -> None:
    said: list[str] = []

    async def act() -> None:
        entries = {"told": full(), "meant": full(sandbox=False)}
        enclosed = enclosure(desk, said, has_sandbox=False)
        async with opened(entries, enclosure=enclosed) as servers:
            await servers.until_offered("mcp__told__runs", "mcp__meant__runs")

    play(act)
    (sentence,) = said
    assert sentence.startswith("The tool server “told” runs without a sandbox.")
    assert "bubblewrap" in sentence


@pytest.mark.parametrize("wish", [True, {"network": False}])
def test_a_server_that_is_to_have_a_sandbox_is_not_started_without(
    wish: object, opened: Open, desk: Desk
) -> None:
    async def act() -> None:
        enclosed = enclosure(desk, [], has_sandbox=False)
        async with opened({"fake": full(sandbox=wish)}, enclosure=enclosed) as servers:
            await until(lambda: servers.all.states()["fake"].phase == "waiting")
            assert "there is none" in servers.all.states()["fake"].why
            assert servers.names() == []

    play(act)


def test_a_folder_to_write_that_is_not_there_is_named(opened: Open, desk: Desk) -> None:
    async def act() -> None:
        entry = full(sandbox={"write": [str(desk.home / "nowhere")]})
        async with opened({"fake": entry}, enclosure=enclosure(desk, [])) as servers:
            await until(lambda: servers.all.states()["fake"].phase == "waiting")
            assert "nowhere that it may write is not there" in servers.all.states()["fake"].why

    play(act)
