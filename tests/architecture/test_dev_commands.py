"""`packaging/dev.py` on machines that lack something: it says what, and never shows a traceback."""

import ast
import importlib
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from tests.architecture.source import ROOT

PACKAGING = ROOT / "packaging"
DEV = PACKAGING / "dev.py"
linux_only = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="about Linux")


def dev(
    *arguments: str, script: Path = DEV, python: str = sys.executable, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [python, str(script), *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=100,
    )


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the repository that is as large as the set-up needs, with a lock of one package."""
    return small_project(tmp_path)


def small_project(folder: Path) -> Path:
    shutil.copytree(PACKAGING, folder / "packaging", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    lock = f"qasync==0.28.0 --hash=sha256:{'0' * 64}\n"
    (folder / "packaging" / "requirements.lock").write_text(lock, encoding="utf-8")
    return folder


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[ModuleType, ModuleType]]:
    """`dev` and `machine`, imported as the script imports them."""
    monkeypatch.syspath_prepend(str(PACKAGING))
    yield importlib.import_module("dev"), importlib.import_module("machine")
    for name in ("dev", "machine"):
        del sys.modules[name]


@pytest.mark.parametrize("script", ["dev.py", "machine.py"])
def test_an_old_python_can_read_the_script_that_tells_it_that_it_is_old(script: str) -> None:
    ast.parse((PACKAGING / script).read_text(encoding="utf-8"), feature_version=(3, 8))


def test_the_set_up_uses_the_standard_library_only() -> None:
    for script in (DEV, PACKAGING / "machine.py"):
        for node in ast.walk(ast.parse(script.read_text(encoding="utf-8"))):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            outside = {name.partition(".")[0] for name in names} - sys.stdlib_module_names
            assert outside <= {"machine"}


def test_an_old_python_is_told_which_one_is_needed() -> None:
    pretend = (
        "import sys, runpy; sys.version_info = (3, 9, 2, 'final', 0);"
        f"sys.path.insert(0, {str(PACKAGING)!r}); sys.argv = [{str(DEV)!r}, 'run'];"
        f"runpy.run_path({str(DEV)!r}, run_name='__main__')"
    )
    result = subprocess.run(
        [sys.executable, "-c", pretend], capture_output=True, encoding="utf-8", check=False
    )
    assert result.returncode == 1
    assert "needs Python 3.11 or newer, and this is 3.9" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_word_it_does_not_know_gets_the_usage_and_exit_code_2() -> None:
    result = dev("install")
    assert result.returncode == 2
    assert "packaging/dev.py test" in result.stdout


@linux_only
def test_without_a_display_the_window_is_not_tried() -> None:
    result = dev("run", DISPLAY="", WAYLAND_DISPLAY="", QT_QPA_PLATFORM="")
    assert result.returncode == 1
    assert "no display" in result.stderr
    assert "Traceback" not in result.stderr


def test_without_a_network_it_says_so_and_leaves_nothing_that_looks_finished(
    project: Path,
) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        index = f"http://127.0.0.1:{closed.getsockname()[1]}/simple"
        result = dev(
            *("test", "--version"),
            script=project / "packaging" / "dev.py",
            PIP_INDEX_URL=index,
            PIP_EXTRA_INDEX_URL="",
            PIP_FIND_LINKS="",
            PIP_CONFIG_FILE=os.devnull,
            PIP_RETRIES="1",
        )
    assert result.returncode == 1
    assert "check the network" in result.stderr
    assert "Traceback" not in result.stderr
    assert not list(project.glob(".venv/nacre-setup.json"))


@linux_only
def test_a_folder_that_cannot_be_written_is_named() -> None:
    # The interpreter of the suite may live where only its owner can read.
    python = shutil.which("python3", path="/usr/bin")
    if (
        python is None
        or subprocess.run(
            [python, "-c", "import sys, ensurepip; sys.exit(sys.version_info < (3, 11))"],
            check=False,
        ).returncode
    ):
        pytest.skip("no complete system Python of 3.11 or newer")
    if os.geteuid() != 0:
        pytest.skip("needs root, to become somebody without rights")
    with tempfile.TemporaryDirectory(prefix="nacre-locked-") as name:
        folder = small_project(Path(name))
        folder.chmod(0o555)
        result = subprocess.run(
            [python, str(folder / "packaging" / "dev.py"), "test"],
            user=65534,
            group=65534,
            extra_groups=[],
            env={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
    assert result.returncode == 1
    assert "can't be written to" in result.stderr
    assert str(folder) in result.stderr
    assert "Traceback" not in result.stderr


@linux_only
def test_a_missing_library_is_named_with_the_line_that_installs_it() -> None:
    library = place_of("libdbus-1.so.3")
    if shutil.which("bwrap") is None or shutil.which("apt-get") is None or library is None:
        pytest.skip("needs bubblewrap, apt and libdbus to hide")
    sandbox = ["bwrap", "--dev-bind", "/", "/", "--unshare-user", "--uid", "1000", "--gid", "1000"]
    sandbox += ["--ro-bind", os.devnull, library, "--"]
    if subprocess.run([*sandbox, "true"], check=False, capture_output=True).returncode:
        pytest.skip("bubblewrap does not work here")
    result = subprocess.run(
        [*sandbox, sys.executable, str(DEV), "test"],
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=60,
    )
    assert result.returncode == 1
    assert "libdbus-1.so.3" in result.stderr
    assert "sudo apt install libdbus-1-3" in result.stderr
    assert "Traceback" not in result.stderr


def place_of(soname: str) -> str | None:
    """Where the loader finds a library."""
    listed = subprocess.run(
        ["/sbin/ldconfig", "-p"], capture_output=True, encoding="utf-8", check=False
    )
    found = re.search(rf"{re.escape(soname)} .*=> (\S+)", listed.stdout)
    return str(Path(found[1]).resolve()) if found else None


@pytest.mark.parametrize(
    ("manager", "line"),
    [
        ("apt-get", "sudo apt install libgl1 libglib2.0-0"),
        ("dnf", "sudo dnf install libglvnd-glx glib2"),
        ("zypper", "sudo zypper install libglvnd libglib-2_0-0 libgthread-2_0-0"),
        ("pacman", "sudo pacman -S libglvnd glib2"),
    ],
)
def test_each_package_manager_gets_its_own_names_and_each_name_once(
    manager: str, line: str, modules: tuple[ModuleType, ModuleType]
) -> None:
    _, machine = modules
    wanted = {"libGL.so.1", "libglib-2.0.so.0", "libgthread-2.0.so.0"}
    missing = [need for need in machine.QT_LIBRARIES if need.name in wanted]
    assert machine.install_line(missing, manager) == line


@linux_only
@pytest.mark.parametrize(
    ("environment", "display"),
    [
        ({}, None),
        ({"DISPLAY": ":0"}, "x11"),
        ({"WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":0"}, "wayland"),
        ({"WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":0", "QT_QPA_PLATFORM": "xcb"}, "x11"),
        ({"QT_QPA_PLATFORM": "xcb"}, None),
        ({"QT_QPA_PLATFORM": "wayland;xcb"}, None),
        ({"QT_QPA_PLATFORM": "offscreen"}, "offscreen"),
    ],
)
def test_the_display_is_the_one_qt_would_choose(
    environment: dict[str, str], display: str | None, modules: tuple[ModuleType, ModuleType]
) -> None:
    assert modules[1].display_of(environment) == display


def test_the_set_up_runs_again_only_when_lock_project_python_or_folder_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, modules: tuple[ModuleType, ModuleType]
) -> None:
    dev_module, _ = modules
    lock = tmp_path / "requirements.lock"
    lock.write_text("a==1\n", encoding="utf-8")
    for name, place in {"LOCK": lock, "STAMP": tmp_path / "stamp", "PYTHON": lock}.items():
        monkeypatch.setattr(dev_module, name, place)
    made = dev_module.stamp()
    assert not dev_module.is_current(made)
    dev_module.STAMP.write_text(dev_module.json.dumps(made), encoding="utf-8")
    assert dev_module.is_current(made)
    lock.write_text("a==2\n", encoding="utf-8")
    assert not dev_module.is_current(dev_module.stamp())
