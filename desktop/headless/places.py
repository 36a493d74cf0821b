"""What the person should know about the disk that the data folder lies on.

A folder that another program or computer writes to as well (a network disk, a synchronised folder)
can damage a database, and a disk without room can't take what is said; both are told in a sentence.
"""

import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path, PurePath
from typing import Any

from desktop.core.tools import LEAST_FREE
from desktop.feed.timing import Start
from desktop.headless.rounds import Later, every
from desktop.tools import threads
from desktop.tools.output import readable

LOOK_SECONDS = 60.0
NOTICE = "disk"
# It has to become so much better before it can be told again.
RELIEF = 2

_MOUNTS = Path("/proc/self/mounts")
# Names that the programs give to the folders they synchronise, whole or before a blank or a dash.
_SYNCHRONISED = re.compile(
    r"(OneDrive|Dropbox|iCloud ?Drive|Google ?Drive|Nextcloud|ownCloud|pCloud ?Drive|Box Sync)"
    r"([ -].*)?",
    re.IGNORECASE,
)
_APPLE = {("Library", "Mobile Documents"), ("Library", "CloudStorage")}
_NETWORK = frozenset(
    {
        "nfs",
        "nfs3",
        "nfs4",
        "cifs",
        "smbfs",
        "smb2",
        "smb3",
        "afs",
        "ncpfs",
        "9p",
        "ceph",
        "glusterfs",
        "lustre",
        "davfs",
        "coda",
    }
)
# File systems in a program of their own that lie on this computer all the same.
_LOCAL_FUSE = frozenset(
    {
        "ntfs",
        "ntfs-3g",
        "exfat",
        "mergerfs",
        "bindfs",
        "encfs",
        "gocryptfs",
        "cryfs",
        "securefs",
        "fuse-overlayfs",
        "lxcfs",
    }
)
_ESCAPED = re.compile(r"\\([0-7]{3})")
_DRIVE_REMOTE = 4


def shared_folder(folder: Path) -> str:
    """A sentence where another computer or program may write the folder too (SPEC U16); else ''.

    Looks at names and at the table of mounts, links resolved; blocks for as long as that takes.
    """
    try:
        real = Path(os.path.realpath(folder))
    except (OSError, ValueError):
        return ""
    name = _synchronised(folder) or _synchronised(real)
    if name:
        return (
            f"The data folder {folder} lies in a folder that is synchronised ({name}). The program"
            " that does it can damage the database. Move it to a folder of this computer alone, or"
            " choose another one with --data-dir; a backup may be kept there."
        )
    kind = _network_kind(real)
    if kind:
        return (
            f"The data folder {folder} lies on a network disk ({kind}). Locks do not hold there,"
            " and the database can be damaged. Choose a folder on a disk of this computer with"
            " --data-dir; a backup may be kept there."
        )
    return ""


def network_kind(mounts: Iterable[str], folder: PurePath) -> str:
    """The type of the file system that holds a folder if it is one of the network, else ''.

    `mounts` are lines of /proc/self/mounts.
    """
    best, kind = -1, ""
    for line in mounts:
        fields = line.split()
        if len(fields) < 3:
            continue
        place = PurePath(_ESCAPED.sub(lambda code: chr(int(code[1], 8)), fields[1]))
        # A later mount at the same place covers the one before.
        if len(place.parts) >= best and folder.is_relative_to(place):
            best, kind = len(place.parts), fields[2]
    program = kind.removeprefix("fuse.")
    if kind in _NETWORK or (kind != program and program not in _LOCAL_FUSE):
        return kind
    return ""


def _network_kind(real: Path) -> str:
    if sys.platform == "win32":
        return _windows_kind(real)
    try:
        lines = _MOUNTS.read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return ""
    return network_kind(lines, real)


def _windows_kind(real: Path) -> str:
    if real.drive.startswith("\\\\"):
        return "a shared folder"
    import ctypes

    windll: Any = getattr(ctypes, "windll")  # noqa: B009 (only there on Windows)
    remote = windll.kernel32.GetDriveTypeW(f"{real.drive}\\") == _DRIVE_REMOTE
    return f"drive {real.drive}" if remote else ""


def _synchronised(folder: PurePath) -> str:
    """The part of the path that a synchronising program made, else ''."""
    parts = folder.parts
    for at, part in enumerate(parts):
        if _SYNCHRONISED.fullmatch(part) or (at and (parts[at - 1], part) in _APPLE):
            return part
    return ""


def low_disk(folder: Path, *, least_free: int = LEAST_FREE) -> str:
    """A sentence where the folder's disk has less room than that (SPEC U08), else ''."""
    free = _free(folder)
    if free is None or free >= least_free:
        return ""
    return (
        f"Only {readable(free)} are free on the disk of {folder}. What is said is still kept, but"
        " long outputs of commands are not. Free some space on this disk."
    )


class DiskWatch:
    """Tells once when the disk gets short of room, and takes it back when there is enough."""

    def __init__(
        self,
        folder: Path,
        *,
        stand: Callable[[str, str, str], None],
        least_free: int = LEAST_FREE,
    ) -> None:
        self._folder = folder
        self._stand = stand
        self._least_free = least_free
        self._is_low = False

    def watch(self, later: Later, start: Start) -> None:
        """Looks now, then every minute."""
        every(LOOK_SECONDS, self.look, "look at the disk", later=later, start=start)

    async def look(self) -> None:
        bound = self._least_free * (RELIEF if self._is_low else 1)
        sentence = await threads.start(
            partial(low_disk, self._folder, least_free=bound), "nacre-disk"
        )
        if bool(sentence) != self._is_low:
            self._is_low = bool(sentence)
            self._stand(NOTICE, sentence, "")


def _free(folder: Path) -> int | None:
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return None
