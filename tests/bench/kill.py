"""Processes killed at random moments: what was promised to be kept is there (SPEC C15, U12).

`--runs N` kills so many (200; the suite takes 40), `--seed N` repeats a choice of moments and
scripts (the machine's own timing stays). Most are conversations that stream, run tools and hold a
queue; some meet with a full disk or a lock instead of their death; the others migrate a legacy
database, make a backup or purge a conversation. What was found broken is told on standard error;
the data folders of a campaign with violations are kept.
"""

import shutil
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from tests.bench import Figure, Options
from tests.bench._corpus import corpus
from tests.bench.killing import keeping
from tests.bench.killing.conversation import Conversation
from tests.bench.killing.keeping import killed_backup
from tests.bench.killing.moving import killed_migration
from tests.bench.killing.purging import killed_purge
from tests.bench.killing.tally import Tally
from tests.bench.killing.trouble import on_a_full_disk, under_a_lock

# So many processes are killed in one conversation before it is brought to its end.
CHAIN = 10
AT_ONCE = 2
COUNTED = (
    "seals",
    "sent",
    "rows",
    "effects",
    "called_not_started",
    "called_unknown",
    "requests",
    "found.old",
    "found.new",
    "kept_rows",
    "archives",
    "purged_at_kill",
)
Scenario = Callable[[], None]


def figures(options: Options) -> list[Figure]:
    folder = Path(tempfile.mkdtemp(prefix="nacre-kill-"))
    tally = Tally()
    _campaign(folder, runs=options.runs, seed=options.seed, tally=tally)
    for words in (*tally.notes, *tally.violations):
        print(words, file=sys.stderr)
    if tally.violations:
        print(f"what was found lies in {folder}", file=sys.stderr)
    else:
        shutil.rmtree(folder)
    return _figures(tally)


def _campaign(folder: Path, *, runs: int, seed: int, tally: Tally) -> None:
    scenarios = _scenarios(folder, runs=runs, seed=seed, tally=tally)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for done in [pool.submit(scenario) for scenario in scenarios]:
            done.result()


def _scenarios(folder: Path, *, runs: int, seed: int, tally: Tally) -> list[Scenario]:
    """The long ones first, so that the threads end at about the same time."""
    migrations = backups = purges = full = runs // 10
    locks = runs // 20
    talks = runs - migrations - backups - purges - full - locks
    found: list[Scenario] = []
    for name, count, scenario in (("full", full, on_a_full_disk), ("lock", locks, under_a_lock)):
        for number, start in enumerate(range(0, count, CHAIN)):
            seeded = f"{seed}-{name}-{number}"
            kills = min(CHAIN, count - start)
            found.append(partial(scenario, folder / seeded, kills, seed=seeded, tally=tally))
    for number, start in enumerate(range(0, talks, CHAIN)):
        name = f"{seed}-talk-{number}"
        chain = Conversation(folder / name, seed=name, tally=tally)
        found.append(partial(chain.run, min(CHAIN, talks - start)))
    long = corpus(keeping.ROWS) if backups else None
    for number in range(backups):
        name = f"{seed}-backup-{number}"
        assert long is not None
        found.append(partial(killed_backup, long, folder / name, seed=name, tally=tally))
    for number in range(purges):
        name = f"{seed}-purge-{number}"
        assert long is not None
        found.append(partial(killed_purge, long, folder / name, seed=name, tally=tally))
    for number in range(migrations):
        name = f"{seed}-migration-{number}"
        found.append(partial(killed_migration, folder / name, seed=name, tally=tally))
    return found


def _figures(tally: Tally) -> list[Figure]:
    """Counts first; a scenario in which nothing was hit proves nothing, so half must be."""
    found: list[Figure] = []
    for name, count in sorted(tally.counts.items()):
        kind, _, scenario = name.partition(".")
        if kind == "runs" and count:
            hits = tally.counts[f"hits.{scenario}"]
            found.append(Figure(f"kill.runs.{scenario}", count, "runs", 1, at_least=True))
            found.append(Figure(f"kill.hits.{scenario}", hits, "kills", count // 2, at_least=True))
    for name in COUNTED:
        if tally.counts[name]:
            found.append(Figure(f"kill.{name}", tally.counts[name], "checked", 1, at_least=True))
    return [*found, Figure("kill.violations", len(tally.violations), "violations", 0)]
