"""What every package says of the program, from one place: `pyproject.toml` and the fragments of
the changelog."""

from __future__ import annotations

import email.utils
import os
import platform
import subprocess
import time
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
CHANGELOG = ROOT / "packaging" / "changelog"
# Nothing of it can be dated before its first commit; for a copy without a history.
OLDEST = 1_767_225_600

ARCHITECTURES = {"x86_64": ("amd64", "x86_64"), "aarch64": ("arm64", "aarch64")}


class CantBuild(Exception):
    """Something a person can mend; the text says what and how."""


@dataclass(frozen=True, slots=True)
class Facts:
    """`app_id` names the desktop file, the icon and the AppStream component alike."""

    name: str
    version: str
    summary: str
    licence: str
    app_id: str
    maintainer: str

    @property
    def maintainer_name(self) -> str:
        return email.utils.parseaddr(self.maintainer)[0]


@cache
def facts() -> Facts:
    with (ROOT / "pyproject.toml").open("rb") as file:
        held: dict[str, Any] = tomllib.load(file)
    project, packages = held["project"], held["tool"]["nacre"]["packages"]
    return Facts(
        name=project["name"],
        version=project["version"],
        summary=project["description"],
        licence=project["license"],
        app_id=packages["app-id"],
        maintainer=packages["maintainer"],
    )


def fragments() -> list[str]:
    """What changed, the newest first, each as one line."""
    files = sorted(CHANGELOG.glob("[0-9]*.md"), reverse=True)
    return [" ".join(file.read_text(encoding="utf-8").split()) for file in files]


@cache
def built_at() -> int:
    """Seconds since 1970 that every file of a package is dated at: SOURCE_DATE_EPOCH, else the
    last commit. Building the same sources twice gives the same bytes."""
    named = os.environ.get("SOURCE_DATE_EPOCH", "")
    if named.isdigit():
        return int(named)
    told = subprocess.run(
        ["git", "-C", str(ROOT), "log", "-1", "--format=%ct"],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    return int(told.stdout) if told.returncode == 0 and told.stdout.strip() else OLDEST


def date(form: str) -> str:
    return time.strftime(form, time.gmtime(built_at()))


def architecture() -> tuple[str, str]:
    """This machine's name with Debian and with everybody else."""
    machine = platform.machine()
    if machine not in ARCHITECTURES:
        raise CantBuild(f"No package is made for {machine} machines yet.")
    return ARCHITECTURES[machine]


def filled(template: Path, **more: str) -> str:
    """A template's text, with @NAME@ for each fact and for what is added."""
    known = facts()
    values = {
        "NAME": known.name,
        "VERSION": known.version,
        "SUMMARY": known.summary,
        "LICENCE": known.licence,
        "APP_ID": known.app_id,
        "MAINTAINER": known.maintainer,
        "MAINTAINER_NAME": known.maintainer_name,
        "DATE": date("%Y-%m-%d"),
        **more,
    }
    text = template.read_text(encoding="utf-8")
    for name, value in values.items():
        text = text.replace(f"@{name}@", value)
    return text
