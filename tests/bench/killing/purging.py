"""A purge that is killed: the rows that a fork reads stay, the others go from the end, no gaps.

The conversation that is purged has a fork in its middle, and another one lies beside it. Begun
again by a fresh process, the purge comes to its end.
"""

import asyncio
import random
import sqlite3
from contextlib import closing
from pathlib import Path

from tests.bench._corpus import Corpus
from tests.bench.killing.found import SEQ, Found, Rows, look
from tests.bench.killing.tally import Tally
from tests.bench.killing.victim import Left, Moment, ended
from tests.e2e.nacre import Home
from tests.unit.store.builders import chunk, new_tab, open_log

# The latest kill after the log was opened.
SECONDS = 1.2


def killed_purge(corpus: Corpus, folder: Path, *, seed: str, tally: Tally) -> None:
    """One kill, what it left, and the purge that is begun again."""
    home = Home(folder)
    corpus.copy(home.data)
    dice = random.Random(seed)
    fork_at = dice.randrange(1, corpus.rows // 2)
    fork, other = _branch(home.data, corpus.tab, fork_at)
    before = look(home.database, folder / "copy")
    wanted = _kept(before.rows, corpus.tab, fork_at)
    left = _purge(home, corpus.tab, Moment(lines=1, seconds=dice.uniform(0.0, SECONDS)))
    tally.add("runs.purge")
    tally.add("hits.purge", left.was_hit)
    tally.check(left.was_hit or left.code == 0, seed, f"the purge failed: {left.err}")
    found = look(home.database, folder / "copy")
    _judge(found, wanted, {fork, other}, seed, tally)
    tally.check(set(found.rows) <= set(before.rows), seed, "a row has changed")
    tally.add("purged_at_kill", len(before.rows) - len(found.rows))
    again = _purge(home, corpus.tab, None)
    tally.check(again.code == 0, seed, f"the purge could not go on: {again.err}")
    after = look(home.database, folder / "copy")
    _judge(after, wanted, {fork, other}, seed, tally)
    tally.check(set(after.rows) == wanted, seed, "rows are left that nobody reads")


def _purge(home: Home, tab: str, at: Moment | None) -> Left:
    words = ["-m", "tests.bench.drivers.purger", str(home.data), tab]
    return ended(words, environment=home.environment(), notes=home.root / "notes.txt", at=at)


def _branch(data: Path, tab: str, fork_at: int) -> tuple[str, str]:
    """A fork with a row of its own, and a conversation that has nothing to do with it."""
    with open_log(data, prefix="branch") as log, asyncio.Runner() as runner:
        other = new_tab(log, data)
        fork = new_tab(log, data)
        with closing(sqlite3.connect(data / "nacre.db")) as plain, plain:
            plain.execute(
                "UPDATE tabs SET forked_from = ?, forked_at_seq = ? WHERE id = ?",
                (tab, fork_at, fork),
            )
        runner.run(log.session(fork).append([chunk("own", "after the fork")]))
        runner.run(log.session(other).append([chunk("beside", "something else")]))
    return fork, other


def _kept(rows: Rows, tab: str, fork_at: int) -> set[tuple[object, ...]]:
    """All that must stay for ever."""
    return {row for row in rows if row[0] != tab or row[SEQ] <= fork_at}


def _judge(
    found: Found, wanted: set[tuple[object, ...]], own: set[str], seed: str, tally: Tally
) -> None:
    # A fork's own rows begin after its fork point.
    faults = [fault for fault in found.faults if not fault.startswith("seq")]
    tally.check(not faults, seed, f"a killed purge left {faults}")
    tally.check(wanted <= set(found.rows), seed, "rows are gone that somebody reads")
    seqs = sorted(row[SEQ] for row in found.rows if row[0] not in own)
    tally.check(seqs == list(range(1, len(seqs) + 1)), seed, "what is left has gaps")
