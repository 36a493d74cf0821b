"""The Debian package: the tree with a control file, put together by dpkg-deb."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
from pathlib import Path

from bundle import BUILD, run
from facts import ROOT, CantBuild, architecture, built_at, facts, filled
from linux_tree import settle, size_of

TEMPLATES = ROOT / "packaging" / "debian"

# Qt and its X11 side are bundled; these are drivers, fonts and what a whole machine shares
# (PLATFORM.md §1.3, proven in a bare chroot by test_packages.py).
DEPENDS = (
    *("ca-certificates", "fonts-dejavu-core | fonts-noto-core", "libdbus-1-3", "libegl1"),
    *(
        "libfontconfig1",
        "libfreetype6",
        "libgl1",
        "libgssapi-krb5-2",
        "libglib2.0-0 | libglib2.0-0t64",
    ),
    *("libstdc++6", "libwayland-client0", "libwayland-cursor0", "libwayland-egl1", "libx11-6"),
    *("libx11-xcb1", "libxcb1", "libxkbcommon0", "zlib1g"),
)


def depends() -> str:
    """With the C library of the machine that it is built on: an older one can't load it."""
    kind, version = platform.libc_ver()
    if kind != "glibc":
        raise CantBuild("A .deb is built on a system with glibc.")
    return ", ".join(sorted((*DEPENDS, f"libc6 (>= {version})")))


def build(tree: Path) -> Path:
    """Makes the package in `build/packages` from a tree, which it takes a copy of."""
    if shutil.which("dpkg-deb") is None:
        raise CantBuild("There is no dpkg-deb here: a .deb is built on Debian or Ubuntu.")
    root = BUILD / "deb"
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(tree, root, symlinks=True)
    name = facts().name
    overrides = root / "usr" / "share" / "lintian" / "overrides"
    overrides.mkdir(parents=True)
    shutil.copyfile(TEMPLATES / "lintian-overrides", overrides / name)
    settle(root)
    control = root / "DEBIAN"
    control.mkdir()
    (control / "control").write_text(control_file(size_of(root)), encoding="utf-8")
    (control / "md5sums").write_text(md5sums(root), encoding="utf-8")
    settle(control)
    out = BUILD / "packages" / f"{name}_{facts().version}_{architecture()[0]}.deb"
    out.parent.mkdir(parents=True, exist_ok=True)
    options = ["--root-owner-group", "-Zxz", "--build"]
    run(["dpkg-deb", *options, str(root), str(out)], more={"SOURCE_DATE_EPOCH": str(built_at())})
    return out


def control_file(size: int) -> str:
    """`size` is that of the installed files in bytes."""
    return filled(
        TEMPLATES / "control",
        ARCHITECTURE=architecture()[0],
        SIZE=str(size // 1024),
        DEPENDS=depends(),
    )


def md5sums(root: Path) -> str:
    lines: list[str] = []
    for folder, folders, names in os.walk(root):
        folders.sort()
        for name in sorted(names):
            file = Path(folder, name)
            place = file.relative_to(root)
            if not file.is_symlink() and place.parts[0] != "DEBIAN":
                digest = hashlib.md5(file.read_bytes(), usedforsecurity=False).hexdigest()
                lines.append(f"{digest}  {place.as_posix()}\n")
    return "".join(lines)
