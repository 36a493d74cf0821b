"""A folder is copied in whole or not at all, with nothing from outside of it."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from desktop.core.errors import PluginError
from desktop.plugins import folders

TOML = """
id = "plain"
name = "Plain"
version = "1"
minimum_host = "0"
command = ["{python}", "main.py"]
capabilities = []
"""


def a_plugin(place: Path) -> Path:
    (place / "parts" / "deep").mkdir(parents=True)
    (place / "plugin.toml").write_text(TOML)
    (place / "main.py").write_text("print(1)")
    (place / "parts" / "deep" / "one.txt").write_text("one")
    return place


def listed(place: Path) -> set[str]:
    return {str(one.relative_to(place)) for one in place.rglob("*")}


def put_aside(source: Path, programs: Path) -> Path:
    folders.put_aside(source, programs)
    return programs / folders.NEW


def test_a_folder_is_copied_with_all_that_is_in_it_and_for_the_person_alone(tmp_path: Path) -> None:
    source = a_plugin(tmp_path / "source")
    (source / "main.py").chmod(0o755)
    (source / "parts" / "linked").symlink_to("deep/one.txt")
    copied = folders.put_aside(source, tmp_path / "programs")
    place = folders.take_in(tmp_path / "programs", "plain", 1)
    assert listed(place) == listed(source)
    assert (copied.files, copied.size) == (4, len(TOML) + 8 + 6)
    linked = place / "parts" / "linked"
    assert linked.read_text() == "one"
    assert not linked.is_symlink()
    if os.name == "posix":
        modes = {one.stat().st_mode & 0o777 for one in (place, *place.rglob("*"))}
        assert modes == {0o700, 0o600}
        assert (place / "main.py").stat().st_mode & 0o777 == 0o700
    assert not (tmp_path / "programs" / folders.NEW).exists()


@pytest.mark.skipif(sys.platform == "win32", reason="links and pipes of POSIX")
@pytest.mark.parametrize(
    "target", ["../secret", "/etc/hostname", "up/../../secret", "nowhere", "parts", "main.py/x"]
)
def test_a_link_that_leads_elsewhere_is_refused_and_named(tmp_path: Path, target: str) -> None:
    source = a_plugin(tmp_path / "source")
    (tmp_path / "secret").write_text("S3CRET")
    (source / "parts" / "up").symlink_to("..")
    (source / "parts" / "up").unlink()
    (source / "linked").symlink_to(target)
    with pytest.raises(PluginError, match="The link linked "):
        put_aside(source, tmp_path / "programs")
    assert listed(tmp_path / "programs") == set()


@pytest.mark.skipif(sys.platform == "win32", reason="links and pipes of POSIX")
@pytest.mark.parametrize("kind", ["a pipe", "a loop", "a link through a link", "a socket"])
def test_what_is_no_file_is_refused(tmp_path: Path, kind: str) -> None:
    source = a_plugin(tmp_path / "source")
    strange = source / "strange"
    match kind:
        case "a pipe":
            os.mkfifo(strange)
        case "a loop":
            strange.symlink_to("strange")
        case "a link through a link":
            (tmp_path / "outer").mkdir()
            (tmp_path / "outer" / "file").write_text("S3CRET")
            (source / "x").symlink_to(tmp_path / "outer")
            strange.symlink_to("x/file")
        case _:
            here = Path.cwd()
            os.chdir(source)  # the name of a socket must be short
            try:
                with socket.socket(socket.AF_UNIX) as one:
                    one.bind("strange")
            finally:
                os.chdir(here)
    with pytest.raises(PluginError):
        put_aside(source, tmp_path / "programs")
    assert listed(tmp_path / "programs") == set()


def test_a_folder_that_is_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = a_plugin(tmp_path / "source")
    with monkeypatch.context() as less, pytest.raises(PluginError, match="more than 4 files"):
        less.setattr(folders, "MOST_FILES", 4)
        put_aside(source, tmp_path / "programs")
    with monkeypatch.context() as less, pytest.raises(PluginError, match="more than 0 MB"):
        less.setattr(folders, "MOST_TOTAL", 10)
        put_aside(source, tmp_path / "programs")
    with monkeypatch.context() as less, pytest.raises(PluginError, match="more than 1 deep"):
        less.setattr(folders, "DEEPEST", 1)
        put_aside(source, tmp_path / "programs")
    with pytest.raises(PluginError, match="Nacre itself"):
        put_aside(tmp_path, tmp_path / "programs")
    with pytest.raises(PluginError, match="could not be copied"):
        put_aside(tmp_path / "not there", tmp_path / "programs")
    assert listed(tmp_path / "programs") == set()


def test_only_the_generation_that_counts_is_kept(tmp_path: Path) -> None:
    source, programs = a_plugin(tmp_path / "source"), tmp_path / "programs"
    for id_, generation in (("plain", 1), ("plain", 2), ("other", 1)):
        put_aside(source, programs)
        folders.take_in(programs, id_, generation)
    put_aside(source, programs)
    folders.sweep(programs, {"plain": 2})
    assert {str(one.relative_to(programs)) for one in programs.glob("*/*")} == {"plain/2"}
    assert {one.name for one in programs.iterdir()} == {"plain"}


@pytest.mark.skipif(sys.platform == "win32", reason="links of POSIX")
def test_nothing_is_swept_through_a_link(tmp_path: Path) -> None:
    theirs = a_plugin(tmp_path / "theirs")
    (tmp_path / "programs").symlink_to(theirs)
    folders.sweep(tmp_path / "programs", {})
    assert (theirs / "main.py").exists()
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "linked").symlink_to(theirs)
    folders.sweep(tmp_path / "own", {})
    assert (theirs / "main.py").exists()
    assert listed(tmp_path / "own") == set()


KILLED = """
import itertools, sys
from pathlib import Path
from desktop.plugins import folders
source, programs = map(Path, sys.argv[1:])
print("ready", flush=True)
for generation in itertools.count(1):
    folders.put_aside(source, programs)
    folders.take_in(programs, "plain", generation)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a signal of POSIX")
@pytest.mark.parametrize("after", [0.0, 0.003, 0.01, 0.02, 0.05])
def test_a_kill_leaves_nothing_or_the_whole_in_a_plugins_place(
    tmp_path: Path, after: float
) -> None:
    """The time is when it is killed, and no limit of anything."""
    source, programs = a_plugin(tmp_path / "source"), tmp_path / "programs"
    for number in range(20):
        (source / f"{number}.txt").write_text("x" * 10_000)
    words = [sys.executable, "-c", KILLED, str(source), str(programs)]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(after)
        process.kill()
    for place in programs.glob("plain/*"):
        assert listed(place) == listed(source)
        assert all((place / f"{number}.txt").stat().st_size == 10_000 for number in range(20))
    folders.sweep(programs, {})
    assert not programs.exists() or listed(programs) == set()
