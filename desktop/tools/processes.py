"""Runs one command to its end: its exit ends it, not its pipe; nothing of it stays unasked.

A command gets a session of its own, `/dev/null` as input and one pipe for what it prints. Two
threads wait for its exit and its output; the loop is only ever called back, so any asyncio loop
will do. On POSIX a small watcher process (`sh`) outlives Nacre for a moment: when Nacre ends in
whatever way, the watcher's input closes and it ends what the command left running (SPEC U32).
On Linux every process started by the command is found again by a mark in its environment, also
those in a session of their own; elsewhere the process group is what can be found. In a sandbox the
first process there is known too, and its end is the end of all of them.
"""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from desktop.core.printed import Growth
from desktop.tools import threads
from desktop.tools.launching import Launch, Reporting
from desktop.tools.live import Live
from desktop.tools.output import Drain
from desktop.tools.sandbox_root import Root

MARK = "NACRE_COMMAND"
READ = 65_536
TERM_GRACE = 3.0
STOP_GRACE = 0.5
LINGER = 0.5  # how long a pipe that others hold open is still listened to after the exit
THROTTLE = 0.05
REPORT_EVERY = 0.05
LOOK_EVERY = 1.0  # of a flood, what was held back is told then

_POSIX = os.name == "posix"
_PROC = Path("/proc")

# Is told the mark before anything starts, then the group, then the first process of a sandbox; the
# end of input means that Nacre is gone, any other word that all is over. It is started twice
# removed, so that nobody has to wait for it. Whatever is not exactly a group and a mark ends it at
# once: an empty mark would be found in every process of the machine.
WATCHER = r"""
exec 3<&0
(
  mark='' group='' root='' born=''
  while read -r word one two <&3; do
    case "$word" in
      mark) mark=$one ;;
      watch) group=$one; mark=$two
        case "$group" in ''|0|1|*[!0-9]*) exit 0 ;; esac ;;
      root) root=$one; born=$two
        case "$root" in ''|0|1|*[!0-9]*) exit 0 ;; esac ;;
      *) exit 0 ;;
    esac
  done
  case "$mark" in NACRE_COMMAND=?*) ;; *) exit 0 ;; esac
  marked() {
    for file in $(grep -lsaF "$mark" /proc/[0-9]*/environ 2>/dev/null); do
      pid=${file#/proc/}; kill "-$1" "${pid%%/*}" 2>/dev/null
    done
  }
  grouped() {
    [ -n "$group" ] || return 0
    # The number may long be somebody else's. Of one that is dead and not yet buried it is not.
    if [ ! -d "/proc/$group" ] || grep -qs '^State:.Z' "/proc/$group/status" ||
      grep -qsaF "$mark" "/proc/$group/environ"; then
      kill "-$1" "-$group" 2>/dev/null
    fi
  }
  rooted() {
    [ -n "$root" ] || return 0
    line=$(cat "/proc/$root/stat" 2>/dev/null)
    set -- ${line##*) }
    if [ $# -ge 20 ] && shift 19 && [ "$1" = "$born" ]; then
      kill -KILL "$root" 2>/dev/null
    fi
  }
  grouped TERM; marked TERM
  sleep 1
  rooted; grouped KILL; marked KILL; marked KILL
) </dev/null >/dev/null 2>&1 &
"""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended. `still_running` processes were started by it and go on."""

    exit_code: int
    seconds: float
    timed_out: bool = False
    stopped: bool = False
    still_running: bool = False


class Command:
    """One command from its start to its end, with everything that it starts."""

    def __init__(
        self,
        launch: Launch,
        *,
        mark: str,
        drain: Drain,
    ) -> None:
        self._launch = launch
        self._drain = drain
        self._live = Live()
        self._family = Family(mark)
        self._exited = threading.Event()
        self._over = threading.Event()
        self._taking = threading.Lock()  # held while something that came is taken in

    async def run(
        self, *, limit: float, report: Callable[[Growth], None]
    ) -> tuple[Ended, "Family | None"]:
        """Runs it; the family is handed over when something of it goes on.

        `report` is given what is new, from the loop's thread, at most twenty times a second.

        Raises OSError when it can't start. Cancelling stops it within a second: then the result
        says `stopped` and the caller has to raise the cancellation again.
        """
        loop = asyncio.get_running_loop()
        started = time.monotonic()
        starting = threads.start(self._start, "command-start")
        stopped = await threads.outlast(starting)
        if stopped and starting.exception() is not None:
            raise asyncio.CancelledError
        process = starting.result()
        gone, fresh = asyncio.Event(), asyncio.Event()
        waiter = threading.Thread(
            target=self._wait, args=(process, loop, gone), name="command-exit", daemon=True
        )
        reader = threading.Thread(
            target=self._read, args=(process, loop, fresh), name="command-output", daemon=True
        )
        waiter.start()
        reader.start()
        teller = loop.create_task(self._tell(fresh, report))
        timed_out = False
        try:
            async with asyncio.timeout(0 if stopped else limit):
                await gone.wait()
        except TimeoutError:
            timed_out = not stopped
        except asyncio.CancelledError:
            stopped = True
        grace = STOP_GRACE if stopped else TERM_GRACE if timed_out else None
        finishing = threads.start(lambda: self._finish(waiter, reader, grace), "command-finish")
        stopped = await self._wait_finished(finishing) or stopped
        teller.cancel()
        with suppress(asyncio.CancelledError):
            await teller
        self._report(report, final=True)
        ended = Ended(
            exit_code=process.returncode,
            seconds=time.monotonic() - started,
            timed_out=timed_out,
            stopped=stopped,
            still_running=finishing.result(),
        )
        if ended.still_running:
            return ended, self._family
        self._family.release()
        return ended, None

    async def _wait_finished(self, finishing: "asyncio.Future[bool]") -> bool:
        """Whether it was cancelled in the meantime: then there is no more grace."""
        cancelled = False
        while not finishing.done():
            try:
                await asyncio.wait([finishing])
            except asyncio.CancelledError:
                cancelled = True
                self._family.hurry()
        return cancelled

    def _start(self) -> "subprocess.Popen[bytes]":
        try:
            self._family.watch()
            with Reporting(self._launch) as reporting:
                process = subprocess.Popen(
                    reporting.argv,
                    cwd=self._launch.folder,
                    env={**self._launch.environment, MARK: self._family.mark},
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    bufsize=0,
                    start_new_session=_POSIX,
                    creationflags=0 if _POSIX else _windows_flags(),
                    pass_fds=reporting.inherited,
                )
                self._family.begin(process.pid)
                self._family.take_root(reporting.root())
        except BaseException:
            self._family.release()
            raise
        return process

    def _wait(
        self,
        process: "subprocess.Popen[bytes]",
        loop: asyncio.AbstractEventLoop,
        gone: asyncio.Event,
    ) -> None:
        process.wait()
        self._exited.set()
        with suppress(RuntimeError):  # the loop was closed under us
            loop.call_soon_threadsafe(gone.set)

    def _read(
        self,
        process: "subprocess.Popen[bytes]",
        loop: asyncio.AbstractEventLoop,
        fresh: asyncio.Event,
    ) -> None:
        """Takes what is printed until the pipe ends.

        What goes on in the background keeps its pipe, or its next word would kill it; once the
        command is over those words are thrown away, and no faster than they need to be.
        """
        pipe = process.stdout
        assert pipe is not None
        with pipe:
            while chunk := os.read(pipe.fileno(), READ):
                if self._over.is_set():
                    time.sleep(THROTTLE)
                    continue
                with self._taking:
                    self._drain.feed(chunk)
                    self._live.feed(chunk)
                if not fresh.is_set():
                    with suppress(RuntimeError):
                        loop.call_soon_threadsafe(fresh.set)

    async def _tell(self, fresh: asyncio.Event, report: Callable[[Growth], None]) -> None:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_EVERY):
                    await fresh.wait()
            fresh.clear()
            self._report(report)
            await asyncio.sleep(REPORT_EVERY)

    def _report(self, report: Callable[[Growth], None], *, final: bool = False) -> None:
        growth = self._live.take(time.monotonic(), final=final)
        if growth is not None:
            report(growth)

    def _finish(
        self, waiter: threading.Thread, reader: threading.Thread, grace: float | None
    ) -> bool:
        """Ends the command if it must (with that grace), waits for its threads; what goes on?"""
        if grace is not None:
            self._family.end(grace, self._exited)
        waiter.join()
        self._family.lose_leader()
        reader.join(LINGER)
        with self._taking:  # on a busy machine it is still at what it read
            self._over.set()
        # Who has let go of the pipe may be just about to end: a sandbox's first process always is.
        until = time.monotonic() + LINGER
        while not reader.is_alive() and self._family.is_alive() and time.monotonic() < until:
            time.sleep(0.01)
        return self._family.is_alive()


class Family:
    """All processes that one command started, and the watcher that ends them after Nacre."""

    def __init__(self, mark: str) -> None:
        self.mark = mark
        self._mark = f"{MARK}={mark}"
        self._group = 0
        self._root: Root | None = None
        self._leader_gone = False
        self._pipe = -1
        self._hurry = threading.Event()

    def watch(self) -> None:
        """Starts the watcher, before there is anything to watch."""
        if not _POSIX:
            return
        read, self._pipe = os.pipe()
        try:
            subprocess.run(
                ["/bin/sh", "-c", WATCHER],
                stdin=read,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={"PATH": os.defpath},
                cwd="/",
                start_new_session=True,
                check=False,
            )
        finally:
            os.close(read)
        # Nacre may end between the start of the command and the next line here.
        self._say(f"mark {self._mark}\n")

    def begin(self, leader: int) -> None:
        self._group = leader
        self._say(f"watch {leader} {self._mark}\n")

    def take_root(self, root: Root | None) -> None:
        """The first process of the sandbox that the command runs in, if there is one."""
        self._root = root
        if root is not None:
            self._say(f"root {root.pid} {root.born}\n")

    def lose_leader(self) -> None:
        """The first process was waited for: its number may become somebody else's from now on."""
        self._leader_gone = True

    def release(self) -> None:
        """Nothing of it is left; the watcher may go."""
        self._say("done\n")
        if self._pipe >= 0:
            os.close(self._pipe)
            self._pipe = -1

    def hurry(self) -> None:
        """No more grace."""
        self._hurry.set()

    def is_alive(self) -> bool:
        """Whether any process of it still runs (a zombie does not)."""
        if not _POSIX:
            return False
        if self._root is not None and self._root.is_alive():
            return True
        return self._group_alive() or bool(self._members())

    def end(self, grace: float, exited: threading.Event | None = None) -> None:
        """TERM to all of it, then KILL to whatever is left after `grace` seconds."""
        if not _POSIX:
            _end_windows(self._group)
            return
        self._signal(signal.SIGTERM)
        until = time.monotonic() + grace
        while time.monotonic() < until and not self._hurry.is_set():
            if (exited is None or exited.is_set()) and not self.is_alive():
                return
            self._hurry.wait(0.02)
        for _ in range(5):
            self._signal(signal.SIGKILL)
            if not self.is_alive():
                return
            time.sleep(0.02)

    def _say(self, line: str) -> None:
        if self._pipe >= 0:
            with suppress(OSError):
                os.write(self._pipe, line.encode())

    def _signal(self, number: int) -> None:
        if self._root is not None and number == signal.SIGKILL:
            self._root.kill()
        if self._group_is_ours():
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._group, number)
        for pid in self._members():
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)

    def _group_is_ours(self) -> bool:
        """A group keeps its number from being used again; only an empty one can have lost it.

        Before the command has begun there is none: 0 would be Nacre's own.
        """
        return self._group > 1 and not (self._leader_gone and _exists(self._group))

    def _group_alive(self) -> bool:
        if not self._group_is_ours():
            return False
        try:
            os.killpg(self._group, 0)
        except (ProcessLookupError, PermissionError):
            return False
        return not _PROC_READABLE or any(_group_of(pid) == self._group for pid in _pids())

    def _members(self) -> list[int]:
        """Living processes that carry the mark; one that cleared its environment is not found."""
        if not _PROC_READABLE:
            return []
        mark = self._mark.encode()
        return [pid for pid in _pids() if mark in _read_proc(pid, "environ").split(b"\0")]


_PROC_READABLE = sys.platform == "linux" and (_PROC / "self" / "environ").exists()


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _pids() -> list[int]:
    return [int(name) for name in os.listdir(_PROC) if name.isdigit()]  # noqa: PTH208 (a snapshot)


def _read_proc(pid: int, name: str) -> bytes:
    try:
        return (_PROC / str(pid) / name).read_bytes()
    except OSError:
        return b""


def _group_of(pid: int) -> int | None:
    """The process group of a living process; None for a zombie and for one that is gone."""
    fields = _read_proc(pid, "stat").rpartition(b")")[2].split()
    return int(fields[2]) if len(fields) > 2 and fields[0] not in (b"Z", b"X") else None


def _windows_flags() -> int:
    return int(
        getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
        | getattr(subprocess, "CREATE_NO_WINDOW", 0)
    )


def _end_windows(leader: int) -> None:
    """Ends the tree under a process by the system's own program."""
    subprocess.run(
        ["taskkill", "/T", "/F", "/PID", str(leader)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )
