"""How a shipped plugin is started: with little around it, and in the sandbox where there is one."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from desktop.headless.plugging import Launches, Shipped
from desktop.paths import DataFolder
from desktop.plugins.manifest import Manifest
from desktop.tools.sandbox import Sandbox
from tests.unit.tools.sandboxed import a_desk, needs_python_in_sandbox, needs_sandbox

CODE = """
import json, os, socket
def reads(path):
    try:
        return open(path).read()
    except OSError:
        return None
def writes(folder):
    try:
        open(os.path.join(folder, "new"), "w").close()
        return True
    except OSError:
        return False
own = os.environ["NACRE_PLUGIN_DATA"]
data = os.path.dirname(os.path.dirname(own))
print(json.dumps({
    "database": reads(os.path.join(data, "nacre.db")),
    "own": writes(own),
    "home": writes(os.path.dirname(data)),
    "networks": [name for _, name in socket.if_nameindex()],
    "environment": sorted(os.environ),
}))
"""
MANIFEST = Manifest("probe", "Probe", "1", "0", ("{python}", "-I", "-c", CODE), frozenset())


def probe(home: Path, *, has_sandbox: bool) -> dict[str, Any]:
    """What a plugin finds around it."""
    folder = DataFolder(home / "data")
    (home / "plugins" / "probe").mkdir(parents=True)
    folder.root.mkdir()
    folder.database.write_text("secret")
    around = {**os.environ, "HOME": str(home), "A_TOKEN": "secret"}
    sandbox = Sandbox(
        environment=around,
        private=lambda: (folder.root,),
        find=None if has_sandbox else lambda: None,
    )
    launch = Launches(Shipped(home / "plugins"), folder, sandbox, around).of(MANIFEST)
    done = subprocess.run(
        launch.argv,
        env=dict(launch.environment),
        cwd=launch.folder,
        capture_output=True,
        check=True,
    )
    return json.loads(done.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is of Linux")
def test_in_the_sandbox_it_has_its_own_folder_and_nothing_else() -> None:
    needs_sandbox()
    needs_python_in_sandbox()
    with a_desk("me") as desk:
        found = probe(desk.home, has_sandbox=True)
    assert (found["database"], found["own"], found["home"]) == (None, True, False)
    assert set(found["networks"]) <= {"lo"}


def test_its_environment_holds_nothing_of_the_persons(tmp_path: Path) -> None:
    found = probe(tmp_path, has_sandbox=False)
    known = {"PATH", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ", "HOME", "NACRE_PLUGIN_DATA"}
    assert set(found["environment"]) <= known
