"""The process of a plugin, and messages to and from it: the one door to processes here.

Threads of its own read, cut, count and decode what it prints, and encode and write what it is
told, so the loop is only ever called with whole messages and never waits for a pipe. It has a
process group and a watcher like every command (`tools.family`), so nothing of it outlives Nacre.
"""

import asyncio
import json
import os
import queue
import subprocess
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from desktop.plugins.limits import MOST_UNREAD, Abuse, Allowance, Lines
from desktop.plugins.peer import Garbage
from desktop.tools import threads
from desktop.tools.family import MARK, Family
from desktop.tools.launching import Launch, Reporting
from desktop.tools.mcp.errors_file import ErrorsFile

Json = Mapping[str, Any]
Hear = Callable[[object], None]

READ = 65_536
CLOSE_GRACE = 0.3  # for a plugin that ends by itself when its input closes
TERM_GRACE = 0.3
LINGER = 0.3  # for the exit that the end of the output belongs to
JOIN_SECONDS = 1.0
ERRORS_PAUSE = 0.05  # after a whole piece of error output: it must not wear out the disk


class CantStart(Exception):
    """The text says why, after the plugin's name."""


class Process:
    """One start. `hear` gets its messages, `over` is called once with the reason of its end.

    Both are called on the loop; after `end` neither is.
    """

    def __init__(self, *, errors: Path, hear: Hear, over: Callable[[str], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._errors = ErrorsFile(errors)
        self._hear = hear
        self._over = over
        self._family = Family(uuid.uuid4().hex)
        self._exited = threading.Event()
        self._told: queue.Queue[Json | None] = queue.Queue(MOST_UNREAD)
        self._threads: list[threading.Thread] = []
        self._process: subprocess.Popen[bytes] | None = None
        self._starting: asyncio.Future[None] | None = None
        self._is_over = False

    async def start(self, launch: Callable[[], Launch]) -> None:
        """`launch` is called on a thread. Raises CantStart. `end` is due either way."""
        if self._is_over:
            raise CantStart("it was ended")
        starting = self._starting = threads.start(lambda: self._begin(launch), "plugin-start")
        is_cancelled = await threads.outlast(starting)
        if (error := starting.exception()) is not None:
            if isinstance(error, OSError | ValueError):
                words = getattr(error, "strerror", None) or error
                raise CantStart(f"it could not be started ({words})") from error
            raise error
        if is_cancelled:
            raise asyncio.CancelledError

    def send(self, message: Json) -> None:
        """Never waits. Who does not read what it is told is at its end."""
        if self._is_over:
            return
        try:
            self._told.put_nowait(message)
        except queue.Full:
            self._settle("it does not read what it is told")

    async def end(self) -> None:
        """Ends it and everything that it started, within a second; whatever happens meanwhile."""
        self._is_over = True
        if self._starting is not None:
            await threads.outlast(self._starting)
        await threads.outlast(threads.start(self._end, "plugin-end"))

    # -- on threads --------------------------------------------------------------------------

    def _begin(self, launch: Callable[[], Launch]) -> None:
        try:
            found = launch()
            self._family.watch()
            with Reporting(found) as reporting:
                self._process = subprocess.Popen(
                    reporting.argv,
                    cwd=found.folder,
                    env={**found.environment, MARK: self._family.mark},
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    bufsize=0,
                    start_new_session=os.name == "posix",
                    pass_fds=reporting.inherited,
                )
                self._family.begin(self._process.pid)
                self._family.take_root(reporting.root())
        except BaseException:
            self._family.release()
            raise
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self._run(self._read, process.stdout)
        self._run(self._write, process.stdin)
        self._run(self._keep_errors, process.stderr)
        self._run(self._wait, process)

    def _run(self, work: Callable[[Any], None], what: object) -> None:
        thread = threading.Thread(target=work, args=(what,), name="plugin-pipe", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _read(self, pipe: IO[bytes]) -> None:
        lines, allowance = Lines(), Allowance(time.monotonic)
        with pipe:
            try:
                while piece := os.read(pipe.fileno(), READ):
                    for line in lines.feed(piece):
                        allowance.take(len(line))
                        self._call(self._hear_one, _decoded(line))
            except Abuse as abuse:
                self._call(self._settle, str(abuse))
            else:
                if not self._exited.wait(LINGER):
                    self._call(self._settle, "it closed its output")

    def _write(self, pipe: IO[bytes]) -> None:
        with suppress(OSError), pipe:
            while (message := self._told.get()) is not None:
                pending = memoryview(_encoded(message))
                while pending:
                    pending = pending[os.write(pipe.fileno(), pending) :]

    def _keep_errors(self, pipe: IO[bytes]) -> None:
        with pipe:
            while piece := os.read(pipe.fileno(), READ):
                self._errors.feed(piece)
                if len(piece) == READ:
                    time.sleep(ERRORS_PAUSE)
        self._errors.close()

    def _wait(self, process: "subprocess.Popen[bytes]") -> None:
        code = process.wait()
        self._family.lose_leader()
        self._exited.set()
        how = f"it ended with exit code {code}" if code >= 0 else f"it was killed (signal {-code})"
        said = self._errors.last_line
        self._call(self._settle, f"{how}; its last words: {said}" if said else how)

    def _end(self) -> None:
        if self._process is None:
            return
        with suppress(queue.Full):
            self._told.put_nowait(None)
        self._exited.wait(CLOSE_GRACE)
        if self._family.is_alive():
            self._family.end(TERM_GRACE, self._exited)
        self._family.release()
        with suppress(queue.Empty):
            while True:
                self._told.get_nowait()
        self._told.put(None)
        for thread in self._threads:
            thread.join(JOIN_SECONDS)

    # -- on the loop -------------------------------------------------------------------------

    def _call(self, call: Callable[[Any], None], value: object) -> None:
        with suppress(RuntimeError):  # the loop was closed under us
            self._loop.call_soon_threadsafe(call, value)

    def _hear_one(self, message: object) -> None:
        if self._is_over:
            return
        try:
            self._hear(message)
        except Abuse as abuse:
            self._settle(str(abuse))

    def _settle(self, why: str) -> None:
        if not self._is_over:
            self._is_over = True
            self._over(why)


def _decoded(line: bytes) -> object:
    try:
        return json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return Garbage()


def _encoded(message: Json) -> bytes:
    text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
    # Half a character, which a damaged text can hold, is none that can be told.
    return text.encode("utf-8", "replace") + b"\n"
