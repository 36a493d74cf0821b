"""The real program as a child process, in an empty home, and what it leaves in its database."""

import atexit
import hashlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

KEY = "test-key-e2e-0123456789"
SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Home:
    """An empty home: a data folder, a workspace, and the environment of its processes."""

    root: Path
    base_url: str = ""
    key: str = KEY
    extra: Mapping[str, str] = field(default_factory=dict[str, str])
    seconds: float = SECONDS  # that a command may take

    @property
    def data(self) -> Path:
        return self.root / "data"

    @property
    def runtime(self) -> Path:
        """Its folder for sockets, whose names must be short."""
        return _runtimes() / hashlib.sha256(str(self.root).encode()).hexdigest()[:8]

    @property
    def workspace(self) -> Path:
        folder = self.root / "workspace"
        folder.mkdir(exist_ok=True)
        return folder

    @property
    def database(self) -> Path:
        return self.data / "nacre.db"

    def environment(self) -> dict[str, str]:
        home = self.root / "home"
        home.mkdir(exist_ok=True)
        self.runtime.mkdir(mode=0o700, exist_ok=True)
        found = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "XDG_RUNTIME_DIR": str(self.runtime),
            "LANG": "C.UTF-8",
            "QT_QPA_PLATFORM": "offscreen",
            "PYTHONUNBUFFERED": "1",
        }
        if self.key:
            found["ANTHROPIC_API_KEY"] = self.key
        if self.base_url:
            found["ANTHROPIC_BASE_URL"] = self.base_url
        return {**found, **self.extra}

    def start(self, *arguments: str, stdin: int = subprocess.DEVNULL) -> "subprocess.Popen[str]":
        """A running `nacre` of this home."""
        return subprocess.Popen(
            [sys.executable, "-m", "desktop", "--data-dir", str(self.data), *arguments],
            env=self.environment(),
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="surrogateescape",
            cwd=Path(__file__).parents[2],
        )

    def nacre(self, *arguments: str, text: str | None = None) -> "Ended":
        """Runs `nacre` to its end."""
        process = self.start(*arguments, stdin=subprocess.PIPE if text else subprocess.DEVNULL)
        return ended(process, text, seconds=self.seconds)

    def run(self, text: str, *arguments: str) -> "Ended":
        """`nacre run --json` in the workspace."""
        return self.nacre("run", "--json", "--workspace", str(self.workspace), *arguments, text)

    def rows(self, query: str = "select * from chunks order by tab_id, seq") -> list[sqlite3.Row]:
        """What stands in the database, read by a plain connection."""
        connection = sqlite3.connect(self.database)
        connection.row_factory = sqlite3.Row
        try:
            return connection.execute(query).fetchall()
        finally:
            connection.close()


@cache
def _runtimes() -> Path:
    folder = tempfile.mkdtemp(prefix="nacre-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


@dataclass(frozen=True, slots=True)
class Ended:
    """A process that is over."""

    code: int
    out: str
    err: str

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]

    def named(self, name: str) -> list[dict[str, Any]]:
        return [one for one in self.events if one["event"] == name]


def ended(
    process: "subprocess.Popen[str]", text: str | None = None, *, seconds: float = SECONDS
) -> Ended:
    """Waits for the end; a process that does not end is killed and fails the test."""
    try:
        out, err = process.communicate(text, timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        raise AssertionError(f"did not end within {seconds:g} s\n{out}\n{err}") from None
    return Ended(process.returncode, out, err)


def kill(process: "subprocess.Popen[str]") -> None:
    """The power goes out."""
    process.send_signal(signal.SIGKILL)
    process.communicate()


def types_of(rows: Sequence[sqlite3.Row]) -> list[str]:
    """The types of rows, without those of the program's own."""
    return [row["type"] for row in rows if row["type"] != "system"]
