"""Real places: where a path leads once every link is followed, and how its name is shown.

A tool judges the real place, never the text of a path (FIELD F-T06). A name that can't be read as
text, or that holds invisible characters, is shown escaped (`caf\\xe9.txt`), and the shown name
leads back to the same file (FIELD F-W05).
"""

import errno
import os
import re
import stat
import unicodedata
from dataclasses import dataclass
from pathlib import Path

from desktop.core.chunks import Json
from desktop.core.errors import ToolFailed
from desktop.core.tools import Scene

_ESCAPE = re.compile(r"\\x([0-9a-f]{2})|\\u([0-9a-f]{4})|\\U([0-9a-f]{8})")
_FIRST_RAW, _LAST_RAW = 0xDC80, 0xDCFF


@dataclass(frozen=True, slots=True)
class Place:
    """`asked` is the path as the model wrote it, `real` where it leads; it need not exist.

    `label` is how a sentence names it: relative inside the workspace, else the real path.
    """

    asked: str
    real: Path
    inside: bool
    label: str

    @property
    def spoken(self) -> str:
        return "the workspace" if self.label == "." else self.label

    @property
    def shown(self) -> str:
        """The real path as text that can be shown and sent."""
        return show(str(self.real))


def show(name: str) -> str:
    """A file name as text without surrogates, controls or invisible characters.

    A backslash that would read as an escape is escaped itself, so that no two names look alike.
    """
    if name.isascii() and name.isprintable() and "\\" not in name:
        return name
    escape_backslash = os.sep != "\\" and bool(_ESCAPE.search(name))
    return "".join(_shown(char, escape_backslash=escape_backslash) for char in name)


def _shown(char: str, *, escape_backslash: bool) -> str:
    code = ord(char)
    if _FIRST_RAW <= code <= _LAST_RAW:
        return f"\\x{code - 0xDC00:02x}"
    if char == "\\":
        return "\\x5c" if escape_backslash else char
    if char == " " or (char.isprintable() and unicodedata.category(char) != "Zs"):
        return char
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def unshow(name: str) -> str:
    """The name that `show` made this text from."""
    return _ESCAPE.sub(_unescaped, name)


def _unescaped(match: re.Match[str]) -> str:
    byte, short, long = match.groups()
    if byte is None:
        code = int(short or long, 16)
        return chr(code) if code <= 0x10FFFF else match.group()
    code = int(byte, 16)
    return chr(code) if code < 0x80 else chr(0xDC00 + code)


def asked_path(arguments: Json, *, default: str | None = None) -> str:
    """The `path` argument; raises ToolFailed where it is missing or no path at all."""
    value = arguments.get("path", default)
    if not isinstance(value, str) or not value:
        raise ToolFailed("The argument path is missing; it must be a text.")
    if "\0" in value:
        raise ToolFailed("The path holds a NUL character; no file can have that name.")
    return value


def find(asked: str, scene: Scene) -> Place:
    """Where a path of the model leads, taken from the workspace. Reads links, touches nothing.

    Raises ToolFailed for links that lead in a circle, for names the system can't have, and when the
    workspace itself is gone: it is not made again behind the person's back.
    """
    root = Path(os.path.realpath(scene.workspace))
    if not root.is_dir():
        raise ToolFailed(workspace_gone(scene))
    real = _follow(_literal(asked, root), show(asked))
    inside = real == root or root in real.parents
    label = show(os.path.relpath(real, root)) if inside else show(str(real))
    return Place(asked=asked, real=real, inside=inside, label=label)


def workspace_gone(scene: Scene) -> str:
    """What the model is told when the folder it works in is not there."""
    return f"The workspace folder {show(str(scene.workspace))} is not there any more."


def _literal(asked: str, root: Path) -> Path:
    """The shown name comes first, then the text as it stands; a new file gets the text."""
    plain = root / os.path.expanduser(asked)  # noqa: PTH111 (Path's raises without a home)
    if os.sep == "\\" or not _ESCAPE.search(asked):
        return plain
    meant = root / unshow(asked)
    if _is_there(meant):
        return meant
    return plain if _is_there(plain.parent) else meant


def _is_there(path: Path) -> bool:
    try:
        path.lstat()
    except (OSError, ValueError):
        return False
    return True


def _follow(path: Path, asked: str) -> Path:
    try:
        real = Path(os.path.realpath(path))
        # realpath stops silently at a circle of links; the system does not.
        if stat.S_ISLNK(real.lstat().st_mode):
            real.stat()
    except FileNotFoundError:
        return Path(os.path.realpath(path))
    except (OSError, ValueError) as error:
        raise unreachable(show(asked), error) from error
    return real


def check_unmoved(place: Place, scene: Scene) -> None:
    """Raises ToolFailed when the path leads elsewhere than when the person was asked."""
    if find(place.asked, scene).real != place.real:
        raise ToolFailed(
            f"{place.label} leads elsewhere than when it was asked about; nothing was done."
        )


def unreachable(label: str, error: Exception) -> ToolFailed:
    """The sentence for a file that the system would not give."""
    number = error.errno if isinstance(error, OSError) else None
    match number:
        case errno.ENOENT:
            sentence = f"{label} does not exist."
        case errno.ELOOP:
            sentence = f"{label} is a link that leads back to itself."
        case errno.EACCES | errno.EPERM:
            sentence = f"{label} may not be opened: permission denied."
        case errno.EISDIR:
            sentence = f"{label} is a folder."
        case errno.ENOTDIR:
            sentence = f"{label} can't be reached: a part of its path is not a folder."
        case errno.ENAMETOOLONG:
            sentence = f"The path {label[:80]}… is too long for this system."
        case errno.ENOSPC | errno.EDQUOT:
            sentence = f"There is no room left on the disk for {label}."
        case errno.EROFS:
            sentence = f"{label} lies on a disk that can only be read."
        case _:
            sentence = f"{label} could not be used."
    return ToolFailed(sentence, detail=f"{type(error).__name__}: {error}")
