"""Opening, paging and jumping: how long, how many statements, rows and documents."""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median, quantiles

from tests.bench import Figure
from tests.bench._corpus import Corpus
from tests.bench._transcript.plain_list import PlainList
from tests.bench._transcript.shown import Bench, Shown, Spent, Statements, swept

ROUNDS = 15
PAGES = 40
JUMPS = 40
_WHY = "one read is one statement: line of forks, revision, rows, whether there are more"
HUNDRED, HUNDRED_THOUSAND, MILLION = 100, 100_000, 1_000_000


@dataclass(frozen=True, slots=True)
class _Asked:
    """What was asked of the log: statements and rows, or the least of several times (now and
    then the feed looks whether others wrote)."""

    statements: int = 1_000
    rows: int = 1_000_000

    @classmethod
    def of(cls, bench: Bench) -> "_Asked":
        return cls(Statements.count, bench.reader.rows)

    def least(self, before: "_Asked", after: "_Asked") -> "_Asked":
        return _Asked(
            min(self.statements, after.statements - before.statements),
            min(self.rows, after.rows - before.rows),
        )


async def tails(corpora: Mapping[int, Corpus]) -> list[Figure]:
    """The painted tail, each size in turns with the others and with the plain list."""
    times: dict[object, list[float]] = {}
    benches = {rows: Bench(corpus) for rows, corpus in corpora.items()}
    built, asked = 0, _Asked()
    for number in range(ROUNDS + 1):
        for rows, bench in benches.items():
            await swept()
            before = _Asked.of(bench)
            with Spent() as spent:
                shown = Shown(bench)
                await shown.open()
            times.setdefault(rows, []).append(spent.ms)
            if number:
                built = max(built, _surplus(shown))
                if rows == MILLION:
                    asked = asked.least(before, _Asked.of(bench))
            await shown.settle()
            shown.close()
            del shown
    for _ in range(ROUNDS // 3 + 1):
        await swept()
        with Spent() as spent:
            plain = PlainList(benches[MILLION])
            await plain.open()
        times.setdefault("plain", []).append(spent.ms)
        plain.close()
        del plain
    for bench in benches.values():
        await bench.close()
    middle = {key: median(found[1:]) for key, found in times.items()}
    return [
        Figure("tail_1m_vs_100", middle[MILLION] / middle[HUNDRED], "x", 1.10),
        Figure("tail_100k_vs_100", middle[HUNDRED_THOUSAND] / middle[HUNDRED], "x", 1.10),
        Figure("tail_vs_plain_list", middle[MILLION] / middle["plain"], "x", 0.1),
        Figure("tail_p50", middle[MILLION], "ms", 50),
        Figure("tail_statements", asked.statements, "statements", 3, reason=_WHY),
        Figure("tail_rows_read", asked.rows, "rows", 192),
        Figure("tail_documents_over_pieces_seen", built, "documents", 2),
    ]


def _surplus(shown: Shown) -> int:
    """Documents that were made beyond those on the screen."""
    boxes = (shown.view.box_of(shown.model.row(one.row).id) for one in shown.view.layout_now.placed)
    return shown.view.documents_built - sum(box.documents for box in boxes if box is not None)


async def pages(corpora: Mapping[int, Corpus]) -> list[Figure]:
    """A page of older rows and an evicted one, painted; in turns with the plain list."""
    bench = Bench(corpora[MILLION])
    shown, plain = Shown(bench), PlainList(bench)
    await shown.open()
    await plain.open()
    mine: list[float] = []
    theirs: list[float] = []
    built, moved, asked = 0, 0, _Asked()
    for number in range(PAGES + 1):
        shown.view.jump(_far_up(shown))
        await shown.settle()
        documents, first, top = (
            shown.view.documents_built,
            shown.scope.window.first_seq,
            shown.top(),
        )
        await swept()
        before = _Asked.of(bench)
        with Spent() as spent:
            assert shown.model.fetch_older()
            await shown.settle()
        assert shown.scope.window.first_seq != first
        if number:
            mine.append(spent.ms)
            built = max(built, shown.view.documents_built - documents)
            moved = max(moved, _moved(shown, top))
            asked = asked.least(before, _Asked.of(bench))
        await shown.settle()
        await swept()
        with Spent() as spent:
            await plain.page_up()
        theirs.append(spent.ms)
    shown.close()
    plain.close()
    await bench.close()
    return [
        Figure("page_vs_plain_list", median(mine) / median(theirs[1:]), "x", 0.05),
        Figure("page_p50", median(mine), "ms", 8),
        Figure("page_p99", quantiles(mine, n=100)[-1], "ms", 25),
        Figure("page_statements", asked.statements, "statements", 1, reason=_WHY),
        Figure("page_rows_read", asked.rows, "rows", 64),
        Figure("page_documents_off_the_screen", built, "documents", 0),
        Figure("page_moves_what_is_read", moved, "px", 0),
    ]


def _far_up(shown: Shown) -> int:
    """A row in the middle of the window: no page is fetched by itself there."""
    rows = shown.scope.window.rows
    return rows[len(rows) // 2].seq


def _moved(shown: Shown, top: tuple[str, int]) -> int:
    y = shown.y_of(top[0])
    return abs(y - top[1]) if y is not None else 10_000


async def jumps(corpora: Mapping[int, Corpus]) -> list[Figure]:
    """To a row anywhere in the log, painted."""
    benches = {rows: Bench(corpora[rows]) for rows in (HUNDRED_THOUSAND, MILLION)}
    views = {rows: Shown(bench) for rows, bench in benches.items()}
    for shown in views.values():
        await shown.open()
    times: dict[int, list[float]] = {rows: [] for rows in views}
    dice = random.Random(5)
    asked = _Asked()
    for number in range(JUMPS + 1):
        for rows, shown in views.items():
            seq = dice.randrange(500, rows - 500)
            await swept()
            before = _Asked.of(benches[rows])
            with Spent() as spent:
                shown.view.jump(seq)
                await shown.painted(lambda shown=shown: shown.view.placed)
            if number:
                times[rows].append(spent.ms)
                if rows == MILLION:
                    asked = asked.least(before, _Asked.of(benches[rows]))
            await shown.settle()
    for rows, shown in views.items():
        shown.close()
        await benches[rows].close()
    return [
        Figure(
            "jump_1m_vs_100k", median(times[MILLION]) / median(times[HUNDRED_THOUSAND]), "x", 1.5
        ),
        Figure("jump_p50", median(times[MILLION]), "ms", 40),
        Figure("jump_p99", quantiles(times[MILLION], n=100)[-1], "ms", 60),
        Figure("jump_statements", asked.statements, "statements", 2, reason=_WHY),
        Figure("jump_rows_read", asked.rows, "rows", 256),
    ]
