"""The .rpm on a machine of rpm's own kind, as near as it can be had where no Fedora can be.

A bare Debian gets rpm and the libraries that the package asks for, and keeps root certificates
where Fedora keeps them. What is not proven is that dnf finds packages of the names that are asked
for.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path

import chroots
import deb
from chroots import Machine
from installed import HOME, Installed, check

DATABASE = ("--dbpath", "/var/lib/rpm")
LIBRARY = re.compile(r"^(lib\S+\.so\.\d+)\(\)\(64bit\)$", re.MULTILINE)
AUTHORITIES = Path("etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem")


def prepare(machine: Machine, package: Path) -> str:
    """rpm, and Debian's names for what the package wants."""
    wanted = [one.partition(" ")[0] for one in deb.DEPENDS]
    machine.apt("install", "--no-install-recommends", "rpm", *wanted)
    machine.add_person()
    shutil.copyfile(package, machine.root / "root" / "nacre.rpm")
    certificates = machine.root / "etc/ssl/certs"
    target = machine.root / AUTHORITIES
    target.parent.mkdir(parents=True)
    shutil.copyfile(certificates / "ca-certificates.crt", target)
    shutil.rmtree(certificates)
    return ""


def requirements(machine: Machine) -> str:
    """Each library that is asked for is one that a loader knows by that name."""
    asked = LIBRARY.findall(machine.run("rpm", "-qp", "--requires", "/root/nacre.rpm").stdout)
    known = machine.run("ldconfig", "-p").stdout
    lost = [one for one in asked if f"{one} (" not in known]
    check(len(asked) > 10 and not lost, f"{lost} of {len(asked)} are not known")
    return f"{len(asked)} libraries"


def install(machine: Machine) -> str:
    machine.run("rpm", *DATABASE, "-i", "--nodeps", "/root/nacre.rpm")
    machine.run("rpm", *DATABASE, "-V", "--nodeps", "nacre")
    return machine.run("nacre", "--version", as_person=True).stdout.strip()


def remove(machine: Machine) -> str:
    """All that it brought goes, and nothing else; the data stays."""
    listed = machine.run("rpm", *DATABASE, "-ql", "nacre").stdout.split("\n")
    own = {one for one in listed if one}
    before = files_of(machine)
    machine.run("rpm", *DATABASE, "-e", "--nodeps", "nacre")
    after = files_of(machine)
    kept = (one for one in before - after if not one.startswith("/var/lib/rpm/"))
    gone = {one for one in kept if one not in own}
    check(not gone, f"it took along: {sorted(gone)[:9]}")
    left = own & after
    check(not left, f"left behind: {sorted(left)[:9]}")
    return f"{len(own)} files and folders"


def files_of(machine: Machine) -> set[str]:
    """All files and folders but those that are being written all the time."""
    words = ["/", "-xdev", "-not", "-path", "/tmp/*", "-not", "-path", "/run/*"]
    return set(machine.run("find", *words).stdout.split("\n")) - {""}


def of_fedora(tried: chroots.Tried, base: Path, package: Path, display: str) -> None:
    root = Path(tempfile.mkdtemp(prefix="nacre-machine-"))
    with chroots.machine(base, root, shared=[Path("/tmp/.X11-unix")]) as machine:
        there = Installed(machine, display)
        tried("rpm: what it asks for is installed", lambda: prepare(machine, package))
        tried("rpm: libraries by name", lambda: requirements(machine))
        tried("rpm: install and verify", lambda: install(machine))
        tried("rpm: the self-test, certificates as on Fedora", there.selftest)
        tried("rpm: a turn with a server on this machine", there.turn)
        tried("rpm: remove", lambda: remove(machine))
        data = machine.root / str(HOME).lstrip("/") / ".local/share/nacre/nacre.db"
        tried("rpm: the data is left alone", lambda: check(data.exists(), "it is gone"))
