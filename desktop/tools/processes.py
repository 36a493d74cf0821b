"""Runs one command to its end: its exit ends it, not its pipe; nothing of it stays unasked.

A command gets a session of its own, `/dev/null` as input and one pipe for what it prints. Two
threads wait for its exit and its output; the loop is only ever called back, so any asyncio loop
will do. What it starts is its `family`.
"""

import asyncio
import os
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from desktop.core.printed import Growth
from desktop.tools import threads
from desktop.tools.family import MARK, Family
from desktop.tools.launching import Launch, Reporting
from desktop.tools.live import Live
from desktop.tools.output import Drain

READ = 65_536
TERM_GRACE = 3.0
STOP_GRACE = 0.5
LINGER = 0.5  # how long a pipe that others hold open is still listened to after the exit
THROTTLE = 0.05
REPORT_EVERY = 0.05
LOOK_EVERY = 1.0  # of a flood, what was held back is told then

_POSIX = os.name == "posix"


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
    ) -> tuple[Ended, Family | None]:
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


def _windows_flags() -> int:
    return int(
        getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
        | getattr(subprocess, "CREATE_NO_WINDOW", 0)
    )
