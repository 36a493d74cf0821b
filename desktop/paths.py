"""Where Nacre keeps its data and where its resources lie, and how names on the disk last.

The one door to platformdirs. Choosing a folder and making it ready are two steps: choosing touches
nothing, `DataFolder.prepare` makes and tries it and names in plain words what stands in the way
(FIELD F-C05). Nothing is ever written elsewhere in silence.
"""

import errno
import os
import stat
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import platformdirs

from desktop.core.errors import NacreError

ChosenBy = Literal["argument", "environment", "platform"]
Reason = Literal["read-only", "full", "file", "loop", "missing", "name", "home", "other"]

VARIABLE = "NACRE_DATA_DIR"
PRIVATE = 0o700
CHOOSE_ANOTHER = f"Choose another folder with --data-dir FOLDER or the variable {VARIABLE}."


class DataFolderError(NacreError):
    """The data folder can't be used as it is; `reason` tells a caller which way is still open.

    `read-only` and `full` still allow to read a history that lies there; the others do not.
    """

    def __init__(self, sentence: str, *, reason: Reason, way_out: str, detail: str = "") -> None:
        super().__init__(sentence, way_out=way_out, detail=detail)
        self.reason: Reason = reason


class ResourcesMissing(NacreError):
    """The installation lacks its resource folder."""


@dataclass(frozen=True, slots=True)
class DataFolder:
    """The folder that holds everything Nacre keeps, and the places in it. Touches nothing."""

    root: Path

    @property
    def database(self) -> Path:
        return self.root / "nacre.db"

    @property
    def blobs(self) -> Path:
        """Large results and attachments, stored once by hash."""
        return self.root / "blobs"

    @property
    def run(self) -> Path:
        """Lock files of the living processes."""
        return self.root / "run"

    @property
    def window_lock(self) -> Path:
        """Held by the process whose window is open on this folder."""
        return self.run / "window.lock"

    @property
    def logs(self) -> Path:
        return self.root / "logs"

    @property
    def scratch(self) -> Path:
        """The workspace of conversations without a folder of their own."""
        return self.root / "scratch"

    @property
    def spool(self) -> Path:
        """Tool output too large for memory."""
        return self.root / "spool"

    @property
    def backups(self) -> Path:
        """Backups that were given no other place; made with the first one."""
        return self.root / "backups"

    @property
    def keys(self) -> Path:
        """The encrypted file of keys, for a person who chose one; else it is not there."""
        return self.root / "keys.encrypted"

    @property
    def tool_servers(self) -> Path:
        """Which tool servers there are; written by the person."""
        return self.root / "mcp.json"

    @property
    def offered_tools(self) -> Path:
        """What tool servers offered last; may be deleted at any time."""
        return self.root / "tool-servers.json"

    @property
    def tool_server_folders(self) -> Path:
        """What each tool server can write in its sandbox; made with the first one."""
        return self.root / "tool-servers"

    @property
    def plugin_folders(self) -> Path:
        """What each plugin can write; made with its first start."""
        return self.root / "plugins"

    @property
    def installed_plugins(self) -> Path:
        """The programs of plugins that the person installed; made with the first one."""
        return self.root / "installed-plugins"

    @property
    def window_cache(self) -> Path:
        """Geometry and theme for the first paint; may be deleted at any time."""
        return self.root / "window.json"

    def make_run(self) -> None:
        """Make the place of locks alone, for who must hold one before the folder is made ready.

        Raises OSError or ValueError; what was made on the way is then removed again.
        """
        made: list[Path] = []
        try:
            _make(self.run, made)
        except (OSError, ValueError):
            _remove(made)
            raise

    def prepare(self) -> tuple[str, ...]:
        """Make the folder and its parts, private to the person, and prove that it can be written.

        Returns sentences the person should see (empty as a rule). Raises DataFolderError; what
        was made on the way is then removed again, so no half-made folder is left.
        """
        made: list[Path] = []
        try:
            _make(self.root, made)
            notices = _make_private(self.root, made)
            _try_to_write(self.root)
            for part in (self.blobs, self.run, self.logs, self.scratch, self.spool):
                _make(part, made)
        except (OSError, ValueError) as error:
            _remove(made)
            raise unusable(self.root, error) from error
        return notices


@dataclass(frozen=True, slots=True)
class Choice:
    """The data folder, who chose it, and sentences about variables that were ignored."""

    folder: DataFolder
    chosen_by: ChosenBy
    notices: tuple[str, ...] = ()


def choose(argument: str | None = None) -> Choice:
    """The data folder: `--data-dir`, else NACRE_DATA_DIR, else the platform's rule.

    A blank value counts as not given; a relative one is taken from the current directory.
    Raises DataFolderError when no folder can be named at all.
    """
    if argument is not None and argument.strip():
        return Choice(DataFolder(_named(argument)), "argument")
    variable = os.environ.get(VARIABLE, "")
    if variable.strip():
        return Choice(DataFolder(_named(variable)), "environment")
    root, notices = _platform_folder()
    return Choice(DataFolder(root), "platform", notices)


def resources() -> Path:
    """The resource folder of this installation: frozen program, wheel or checkout alike."""
    return find_resources(Path(__file__).parent, frozen_root=getattr(sys, "_MEIPASS", None))


def find_resources(package: Path, *, frozen_root: str | None) -> Path:
    """The first resource folder that exists for a package at `package`.

    Raises ResourcesMissing with the places that were looked at.
    """
    frozen = [] if frozen_root is None else [Path(frozen_root) / "resources"]
    places = [*frozen, package / "_resources", package.parent / "resources"]
    for place in places:
        if place.is_dir():
            return place
    raise ResourcesMissing(
        "Nacre's installation is not complete: its resource folder is missing.",
        way_out="Install Nacre again.",
        detail="looked at: " + ", ".join(str(place) for place in places),
    )


def unusable(root: Path, error: Exception) -> DataFolderError:
    """What the person is told when `root` fails with `error`."""
    number = error.errno if isinstance(error, OSError) else None
    reason, sentence = _explain(root, number)
    return DataFolderError(
        sentence, reason=reason, way_out=CHOOSE_ANOTHER, detail=f"{type(error).__name__}: {error}"
    )


def _explain(root: Path, number: int | None) -> tuple[Reason, str]:
    match number:
        case errno.EROFS | errno.EACCES | errno.EPERM:
            return "read-only", f"Nacre may not write in its data folder {root}."
        case errno.ENOSPC | errno.EDQUOT:
            return "full", f"There is no room left on the disk of the data folder {root}."
        case errno.EEXIST | errno.ENOTDIR:
            return "file", f"The data folder {root} can't be made: a file stands in its place."
        case errno.ELOOP:
            return "loop", f"The data folder {root} is a link that leads back to itself."
        case errno.ENOENT:
            return "missing", f"The data folder {root} leads to a place that is not there."
        case errno.ENAMETOOLONG | errno.EINVAL | None:
            return "name", "The name of the data folder is not one that this system can use."
        case _:
            return "other", f"The data folder {root} can't be used."


def _named(text: str) -> Path:
    """An absolute path for what the person wrote; links stay as they are (a loop is told later)."""
    try:
        return Path(os.path.abspath(Path(text).expanduser()))  # noqa: PTH100 (resolve fails on loops)
    except (RuntimeError, ValueError, OSError) as error:
        raise DataFolderError(
            "The name given for the data folder can't be understood.",
            reason="name",
            way_out="Give the full path of a folder.",
            detail=f"{type(error).__name__}: {error}",
        ) from error


def _platform_folder() -> tuple[Path, tuple[str, ...]]:
    try:
        root = platformdirs.user_data_path("nacre", appauthor=False)
    except RuntimeError as error:
        raise DataFolderError(
            "Nacre can't tell where your home folder is.",
            reason="home",
            way_out=CHOOSE_ANOTHER,
            detail=str(error),
        ) from error
    if sys.platform in ("win32", "darwin"):
        return root, ()
    return _mend_xdg(root, os.environ.get("XDG_DATA_HOME", ""))


def _mend_xdg(root: Path, variable: str) -> tuple[Path, tuple[str, ...]]:
    """Blanks around XDG_DATA_HOME are a slip unless a folder of that very name exists; a relative
    value is ignored, as the XDG rules say. Both are told."""
    trimmed = variable.strip()
    if not trimmed:
        return root, ()
    if not Path(trimmed).is_absolute():
        return root, (
            f"XDG_DATA_HOME is not a full path, so it is ignored; the data is kept in {root}.",
        )
    if trimmed == variable or os.path.isdir(variable):  # noqa: PTH112 (False on loops, never raises)
        return root, ()
    mended = Path(trimmed) / root.name
    return mended, (f"XDG_DATA_HOME has blanks around its value; they are left out: {mended}.",)


def _make(folder: Path, made: list[Path]) -> None:
    """Make `folder` and what is missing above it, adding each new one to `made`."""
    missing: list[Path] = []
    place = folder
    while not _is_there(place):
        missing.append(place)
        place = place.parent
    for new in reversed(missing):
        try:
            new.mkdir(mode=PRIVATE)
        except FileExistsError:
            continue  # another process was quicker; checked below
        made.append(new)
    if not stat.S_ISDIR(folder.stat().st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))


def _is_there(place: Path) -> bool:
    """Whether anything has this name, a broken link or a looping one included."""
    try:
        place.lstat()
    except FileNotFoundError:
        return False
    return True


def _make_private(root: Path, made: Sequence[Path]) -> tuple[str, ...]:
    """0700 for a folder that is Nacre's own: new, with locks and logs only, or with a database.

    A folder with other things in it keeps its mode (it may be a whole home), and that is told.
    """
    if os.name != "posix" or stat.S_IMODE(root.stat().st_mode) & 0o077 == 0:
        return ()
    contents = set(os.listdir(root))  # noqa: PTH208 (iterdir is lazy; the handle would stay open)
    if root in made or contents <= {"run", "logs"} or "nacre.db" in contents:
        try:
            root.chmod(PRIVATE)
        except PermissionError:
            pass
        if stat.S_IMODE(root.stat().st_mode) & 0o077 == 0:
            return ()
    return (f"Other people on this computer may be able to read the data folder {root}.",)


def _try_to_write(root: Path) -> None:
    with tempfile.TemporaryFile(dir=root, prefix=".nacre-try-") as probe:
        probe.write(b"\0" * 4096)
        probe.flush()
        os.fsync(probe.fileno())


def _remove(made: Sequence[Path]) -> None:
    for folder in reversed(made):
        try:
            folder.rmdir()
        except OSError:
            return


def sync_folder(folder: Path) -> None:
    """Makes the last change of names in a folder durable; Windows has no such call and no such
    need. Raises OSError."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
