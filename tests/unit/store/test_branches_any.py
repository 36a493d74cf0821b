"""Whatever is forked, edited, thrown away, brought back or purged: no message is lost (SPEC U19).

The model is the plainest there is: every conversation is a whole list of its rows, copied.
"""

import shutil
import sqlite3
import tempfile
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from desktop.agent import branching
from desktop.agent.branching import Resend
from desktop.core.chunks import LogChunk, NewChunk, System, Text
from desktop.core.records import SearchPlace
from desktop.store.log import Log
from tests.unit.store.builders import chunk, new_tab, open_log, put_in_bin, run, take_out_of_bin

CHOICE = st.integers(min_value=0, max_value=1_000_000)


@dataclass(slots=True)
class Copy:
    """A conversation as it should be; `rows` are (id, role)."""

    root: str
    rows: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    in_bin: bool = False


class Forking(RuleBasedStateMachine):
    """`copies` are the conversations that are not purged."""

    def __init__(self) -> None:
        super().__init__()
        self.copies: dict[str, Copy] = {}
        self.said = 0
        self._ends = ExitStack()
        self._folder = Path(tempfile.mkdtemp(prefix="nacre-"))
        self._ends.callback(shutil.rmtree, self._folder)
        self.log: Log = self._ends.enter_context(open_log(self._folder, busy_ms=20_000))

    def teardown(self) -> None:
        self._ends.close()

    # -- what a person does -------------------------------------------------------------------

    @initialize()
    def begin(self) -> None:
        self.new_conversation()
        (tab,) = self.copies
        for answers in (1, 0, 1):
            self.lay_down(tab, 1, answers)
        self.lay_down(self.fork_at(tab, 3), 1, 1)

    @precondition(lambda self: len(self.copies) < 3)
    @rule()
    def new_conversation(self) -> None:
        tab = new_tab(self.log, self._folder)
        self.copies[tab] = Copy(tab)

    @rule(choice=CHOICE, questions=st.integers(1, 3), answers=st.integers(0, 2))
    def say(self, choice: int, questions: int, answers: int) -> None:
        """A turn; without an answer it failed."""
        if living := self.living():
            self.lay_down(living[choice % len(living)], questions, answers)

    @rule(choice=CHOICE, place=CHOICE)
    def fork(self, choice: int, place: int) -> None:
        if living := self.living():
            tab = living[choice % len(living)]
            rows = self.copies[tab].rows
            places = [0, *(at for at, (id_, _) in enumerate(rows, 1) if id_.endswith(".e"))]
            places += [at for at, (_, role) in enumerate(rows) if role == "user"]
            self.fork_at(tab, places[place % len(places)])

    @rule(choice=CHOICE, place=CHOICE, again=st.booleans(), answers=st.integers(0, 1))
    def edit(self, choice: int, place: int, again: bool, answers: int) -> None:
        """As the agent does it: in place where nobody answered, else in a fork."""
        if not (living := self.living()):
            return
        tab = living[choice % len(living)]
        rows = self.loaded(tab)
        asked = [row.id for row in rows if row.role == "user"]
        if not asked:
            return
        chunk_id = asked[place % len(asked)]
        plan = (
            branching.regenerated(rows, chunk_id)
            if again
            else branching.edited(rows, chunk_id, f"question {self.said} edited", ())
        )
        self.carry_out(tab, plan, answers)

    @rule(choice=CHOICE)
    def trash(self, choice: int) -> None:
        if living := self.living():
            tab = living[choice % len(living)]
            put_in_bin(self.log, tab)
            self.copies[tab].in_bin = True

    @precondition(lambda self: any(one.in_bin for one in self.copies.values()))
    @rule(choice=CHOICE)
    def restore(self, choice: int) -> None:
        tab = self.binned()[choice % len(self.binned())]
        take_out_of_bin(self.log, tab)
        self.copies[tab].in_bin = False

    @precondition(lambda self: any(one.in_bin for one in self.copies.values()))
    @rule(choice=CHOICE)
    def purge(self, choice: int) -> None:
        tab = self.binned()[choice % len(self.binned())]
        run(self.log.catalogue.purge_tab(tab))
        del self.copies[tab]

    # -- how ----------------------------------------------------------------------------------

    def living(self) -> list[str]:
        return [tab for tab, one in self.copies.items() if not one.in_bin]

    def binned(self) -> list[str]:
        return [tab for tab, one in self.copies.items() if one.in_bin]

    def loaded(self, tab: str) -> list[LogChunk]:
        found = run(self.log.session(tab).load())
        return sorted((*found.chunks, *found.dangling), key=lambda row: row.seq)

    def fork_at(self, tab: str, at_seq: int) -> str:
        made = run(self.log.catalogue.fork_tab(tab, at_seq=at_seq)).id
        parent = self.copies[tab]
        self.copies[made] = Copy(parent.root, parent.rows[:at_seq])
        return made

    def carry_out(self, tab: str, plan: Resend, answers: int) -> None:
        if plan.instead_of:
            data = System("retracted", fields={"chunkIds": sorted(plan.instead_of)})
            self.append(tab, [chunk(f"{self.said}.r", data, role="system", turn="r")])
        else:
            tab = self.fork_at(tab, plan.at_seq)
        assert all(one.text.startswith("question") for one in plan.messages)
        self.lay_down(tab, len(plan.messages), answers)

    def lay_down(self, tab: str, questions: int, answers: int) -> None:
        turn = f"t{self.said}"
        rows = [self.row("question", "user", turn) for _ in range(questions)]
        rows += [self.row("answer", "assistant", turn) for _ in range(answers)]
        end = System("turn_end", fields={"outcome": "done" if answers else "failed"})
        rows.append(chunk(f"{turn}.e", end, role="system", turn=turn))
        self.said += 1
        self.append(tab, rows)

    def row(self, word: str, role: str, turn: str) -> NewChunk:
        self.said += 1
        data = Text(f"{word} {self.said} findable")
        return chunk(
            f"c{self.said}", data, role="user" if role == "user" else "assistant", turn=turn
        )

    def append(self, tab: str, rows: list[NewChunk]) -> None:
        run(self.log.session(tab).append(rows))
        self.copies[tab].rows.extend((row.id, row.role) for row in rows)

    # -- what holds at every moment -----------------------------------------------------------

    @invariant()
    def every_message_is_where_it_was(self) -> None:
        for tab, copy in self.copies.items():
            rows = self.loaded(tab)
            assert [(row.id, row.role) for row in rows] == copy.rows
            assert [row.seq for row in rows] == list(range(1, len(rows) + 1))

    @invariant()
    def the_file_is_whole(self) -> None:
        with closing(sqlite3.connect(self.log.database)) as plain:
            assert plain.execute("PRAGMA foreign_key_check").fetchall() == []
            kept = {id_ for (id_,) in plain.execute("SELECT id FROM chunks")}
            purged = plain.execute(
                "SELECT count(*) FROM tabs t WHERE purged_at IS NOT NULL"
                " AND NOT EXISTS (SELECT 1 FROM tabs f WHERE f.forked_from = t.id)"
            ).fetchone()
        assert purged == (0,)  # none is left that nobody reads
        needed = {id_ for copy in self.copies.values() for id_, _ in copy.rows}
        assert needed == kept

    @invariant()
    def a_search_finds_what_is_read_and_nothing_else(self) -> None:
        readable = {
            id_: {tab for tab in self.living() if (id_, role) in self.copies[tab].rows}
            for copy in self.copies.values()
            for id_, role in copy.rows
            if role != "system"
        }
        found: dict[str, str] = {}
        place: SearchPlace | None = None
        while True:
            page = run(self.log.search.find("findable", limit=50, place=place))
            for hit in page.hits:
                id_, _ = self.copies[hit.tab_id].rows[hit.seq - 1]
                assert id_ not in found
                found[id_] = hit.tab_id
            place = page.next
            if place is None:
                break
        assert set(found) == {id_ for id_, tabs in readable.items() if tabs}
        assert all(tab in readable[id_] for id_, tab in found.items())

    @invariant()
    def one_gets_from_each_branch_to_every_other(self) -> None:
        for tab in self.living():
            mine = self.copies[tab]
            shown = {one.seq: one.tab_ids for one in run(self.log.catalogue.branches(tab))}
            expected: dict[int, set[str]] = {}
            for other in self.living():
                at = parting(mine, self.copies[other])
                if at is not None:
                    ways = expected.setdefault(at + 1, {mine.rows[at][0]})
                    ways.add(self.copies[other].rows[at][0])
            assert shown.keys() == expected.keys()
            for seq, tab_ids in shown.items():
                assert tab in tab_ids
                ways = [self.copies[one].rows[seq - 1][0] for one in tab_ids]
                assert len(set(ways)) == len(ways)
                assert set(ways) == expected[seq]


def parting(one: Copy, other: Copy) -> int | None:
    """How many rows two of a family share, where both go on and each in its own way."""
    if one.root != other.root:
        return None
    pairs = zip(one.rows, other.rows, strict=False)
    return next((at for at, (mine, its) in enumerate(pairs) if mine != its), None)


Forking.TestCase.settings = settings(
    max_examples=15,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
TestForking = Forking.TestCase
