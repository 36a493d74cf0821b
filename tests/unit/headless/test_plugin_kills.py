"""A program that is killed while it installs a plugin: at the next start there is the old one, the
new one or none, and always a whole one."""

import asyncio
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.architecture.source import PACKAGE
from tests.unit.headless.test_plugin_list import Desk, a_folder
from tests.unit.store.builders import open_log

if sys.platform == "win32":
    pytest.skip("a signal of POSIX", allow_module_level=True)

FILES = 30
# Installs a version of 30 files that all say its number, then the next one, and now and then none.
INSTALLING = """
import asyncio, itertools, sys
from pathlib import Path
from tests.unit.headless.test_plugin_list import Desk, a_folder
from tests.unit.store.builders import open_log

async def run(desk):
    await desk.plugins.look()
    for version in itertools.count(1):
        place = a_folder(desk.source, version=f'"{version}"')
        for number in range(30):
            (place / f"{number}.txt").write_text(str(version))
        offer = await desk.plugins.examine(place)
        assert offer is not None
        await desk.plugins.install(offer)
        print(version, flush=True)
        if version % 3 == 0:
            await desk.plugins.uninstall("plain", with_data=True)

home = Path(sys.argv[1])
with open_log(home) as log:
    asyncio.run(run(Desk(log, home)))
"""


@pytest.mark.parametrize("after", [0.0, 0.004, 0.012, 0.03, 0.07])
def test_a_kill_leaves_a_whole_plugin_or_none(tmp_path: Path, after: float) -> None:
    """The time is when it is killed, and no limit of anything."""
    a_folder(tmp_path / "resources" / "plugins" / "shipped", id='"shipped"')
    words = [sys.executable, "-c", INSTALLING, str(tmp_path)]
    with subprocess.Popen(words, cwd=PACKAGE.parent, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline()
        time.sleep(after)
        process.kill()
    with open_log(tmp_path) as log:
        asyncio.run(look(Desk(log, tmp_path)))


async def look(desk: Desk) -> None:
    try:
        await desk.plugins.look()
        kept = {"plain"} & set(desk.ids())
        assert {one.partition("/")[0] for one in desk.kept()} == kept
        if kept:
            view = desk.one()
            said = {(Path(view.folder) / f"{n}.txt").read_text() for n in range(FILES)}
            assert said == {view.version}
            assert view.phase == "resting"
    finally:
        await desk.plugins.close()
