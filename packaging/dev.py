"""The two commands of the README: set everything up, then open Nacre or run its tests.

    python3 packaging/dev.py run  [arguments of nacre …]
    python3 packaging/dev.py test [arguments of pytest …]
    python3 packaging/dev.py lock [arguments of uv pip compile …]

It makes `.venv` beside this folder, installs exactly what `requirements.lock` names (by hash) and
the project itself, and does neither again while nothing has changed. What goes wrong is said in
plain words. Standard library only, and written so that an older Python can still read it and say
that it is too old.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import machine

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "packaging" / "requirements.lock"
# What goes into a packaged program, and what makes it one: nothing of the tests.
BUNDLE_LOCK = ROOT / "packaging" / "bundle.lock"
BUNDLE_TOOLS = ROOT / "packaging" / "bundle.in"
PROJECT = ROOT / "pyproject.toml"
VENV = ROOT / ".venv"
STAMP = VENV / "nacre-setup.json"
OLDEST_PYTHON = (3, 11)
SCRIPTS = VENV / ("Scripts" if os.name == "nt" else "bin")
SUFFIX = ".exe" if os.name == "nt" else ""
PYTHON = SCRIPTS / f"python{SUFFIX}"
# The tests wait for processes and disks as much as they compute.
SIDE_BY_SIDE = ["-n", "auto", "--maxprocesses", "4", "--dist", "worksteal"]
# Words of the nacre command that do their work without a window.
WITHOUT_WINDOW = {
    *("run", "tabs", "show", "search", "doctor", "backup", "restore", "import-records"),
    *("-h", "--help", "--version"),
}
# pip's words, and what they mean for a person; the first that fits is said.
PIP_TROUBLES = (
    ("No space left on device", "The disk is full."),
    ("Read-only file system", "This folder can't be written to."),
    ("Permission denied", "This folder can't be written to."),
    (
        "DO NOT MATCH THE HASHES",
        "A package differs from the one the lock file names; it was not installed.",
    ),
    (
        "CERTIFICATE_VERIFY_FAILED",
        "The package index could not be trusted: "
        "check the root certificates, the clock and the proxy.",
    ),
    (
        "connection broken by",
        "The package index can't be reached: check the network and the proxy settings.",
    ),
    (
        "No matching distribution found",
        "The package index does not have a package for this Python and system.",
    ),
)


class SetupError(Exception):
    """Something a person can mend; the text says what and how."""


def main(arguments: list[str]) -> int:
    command, rest = (arguments[0], arguments[1:]) if arguments else ("", [])
    commands = {"run": run, "test": test, "lock": lock}
    if command not in commands:
        print(__doc__)
        return 0 if command in ("-h", "--help") else 2
    try:
        require_python()
        return commands[command](rest)
    except SetupError as trouble:
        print(f"\n{trouble}", file=sys.stderr)
    except KeyboardInterrupt:
        print("\nStopped. The same command goes on from here.", file=sys.stderr)
    except OSError as trouble:
        print(f"\n{words_for(trouble)}", file=sys.stderr)
    return 1


def run(arguments: list[str]) -> int:
    """Open the program, or one of its commands that need no window."""
    missing = machine.missing_for_install()
    if "--selftest" in arguments:
        # Its window goes without a screen where there is none.
        missing += machine.missing_for_qt(machine.display_of(dict(os.environ)) or "offscreen")
    elif not WITHOUT_WINDOW.intersection(arguments):
        missing += machine.missing_for_qt(require_display())
    provide(missing)
    set_up()
    return become([str(SCRIPTS / f"nacre{SUFFIX}"), *arguments])


def test(arguments: list[str]) -> int:
    """Run the tests; they draw offscreen. All of them: on several processors at once."""
    provide(machine.missing_for_install() + machine.missing_for_qt("offscreen"))
    set_up()
    os.chdir(ROOT)
    return become([str(PYTHON), "-m", "pytest", *(arguments or SIDE_BY_SIDE)])


def lock(arguments: list[str]) -> int:
    """Write both locks anew: every platform, every Python from the oldest, hashes, no address."""
    provide(machine.missing_for_install())
    with tempfile.TemporaryDirectory() as folder:
        build_tools = Path(folder) / "build.in"
        build_tools.write_text("\n".join(build_requirements()) + "\n", encoding="utf-8")
        write_lock(LOCK, [str(build_tools), "--all-extras", *arguments])
        # The same versions as the tests have seen.
        bundle = [str(build_tools), str(BUNDLE_TOOLS), "--constraint", str(LOCK)]
        write_lock(BUNDLE_LOCK, bundle)
    return 0


def write_lock(target: Path, words: list[str]) -> None:
    uv = shutil.which("uv") or uv_of_venv()
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / target.name
        if target.exists():
            shutil.copyfile(target, result)
        command = [uv, "pip", "compile", str(PROJECT), *words]
        command += ["--universal", "--python-version", ".".join(map(str, OLDEST_PYTHON))]
        command += ["--generate-hashes", "--no-header", "--no-annotate", "--no-emit-index-url"]
        command += ["--no-emit-find-links", "--quiet", "--output-file", str(result)]
        if subprocess.run(command, check=False).returncode:
            raise SetupError(f"uv could not resolve the packages; {target.name} stays as it was.")
        text = result.read_text(encoding="utf-8")
    if ":" + "//" in text:
        raise SetupError(f"{target.name} would name an address; it stays as it was.")
    target.write_text(
        f"# Written by packaging/dev.py lock; not to be edited by hand.\n{text}", encoding="utf-8"
    )
    print(f"{target.relative_to(ROOT)}: {text.count('==')} packages")


def require_python() -> None:
    if sys.version_info[:2] >= OLDEST_PYTHON:
        return
    oldest = ".".join(map(str, OLDEST_PYTHON))
    found = f"{sys.version_info[0]}.{sys.version_info[1]}"
    names = [f"python3.{minor}" for minor in range(14, OLDEST_PYTHON[1] - 1, -1)]
    newer = next((name for name in names if shutil.which(name)), None)
    way_out = (
        f"This machine has one: {newer} {' '.join(sys.argv)}"
        if newer
        else "Install a newer one and start this command with it."
    )
    raise SetupError(f"Nacre needs Python {oldest} or newer, and this is {found}. {way_out}")


def require_display() -> str:
    display = machine.display_of(dict(os.environ))
    if display is None:
        raise SetupError(
            "There is no display to open a window on: neither DISPLAY nor WAYLAND_DISPLAY is set.\n"
            "Start it from a desktop session. Without a window there is: "
            "python3 packaging/dev.py run run --help"
        )
    return display


def provide(missing: list[machine.Need]) -> None:
    """See that the machine has what it needs: install it as root with apt, else say how."""
    if not missing:
        return
    manager = machine.package_manager()
    names = ", ".join(need.name for need in missing)
    if manager is None:
        raise SetupError(
            f"This machine lacks: {names}.\nInstall them with your system's package manager."
        )
    if not machine.may_install():
        line = machine.install_line(missing, manager)
        raise SetupError(f"This machine lacks: {names}.\nThis line installs them:\n\n    {line}")
    packages = machine.packages(missing, manager)
    print(f"Installing system packages: {' '.join(packages)}", flush=True)
    last_words = machine.install_with_apt(packages)
    if last_words:
        raise SetupError(f"apt could not install them:\n{indented(last_words)}")


def set_up() -> None:
    """Make the environment what the lock and the project say, unless its stamp says it is."""
    wanted = stamp()
    if is_current(wanted):
        return
    if not LOCK.exists():
        raise SetupError(f"{LOCK.relative_to(ROOT)} is missing: the copy of Nacre is not complete.")
    if not has_pip():
        make_environment()
    STAMP.unlink(missing_ok=True)
    print("Installing the packages of the lock file (a minute or two at first) …", flush=True)
    pip("install", "--require-hashes", "-r", str(LOCK))
    pip("install", "--no-build-isolation", "--no-deps", "--no-index", "--editable", str(ROOT))
    STAMP.write_text(json.dumps(wanted, indent=1), encoding="utf-8")


def stamp() -> dict[str, str]:
    """What the environment was made from; the folder counts, since scripts in it name it."""
    return {
        "lock": digest(LOCK),
        "project": digest(PROJECT),
        "python": sys.version,
        "folder": str(ROOT),
    }


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest() if file.exists() else ""


def is_current(wanted: dict[str, str]) -> bool:
    try:
        found = json.loads(STAMP.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return found == wanted and PYTHON.exists()


def has_pip() -> bool:
    """Whether `.venv` works, belongs to this Python, and can install into itself."""
    question = "import sys, pip; print(sys.version)"
    try:
        answer = subprocess.run(
            [str(PYTHON), "-I", "-c", question],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
            check=False,
        )
    except OSError:
        return False
    return answer.returncode == 0 and answer.stdout.strip() == sys.version.strip()


def make_environment() -> None:
    print(f"Making {VENV.name} …", flush=True)
    made = subprocess.run(
        [sys.executable, "-I", "-m", "venv", "--clear", str(VENV)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    if made.returncode == 0:
        return
    if not os.access(ROOT, os.W_OK) or "Read-only file system" in made.stdout:
        raise SetupError(f"{ROOT} can't be written to. Copy Nacre into a folder of your own.")
    raise SetupError(f"Python's venv module failed:\n{indented(made.stdout)}")


def pip(*arguments: str) -> None:
    """Run the environment's own pip, quietly; raise SetupError in plain words when it fails."""
    environment = {**os.environ, "PIP_USER": "0", "PIP_REQUIRE_VIRTUALENV": "0"}
    command = [str(PYTHON), "-I", "-m", "pip", "--quiet", "--no-input"]
    done = subprocess.run(
        [*command, "--disable-pip-version-check", *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    if done.returncode == 0:
        return
    folded = done.stdout.casefold()
    meaning = next(
        (text for sign, text in PIP_TROUBLES if sign.casefold() in folded),
        "The packages could not be installed.",
    )
    raise SetupError(f"{meaning}\npip said:\n{indented(done.stdout)}")


def uv_of_venv() -> str:
    if not has_pip():
        make_environment()
    pip("install", "uv")
    return str(SCRIPTS / f"uv{SUFFIX}")


def build_requirements() -> list[str]:
    """The build back end, so that the editable install needs nothing the lock does not hold."""
    # tomllib came with 3.11, and this file must be readable before the version was checked.
    import tomllib  # noqa: PLC0415

    with PROJECT.open("rb") as file:
        return [*tomllib.load(file)["build-system"]["requires"], "editables"]


def become(command: list[str]) -> int:
    """Turn into the command, so that signals and the exit code are its own."""
    sys.stdout.flush()
    if os.name != "nt":
        os.execv(command[0], command)
    # Windows has no exec that keeps the console: wait for the child, which gets Ctrl+C as we do.
    child = subprocess.Popen(command)
    while True:
        try:
            return child.wait()
        except KeyboardInterrupt:
            continue


def words_for(trouble: OSError) -> str:
    if isinstance(trouble, PermissionError) or trouble.errno == errno.EROFS:
        return (
            f"{trouble.filename or ROOT} can't be written to. Copy Nacre into a folder of your own."
        )
    return f"{trouble.strerror or trouble} ({trouble.filename or ROOT})."


def indented(text: str, lines: int = 8) -> str:
    """The last lines that say something, set off from ours."""
    kept = [line for line in text.splitlines() if line.strip()][-lines:]
    return "\n".join(f"    {line}" for line in kept)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
