"""The packages, tried as a person would get them: on bare machines, from install to purge.

    python3 packaging/test_packages.py [--package FILE.deb] [--keep-base FOLDER] [--whole]

Needs root, debootstrap and Xvfb, and some minutes; builds the packages unless a .deb is given,
beside which the .rpm may lie. `--whole` runs all tests of the README's second command, not a part.
Each line says what was found and how long it took; the last one counts. Not of the ordinary suite:
see packaging/README.md.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import bundle
import chroots
import dev
import fedora_like
import proofs
from chroots import Machine
from facts import ROOT, CantBuild, facts
from installed import HOME, Installed, Wrong, check

PACKAGE = "/root/nacre.deb"
SUITE = ("-q", "-x", "-p", "no:cacheprovider", "tests/unit/core", "tests/unit/test_paths.py")


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
        report.tried("… which names what is broken", lambda: proofs.names_what_is_broken(there))
        report.tried("a turn with a server on this machine", there.turn)
        report.tried("a tool server", lambda: proofs.tool_server(there))
        report.tried("U11 a database of the first release", lambda: proofs.past_schema(there))
        report.tried("a second conversation", lambda: there.talk("later"))
        kept = there.kept()

        def upgrade() -> str:
            data = there.data()
            machine.apt("install", "--no-install-recommends", PACKAGE)
            check(there.data() == data, "the upgrade touched the data folder")
            told = machine.run("dpkg-query", "-W", "-f", "${Version}", "nacre").stdout
            check(told == facts().version, f"version {told} is installed")
            said = machine.run("nacre", "--version", as_person=True).stdout.strip()
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
        report.tried("plugins in the program's Python", lambda: proofs.plugins(there))
        report.tried("F7 second starts, two data folders", lambda: proofs.side_by_side(there))
        report.tried("U10 the window comes", there.opens)
        report.tried("U05 the window idles", there.idles)
        report.tried("apt remove", lambda: removed(machine, "remove"))
        report.tried("apt purge leaves the data alone", lambda: removed(machine, "purge"))


def sizes(said: str) -> str:
    """Of the bundle and the packages, out of what build.py says."""
    found = re.findall(r"^.*/(\S+): ([\d.]+ MB)$", said, re.MULTILINE)
    return ", ".join(f"{name} {size}" for name, size in found)


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
    """`remove`, then `purge`: all that the package brought goes, and nothing else."""
    listed = machine.run("dpkg", "-L", "nacre", may_fail=True).stdout.split("\n")
    before = fedora_like.files_of(machine)
    if how == "purge":
        machine.run("dpkg", "--purge", "nacre")  # apt no longer knows a package from a file
    else:
        machine.apt(how, "nacre")
    after = fedora_like.files_of(machine)
    gone = before - after - set(listed)
    # Of dpkg's notes on it, and what desktops' triggers made of its files.
    foreign = [one for one in gone if not one.startswith(("/var/lib/dpkg/", "/usr/share/applicat"))]
    check(not foreign, f"it took along: {sorted(foreign)[:9]}")
    left = [one for one in after if "nacre" in one.casefold() and not one.startswith(str(HOME))]
    left = [one for one in left if not one.startswith("/root/")]  # where this script put packages
    # Only dpkg's own note that the package was here may stay until it is purged.
    left = [one for one in left if not (how == "remove" and one.startswith("/var/lib/dpkg/info"))]
    check(not left, f"left behind: {left}")
    data = machine.root / str(HOME).lstrip("/") / ".local/share/nacre/nacre.db"
    check(data.exists(), "the person's data is gone")
    return f"{len(before - after)} files and folders"


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
    words.append("-noreset")  # it starts anew after the last window, and hears nobody meanwhile
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
                "build.py --target linux",
                lambda: sizes(
                    bundle.run(["python3", str(ROOT / "packaging/build.py"), "--target", "linux"])
                ),
            )
            (package,) = sorted((bundle.BUILD / "packages").glob("*.deb"))
        if not options.only:
            of_the_files(report, package)
        with tempfile.TemporaryDirectory(prefix="nacre-base-") as temporary:
            base = options.keep_base or Path(temporary, "base")
            if not base.exists():
                report.tried("debootstrap", lambda: chroots.make_base(base))
            if options.only in ("", "debian"):
                with screen() as display:
                    of_debian(report, base, package, display)
            of_rpm = sorted(package.parent.glob("*.rpm"))
            if options.only in ("", "rpm") and of_rpm:
                with screen() as display:
                    fedora_like.of_fedora(report.tried, base, of_rpm[-1], display)
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
    parser.add_argument("--only", choices=("debian", "rpm", "sources"), default="")
    parser.add_argument("--whole", action="store_true")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
