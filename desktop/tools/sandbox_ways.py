"""What a person can do where there is no sandbox, for the distribution that runs here."""

from contextlib import suppress
from pathlib import Path

_INSTALL = {
    "debian": "sudo apt install bubblewrap",
    "ubuntu": "sudo apt install bubblewrap",
    "fedora": "sudo dnf install bubblewrap",
    "rhel": "sudo dnf install bubblewrap",
    "suse": "sudo zypper install bubblewrap",
    "opensuse": "sudo zypper install bubblewrap",
    "arch": "sudo pacman -S bubblewrap",
    "alpine": "sudo apk add bubblewrap",
    "gentoo": "sudo emerge sys-apps/bubblewrap",
    "void": "sudo xbps-install bubblewrap",
}
# Ubuntu since 23.10 keeps programs without a profile from making user namespaces.
_APPARMOR = (
    "Load the profile that lets bubblewrap do it, then start Nacre again: "
    "sudo apt install apparmor-profiles && "
    "sudo cp /usr/share/apparmor/extra-profiles/bwrap-userns-restrict /etc/apparmor.d/ && "
    "sudo systemctl reload apparmor"
)
_REFUSED = ("uid map", "rtm_newaddr", "permission denied", "operation not permitted", "namespace")
_KNOBS = Path("/proc/sys")


def way_out(trouble: str, *, release: str | None = None, knobs: Path = _KNOBS) -> str:
    """A sentence; `trouble` is what bubblewrap said, empty where it is not there."""
    names = _names(_release() if release is None else release)
    if not trouble:
        command = next((_INSTALL[name] for name in names if name in _INSTALL), "")
        if not command:
            return "Install bubblewrap (the program bwrap), then start Nacre again."
        return f"Install it, then start Nacre again: {command}"
    if not any(word in trouble.lower() for word in _REFUSED):
        return "Try `bwrap --ro-bind / / true` in a terminal; Nacre can use it once that works."
    if _knob(knobs, "kernel/apparmor_restrict_unprivileged_userns") == "1":
        return _APPARMOR
    if _knob(knobs, "kernel/unprivileged_userns_clone") == "0":
        return "Allow it, then start Nacre again: sudo sysctl kernel.unprivileged_userns_clone=1"
    if _knob(knobs, "user/max_user_namespaces") == "0":
        return "Allow it, then start Nacre again: sudo sysctl user.max_user_namespaces=15000"
    return "In a container the one who started it has to allow user namespaces."


def _names(release: str) -> list[str]:
    """The distribution and those it is like, nearest first."""
    lines = (line.partition("=") for line in release.splitlines())
    told = {name: value.strip("\"'") for name, _, value in lines}
    return [*told.get("ID", "").lower().split(), *told.get("ID_LIKE", "").lower().split()]


def _release() -> str:
    for path in (Path("/etc/os-release"), Path("/usr/lib/os-release")):
        with suppress(OSError):
            return path.read_text("utf-8", "replace")
    return ""


def _knob(knobs: Path, name: str) -> str:
    with suppress(OSError):
        return (knobs / name).read_text("utf-8", "replace").strip()
    return ""
