"""How a shipped plugin is started: with little around it, and in the sandbox where there is one."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from desktop.headless.plugging import Launches
from desktop.paths import DataFolder
from desktop.plugins.command import command_of
from desktop.plugins.manifest import Manifest
from desktop.tools.sandbox import Sandbox
from tests.architecture.source import PACKAGE
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
    "program": writes(os.getcwd()),
    "others": os.listdir(os.path.dirname(os.getcwd())),
    "networks": [name for _, name in socket.if_nameindex()],
    "environment": sorted(os.environ),
}))
"""
MANIFEST = Manifest("probe", "Probe", "1", "0", ("{python}", "main.py"), frozenset())


def probe(home: Path, *, has_sandbox: bool) -> dict[str, Any]:
    """What a plugin finds around it."""
    folder = DataFolder(home / "data")
    place = folder.installed_plugins / "probe" / "1"
    place.mkdir(parents=True)
    (place.parent / "2").mkdir()
    (place / "main.py").write_text(CODE)
    folder.database.write_text("secret")
    around = {**os.environ, "HOME": str(home), "A_TOKEN": "secret"}
    sandbox = Sandbox(
        environment=around,
        private=lambda: (folder.root,),
        find=None if has_sandbox else lambda: None,
    )
    launch = Launches(folder, sandbox, around).of(MANIFEST, place)
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
    assert (found["program"], found["others"]) == (False, ["1"])
    assert set(found["networks"]) <= {"lo"}


def test_its_environment_holds_nothing_of_the_persons(tmp_path: Path) -> None:
    found = probe(tmp_path, has_sandbox=False)
    known = {"PATH", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ", "HOME", "NACRE_PLUGIN_DATA"}
    assert set(found["environment"]) <= known


def test_a_program_with_a_slash_is_one_of_the_plugins_folder(tmp_path: Path) -> None:
    place, path = tmp_path / "plugin", {"PATH": os.defpath}
    place.mkdir()
    program = place / "main"
    program.write_text("")
    own = Manifest("probe", "Probe", "1", "0", ("./main", "x"), frozenset())
    with pytest.raises(FileNotFoundError):
        command_of(own, place, path)
    program.chmod(0o700)
    assert command_of(own, place, path) == (str(program), "x")
    with pytest.raises(FileNotFoundError):
        command_of(replace(own, command=("main",)), place, path)


def test_a_frozen_program_starts_itself_with_the_script_of_a_plugin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = sys.executable
    assert command_of(MANIFEST, tmp_path, {}) == (python, "-I", "main.py")
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert command_of(MANIFEST, tmp_path, {}) == (python, "--plugin-script", "main.py")


@pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is of Linux")
def test_in_the_sandbox_a_frozen_program_finds_itself_wherever_it_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As an AppImage, which is mounted below a folder that is empty there."""
    needs_sandbox()
    program = tmp_path / "app" / "nacre"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\necho "$@"')
    program.chmod(0o755)
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", str(program))
    place = tmp_path / "plugin"
    place.mkdir()
    sandbox = Sandbox(environment=os.environ, private=lambda: (tmp_path / "data",))
    launch = Launches(DataFolder(tmp_path / "data"), sandbox, os.environ).of(MANIFEST, place)
    environment = dict(launch.environment)
    done = subprocess.run(launch.argv, env=environment, capture_output=True, check=True)
    assert done.stdout == b"--plugin-script main.py\n"


SCRIPT = """
import json, os, sys
def imports(name):
    try:
        __import__(name)
        return True
    except ModuleNotFoundError:
        return False
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
names = ("json.decoder", "queue", "desktop", "desktop.core", "PySide6", "pytest", "beside")
print(json.dumps([sys.argv, __name__, [name for name in names if imports(name)]]))
"""


def test_the_script_sees_pythons_own_modules_and_what_lies_beside_it(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(SCRIPT)
    (tmp_path / "beside.py").write_text("")
    done = subprocess.run(
        [sys.executable, "-P", "-m", "desktop", "--plugin-script", "main.py", "a", "--data-dir"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(PACKAGE.parent)},
        capture_output=True,
        check=True,
    )
    argv, name, found = json.loads(done.stdout)
    assert (argv, name) == (["main.py", "a", "--data-dir"], "__main__")
    assert found == ["json.decoder", "queue", "beside"]
