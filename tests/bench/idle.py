"""What Nacre does while nothing happens, and what it holds (SPEC U05, U09).

For `--seconds`; the ten minutes of the goal are

    python -m tests.bench idle --seconds 600

Twenty tabs, each looked at once, the window shown and then hidden, with ten thousand conversations,
a tool server that says nothing and a provider that never answers. Beside the share of a core stands
that of a plain editor window in the same run. Memory is of a start with twenty tabs of which one is
in view and no tool servers are set up, and of the same after a message was sent.
"""

import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.bench import Figure, Options, _homes
from tests.bench.first_paint import started

SHARE = 0.5  # percent of a core
ENDLESS = float("inf")


def figures(options: Options) -> list[Figure]:
    seconds = f"{options.seconds:g}"
    limit = options.seconds + 480
    with tempfile.TemporaryDirectory(prefix="nacre-bench-") as name:
        with _homes.full(Path(name) / "full") as home:
            plain = started("editor_idle", home, seconds, limit=limit).report["share"] * 100
            result = [Figure("idle.share_of_a_plain_editor", plain, "%", ENDLESS)]
            for how in ("shown", "hidden"):
                report = started("nacre_idle", home, seconds, how, limit=limit).report
                result += _left_alone(how, report)
        with _homes.full(Path(name) / "sent", has_tool_server=False) as home:
            report = started("nacre_idle", home, "1", "shown", "restored", "send").report
    return [
        *result,
        Figure("idle.memory_before_send", report["memory_before_send"], "MB", 160),
        Figure("idle.memory_after_send", report["memory_after_send"], "MB", 260),
    ]


def _left_alone(how: str, report: Mapping[str, Any]) -> list[Figure]:
    timers: dict[str, float] = report["timers"]
    for timer, period in sorted(timers.items(), key=lambda one: one[1]):
        print(f"{how}: {timer} every {period:g} s", file=sys.stderr)
    return [
        Figure(f"idle.share_{how}", report["share"] * 100, "%", SHARE),
        Figure(f"idle.paints_{how}", len(report["paints"]), "paints", 0),
        Figure(
            f"idle.shortest_period_{how}",
            min(timers.values(), default=ENDLESS),
            "s",
            1,
            at_least=True,
        ),
    ]
