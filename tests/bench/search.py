"""How long the first hits take while a person types: a rare word, a common one, a prefix.

The words of the corpus are spread evenly: the rare one over one row in ten thousand, the common one
over nine in ten, and the prefix begins words of which every row has one. At `--rows` (a million).
"""

import asyncio
import time
from statistics import median

from desktop.core.records import EVERYTHING, SearchFilter
from desktop.store.log import Log
from tests.bench import Figure, Options
from tests.bench._corpus import COMMON, PREFIX, RARE, Corpus, corpus, open_log

FIRST = 20
ROUNDS = 15
GOAL_MS = 20
FILTERED_MS = 200  # SPEC U40; where a filter takes nothing, all hits of a prefix are gathered
TYPED = {"rare": RARE, "common": COMMON, "prefix": PREFIX, "look": "ebrafis"}
# Nothing of the corpus is the person's: what a page costs that a filter leaves empty.
NONE = SearchFilter(role="user")


def figures(options: Options) -> list[Figure]:
    return asyncio.run(_measure(corpus(options.rows)))


async def _measure(made: Corpus) -> list[Figure]:
    log = open_log(made.folder)
    try:
        return [
            *[figure for name, text in TYPED.items() for figure in await _find(log, name, text)],
            *await _find(log, "filtered", COMMON, NONE, goal=FILTERED_MS),
        ]
    finally:
        await log.close()


async def _find(
    log: Log, name: str, text: str, only: SearchFilter = EVERYTHING, *, goal: int = GOAL_MS
) -> list[Figure]:
    """Processor time of all threads, and time on the clock, which a busy machine stretches."""
    work: list[float] = []
    wall: list[float] = []
    for _ in range(ROUNDS):
        cpu, start = time.process_time(), time.perf_counter()
        page = await log.search.find(text, limit=FIRST, only=only)
        wall.append(time.perf_counter() - start)
        work.append(time.process_time() - cpu)
        assert page.hits or page.next
    return [
        Figure(f"search.{name}.work", median(work) * 1_000, "ms", goal),
        Figure(f"search.{name}.p50", median(wall) * 1_000, "ms", goal),
    ]
