"""The package for Fedora, openSUSE and their kin, from the same tree."""

from __future__ import annotations

import os
import platform
import shutil
from pathlib import Path

from bundle import BUILD, run
from facts import ROOT, CantBuild, architecture, built_at, facts, filled

TEMPLATE = ROOT / "packaging" / "rpm" / "nacre.spec"

# By library where names of packages differ between the families.
REQUIRES = (
    *("ca-certificates", "dejavu-sans-fonts", "libdbus-1.so.3()(64bit)", "libEGL.so.1()(64bit)"),
    *("libfontconfig.so.1()(64bit)", "libfreetype.so.6()(64bit)", "libGL.so.1()(64bit)"),
    *("libglib-2.0.so.0()(64bit)", "libstdc++.so.6()(64bit)", "libX11.so.6()(64bit)"),
    *("libwayland-client.so.0()(64bit)", "libwayland-cursor.so.0()(64bit)"),
    *("libwayland-egl.so.1()(64bit)", "libgssapi_krb5.so.2()(64bit)"),
    *("libX11-xcb.so.1()(64bit)", "libxcb.so.1()(64bit)", "libxkbcommon.so.0()(64bit)"),
)


def build(tree: Path) -> Path:
    if shutil.which("rpmbuild") is None:
        raise CantBuild("There is no rpmbuild here; on Debian the package `rpm` has it.")
    top = BUILD / "rpm"
    shutil.rmtree(top, ignore_errors=True)
    top.mkdir(parents=True)
    copy = top / "tree"
    shutil.copytree(tree, copy, symlinks=True)
    spec = top / "nacre.spec"
    spec.write_text(spec_file(copy), encoding="utf-8")
    machine = architecture()[1]
    defines = {
        "_topdir": str(top),
        "use_source_date_epoch_as_buildtime": "1",
        "clamp_mtime_to_source_date_epoch": "1",
        "_buildhost": "localhost",
    }
    words = [word for name, value in defines.items() for word in ("--define", f"{name} {value}")]
    run(
        ["rpmbuild", "-bb", "--target", machine, *words, str(spec)],
        more={"SOURCE_DATE_EPOCH": str(built_at())},
    )
    (made,) = (top / "RPMS").rglob("*.rpm")
    out = BUILD / "packages" / made.name
    out.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(made, out)
    return out


def spec_file(tree: Path) -> str:
    requires = (*REQUIRES, f"glibc >= {platform.libc_ver()[1]}")
    return filled(
        TEMPLATE,
        REQUIRES="\n".join(f"Requires: {one}" for one in requires),
        TREE=str(tree),
        FILES="\n".join(files_of(tree)),
    )


def files_of(tree: Path) -> list[str]:
    """What the package owns: its own folders whole, and single files in those of the system."""
    name = facts().name
    own = (f"/usr/lib/{name}", f"/usr/share/doc/{name}")
    found = [f"%defattr(-,root,root,-)\n{own[0]}\n%doc {own[1]}"]
    for folder, folders, names in os.walk(tree):
        here = "/" + Path(folder).relative_to(tree).as_posix()
        folders[:] = sorted(one for one in folders if f"{here}/{one}" not in own)
        found += [f"{here}/{one}" for one in sorted(names)]
    return found
