"""One of two processes that share a log: `neighbour FOLDER OWN SHARED OTHER SECONDS NAME`.

Follows the three conversations as a window does, and writes into its `OWN` one at random times, one
to five rows at a time; `SHARED` is written by plain SQL. Reads a line from its input before it
writes, and one with the number of all rows when all is written: once it has seen so many, or a
check by the clock could have found them, it ends. It prints, as JSON, when each row was `written`
and first `seen` (of a clock that all processes share), what was wrong, and how often in a second it
`asked` for what others did.
"""

import asyncio
import json
import os
import random
import sys
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import qasync
from PySide6.QtWidgets import QApplication

from desktop.app.log_watch import LogWatch
from desktop.core.chunks import NewChunk, Text
from desktop.core.groups import OpenRow, Row
from desktop.feed.hub import Hub
from desktop.feed.outside import Outside
from desktop.feed.scope import Scope
from desktop.feed.shown import Change, Changed, Reset
from desktop.feed.window import Inserted, Moved, Removed
from desktop.store.log import Log
from tests.bench._corpus import open_log

MOST_ROWS = 5
PAUSES = (0.005, 0.3)  # seconds between two writes
# Longer than a check by the clock takes: what is missing then is lost.
PATIENCE_SECONDS = 6.0
TEXT = "what an agent says in one block, " * 18


class Follower:
    """The rows of one conversation as a view has them, kept by what its scope tells alone."""

    def __init__(self, scope: Scope) -> None:
        self.seen: dict[str, float] = {}
        self.faults: list[str] = []
        self._rows: list[Row] = []
        self._last = 0
        scope.listen(self.hear)
        scope.open()

    def hear(self, change: Change) -> None:
        match change:
            case Inserted():
                self._rows[change.at : change.at] = change.rows
            case Removed():
                del self._rows[change.at : change.at + change.count]
            case Moved():
                self._rows.insert(change.to, self._rows.pop(change.at))
            case Changed():
                self._rows[change.at] = change.row
            case Reset():
                self._rows = list(change.rows)
            case _:
                return
        self._look()

    def _look(self) -> None:
        now = time.monotonic()
        if len({row.id for row in self._rows}) != len(self._rows):
            self.faults.append("doubled")
        for row in self._rows:
            if row.id not in self.seen and not isinstance(row, OpenRow):
                if row.seq <= self._last:
                    self.faults.append("order")
                self._last = row.seq
                self.seen[row.id] = now


class Neighbour:
    def __init__(self, log: Log, watch: LogWatch, tabs: list[str]) -> None:
        loop = asyncio.get_running_loop()
        self._log, self._watch, self._own = log, watch, tabs[0]
        self._tasks: set[asyncio.Task[None]] = set()
        self.hub = Hub()
        self.outside = Outside(
            log.lookout,
            self.hub,
            heard=lambda _: None,
            start=self._start,
            later=loop.call_later,
            arm=watch.arm,
        )
        watch.woken.connect(self.outside.wake)
        self.outside.open()
        scopes = [
            Scope(tab, log.reader, self.hub, start=self._start, later=loop.call_later)
            for tab in tabs
        ]
        self.followers = [Follower(scope) for scope in scopes]

    async def write(self, seconds: float, name: str) -> dict[str, float]:
        """Seals rows and publishes them, as an agent does; when each was durable."""
        session, dice, written = self._log.session(self._own), random.Random(name), {}
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            at = len(written)
            ids = [f"{name}-{at + number}" for number in range(dice.randint(1, MOST_ROWS))]
            receipt = await session.append(
                [NewChunk(one, "t", "assistant", Text(TEXT)) for one in ids]
            )
            written |= dict.fromkeys(ids, time.monotonic())
            self.hub.receipt(receipt)
            await asyncio.sleep(dice.uniform(*PAUSES))
        return written

    async def see(self, count: int) -> None:
        """Waits until so many rows were seen."""
        until = time.monotonic() + PATIENCE_SECONDS
        while sum(len(one.seen) for one in self.followers) < count and time.monotonic() < until:  # noqa: ASYNC110
            await asyncio.sleep(0.02)

    def _start(self, coroutine: Coroutine[Any, Any, None], name: str) -> None:
        task = asyncio.get_running_loop().create_task(coroutine, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def main(folder: Path, tabs: list[str], seconds: float, name: str) -> None:
    log, watch = open_log(folder, name), LogWatch(folder / "nacre.db")
    neighbour = Neighbour(log, watch, tabs)
    began = time.monotonic()
    say("ready")
    await asyncio.to_thread(sys.stdin.readline)
    written = await neighbour.write(seconds, name)
    say("written")
    await neighbour.see(int(await asyncio.to_thread(sys.stdin.readline)))
    neighbour.outside.close()
    watch.close()
    await log.close()
    found = {
        "written": written,
        "seen": {tab: one.seen for tab, one in zip(tabs, neighbour.followers, strict=True)},
        "faults": [fault for one in neighbour.followers for fault in one.faults],
        "asked": neighbour.outside.asked / (time.monotonic() - began),
    }
    say(json.dumps(found))


say: Callable[[str], None] = lambda line: print(line, flush=True)  # noqa: E731

app = QApplication(sys.argv[:1])
loop = qasync.QEventLoop(app)
with loop:
    words = sys.argv[1:]
    loop.run_until_complete(main(Path(words[0]), words[1:4], float(words[4]), words[5]))
