"""The AppImage: the tree with a starter at its top, packed by appimagetool where there is one."""

from __future__ import annotations

import shutil
from pathlib import Path

from bundle import BUILD, run
from facts import CantBuild, architecture, built_at, facts

STARTER = """\
#!/bin/sh
# Relative to where the image is mounted, which differs with every start.
exec "$(dirname "$(readlink -f "$0")")/usr/lib/nacre/nacre" "$@"
"""


def build(tree: Path) -> Path:
    """Raises CantBuild where the tool is absent; what it would pack is laid out all the same."""
    folder = lay_out(tree)
    tool = shutil.which("appimagetool")
    if tool is None:
        raise CantBuild(
            f"AppImage skipped: there is no appimagetool here. It would pack {folder}. Get it from "
            "the AppImage project, put it on the PATH and run this again."
        )
    machine = architecture()[1]
    out = BUILD / "packages" / f"Nacre-{facts().version}-{machine}.AppImage"
    out.parent.mkdir(parents=True, exist_ok=True)
    more = {"ARCH": machine, "SOURCE_DATE_EPOCH": str(built_at())}
    run([tool, "--no-appstream", str(folder), str(out)], more=more)
    return out


def lay_out(tree: Path) -> Path:
    folder = BUILD / "Nacre.AppDir"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(tree, folder, symlinks=True)
    name = facts().app_id
    starter = folder / "AppRun"
    starter.write_text(STARTER, encoding="utf-8")
    starter.chmod(0o755)
    (folder / f"{name}.desktop").symlink_to(f"usr/share/applications/{name}.desktop")
    (folder / f"{name}.png").symlink_to(f"usr/share/icons/hicolor/256x256/apps/{name}.png")
    (folder / ".DirIcon").symlink_to(f"{name}.png")
    return folder
