"""The shell in a real sandbox, in a process of its own, as whoever runs the suite or as another."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pytest

from desktop.tools.sandbox import Sandbox
from tests.architecture.source import ROOT

PLAYER = ROOT / "tests" / "fakes" / "sandboxed_shell.py"
NOBODY = 65534
_FRESH = tuple(map(Path, ("/tmp", "/var/tmp", "/run")))
_AS_NOBODY = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--")


def needs_sandbox() -> None:
    """Skips where there is none, with its reason."""
    state = Sandbox(environment=os.environ).state_now()
    if not state.is_sandboxed:
        pytest.skip(f"no sandbox here: {state.why}")


def needs_python_in_sandbox() -> None:
    """Skips where the suite's own Python lies in a folder that every sandbox hides."""
    if _is_hidden(Path(sys.executable)):
        pytest.skip("the Python of this suite lies in a temporary folder")


def _is_hidden(place: Path) -> bool:
    return any(one in place.parents for one in _FRESH)


@dataclass(frozen=True, slots=True)
class User:
    """Whose processes they are: `before` starts a program as that user, `source` it can read."""

    uid: int
    python: str
    source: Path
    player: Path
    before: tuple[str, ...] = ()


@contextmanager
def a_user(name: str) -> Generator[User]:
    """`me`, or `nobody` where that can be done from here."""
    if name == "me":
        yield User(os.getuid(), sys.executable, ROOT, PLAYER)
        return
    if os.getuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("only root, with setpriv, can run a program as somebody else")
    with tempfile.TemporaryDirectory(prefix="nacre-source-") as folder:
        source = Path(folder)
        source.chmod(0o755)
        for part in ("core", "tools"):
            shutil.copytree(ROOT / "desktop" / part, source / "desktop" / part)
        (source / "desktop" / "credentials").mkdir()
        for file in ("__init__.py", "credentials/__init__.py", "credentials/closed_process.py"):
            shutil.copy(ROOT / "desktop" / file, source / "desktop" / file)
        player = Path(shutil.copy(PLAYER, source))
        for python in (sys.executable, "/usr/bin/python3"):
            try:
                tried = subprocess.run(
                    [*_AS_NOBODY, python, "-c", "from datetime import UTC"], check=False, cwd="/"
                )
            except OSError:
                continue
            if tried.returncode == 0:
                yield User(NOBODY, python, source, player, _AS_NOBODY)
                return
    pytest.skip("nobody can't start a Python that is new enough")


@contextmanager
def a_folder(user: User) -> Generator[Path]:
    """A folder of the user outside of the temporary ones, which a sandbox hides anyway."""
    place = Path("/var/lib") if user.uid != os.getuid() or _is_hidden(ROOT) else ROOT
    try:
        folder = Path(tempfile.mkdtemp(prefix=".nacre-sandbox-test-", dir=place))
    except OSError as error:
        pytest.skip(f"nothing can be written in {place}: {error.strerror}")
    try:
        for name in ("home", "home/work"):
            (folder / name).mkdir()
        if user.uid != os.getuid():
            for one in (folder, *folder.rglob("*")):
                os.chown(one, user.uid, user.uid)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@dataclass
class Desk:
    """A home with a workspace in it, and a shell that works there."""

    user: User
    folder: Path
    extra: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def workspace(self) -> Path:
        return self.home / "work"

    def write(self, path: str, text: str) -> Path:
        """A file of the user in the home."""
        file = self.home / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        for one in (file, *file.parents):
            if one == self.home:
                break
            os.chown(one, self.user.uid, -1)
        return file

    def start(self, *commands: str, **plan: Any) -> "subprocess.Popen[bytes]":
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            **self.extra,
        }
        words = [*self.user.before, self.user.python, str(self.user.player), str(self.user.source)]
        plan["commands"] = list(commands)
        return subprocess.Popen(
            [*words, str(self.workspace), json.dumps(plan)],
            env=environment,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
        )

    def run(self, *commands: str, **plan: Any) -> list[Mapping[str, Any]]:
        """The outcomes."""
        with self.start(*commands, **plan) as process:
            output, _ = process.communicate(timeout=120)
        found = [json.loads(line) for line in output.splitlines()]
        return [one for one in found if "live" not in one]

    def text(self, command: str, **plan: Any) -> str:
        (outcome,) = self.run(command, **plan)
        return str(outcome["text"])


@contextmanager
def a_desk(user: str) -> Generator[Desk]:
    needs_sandbox()
    with a_user(user) as who, a_folder(who) as folder:
        yield Desk(who, folder)


def alive(tag: str) -> list[int]:
    """Living processes with this in their command line."""
    return [one.pid for one in psutil.process_iter() if tag in " ".join(_words(one))]


def _words(process: psutil.Process) -> Sequence[str]:
    try:
        if process.status() == psutil.STATUS_ZOMBIE:
            return ()
        return process.cmdline()
    except psutil.Error:
        return ()
