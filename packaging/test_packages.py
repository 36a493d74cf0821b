"""The packages, tried as a person would get them: on bare machines, from install to purge.

    python3 packaging/test_packages.py [--package FILE.deb] [--keep-base FOLDER] [--whole]

Needs root, debootstrap and Xvfb, and some minutes; builds the .deb unless one is given. `--whole`
runs all tests of the README's second command, not a part. Each line says what was found and how
long it took; the last one counts. Not of the ordinary suite: see packaging/README.md.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import signal
import ssl
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import bundle
import chroots
import dev
from chroots import PERSON, Machine
from facts import ROOT, CantBuild, facts

HOME = Path("/home", PERSON)
KEY = "test-key-packages-0123456789"
PACKAGE = "/root/nacre.deb"
SECONDS = 60.0
SETTLING, IDLE = 10.0, 30.0
MOST_IDLE = 0.005
SUITE = ("-q", "-x", "-p", "no:cacheprovider", "tests/unit/core", "tests/unit/test_paths.py")


class Wrong(Exception):
    """Something that was tried is not as it must be."""


class Report:
    """Prints what was tried, and counts."""

    def __init__(self) -> None:
        self.passed, self.failed = 0, 0

    def tried(self, title: str, act: Callable[[], str | None]) -> None:
        began = time.monotonic()
        try:
            said, sign = act() or "", "ok"
            self.passed += 1
        except (Wrong, CantBuild, OSError, subprocess.SubprocessError) as trouble:
            said, sign = f"{trouble}", "FAILED"
            self.failed += 1
        seconds = time.monotonic() - began
        print(f"{sign:6} {seconds:6.1f} s  {title}{': ' if said else ''}{said}", flush=True)


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
    def window(self) -> Generator[Callable[[str], bool]]:
        """The program with its window; yields what tells whether one of this title is seen."""

        def titled(title: str) -> bool:
            found = subprocess.run(
                ["xdotool", "search", "--onlyvisible", "--name", f"^{title}$"],
                env={**os.environ, "DISPLAY": self.display},
                capture_output=True,
                check=False,
            )
            return bool(found.stdout.strip())

        process = self.machine.start("nacre", more=self.environment())
        self.started = process.pid
        try:
            until(lambda: titled(".*Nacre"), "no window came")
            yield titled
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


def of_debian(report: Report, base: Path, package: Path, display: str) -> None:
    """The life of the package on a machine."""
    root = Path(tempfile.mkdtemp(prefix="nacre-machine-"))
    with chroots.machine(base, root, shared=[Path("/tmp/.X11-unix")]) as machine:
        machine.add_person()
        there = Installed(machine, display)
        before = earlier(package, root / "root")
        shutil.copyfile(package, root / PACKAGE.lstrip("/"))
        dangerous = root / "root" / "broken.deb"
        dangerous.write_bytes(package.read_bytes()[: package.stat().st_size // 2])

        def install(file: str) -> str:
            machine.apt("install", "--no-install-recommends", file)
            return machine.run("nacre", "--version", as_person=True).stdout.strip()

        count = len(installed(machine))
        report.tried("apt install of the version before, as root", lambda: install(before))
        print(f"                 {len(installed(machine)) - count} packages came with it")
        report.tried("U10 every library finds what it needs", there.libraries)
        report.tried("the self-test as a person, on X11", there.selftest)
        report.tried("a turn with a server on this machine", there.turn)
        report.tried("a second conversation", lambda: there.talk("later"))
        kept = there.kept()

        def upgrade() -> str:
            said = install(PACKAGE)
            check(facts().version in said and "~" not in said, said)
            check(there.kept() == kept, "conversations are not what they were")
            return said

        def fail_to_upgrade() -> str:
            done = machine.apt("install", "/root/broken.deb", may_fail=True)
            check(done.returncode != 0, "a broken package was installed")
            check(there.kept() == kept, "conversations are not what they were")
            return "refused"

        report.tried("U35 an upgrade keeps the conversation", upgrade)
        report.tried("U35 a broken upgrade leaves the one before startable", fail_to_upgrade)
        report.tried("the self-test after the upgrade", there.selftest)
        report.tried(
            "desktop-file-utils and gio for the link",
            lambda: desktop_tools(machine),
        )
        report.tried("nacre:// goes to the open window", there.link)
        report.tried("U35 the program is replaced under the window", there.replaced_while_running)
        report.tried("U10 the window comes", there.opens)
        report.tried("U05 the window idles", there.idles)
        report.tried("apt remove", lambda: removed(machine, "remove"))
        report.tried("apt purge leaves the data alone", lambda: removed(machine, "purge"))


def installed(machine: Machine) -> set[str]:
    return set(machine.run("dpkg-query", "-W", "-f", "${Package}\n").stdout.split())


def earlier(package: Path, folder: Path) -> str:
    """The same program as an earlier version: there is no release before this one yet."""
    with tempfile.TemporaryDirectory() as place:
        bundle.run(["dpkg-deb", "-R", str(package), f"{place}/tree"])
        control = Path(place, "tree", "DEBIAN", "control")
        version = facts().version
        text = control.read_text(encoding="utf-8")
        control.write_text(text.replace(f"Version: {version}", f"Version: {version}~before"))
        target = folder / "before.deb"
        bundle.run(["dpkg-deb", "--root-owner-group", "-Znone", "-b", f"{place}/tree", str(target)])
    return "/root/before.deb"


def desktop_tools(machine: Machine) -> str:
    machine.apt("install", "--no-install-recommends", "desktop-file-utils", "libglib2.0-bin")
    told = machine.run("gio", "mime", "x-scheme-handler/nacre", as_person=True).stdout
    check(f"{facts().app_id}.desktop" in told, told)
    return "the handler is ours"


def removed(machine: Machine, how: str) -> str:
    if how == "purge":
        machine.run("dpkg", "--purge", "nacre")  # apt no longer knows a package from a file
    else:
        machine.apt(how, "nacre")
    words = ["-xdev", "(", "-iname", "*nacre*", ")", "-not", "-path", f"{HOME}/*"]
    places = ["/usr", "/etc", "/var", "/opt"]
    left = machine.run("find", *places, *words, may_fail=True).stdout.split()
    # Only dpkg's own note that the package was here may stay until it is purged.
    left = [one for one in left if not (how == "remove" and one.startswith("/var/lib/dpkg/info"))]
    check(not left, f"left behind: {left}")
    data = machine.root / str(HOME).lstrip("/") / ".local/share/nacre/nacre.db"
    check(data.exists(), "the person's data is gone")
    return ""


def of_the_sources(report: Report, base: Path, *, whole: bool) -> None:
    """The two commands of the README, on a machine with Python and nothing else."""
    root = Path(tempfile.mkdtemp(prefix="nacre-machine-"))
    # Where pip finds packages is this machine's matter, as it is with apt.
    shared = [Path(one) for one in pip_places()]
    with chroots.machine(base, root, shared=shared) as machine:
        settings = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
        authorities = os.environ.get("PIP_CERT") or ssl.get_default_verify_paths().cafile
        if authorities:
            shutil.copyfile(authorities, root / "root" / "authorities.crt")
            settings["PIP_CERT"] = "/root/authorities.crt"
        machine.apt("install", "--no-install-recommends", "python3", "git")
        copy_of_sources(root / "root" / "nacre")

        def dev_command(*words: str) -> str:
            done = machine.run(
                *("python3", "packaging/dev.py", *words),
                folder="/root/nacre",
                more=settings,
            )
            said = [line for line in done.stdout.splitlines() if line.strip()]
            return said[-1] if said else ""

        def run() -> str:
            told = dev_command("run", "--selftest")
            check(told == "}", told)
            return "the self-test is content"

        report.tried("README: dev.py run, on a bare machine", run)
        report.tried("README: dev.py run again", lambda: dev_command("run", "--version"))
        tests = () if whole else SUITE
        report.tried("README: dev.py test", lambda: dev_command("test", *tests))


def pip_places() -> list[str]:
    """Folders of this machine in which its pip looks for packages, and its settings."""
    names = ["PIP_FIND_LINKS"]
    found = [os.environ[name] for name in names if name in os.environ]
    return [one for one in (*found, "/etc/xdg/pip") if one.startswith("/") and Path(one).is_dir()]


def copy_of_sources(target: Path) -> None:
    """What is committed, without history."""
    target.mkdir(parents=True)
    archive = subprocess.run(
        ["git", "-C", str(ROOT), "archive", "HEAD"], stdout=subprocess.PIPE, check=True
    )
    subprocess.run(["tar", "-x", "-C", str(target)], input=archive.stdout, check=True)
    bundle.run(["git", "-C", str(target), "init", "-q"])


def of_the_files(report: Report, package: Path) -> None:
    """What the tools of Debian and freedesktop say of what is installed."""
    share = bundle.BUILD / "tree" / "usr" / "share"
    name = facts().app_id

    def lintian() -> str:
        done = subprocess.run(
            ["lintian", "--allow-root", "--fail-on", "error", str(package)],
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        check(done.returncode == 0, done.stdout)
        return f"{len(done.stdout.splitlines())} remarks"

    tools: list[tuple[str, Callable[[], str | None]]] = [
        ("lintian", lintian),
        (
            "desktop-file-validate",
            lambda: bundle.run(
                ["desktop-file-validate", f"{share}/applications/{name}.desktop"]
            ).strip(),
        ),
        (
            "appstreamcli",
            lambda: bundle.run(
                ["appstreamcli", "validate", "--no-net", f"{share}/metainfo/{name}.metainfo.xml"]
            ).splitlines()[-1],
        ),
        (
            "man",
            lambda: bundle.run(["man", "--warnings", "-l", f"{share}/man/man1/nacre.1.gz"])[:0],
        ),
    ]
    for tool, act in tools:
        if shutil.which(tool) is None:
            print(f"skipped          {tool}: it is not on this machine")
        else:
            report.tried(tool, act)


@contextmanager
def screen() -> Generator[str]:
    """An X server of its own."""
    if shutil.which("Xvfb") is None or shutil.which("xdotool") is None:
        raise CantBuild("The window is tried on a screen of its own: install xvfb and xdotool.")
    read, write = os.pipe()
    words = ["-displayfd", str(write), "-screen", "0", "1600x1000x24", "-nolisten", "tcp", "-ac"]
    server = subprocess.Popen(["Xvfb", *words], pass_fds=[write], stderr=subprocess.DEVNULL)
    os.close(write)
    try:
        with os.fdopen(read) as told:
            yield f":{told.readline().strip()}"
    finally:
        server.terminate()
        server.wait()


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    if Path(sys.prefix).resolve() != dev.VENV.resolve():
        dev.set_up()  # the stand-in for the provider needs what the tests need
        os.execv(dev.PYTHON, [str(dev.PYTHON), __file__, *arguments])
    sys.path.insert(0, str(ROOT))
    report = Report()
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    try:
        package = options.package
        if package is None:
            report.tried(
                "build.py --target deb",
                lambda: bundle.run(
                    ["python3", str(ROOT / "packaging" / "build.py"), "--target", "deb"]
                ).splitlines()[-2],
            )
            (package,) = sorted((bundle.BUILD / "packages").glob("*.deb"))
        of_the_files(report, package)
        with tempfile.TemporaryDirectory(prefix="nacre-base-") as temporary:
            base = options.keep_base or Path(temporary, "base")
            if not base.exists():
                report.tried("debootstrap", lambda: chroots.make_base(base))
            if options.only in ("", "debian"):
                with screen() as display:
                    of_debian(report, base, package, display)
            if options.only in ("", "sources"):
                of_the_sources(report, base, whole=options.whole)
    except CantBuild as trouble:
        print(trouble, file=sys.stderr)
        return 1
    print(f"load {os.getloadavg()[0]:.1f}")
    print(f"{report.passed} passed, {report.failed} failed")
    return 1 if report.failed else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="test_packages.py",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--package", type=Path, help="this one, and none is built")
    parser.add_argument("--keep-base", type=Path, help="where the bare system is, or is to stay")
    parser.add_argument("--only", choices=("debian", "sources"), default="")
    parser.add_argument("--whole", action="store_true")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
