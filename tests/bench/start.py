"""A start, in an empty home and in a full one (SPEC U09, U10): paint, a letter, the last words.

The full home has ten thousand conversations and twenty open tabs, a tool server that says nothing
and a provider that never answers (`_homes`). Everything is a ratio to the plain editor window of
`first_paint`, started right before or after, but for a letter's absolute goal, the counts, and the
gaps: what the thread of the window did in one go while everything else was loaded. `cpu` gaps are
its processor time, `wall` gaps are on the clock, with all noise of the machine.
"""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from tests.bench import Figure, _homes
from tests.bench.first_paint import Started, ratio, started
from tests.e2e.nacre import Home

ROUNDS = 7
AFTER = "3"  # seconds that go on being watched after the log is open
HEAVY = ("anthropic", "mcp", "sqlmodel", "alembic", "keyring", "pygments", "markdown_it")


def figures() -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="nacre-bench-") as name:
        folder = Path(name)
        bare = _homes.empty(folder / "empty")
        with _homes.full(folder / "full") as home:
            return [
                Figure("start.paint_empty", ratio("editor_window", bare), "x", 1.3),
                Figure("start.paint_full", ratio("editor_window", home), "x", 1.3),
                *_watched("empty", bare, ("type",)),
                *_watched("full", home, ("type", "tail")),
            ]


def _watched(name: str, home: Home, whats: Sequence[str]) -> list[Figure]:
    found: dict[str, list[Started]] = {what: [] for what in whats}
    plain: list[float] = []
    for number in range(ROUNDS + 1):
        editor = started("editor_window", home).seconds("painted_ns")
        for what in whats:
            one = started("nacre_watched", home, what, AFTER)
            if number:  # the first warms the caches
                found[what].append(one)
        if number:
            plain.append(editor)
    typed = [one.seconds("typed_ns") for one in found["type"]]
    result = [
        Figure(f"start.typed_{name}", median(typed), "s", 0.5),
        Figure(f"start.typed_{name}_vs_editor", _ratio(typed, plain), "x", 1.8),
    ]
    if "tail" not in whats:
        return result
    tails = found["tail"]
    times = [one.seconds("tail_ns") for one in tails]
    opened = [one.seconds("open_ns") for one in tails]
    return [
        *result,
        Figure(f"start.tail_{name}_vs_editor", _ratio(times, plain), "x", 3.0),
        Figure(f"start.open_{name}_vs_editor", _ratio(opened, plain), "x", float("inf")),
        Figure(f"start.gap_cpu_{name}", _largest_gap(tails, "cpu_gaps"), "ms", 50),
        Figure(f"start.gap_wall_{name}", _largest_gap(tails, "wall_gaps"), "ms", 50),
        Figure(f"start.pages_{name}", max(one.report["pages"] for one in tails), "pages", 1),
        Figure(
            f"start.touched_before_paint_{name}",
            max(len(one.report["touched"]) + len(heavy(one)) for one in tails),
            "things",
            0,
        ),
    ]


def _largest_gap(tails: Sequence[Started], kind: str) -> float:
    return median(one.report[kind][0] for one in tails)


def heavy(one: Started) -> list[str]:
    """The slow modules that were there when the window was painted."""
    return [module for module in HEAVY if module in one.report["modules"]]


def _ratio(ours: Sequence[float], plain: Sequence[float]) -> float:
    return median(a / b for a, b in zip(ours, plain, strict=True))
