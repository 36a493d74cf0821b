"""What the machine itself must bring before Nacre can be installed or drawn.

Qt ends the process with an abort, and without a usable name, when a system library is missing, so
this looks first. It knows the libraries by the name the loader asks for, and the package that holds
each of them for the package managers of the larger Linux families. Windows and macOS bring all of
it themselves. Standard library only.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

CERTIFICATE_BUNDLES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)
FONT_SUFFIXES = (".ttf", ".otf", ".ttc", ".pfb")


@dataclass(frozen=True)
class Need:
    """One thing the machine must have, and its package under each package manager."""

    name: str
    apt: str
    dnf: str
    zypper: str
    pacman: str

    def package(self, manager: str) -> str:
        return {
            "apt-get": self.apt,
            "dnf": self.dnf,
            "zypper": self.zypper,
            "pacman": self.pacman,
        }[manager]


# Every Qt program, a window or not, loads these.
QT_LIBRARIES = (
    Need("libGL.so.1", "libgl1", "libglvnd-glx", "libglvnd", "libglvnd"),
    Need("libEGL.so.1", "libegl1", "libglvnd-egl", "libglvnd", "libglvnd"),
    Need("libxkbcommon.so.0", "libxkbcommon0", "libxkbcommon", "libxkbcommon0", "libxkbcommon"),
    Need("libglib-2.0.so.0", "libglib2.0-0", "glib2", "libglib-2_0-0", "glib2"),
    Need("libgthread-2.0.so.0", "libglib2.0-0", "glib2", "libgthread-2_0-0", "glib2"),
    Need("libfontconfig.so.1", "libfontconfig1", "fontconfig", "fontconfig", "fontconfig"),
    Need("libfreetype.so.6", "libfreetype6", "freetype", "libfreetype6", "freetype2"),
    Need("libdbus-1.so.3", "libdbus-1-3", "dbus-libs", "libdbus-1-3", "dbus"),
)

# A window on X11 loads these too; Qt names only the first of them when one is missing.
X11_LIBRARIES = (
    Need(
        "libxcb-cursor.so.0",
        "libxcb-cursor0",
        "xcb-util-cursor",
        "libxcb-cursor0",
        "xcb-util-cursor",
    ),
    Need("libxcb-icccm.so.4", "libxcb-icccm4", "xcb-util-wm", "libxcb-icccm4", "xcb-util-wm"),
    Need("libxcb-image.so.0", "libxcb-image0", "xcb-util-image", "libxcb-image0", "xcb-util-image"),
    Need(
        "libxcb-keysyms.so.1",
        "libxcb-keysyms1",
        "xcb-util-keysyms",
        "libxcb-keysyms1",
        "xcb-util-keysyms",
    ),
    Need(
        "libxcb-render-util.so.0",
        "libxcb-render-util0",
        "xcb-util-renderutil",
        "libxcb-render-util0",
        "xcb-util-renderutil",
    ),
    Need("libxcb-randr.so.0", "libxcb-randr0", "libxcb", "libxcb-randr0", "libxcb"),
    Need("libxcb-render.so.0", "libxcb-render0", "libxcb", "libxcb-render0", "libxcb"),
    Need("libxcb-shape.so.0", "libxcb-shape0", "libxcb", "libxcb-shape0", "libxcb"),
    Need("libxcb-shm.so.0", "libxcb-shm0", "libxcb", "libxcb-shm0", "libxcb"),
    Need("libxcb-sync.so.1", "libxcb-sync1", "libxcb", "libxcb-sync1", "libxcb"),
    Need("libxcb-xfixes.so.0", "libxcb-xfixes0", "libxcb", "libxcb-xfixes0", "libxcb"),
    Need("libxcb-xkb.so.1", "libxcb-xkb1", "libxcb", "libxcb-xkb1", "libxcb"),
    Need("libX11-xcb.so.1", "libx11-xcb1", "libX11-xcb", "libX11-xcb1", "libx11"),
    Need(
        "libxkbcommon-x11.so.0",
        "libxkbcommon-x11-0",
        "libxkbcommon-x11",
        "libxkbcommon-x11-0",
        "libxkbcommon-x11",
    ),
)

WAYLAND_LIBRARIES = (
    Need(
        "libwayland-client.so.0",
        "libwayland-client0",
        "libwayland-client",
        "libwayland-client0",
        "wayland",
    ),
    Need(
        "libwayland-cursor.so.0",
        "libwayland-cursor0",
        "libwayland-cursor",
        "libwayland-cursor0",
        "wayland",
    ),
)

CERTIFICATES = Need("root certificates", *("ca-certificates",) * 4)
FONT = Need("a font", "fonts-dejavu-core", "dejavu-sans-fonts", "dejavu-fonts", "ttf-dejavu")


def venv_need() -> Need:
    """The package that completes the standard library's venv; Debian keeps a part of it apart."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    dotless = version.replace(".", "")
    return Need(
        "Python's venv module",
        apt=f"python{version}-venv",
        dnf=f"python{version}-libs",
        zypper=f"python{dotless}-base",
        pacman="python",
    )


def missing_for_install() -> list[Need]:
    """What is missing for making the environment and fetching packages, in order of need."""
    if not sys.platform.startswith("linux"):
        return []
    missing: list[Need] = []
    if importlib.util.find_spec("venv") is None or importlib.util.find_spec("ensurepip") is None:
        missing.append(venv_need())
    if not has_certificates():
        missing.append(CERTIFICATES)
    return missing


def missing_for_qt(display: str) -> list[Need]:
    """What Qt would miss on this display: `offscreen`, `x11` or `wayland`."""
    if not sys.platform.startswith("linux"):
        return []
    wanted = list(QT_LIBRARIES)
    if display == "x11":
        wanted += X11_LIBRARIES
    if display == "wayland":
        wanted += WAYLAND_LIBRARIES
    missing = [need for need in wanted if not loads(need.name)]
    if not has_font():
        missing.append(FONT)
    return missing


def loads(soname: str) -> bool:
    """Whether the loader finds a shared library, asked of the loader itself."""
    try:
        ctypes.CDLL(soname)
    except OSError:
        return False
    return True


def has_certificates() -> bool:
    if os.environ.get("SSL_CERT_FILE") or os.environ.get("SSL_CERT_DIR"):
        return True
    return any(Path(bundle).exists() for bundle in CERTIFICATE_BUNDLES)


def has_font() -> bool:
    data_folders = os.environ.get("XDG_DATA_DIRS") or "/usr/local/share:/usr/share"
    folders = [Path(folder) / "fonts" for folder in data_folders.split(":") if folder]
    home = Path.home()
    folders += [Path("/usr/share/fonts"), home / ".fonts", home / ".local/share/fonts"]
    return any(
        file.endswith(FONT_SUFFIXES)
        for folder in folders
        for _, _, files in os.walk(folder)
        for file in files
    )


def display_of(environment: dict[str, str]) -> str | None:
    """What Qt will draw on: `x11`, `wayland`, `offscreen`, `native`; None for nothing."""
    if not sys.platform.startswith("linux"):
        return "native"
    chosen = environment.get("QT_QPA_PLATFORM", "").split(";")[0].split(":")[0]
    if chosen and chosen not in ("xcb", "wayland"):
        return "offscreen"
    x11 = bool(environment.get("DISPLAY"))
    wayland = bool(environment.get("WAYLAND_DISPLAY"))
    if chosen == "xcb" or (x11 and not wayland):
        return "x11" if x11 else None
    return "wayland" if wayland else None


def package_manager() -> str | None:
    for manager in ("apt-get", "dnf", "zypper", "pacman"):
        if shutil.which(manager):
            return manager
    return None


def install_line(missing: list[Need], manager: str) -> str:
    """The one line a person types to get everything that is missing."""
    verb = {
        "apt-get": "apt install",
        "dnf": "dnf install",
        "zypper": "zypper install",
        "pacman": "pacman -S",
    }[manager]
    return f"sudo {verb} {' '.join(packages(missing, manager))}"


def packages(missing: list[Need], manager: str) -> list[str]:
    """Package names, each once, in order."""
    return list(dict.fromkeys(need.package(manager) for need in missing))


def may_install() -> bool:
    """Only root on a machine with apt is served without being asked: containers and CI."""
    return hasattr(os, "geteuid") and os.geteuid() == 0 and package_manager() == "apt-get"


def install_with_apt(names: list[str]) -> str:
    """Install packages as root; returns apt's last words when it failed, nothing when it worked."""
    # An update that failed in part is no matter when the packages come all the same.
    apt("update", "-qq")
    done = apt("install", "-y", "-qq", "--no-install-recommends", *names)
    return done.stdout if done.returncode else ""


def apt(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run apt-get without a question; stdout holds all it said."""
    return subprocess.run(
        ["apt-get", *arguments],
        env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
