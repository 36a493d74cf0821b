"""The program as it was installed on a bare machine, and everything that is tried with it."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import statistics
import subprocess
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from chroots import PERSON, Machine

HOME = Path("/home", PERSON)
KEY = "test-key-packages-0123456789"
SECONDS = 60.0
SETTLING, IDLE = 10.0, 30.0
MOST_IDLE = 0.005


class Wrong(Exception):
    """Something that was tried is not as it must be."""


def check(holds: bool, otherwise: str) -> None:
    if not holds:
        raise Wrong(otherwise)


class Installed:
    """The program on a machine, on a screen, with a server to talk to."""

    def __init__(self, machine: Machine, display: str) -> None:
        self.machine = machine
        self.display = display
        self.started = 0  # the process of the last window

    def nacre(self, *words: str, url: str = "", may_fail: bool = False) -> Any:
        return self.machine.run(
            "nacre", *words, as_person=True, more=self.environment(url), may_fail=may_fail
        )

    def environment(self, url: str = "") -> dict[str, str]:
        server = {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": KEY} if url else {}
        return {"DISPLAY": self.display, **server}

    # -- what is tried ------------------------------------------------------------------------

    def libraries(self) -> str:
        """Every library of the bundle finds all that it needs on a machine with nothing else."""
        script = (
            "find /usr/lib/nacre -name '*.so*' -type f | while read -r file; do"
            " LD_LIBRARY_PATH=/usr/lib/nacre/_internal ldd $file | grep 'not found'"
            ' | sed "s#^#$file:#"; done'
        )
        lost = self.machine.run("sh", "-c", script, may_fail=True).stdout.strip()
        check(not lost, lost)
        return ""

    def selftest(self) -> str:
        found = self.nacre("--selftest", may_fail=True)
        check(found.stdout.lstrip().startswith("{"), found.stdout + found.stderr)
        report = json.loads(found.stdout)
        bad = {name: one for name, one in report.items() if name != "ok" and not one["ok"]}
        check(found.returncode == 0 and report["ok"], json.dumps(bad))
        check(report["window"]["platform"] == "xcb", "the window was not on the screen")
        check(report["versions"]["frozen"], "this is not the packaged program")
        check(report["certificates"]["count"] > 100, "too few root certificates")
        return (
            f"Qt {report['versions']['qt']} on {report['window']['platform']}, SQLite"
            f" {report['sqlite']['version']}, {report['certificates']['count']} CAs, keyring"
            f" {report['keyring']['state']}, tour {report['tour']['outcome']}"
        )

    def turn(self) -> str:
        """A turn with a command and a search; what the command sees is a clean machine."""
        from tests.fakes.messages_api import (  # noqa: PLC0415
            MessagesServer,
            reply,
            text,
            tool_use,
        )

        work = HOME / "work"
        self.machine.run("mkdir", "-p", str(work), as_person=True)
        (self.machine.root / work.relative_to("/") / "sea.txt").write_text("a pearl\n")
        script = [
            reply(tool_use("shell", {"command": "env; python3 --version || true"})),
            reply(tool_use("grep", {"pattern": "pearl"})),
            reply(text("All layers lie.")),
        ]
        with MessagesServer(script) as server:
            done = self.nacre(
                *("run", "--json", "--permission", "auto", "--workspace", str(work), "look"),
                url=server.base_url,
            )
        events = [json.loads(line) for line in done.stdout.splitlines()]
        check(events[-1].get("outcome") == "done", done.stdout[-2000:])
        results = [json.dumps(one["data"]) for one in events if one.get("data", {}).get("callId")]
        check(any("sea.txt" in one for one in results), f"the search found nothing: {results}")
        printed = " ".join(results)
        leaks = [word for word in ("_PYI_", "_internal", "QT_PLUGIN_PATH") if word in printed]
        check("PATH=" in printed and not leaks, f"the command sees {leaks}: {printed}")
        check(KEY not in printed, "the command sees the key")
        return f"{len(events)} events"

    def talk(self, words: str) -> None:
        """A conversation that is called by these words, newer than all others."""
        from tests.fakes.messages_api import MessagesServer, reply, text  # noqa: PLC0415

        with MessagesServer([reply(text("Heard."))]) as server:
            work = str(HOME / "work")
            self.nacre("run", "--workspace", work, words, url=server.base_url)

    def tabs(self) -> dict[str, str]:
        """Ids by title."""
        told = [json.loads(line) for line in self.nacre("tabs", "--json").stdout.splitlines()]
        return {one["title"]: one["id"] for one in told}

    def kept(self) -> str:
        """A digest of all conversations."""
        rows = [self.nacre("show", "--json", tab).stdout for tab in sorted(self.tabs().values())]
        return hashlib.sha256("".join(rows).encode()).hexdigest()

    def data(self) -> dict[str, str]:
        """A digest of every file of the data folder: drafts, queues and settings among them."""
        folder = self.machine.root / str(HOME).lstrip("/") / ".local/share/nacre"
        files = [file for file in sorted(folder.rglob("*")) if file.is_file()]
        return {str(one): hashlib.sha256(one.read_bytes()).hexdigest() for one in files}

    def link(self) -> str:
        """The desktop hands a link to the window that is open, which goes there."""
        tabs = self.tabs()
        with self.window() as titled:
            # Whichever it begins with, one of these is elsewhere.
            for title in ("later", "look"):
                link = f"nacre://tab/{tabs[title]}?seq=2"
                self.machine.run("gio", "open", link, as_person=True, more=self.environment())
                until(partial(titled, f"{title} – Nacre"), f"no window went to {title}")
        return ""

    def replaced_while_running(self) -> str:
        """An update under an open window: it works on, with the program it was started from."""
        program = self.machine.root / "usr/lib/nacre/nacre"
        kept, new = program.with_name("kept"), program.with_name("new")
        link = f"nacre://tab/{self.tabs()['later']}?seq=2"
        new.write_bytes(b"#!/bin/sh\nexit 9\n" + os.urandom(60_000_000))
        new.chmod(0o755)
        kept.hardlink_to(program)
        try:
            with self.window() as titled:
                new.replace(program)
                # What shows Help → Diagnostics or a conversation was not loaded before.
                self.machine.run(
                    "/usr/lib/nacre/kept", link, as_person=True, more=self.environment()
                )
                until(lambda: titled("later – Nacre"), "the window did not work on")
        finally:
            kept.replace(program)
        log = self.machine.root / str(HOME).lstrip("/") / ".local/share/nacre/logs/nacre.log"
        check("Traceback" not in log.read_text(), log.read_text()[-3000:])
        return ""

    def opens(self) -> str:
        """From the start of the process to a window on the screen, three times."""
        took: list[float] = []
        for _ in range(3):
            began = time.monotonic()
            with self.window():
                took.append(time.monotonic() - began)
        return f"{statistics.median(took):.2f} s in the middle"

    def idles(self) -> str:
        """What it takes of one processor while nothing happens (SPEC U05)."""
        import psutil  # noqa: PLC0415

        with self.window():
            process = psutil.Process(self.started)
            time.sleep(SETTLING)
            before = process.cpu_times()
            time.sleep(IDLE)
            after = process.cpu_times()
            memory = process.memory_info().rss
        used = (after.user + after.system - before.user - before.system) / IDLE
        check(used <= MOST_IDLE, f"{used:.2%} of a processor")
        return f"{used:.2%} of a processor, {memory / 1e6:.0f} MB resident"

    @contextmanager
    def window(self, *words: str, beside: int = 0) -> Generator[Callable[[str], bool]]:
        """The program with its window, beside so many others; yields what tells whether one of
        this title is seen."""

        def seen(title: str) -> int:
            found = subprocess.run(
                ["xdotool", "search", "--onlyvisible", "--name", f"^{title}$"],
                env={**os.environ, "DISPLAY": self.display},
                capture_output=True,
                check=False,
            )
            return len(found.stdout.split())

        process = self.machine.start("nacre", *words, more=self.environment())
        self.started = process.pid
        try:
            until(lambda: seen(".*Nacre") > beside or process.poll() is not None, "no window came")
            yield lambda title: seen(title) > 0
        finally:
            process.send_signal(signal.SIGTERM)
            out, err = process.communicate(timeout=SECONDS)
        check(process.returncode == 0, f"the window ended with {process.returncode}: {out}{err}")
        check("Traceback" not in err, err)


def until(holds: Callable[[], bool], otherwise: str) -> None:
    deadline = time.monotonic() + SECONDS
    while not holds():
        check(time.monotonic() < deadline, otherwise)
        time.sleep(0.02)
