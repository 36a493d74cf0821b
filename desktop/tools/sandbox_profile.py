"""The words for bubblewrap that make one sandbox out of a list of places. Pure.

The whole disk can be read; what is written down here can be written, is hidden or is guarded
(PLATFORM.md §4.3). Places lie in each other in any way (a workspace in a hidden folder, a secret in
a workspace): the mounts go from the outside in, so that the innermost word counts. Only options of
bubblewrap 0.8 are used.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

FRESH_BYTES = 4_294_967_296

# A session of its own; no ending with the parent: that would be the end of the thread that started
# it, and what a command leaves in the background goes on (tools.family ends it all by its root).
_ALONE = (
    "--unshare-user",
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-cgroup-try",
    "--cap-drop",
    "ALL",
    "--new-session",
)


@dataclass(frozen=True, slots=True)
class Profile:
    """What a sandbox is like. All paths exist and are real; a link in `shown` becomes its target.

    `folder` is where the command runs. `writable` can be written but for what is `guarded` (kept
    read-only). `fresh` folders are empty and go with the sandbox; `shown` is read-only in them.
    Of one path with several words the later of these counts: fresh, shown, writable, guarded,
    hidden.
    """

    folder: Path
    writable: tuple[Path, ...] = ()
    guarded: tuple[Path, ...] = ()
    fresh: tuple[Path, ...] = ()
    shown: tuple[Path, ...] = ()
    hidden_folders: tuple[Path, ...] = ()
    hidden_files: tuple[Path, ...] = ()
    network: bool = False


def arguments(profile: Profile) -> tuple[str, ...]:
    """Everything between the name of bubblewrap and the command."""
    root = "--bind" if Path("/") in profile.writable else "--ro-bind"
    words = [root, "/", "/", "--dev", "/dev", "--proc", "/proc", *_mounts(profile)]
    for folder in sorted(profile.hidden_folders):
        words += ["--remount-ro", str(folder)]
    words += _ALONE
    if not profile.network:
        words.append("--unshare-net")
    return (*words, "--chdir", str(profile.folder), "--")


def _mounts(profile: Profile) -> list[str]:
    steps = [
        *_steps(profile.fresh, 0, "--size", str(FRESH_BYTES), "--perms", "1777", "--tmpfs"),
        *_steps(profile.shown, 1, "--ro-bind", twice=True),
        *_steps(profile.writable, 2, "--bind", twice=True),
        *_steps(profile.guarded, 3, "--ro-bind", twice=True),
        *_steps(profile.hidden_folders, 4, "--tmpfs"),
        # With its device, so that it reads as empty; without, opening it would be an error.
        *_steps(profile.hidden_files, 4, "--dev-bind", "/dev/null"),
    ]
    return [word for _, _, words in sorted(steps) for word in words]


def _steps(
    places: Iterable[Path], rank: int, *words: str, twice: bool = False
) -> list[tuple[tuple[str, ...], int, tuple[str, ...]]]:
    """Sorted by their parts, a folder comes before everything in it."""
    return [
        (place.parts, rank, (*words, *([str(place)] * (2 if twice else 1))))
        for place in dict.fromkeys(places)
        if place != Path("/")
    ]
