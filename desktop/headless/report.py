"""What Nacre can say of itself to one who looks for a fault: `nacre doctor`, Help → Diagnostics.

No key and no text of a conversation is in it. What is to be given away names no home folder.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from desktop.diagnostics import Redaction, environment_report
from desktop.headless.crashes import crash_left
from desktop.headless.last_errors import last_errors
from desktop.headless.runtime import Runtime
from desktop.headless.sandboxing import confinement_report
from desktop.paths import DataFolder
from desktop.store.plain import SQLITE


async def examine(runtime: Runtime) -> dict[str, Any]:
    """Versions, places, key and sandbox; not the log itself, which takes as long as it is large."""
    state = runtime.access.state()
    return {
        **environment_report(runtime.folder, sqlite=SQLITE),
        "key": state.key_source,
        "server": state.base_url or "the provider's own",
        "keyring": state.keyring or "not asked",
        "keyFile": state.key_file or "none",
        "sandbox": confinement_report(await runtime.confinement()),
    }


def lines(report: Mapping[str, Any], indent: str = "") -> Iterator[str]:
    """The report for people: a name and a value a line, what belongs together set in."""
    for key, value in report.items():
        if isinstance(value, Mapping):
            yield f"{indent}{key}:"
            yield from lines(value, indent + "  ")
        else:
            yield f"{indent}{key}: {value}"


async def about_window(folder: DataFolder, runtime: Runtime | None) -> dict[str, Any]:
    """`examine`, or what can be told while the log is not open."""
    if runtime is not None:
        return await examine(runtime)
    return {**environment_report(folder, sqlite=SQLITE), "log": "not open"}


def written(report: Mapping[str, Any], logs: Path, *, home: Path, now: datetime) -> str:
    """The whole text that can be given away. Blocks: it reads the log."""
    errors = last_errors(logs) or ["none"]
    when, crash = crash_left(logs)
    parts = [
        f"Diagnostics of Nacre, {now.isoformat(timespec='seconds')}",
        "\n".join(lines(report)),
        "\n".join(["Last errors, without what was in them", *errors]),
        *([f"Last crash, {when}\n{crash}"] if crash else []),
    ]
    return shortened(Redaction().clean("\n\n".join(parts)), home).strip() + "\n"


def shortened(text: str, home: Path) -> str:
    """The text with `~` for the home folder, under whatever name."""
    for name in sorted({str(home), str(home.resolve())}, key=len, reverse=True):
        if name not in ("", home.anchor):
            text = re.sub(re.escape(name) + r"(?![\w.-])", "~", text)
    return text
