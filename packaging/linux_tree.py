"""The files of a Linux package, laid out as they will lie on the machine (FHS), for .deb, .rpm
and AppImage alike: the program below `/usr/lib`, and all that makes a desktop know it."""

from __future__ import annotations

import email.utils
import gzip
import os
import re
import shutil
import textwrap
from pathlib import Path

from facts import ROOT, built_at, facts, filled, fragments

TEMPLATES = ROOT / "packaging" / "linux"
SIZES = (16, 22, 24, 32, 48, 64, 96, 128, 256, 512)
ICONS = ROOT / "resources" / "icons"
MOST_CHANGES = 8  # in the description of a release, which software centres show


def lay_out(bundle: Path, icons: Path, target: Path) -> Path:
    """Makes `target` anew from a bundle and drawn icons; returns it."""
    shutil.rmtree(target, ignore_errors=True)
    usr, known = target / "usr", facts()
    shutil.copytree(bundle, usr / "lib" / known.name, symlinks=True)
    (usr / "bin").mkdir()
    (usr / "bin" / known.name).symlink_to(f"../lib/{known.name}/{known.name}")
    share = usr / "share"
    _write(share / "applications" / f"{known.app_id}.desktop", desktop_file())
    _write(share / "metainfo" / f"{known.app_id}.metainfo.xml", metainfo())
    _icons(icons, share / "icons" / "hicolor")
    page = filled(TEMPLATES / "nacre.1").encode()
    _write_zipped(share / "man" / "man1" / f"{known.name}.1.gz", page)
    doc = share / "doc" / known.name
    doc.mkdir(parents=True)
    shutil.copyfile(ROOT / "packaging" / "debian" / "copyright", doc / "copyright")
    _write_zipped(doc / "changelog.gz", changelog().encode())
    settle(target)
    return target


def desktop_file() -> str:
    return filled(TEMPLATES / "nacre.desktop")


def metainfo() -> str:
    changes = "\n".join(f"        <p>{_escaped(one)}</p>" for one in fragments()[:MOST_CHANGES])
    return filled(TEMPLATES / "metainfo.xml", CHANGES=changes)


def changelog() -> str:
    """In Debian's form, which others can read too."""
    known = facts()
    lines = [f"{known.name} ({known.version}) unstable; urgency=medium", ""]
    for text in fragments():
        words = _wrapped(text, 74)
        lines += [f"  * {words[0]}", *(f"    {word}" for word in words[1:])]
    when = email.utils.formatdate(built_at())
    return "\n".join([*lines, "", f" -- {known.maintainer}  {when}", ""])


def settle(tree: Path) -> None:
    """Modes and dates that do not depend on who built it and when."""
    for folder, _, names in os.walk(tree, topdown=False):
        for place in [*(Path(folder, name) for name in names), Path(folder)]:
            if not place.is_symlink():
                is_run = place.is_dir() or (place.stat().st_mode & 0o111 and _is_program(place))
                place.chmod(0o755 if is_run else 0o644)
            os.utime(place, (built_at(), built_at()), follow_symlinks=False)


def size_of(tree: Path) -> int:
    """Bytes of all files."""
    return sum(
        Path(folder, name).lstat().st_size for folder, _, names in os.walk(tree) for name in names
    )


def _is_program(file: Path) -> bool:
    return ".so" not in file.name


def _icons(drawn: Path, hicolor: Path) -> None:
    name = facts().app_id
    for size in SIZES:
        place = hicolor / f"{size}x{size}" / "apps"
        place.mkdir(parents=True)
        shutil.copyfile(drawn / f"{size}.png", place / f"{name}.png")
    for source, folder, suffix in (
        ("nacre", "scalable", ""),
        ("nacre-symbolic", "symbolic", "-symbolic"),
    ):
        place = hicolor / folder / "apps"
        place.mkdir(parents=True)
        shutil.copyfile(ICONS / f"{source}.svg", place / f"{name}{suffix}.svg")


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def _write_zipped(file: Path, data: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(gzip.compress(data, 9, mtime=0))


def _escaped(text: str) -> str:
    text = re.sub(r"`([^`]*)`", r"\1", text)
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)
