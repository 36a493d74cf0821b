"""What is installed, what it may, what of it is on the disk: with a real log and real folders."""

import asyncio
import os
import shutil
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from desktop.core.errors import PluginError, StoreError
from desktop.core.panels import Place
from desktop.core.plugins import PluginNote, PluginOffer, PluginView
from desktop.feed.hub import Hub
from desktop.headless import plugging
from desktop.headless.plugin_list import Plugins
from desktop.paths import DataFolder, resources
from desktop.plugins import folders
from desktop.plugins.manifest import READ_MESSAGES
from desktop.store.log import Log
from desktop.tools.sandbox import Sandbox
from tests.unit.plugins.hosts import until
from tests.unit.store.builders import chunk, open_log

ASKS = {"capabilities": f'["{READ_MESSAGES}"]'}


def a_folder(place: Path, **changes: str) -> Path:
    """The folder of a plugin that waits for a test, in TOML's own words."""
    lines = {
        "id": '"plain"',
        "name": '"Plain"',
        "version": '"1"',
        "minimum_host": '"0"',
        "command": '["{python}", "main.py"]',
        "capabilities": "[]",
    }
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    words = "\n".join(f"{key} = {value}" for key, value in {**lines, **changes}.items())
    (place / "plugin.toml").write_text(words)
    (place / "main.py").write_text("import sys\nfor line in sys.stdin: pass\n")
    return place


class Desk:
    """A data folder with its log; `plugins` are those of one start of the program."""

    def __init__(self, log: Log, home: Path) -> None:
        self.log, self.home = log, home
        self.folder = DataFolder(home)
        self.hub = Hub()
        self.went: list[Place] = []
        self.tasks: set[asyncio.Task[Any]] = set()
        self.source = home / "source"
        self.plugins = self.start_program()

    def start_program(self) -> Plugins:
        sandbox = Sandbox(environment={}, find=lambda: None)
        return Plugins(
            self.folder,
            resources=self.home / "resources",
            notes=self.log.plugins,
            sandbox=sandbox,
            launches=plugging.launches(self.folder, sandbox),
            host_version="1.0",
            around=lambda: plugging.surroundings(
                self.folder,
                sources=self.log.sources_in_use,
                catalogue=self.log.catalogue,
                hub=self.hub,
                navigate=self.navigate,
                start=self.start,
                later=asyncio.get_running_loop().call_later,
            ),
        )

    async def navigate(self, place: Place) -> None:
        self.went.append(place)

    def start(self, coroutine: Coroutine[Any, Any, None], name: str) -> None:
        task = asyncio.get_running_loop().create_task(coroutine, name=name)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def again(self) -> None:
        """The program ends and starts anew."""
        await self.plugins.close()
        self.plugins = self.start_program()
        await self.plugins.look()

    async def install(self, **changes: str) -> PluginOffer:
        offer = await self.examine(**changes)
        await self.plugins.install(offer)
        return offer

    async def examine(self, **changes: str) -> PluginOffer:
        offer = await self.plugins.examine(a_folder(self.source, **changes))
        assert offer is not None
        return offer

    def one(self, id_: str = "plain") -> PluginView:
        (found,) = (view for view in self.plugins.view() if view.id == id_)
        return found

    def ids(self) -> list[str]:
        return [view.id for view in self.plugins.view()]

    def kept(self) -> set[str]:
        """What is there of programs, but for empty folders."""
        programs = self.folder.installed_plugins
        return {str(one.parent.relative_to(programs)) for one in programs.rglob("plugin.toml")}


Story = Callable[[Desk], Coroutine[Any, Any, None]]
Tell = Callable[[Story], None]


@pytest.fixture
def tell(tmp_path: Path) -> Tell:
    def play(story: Story) -> None:
        folder = DataFolder(tmp_path / "data")
        folder.prepare()
        a_folder(folder.root / "resources" / "plugins" / "shipped", id='"shipped"', **ASKS)
        with open_log(folder.root) as log:

            async def run() -> None:
                desk = Desk(log, folder.root)
                try:
                    await story(desk)
                finally:
                    await desk.plugins.close()
                    for task in list(desk.tasks):
                        task.cancel()
                    await asyncio.gather(*desk.tasks, return_exceptions=True)

            asyncio.run(run())

    return play


def test_what_came_with_the_program_is_on_and_may_what_it_names(tell: Tell) -> None:
    async def story(desk: Desk) -> None:
        await desk.plugins.look()
        view = desk.one("shipped")
        assert (view.phase, view.is_shipped, view.wants) == ("resting", True, (READ_MESSAGES,))
        assert view.granted == {READ_MESSAGES}
        assert view.runs == (sys.executable, "-I", "main.py")
        assert [panel.id for panel in desk.plugins.panels()] == ["shipped"]
        await desk.plugins.turn_off("shipped")
        assert desk.one("shipped").phase == "off"
        await desk.again()
        assert (desk.one("shipped").phase, list(desk.plugins.panels())) == ("off", [])
        offer = await desk.plugins.offer("shipped")
        assert offer.is_known
        await desk.plugins.turn_on(offer)
        assert desk.one("shipped").phase == "resting"
        with pytest.raises(PluginError, match="came with Nacre"):
            await desk.plugins.uninstall("shipped", with_data=True)
        with pytest.raises(PluginError, match="came with Nacre"):
            await desk.plugins.examine(a_folder(desk.source, id='"shipped"'))

    tell(story)


def test_what_is_examined_is_neither_installed_nor_run_before_it_is_agreed_to(tell: Tell) -> None:
    async def story(desk: Desk) -> None:
        offer = await desk.examine(**ASKS)
        assert (offer.new, offer.is_known, offer.files) == ({READ_MESSAGES}, False, 2)
        assert offer.runs == (sys.executable, "-I", "main.py")
        assert offer.folder == str(desk.folder.installed_plugins / "plain" / "1")
        assert desk.ids() == ["shipped"]
        await desk.plugins.discard(offer)
        assert desk.kept() == set()
        with pytest.raises(PluginError):
            await desk.plugins.install(offer)
        await desk.again()
        assert desk.ids() == ["shipped"]

    tell(story)


def test_what_is_stopped_while_it_is_copied_leaves_nothing(
    tell: Tell, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story(desk: Desk) -> None:
        await desk.plugins.look()
        monkeypatch.setattr(os, "fsync", lambda _: desk.plugins.stop_examining())
        assert await desk.plugins.examine(a_folder(desk.source)) is None
        assert desk.kept() == set()
        assert not (desk.folder.installed_plugins / folders.NEW).exists()

    tell(story)


def test_what_was_examined_is_installed_whatever_became_of_the_folder(tell: Tell) -> None:
    """And what is installed is there at the next start, with what was agreed to."""

    async def story(desk: Desk) -> None:
        offer = await desk.examine(**ASKS)
        (desk.source / "main.py").write_text("evil")
        await desk.plugins.install(offer)
        shutil.rmtree(desk.source)
        for _ in range(2):
            view = desk.one()
            assert (view.phase, view.granted, view.is_shipped) == (
                "resting",
                {READ_MESSAGES},
                False,
            )
            assert "evil" not in (Path(view.folder) / "main.py").read_text()
            await desk.again()
        assert await desk.log.plugins.all() == (
            PluginNote("plain", 1, True, frozenset({READ_MESSAGES}), ("{python}", "main.py")),
        )

    tell(story)


def test_of_two_folders_that_are_examined_only_the_last_can_be_installed(tell: Tell) -> None:
    async def story(desk: Desk) -> None:
        first = await desk.examine()
        await desk.plugins.examine(a_folder(desk.source, id='"other"'))
        with pytest.raises(PluginError, match="Another folder"):
            await desk.plugins.install(first)
        assert desk.ids() == ["shipped"]

    tell(story)


def test_a_new_version_is_asked_about_where_it_wants_more_or_starts_something_else(
    tell: Tell,
) -> None:
    async def story(desk: Desk) -> None:
        await desk.install()
        offer = await desk.examine(version='"2"')
        assert (offer.is_known, offer.before, offer.new) == (True, "1", frozenset())
        offer = await desk.examine(version='"2"', **ASKS)
        assert (offer.is_known, offer.new) == (False, {READ_MESSAGES})
        other = '["{python}", "main.py", "more"]'
        offer = await desk.examine(version='"2"', command=other)
        assert (offer.is_known, offer.new) == (False, frozenset())
        await desk.plugins.install(offer)
        assert (desk.one().version, desk.kept()) == ("2", {"plain/2"})
        await desk.again()
        assert desk.one().version == "2"

    tell(story)


def test_what_is_taken_back_is_gone_for_good_until_it_is_asked_for_anew(tell: Tell) -> None:
    async def story(desk: Desk) -> None:
        await desk.install(**ASKS)
        await desk.plugins.take_back("plain")
        for _ in range(2):
            assert (desk.one().phase, desk.one().granted) == ("off", frozenset())
            await desk.again()
        offer = await desk.plugins.offer("plain")
        assert (offer.is_known, offer.new) == (False, {READ_MESSAGES})
        await desk.plugins.turn_on(offer)
        assert desk.one().granted == {READ_MESSAGES}
        await desk.plugins.turn_off("plain")
        assert (await desk.plugins.offer("plain")).is_known

    tell(story)


def test_a_folder_that_changed_under_us_is_not_started_with_more_than_was_allowed(
    tell: Tell,
) -> None:
    async def story(desk: Desk) -> None:
        await desk.install()
        a_folder(Path(desk.one().folder), **ASKS)
        await desk.again()
        assert (desk.one().phase, [one.id for one in desk.plugins.panels()]) == (
            "asking",
            ["shipped"],
        )
        (Path(desk.one().folder) / "plugin.toml").unlink()
        await desk.again()
        assert desk.one().phase == "broken"
        assert "plugin.toml" in desk.one().why
        shutil.rmtree(desk.one().folder)
        await desk.again()
        assert desk.one().why.startswith("Its program is not there any more.")
        await desk.install()
        assert desk.one().phase == "resting"

    tell(story)


@pytest.mark.parametrize("with_data", [True, False])
def test_uninstalling_takes_the_program_and_the_data_if_that_is_wanted(
    tell: Tell, with_data: bool
) -> None:
    async def story(desk: Desk) -> None:
        await desk.install()
        data = desk.folder.plugin_folders / "plain"
        data.mkdir(parents=True)
        (data / "kept").write_text("x")
        await desk.plugins.uninstall("plain", with_data=with_data)
        assert desk.ids() == ["shipped"]
        assert desk.kept() == set()
        assert data.exists() != with_data
        await desk.again()
        assert desk.ids() == ["shipped"]

    tell(story)


def test_what_no_note_names_is_nothing_and_is_swept(tell: Tell) -> None:
    """As a kill leaves it: a copy that was put aside, and one that was taken in and not noted."""

    async def story(desk: Desk) -> None:
        await desk.install()
        programs = desk.folder.installed_plugins
        for place in (".new", "plain/2", "other/1"):
            a_folder(programs / place)
        await desk.again()
        assert desk.ids() == ["shipped", "plain"]
        assert desk.kept() == {"plain/1"}

    tell(story)


def test_where_the_note_can_not_be_kept_nothing_is_installed(tell: Tell) -> None:
    async def story(desk: Desk) -> None:
        await desk.plugins.look()
        offer = await desk.examine(**ASKS)

        async def refuse(note: PluginNote) -> None:
            raise StoreError("There is no room left on the disk.")

        desk.log.plugins.save = refuse
        with pytest.raises(StoreError):
            await desk.plugins.install(offer)
        assert desk.ids() == ["shipped"]

    tell(story)


def test_a_program_that_is_not_here_is_named_before_anything_is_kept(tell: Tell) -> None:
    async def story(desk: Desk) -> None:
        with pytest.raises(PluginError, match="“no-such-program” was not found"):
            await desk.plugins.examine(a_folder(desk.source, command='["no-such-program"]'))
        with pytest.raises(PluginError, match="there is no TOML"):
            await desk.plugins.examine(a_folder(desk.source, name="Plain"))
        (a_folder(desk.source) / "plugin.toml").unlink()
        with pytest.raises(PluginError, match="it is no plugin"):
            await desk.plugins.examine(desk.source)
        assert desk.kept() == set()

    tell(story)


def test_notes_that_can_not_be_read_grant_nothing(tell: Tell) -> None:
    async def story(desk: Desk) -> None:
        await desk.install(**ASKS)
        for grants in ("", "[]", '{"on": 1, "granted": "x"}', '{"on": true, "granted": [1]}'):
            await desk.log.plugins._lanes.write(  # pyright: ignore[reportPrivateUsage] (no door writes this)
                lambda connection, grants=grants: connection.exec_driver_sql(
                    "UPDATE plugins SET grants = ?", (grants,)
                )
            )
            await desk.again()
            assert desk.one().phase in ("off", "asking")
            assert desk.one().granted == frozenset()

    tell(story)


def test_turning_off_ends_its_process_and_reloading_starts_another_generation(tell: Tell) -> None:
    async def story(desk: Desk) -> None:
        history = resources() / "plugins" / "prompt-history" / "main.py"
        a_folder(desk.source, **ASKS)
        shutil.copy(history, desk.source / "main.py")
        offer = await desk.plugins.examine(desk.source)
        assert offer is not None
        await desk.plugins.install(offer)
        (panel,) = (one for one in desk.plugins.panels() if one.id == "plain")
        workspace = await desk.log.catalogue.open_workspace(desk.home)
        tab = (await desk.log.catalogue.create_tab(workspace.id)).id
        await desk.log.session(tab).append([chunk("u", "A prompt")])
        panel.show(tab)
        await until(lambda: [row.title for row in panel.rows()] == ["A prompt"])
        assert desk.one().phase == "running"
        panel.open(panel.rows()[0])
        await until(lambda: desk.went == [Place(tab, 1)])
        await desk.plugins.reload("plain")
        assert not panel.rows()
        await until(lambda: [row.title for row in panel.rows()] == ["A prompt"])
        await desk.plugins.turn_off("plain")
        assert [one.id for one in desk.plugins.panels()] == ["shipped"]
        assert desk.one().phase == "off"

    tell(story)
