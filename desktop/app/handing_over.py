"""What a second start says to the window that is open, and where it finds it.

One line of JSON each way over a socket that only this user can reach. What comes is checked as if
a stranger had sent it.
"""

import hashlib
import json
import os
import re
import stat
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from desktop.core.errors import NacreError
from desktop.core.links import Place, parse_place, spelled
from desktop.paths import DataFolder

Answer = Literal["done", "ending", "no"]

LONGEST = 8192  # bytes of a message
_LONGEST_ADDRESS = 100  # of the 108 bytes that the system has for a socket's path
_TOKEN = re.compile(r"[!-~]{0,256}")


@dataclass(frozen=True, slots=True)
class Message:
    """What to open (None: only come to the front), and the desktop's leave to take the focus."""

    place: Place | None = None
    token: str = ""

    def encode(self) -> bytes:
        text = "" if self.place is None else spelled(self.place)
        return json.dumps({"open": text, "token": self.token}).encode() + b"\n"


def decode(line: bytes) -> Message | None:
    """None for whatever is not exactly a message."""
    try:
        held = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(held, dict) or set(held) != {"open", "token"}:
        return None
    text, token = held["open"], held["token"]
    if not isinstance(text, str) or not isinstance(token, str) or not _TOKEN.fullmatch(token):
        return None
    try:
        return Message(parse_place(text) if text else None, token)
    except (NacreError, ValueError):
        return None


def address(folder: DataFolder) -> str:
    """The same for every name of a data folder; '' where no private place for a socket is."""
    root = os.path.normcase(os.path.realpath(folder.root))
    user = os.getuid() if sys.platform != "win32" else os.environ.get("USERNAME", "")
    name = "nacre-" + hashlib.sha256(os.fsencode(f"{user}\0{root}")).hexdigest()[:24]
    if sys.platform == "win32":
        return name
    for place in _meeting_places():
        found = place / name
        if len(os.fsencode(found)) <= _LONGEST_ADDRESS and _is_private(place):
            return str(found)
    return ""


def _meeting_places() -> list[Path]:
    """Folders in which nobody else can put a socket of that name."""
    user = os.getuid()
    named = os.environ.get("XDG_RUNTIME_DIR", "")
    return [
        *([Path(named)] if Path(named).is_absolute() else []),
        Path(f"/run/user/{user}"),
        Path(tempfile.gettempdir()) / f"nacre-{user}",
    ]


def _is_private(place: Path) -> bool:
    """Whether the folder is this user's alone; the one in the folder of temporary files is made."""
    try:
        if place.parent == Path(tempfile.gettempdir()):
            place.mkdir(mode=0o700, exist_ok=True)
        found = place.lstat()
    except OSError:
        return False
    is_own = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
    return is_own and not stat.S_IMODE(found.st_mode) & 0o077


def tell(where: str, message: Message, *, seconds: float) -> Answer | None:
    """What the window at `where` answers; None when it does not within the time. Blocks."""
    from PySide6.QtNetwork import QLocalSocket

    deadline = time.monotonic() + seconds

    def left() -> int:
        return max(1, int((deadline - time.monotonic()) * 1000))

    socket = QLocalSocket()
    socket.connectToServer(where)
    if not socket.waitForConnected(left()):
        return None
    socket.write(message.encode())
    said = b""
    while b"\n" not in said and len(said) < LONGEST:
        if not socket.waitForReadyRead(left()):
            return None
        said += bytes(socket.readAll().data())
    known: dict[bytes, Answer] = {b"done": "done", b"ending": "ending", b"no": "no"}
    return known.get(said.partition(b"\n")[0])
