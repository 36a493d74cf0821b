"""The sandbox in which commands and tool servers run: bubblewrap, proved by running it once.

It has no session bus, no keys, no secrets of the person and no data of Nacre, and no network unless
that is asked for (PLATFORM.md §4.3). What can't be put into it is never started without it in
silence: `state` says whether there is one, and a command in a sandbox that breaks is an error.
"""

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from desktop.core.confinement import Confinement
from desktop.tools import sandbox_profile, threads
from desktop.tools.environment import confined_environment
from desktop.tools.git_places import git_places
from desktop.tools.launching import Launch
from desktop.tools.sandbox_ways import way_out
from desktop.tools.secret_places import existing, secret_places

PROBE_SECONDS = 10.0
# What begins a line of bubblewrap's own; a command can print it too, which makes it no more than
# a command that failed.
WORD = "bwrap: "
_FRESH = ("/tmp", "/var/tmp", "/run")
# Where some systems (NixOS, Guix) keep the way to all their programs.
_SHOWN = ("/run/current-system", "/run/booted-system", "/run/opengl-driver")
# What a shell or a desktop runs at its next start, where a whole home is the workspace.
_START_UP = (
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".login",
    ".cshrc",
    ".tcshrc",
    ".xprofile",
    ".xsession",
    ".xinitrc",
    ".inputrc",
    ".gitconfig",
    ".vimrc",
    ".tmux.conf",
    ".config/git",
    ".config/fish",
    ".config/autostart",
    ".config/systemd",
    ".config/environment.d",
    ".local/share/systemd",
    ".local/share/applications",
    ".local/bin",
)


class Sandbox:
    """Made once a program. `private` gives Nacre's own places, which are hidden in every sandbox.

    `find` names bubblewrap's program, or None. It runs outside of what it makes, so it is taken
    only from where no command can have put it.
    """

    def __init__(
        self,
        *,
        environment: Mapping[str, str],
        private: Callable[[], Iterable[Path]] = tuple,
        find: Callable[[], str | None] | None = None,
    ) -> None:
        self._environment = environment
        self._private = private
        self._find = find or (lambda: find_program(environment.get("PATH", "")))
        self._lock = threading.Lock()
        self._program = ""
        self._state: Confinement | None = None

    async def state(self) -> Confinement:
        """Tried at the first call, on a thread; the answer stands as long as the program."""
        return self._state or await threads.start(self.state_now, "sandbox-try")

    def state_now(self) -> Confinement:
        """The same for a thread that may wait."""
        with self._lock:
            if self._state is None:
                self._state = self._try()
            return self._state

    def around(
        self,
        argv: Sequence[str],
        *,
        workspace: Path,
        environment: Mapping[str, str],
        network: bool,
    ) -> Launch:
        """A command that can write its workspace. Looks at the disk; for a thread.

        Only where `state` says that there is a sandbox.
        """
        real = Path(os.path.realpath(workspace))
        git = git_places(real)
        start_up = [real / one for one in _START_UP] if real == self._home() else []
        profile = self._profile(
            folder=real,
            writable=(real, *git.writable),
            guarded=(*git.guarded, *(one for one in start_up if one.exists())),
            absent=git.absent,
            network=network,
        )
        return self._launch(argv, profile, confined_environment(environment))

    def around_server(
        self,
        argv: Sequence[str],
        *,
        folder: Path,
        writable: Iterable[Path],
        environment: Mapping[str, str],
        network: bool,
        readable: Iterable[Path] = (),
    ) -> Launch:
        """A tool server that runs in `folder`; repositories in what it can write are guarded. What
        is `readable` can be read, and only that, also where all around it is hidden."""
        places = tuple(Path(os.path.realpath(one)) for one in writable)
        read = tuple(Path(os.path.realpath(one)) for one in readable)
        of_git = [git_places(one) for one in places]
        profile = self._profile(
            folder=Path(os.path.realpath(folder)),
            writable=(*places, *(one for git in of_git for one in git.writable)),
            guarded=(*read, *(one for git in of_git for one in git.guarded)),
            absent=tuple(one for git in of_git for one in git.absent),
            network=network,
        )
        return self._launch(argv, profile, environment)

    def _profile(
        self,
        *,
        folder: Path,
        writable: tuple[Path, ...],
        guarded: tuple[Path, ...],
        absent: tuple[Path, ...],
        network: bool,
    ) -> sandbox_profile.Profile:
        secrets = (*secret_places(self._environment), *self._private())
        hidden_folders, hidden_files = existing(secrets, never=self._home())
        runtime = self._environment.get("XDG_RUNTIME_DIR", "")
        fresh, _ = existing(map(Path, _FRESH))
        if Path(runtime).is_absolute():
            fresh += existing([Path(runtime)], never=self._home())[0]
        # The names of hosts are looked up by a file that may be a link into a fresh folder.
        names = Path(os.path.realpath("/etc/resolv.conf"))
        shown = [Path(one) for one in _SHOWN if Path(one).exists()]
        if network and names.is_file() and Path("/run") in names.parents:
            shown.append(names)
        return sandbox_profile.Profile(
            folder=folder,
            writable=writable,
            guarded=guarded,
            fresh=fresh,
            shown=tuple(shown),
            hidden_folders=(*hidden_folders, *absent),
            hidden_files=hidden_files,
            network=network,
        )

    def _launch(
        self,
        argv: Sequence[str],
        profile: sandbox_profile.Profile,
        environment: Mapping[str, str],
    ) -> Launch:
        words = (self._program, *sandbox_profile.arguments(profile), *argv)
        return Launch(words, environment, Path("/"), report_at=1)

    def _home(self) -> Path | None:
        home = self._environment.get("HOME", "")
        return Path(os.path.realpath(home)) if Path(home).is_absolute() else None

    def _try(self) -> Confinement:
        if sys.platform != "linux":
            return Confinement(False, "Nacre has no sandbox for commands on this system.")
        program = self._find()
        if program is None:
            return Confinement(
                False, "The sandbox's program, bubblewrap, is not installed.", way_out("")
            )
        self._program = program
        words = sandbox_profile.arguments(
            self._profile(folder=Path("/"), writable=(), guarded=(), absent=(), network=False)
        )
        trouble = _run([program, *words, "true"])
        if trouble is None:
            return Confinement(True)
        why = f"The sandbox can't be made here: {trouble}."
        return Confinement(False, why, way_out(trouble))


def writable(workspace: Path) -> tuple[Path, ...]:
    """What a command there can write: the workspace, and its repository where that is elsewhere."""
    real = Path(os.path.realpath(workspace))
    others = (one for one in git_places(real).writable if real not in one.parents)
    return (real, *(one for one in others if one.parent.name != "worktrees"))


def find_program(path: str) -> str | None:
    """bubblewrap on a search path, but only one that belongs to the system."""
    found = shutil.which("bwrap", path=path or os.defpath)
    if found is None:
        return None
    real = os.path.realpath(found)
    return real if os.stat(real).st_uid == 0 else None  # noqa: PTH116 (beside realpath)


def _run(argv: Sequence[str]) -> str | None:
    """What went wrong with it, in its own words; None when all is well."""
    try:
        done = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env={"PATH": os.defpath},
            cwd="/",
            start_new_session=True,
            timeout=PROBE_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"bubblewrap did not answer within {PROBE_SECONDS:g} seconds"
    except OSError as error:
        return f"bubblewrap can't be started ({error.strerror or error})"
    if done.returncode == 0:
        return None
    said = " ".join(done.stderr.decode("utf-8", "replace").split())[:300]
    return said.removeprefix(WORD).rstrip(".") or f"bubblewrap ended with {done.returncode}"
