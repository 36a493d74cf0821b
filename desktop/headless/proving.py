"""What `nacre --selftest` finds out about an installation beside the window.

Each finding is a dictionary with `ok` and, where it is not, a `problem` with the way out. Nothing
of the person's is read or changed: the keyring is only looked at (PLATFORM.md §1.2).
"""

import importlib
import os
import pkgutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from typing import Any, cast

from desktop.core.chunks import LogChunk, System
from desktop.credentials.status import KeyringError
from desktop.credentials.store import open_system
from desktop.diagnostics import LIBRARIES, environment_report
from desktop.headless.runtime import Runtime
from desktop.paths import DataFolder
from desktop.store.features import NEEDED, missing_features
from desktop.store.plain import SQLITE
from desktop.tools.environment import scrubbed_environment

Finding = dict[str, Any]

CHILD_SECONDS = 20.0
_ONLY_LINUX = frozenset({"SecretStorage"})
# The child's words come from us; the shell is the one that every machine has.
_PRINT_ENVIRONMENT = ("cmd", "/c", "set") if sys.platform == "win32" else ("/bin/sh", "-c", "env")


def findings(folder: DataFolder) -> dict[str, Finding]:
    """All that needs no window. Blocks for a second or more; never raises."""
    checks: dict[str, Callable[[], Finding]] = {
        "modules": _modules,
        "versions": lambda: _versions(folder),
        "sqlite": _sqlite,
        "certificates": _certificates,
        "keyring": _keyring,
        "children": lambda: _children(os.environ, _bundle()),
    }
    return {name: tried(check) for name, check in checks.items()}


def tried(check: Callable[[], Finding]) -> Finding:
    """What a check finds; an error of any kind is a finding too."""
    try:
        return check()
    except Exception as error:
        return {"ok": False, "problem": f"{type(error).__name__}: {error}"}


async def turn_of(runtime: Runtime) -> Finding:
    """How the last turn of the newest conversation ended, as it stands in the log."""
    view = await runtime.catalogue.view()
    last = max(view.tabs, key=lambda tab: tab.created_at, default=None)
    if last is None:
        return {"ok": False, "problem": "no conversation was begun"}
    page = await runtime.reader.page(last.id, limit=100)
    sealed = [row.data for row in page.rows if isinstance(row, LogChunk)]
    ends = [data for data in sealed if isinstance(data, System)]
    outcomes = [str(end.fields.get("outcome", "")) for end in ends if end.kind == "turn_end"]
    outcome = outcomes[-1] if outcomes else "none"
    found: Finding = {"ok": outcome == "done", "outcome": outcome, "rows": len(page.rows)}
    return found if found["ok"] else {**found, "problem": "the tour's turn did not come to its end"}


def _modules() -> Finding:
    """Everything is there: most of the program is loaded when it is first needed, perhaps never."""
    own = importlib.import_module("desktop")
    names = [one.name for one in pkgutil.walk_packages(own.__path__, "desktop.")]
    problems: list[str] = []
    for name in names:
        if name != "desktop.__main__":
            try:
                importlib.import_module(name)
            except Exception as error:
                problems.append(f"{name}: {type(error).__name__}: {error}")
    found: Finding = {"ok": not problems and len(names) > 1, "count": len(names)}
    return found if found["ok"] else {**found, "problem": "; ".join(problems) or "there are none"}


def _versions(folder: DataFolder) -> Finding:
    report = environment_report(folder, sqlite=SQLITE)
    libraries = cast("Mapping[str, str | None]", report["libraries"])
    missing = [
        name
        for name in LIBRARIES
        if libraries[name] is None and (sys.platform == "linux" or name not in _ONLY_LINUX)
    ]
    found: Finding = {
        "ok": not missing and report["nacre"] is not None,
        **{name: report[name] for name in ("nacre", "python", "qt", "frozen", "platform")},
        "libraries": dict(libraries),
    }
    if not found["ok"]:
        found["problem"] = (
            f"no metadata of: {', '.join(missing or ['nacre'])}. Install Nacre again."
        )
    return found


def _sqlite() -> Finding:
    missing = missing_features()
    found: Finding = {
        "ok": not missing,
        "version": SQLITE,
        "features": {name: name not in missing for name in NEEDED},
    }
    if missing:
        found["problem"] = f"this SQLite lacks: {', '.join(missing)}"
    return found


def _certificates() -> Finding:
    from desktop.wire.sdk import authorities

    count = authorities()
    found: Finding = {"ok": count > 0, "count": count}
    if not count:
        found["problem"] = "No root certificates were found. Install the package ca-certificates."
    return found


def _keyring() -> Finding:
    """The backend must be one that keeps secrets; that this machine has no service is no fault of
    the installation."""
    try:
        backend = open_system()
    except KeyringError as error:
        status = error.status
        backend_name = "none"
    else:
        status = backend.look()
        backend_name = str(getattr(backend, "name", type(backend).__name__))
    found: Finding = {"ok": True, "backend": backend_name, "state": status.state}
    if status.state != "ready":
        found["note"] = f"{status.sentence} {status.way_out}".strip()
    if backend_name == "none":
        found |= {"ok": False, "problem": status.sentence}
    return found


def _bundle() -> str:
    return str(getattr(sys, "_MEIPASS", "")) if getattr(sys, "frozen", False) else ""


def _children(environment: Mapping[str, str], bundle: str) -> Finding:
    """Whether a command of the agent, and a program that the desktop opens, see a clean machine."""
    leaks: dict[str, list[str]] = {}
    for name, given in (
        ("ofCommands", scrubbed_environment(environment)),
        ("ofOthers", dict(environment)),
    ):
        told = subprocess.run(
            _PRINT_ENVIRONMENT,
            env=given,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=CHILD_SECONDS,
            check=True,
        )
        leaks[name] = sorted(leaking(os.fsdecode(told.stdout), bundle))
    found: Finding = {"ok": not any(leaks.values()), "leaks": leaks}
    if not found["ok"]:
        found["problem"] = "Programs that Nacre starts would load Nacre's own libraries."
    return found


def leaking(printed: str, bundle: str) -> set[str]:
    """The variables of a printed environment that lead into the bundle, or are its packager's."""
    found: set[str] = set()
    for line in printed.splitlines():
        name, is_variable, value = line.partition("=")
        if not is_variable or name in ("_", "PWD", "OLDPWD"):
            continue
        if name.startswith(("_PYI_", "_MEIPASS")) or (bundle and bundle in value):
            found.add(name)
    return found
