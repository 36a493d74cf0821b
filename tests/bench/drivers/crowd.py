"""One process of a crowd on one log: `crowd ROLE FOLDER TAB SECONDS NAME`.

A `writer` appends what an agent seals in its own conversation, a `reader` reads pages of another, a
`long` reader takes whole conversations and checks the file. At the end it prints what it saw, as
JSON: `done`, the `errors` that a person would have been told, and the `times` in ms.
"""

import asyncio
import json
import random
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from desktop.core.chunks import NewChunk, Text
from desktop.core.errors import StoreError
from desktop.store.log import Log
from tests.bench._corpus import open_log

PAUSES = {"writer": 0.05, "reader": 0.05, "long": 0.2}
TEXT = "what an agent says in one block, " * 18
Deed = Callable[[int], Awaitable[object]]


async def main(role: str, folder: Path, tab: str, seconds: float, name: str) -> None:
    log = open_log(folder, name)
    try:
        found = await _live(_deed(role, log, tab, name), seconds, PAUSES[role])
    finally:
        await log.close()
    print(json.dumps(found))


def _deed(role: str, log: Log, tab: str, name: str) -> Deed:
    dice = random.Random(name)
    if role == "writer":
        session = log.session(tab)
        return lambda n: session.append([NewChunk(f"{name}-{n}", "t", "assistant", Text(TEXT))])
    if role == "reader":
        return lambda n: log.reader.page(tab, limit=100, before=dice.randrange(100, 10_000))
    return lambda n: log.doctor() if n % 2 else log.session(tab).load()


async def _live(deed: Deed, seconds: float, pause: float) -> dict[str, object]:
    times: list[float] = []
    errors: list[str] = []
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        start = time.perf_counter()
        try:
            await deed(len(times) + len(errors))
            times.append(round((time.perf_counter() - start) * 1_000, 2))
        except StoreError as error:
            errors.append(f"{error}: {error.detail}")
        await asyncio.sleep(pause)
    return {"done": len(times), "errors": errors, "times": times}


asyncio.run(main(sys.argv[1], Path(sys.argv[2]), sys.argv[3], float(sys.argv[4]), sys.argv[5]))
