"""Bare machines to try packages on: a fresh Debian in a folder, as debootstrap makes it.

Where its packages come from is read from this machine's own apt; nothing of it is written down.
Needs root, debootstrap and a network.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from facts import CantBuild

PERSON, PERSON_ID = "person", 1000
Tried = Callable[[str, Callable[[], str | None]], None]
"""Does something and reports it under a title."""

MOUNTS = (("proc", "proc"), ("devpts", "dev/pts"), ("tmpfs", "dev/shm"))


class Machine:
    """A Debian of its own at `root`. What runs in it sees nothing of this machine's environment."""

    def __init__(self, root: Path, *, more: Mapping[str, str] | None = None) -> None:
        self.root = root
        self._more = dict(more or {})

    def run(
        self,
        *command: str,
        as_person: bool = False,
        more: Mapping[str, str] | None = None,
        may_fail: bool = False,
        folder: str = "/",
    ) -> subprocess.CompletedProcess[str]:
        """Runs it to its end; raises CantBuild with its last words when it fails."""
        done = subprocess.run(
            self.words(*command, as_person=as_person, more=more, folder=folder),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            env={"PATH": os.environ["PATH"]},
            check=False,
        )
        if done.returncode and not may_fail:
            said = "\n".join((done.stdout + done.stderr).splitlines()[-30:])
            raise CantBuild(f"{' '.join(command)}: ended with {done.returncode}\n{said}")
        return done

    def start(self, *command: str, more: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        """A program of the person that runs on."""
        return subprocess.Popen(
            self.words(*command, as_person=True, more=more),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            env={"PATH": os.environ["PATH"]},
        )

    def words(
        self,
        *command: str,
        as_person: bool,
        more: Mapping[str, str] | None = None,
        folder: str = "/",
    ) -> list[str]:
        home = f"/home/{PERSON}" if as_person else "/root"
        held = {
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": home,
            "LANG": "C.UTF-8",
            "DEBIAN_FRONTEND": "noninteractive",
            **({"XDG_RUNTIME_DIR": f"/run/user/{PERSON_ID}"} if as_person else {}),
            **self._more,
            **(more or {}),
        }
        given = [f"{name}={value}" for name, value in held.items()]
        who = [f"--userspec={PERSON_ID}:{PERSON_ID}"] if as_person else []
        into = ["chroot", *who, str(self.root), "/usr/bin/env", "-i", *given]
        return [*into, "/bin/sh", "-c", f'cd {folder} && exec "$@"', "sh", *command]

    def apt(self, *words: str, may_fail: bool = False) -> subprocess.CompletedProcess[str]:
        return self.run("apt-get", "-qq", "-y", *words, may_fail=may_fail)

    def add_person(self) -> None:
        self.run("useradd", "--create-home", "--uid", str(PERSON_ID), PERSON)
        runtime = self.root / "run" / "user" / str(PERSON_ID)
        runtime.mkdir(parents=True, mode=0o700)
        os.chown(runtime, PERSON_ID, PERSON_ID)


@contextmanager
def machine(base: Path, root: Path, *, shared: Sequence[Path] = ()) -> Generator[Machine]:
    """A copy of a base system with its file systems; `shared` folders of this machine are seen in
    it at the same place. All is unmounted and removed at the end."""
    subprocess.run(["cp", "-a", "--reflink=auto", f"{base}/.", str(root)], check=True)
    mounted: list[Path] = []
    try:
        for kind, place in MOUNTS:
            target = root / place
            target.mkdir(exist_ok=True)
            _mount("-t", kind, kind, str(target))
            mounted.append(target)
        for folder in shared:
            target = root / folder.relative_to("/")
            target.mkdir(parents=True, exist_ok=True)
            _mount("--bind", str(folder), str(target))
            mounted.append(target)
        yield Machine(root)
    finally:
        for target in reversed(mounted):
            subprocess.run(["umount", str(target)], check=True)
        shutil.rmtree(root)


def make_base(root: Path) -> None:
    """A minimal Debian of this machine's own release."""
    if os.geteuid() != 0 or shutil.which("debootstrap") is None:
        raise CantBuild("Bare machines need root and debootstrap (apt install debootstrap).")
    release, repositories = _repositories()
    site = next(uri for uri, suite, _ in repositories if suite == release)
    command = ["debootstrap", "--variant=minbase", release, str(root), site]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    if done.returncode:
        raise CantBuild(f"debootstrap failed:\n{done.stdout[-2000:]}")
    lines = [f"deb {uri} {suite} {component}\n" for uri, suite, component in repositories]
    (root / "etc/apt/sources.list").write_text("".join(lines), encoding="utf-8")
    (root / "etc/apt/apt.conf.d/90as-outside").write_text(_acquire_options(), encoding="utf-8")
    for name in ("resolv.conf", "hosts"):
        if Path("/etc", name).exists():
            shutil.copyfile(f"/etc/{name}", root / "etc" / name)
    Machine(root).apt("update")


def _repositories() -> tuple[str, list[tuple[str, str, str]]]:
    """Debian's release of this machine, and (address, suite, component) of its repositories."""
    text = Path("/etc/os-release").read_text(encoding="utf-8")
    named = re.search(r"^VERSION_CODENAME=(\w+)", text, re.MULTILINE)
    if named is None:
        raise CantBuild("Bare machines are made on Debian and Ubuntu.")
    form = "$(REPO_URI) $(RELEASE) $(COMPONENT)"
    told = subprocess.run(
        ["apt-get", "indextargets", "--format", form, "Created-By: Packages"],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    found: list[tuple[str, str, str]] = []
    for line in told.stdout.splitlines():
        uri, suite, component = line.split()
        is_debian = suite.partition("-")[0] == named[1]
        # The security repository calls its suite by the release alone in some of apt's lists.
        if is_debian and "security" in uri and "security" not in suite:
            suite = f"{suite}-security"
        if is_debian and (uri, suite, component) not in found:
            found.append((uri, suite, component))
    if not any(suite == named[1] for _, suite, _ in found):
        raise CantBuild(f"apt knows no repository of {named[1]}; run apt-get update.")
    return named[1], found


def _acquire_options() -> str:
    """How this machine reaches its repositories: proxies and the like."""
    told = subprocess.run(
        ["apt-config", "dump", "Acquire"], capture_output=True, encoding="utf-8", check=True
    )
    return "".join(f"{line}\n" for line in told.stdout.splitlines() if "::" in line)


def _mount(*words: str) -> None:
    done = subprocess.run(["mount", *words], capture_output=True, encoding="utf-8", check=False)
    if done.returncode:
        raise CantBuild(f"mount {' '.join(words)}: {done.stderr.strip()}")
