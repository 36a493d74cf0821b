"""`nacre --selftest`: whether this installation is whole, as JSON for whoever packages it or asks
why it does not start. Nothing is loaded here that could be missing; that would be a finding."""

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from desktop import paths
from desktop.app import restore_import


def prove_installation() -> int:
    """`nacre --selftest`: prints what was found as JSON; 0 when all of it is well, else 1.

    Works in a folder of its own, which it removes, and draws offscreen where there is no screen.
    """
    report: dict[str, Any] = {}
    has_screen = bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
    if sys.platform == "linux" and not has_screen and not os.environ.get("QT_QPA_PLATFORM"):
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
    with tempfile.TemporaryDirectory(prefix="nacre-selftest-") as place:
        folder = paths.DataFolder(Path(place) / "data")
        try:
            restore_import()
            from desktop.headless.proving import findings

            report |= findings(folder)
            report |= _window_findings(folder)
        except Exception as error:  # a library that is missing ends an import
            report["program"] = {"ok": False, "problem": f"{type(error).__name__}: {error}"}
    is_well = all(one["ok"] for one in report.values())
    print(json.dumps({"ok": is_well, **report}, indent=2, default=str))
    return 0 if is_well else 1


def _window_findings(folder: paths.DataFolder) -> dict[str, Any]:
    from desktop.app.front_door import FrontDoor
    from desktop.app.selftest import proof_into
    from desktop.app.start import open_window

    found: dict[str, Any] = {"window": {"ok": False, "problem": "it could not be opened"}}
    open_window(paths.Choice(folder, "argument"), FrontDoor(folder, None), errand=proof_into(found))
    return found
