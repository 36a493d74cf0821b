"""What stands in the way of a window, found out before Qt would abort the process for it."""

from collections.abc import Mapping


def display_problem(environment: Mapping[str, str], platform: str) -> str:
    """A sentence with the way out, or '' when a window can be opened (PLATFORM.md §2.2)."""
    if not platform.startswith("linux") or environment.get("QT_QPA_PLATFORM"):
        return ""
    has_wayland = bool(environment.get("WAYLAND_DISPLAY"))
    if not has_wayland and not environment.get("DISPLAY"):
        return (
            "There is no screen to open a window on. Use `nacre run` for a turn without a window."
        )
    if not has_wayland and not _loads("libxcb-cursor.so.0"):
        return (
            "The library libxcb-cursor is missing. "
            "Debian and Ubuntu: apt install libxcb-cursor0. Fedora: dnf install xcb-util-cursor."
        )
    return ""


def _loads(name: str) -> bool:
    import ctypes

    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True
