"""What is told of one conversation: its status, put together anew whenever something has changed.

Nothing here runs anything. What is only shown is kept here; the rest is read where it belongs.
"""

from collections.abc import Callable
from dataclasses import replace

from desktop.agent import repair, ways
from desktop.agent.compaction import CompactionJob
from desktop.agent.late_tools import LateTools
from desktop.agent.ledger import Ledger
from desktop.agent.loop import Turn
from desktop.agent.spending import Next
from desktop.agent.surroundings import DEFAULT_WINDOW, Chosen, Surroundings
from desktop.agent.tenure import Tenure
from desktop.agent.waiting import Waiting
from desktop.core.chunks import Outcome, Text
from desktop.core.errors import StoreError
from desktop.core.model import Retry, Spent
from desktop.core.status import Compacting, NewTools, TabStatus
from desktop.core.ways import Way

Work = Turn | CompactionJob


class Board:
    """`work` is what runs now, `chosen` what the conversation is set to. `problem` is a sentence
    for the person, `last_outcome` how the last turn ended ('' where none did)."""

    def __init__(
        self,
        ledger: Ledger,
        tenure: Tenure,
        waiting: Waiting,
        *,
        tab_id: str,
        around: Surroundings,
        work: Callable[[], Work | None],
        chosen: Callable[[], Chosen],
    ) -> None:
        self._ledger = ledger
        self._tenure = tenure
        self._waiting = waiting
        self._tab_id = tab_id
        self._around = around
        self._work = work
        self._chosen = chosen
        self._late_tools = LateTools(ledger, around)
        self._new_tools: NewTools | None = None
        self._spent = Spent(window=DEFAULT_WINDOW)
        self._retry: Retry | None = None
        self._compacting: Compacting | None = None
        self._ways_on: tuple[Way, ...] = ()
        self.problem = ""
        self.last_outcome = ""

    @property
    def status(self) -> TabStatus:
        work, holder, chosen = self._work(), self._tenure.holder, self._chosen()
        dangling = self._ledger.dangling
        texts = [row.data.text for row in dangling if isinstance(row.data, Text)]
        return TabStatus(
            tab_id=self._tab_id,
            phase="running" if work else "elsewhere" if holder else "idle",
            turn_id=work.id if work else "",
            since=work.since if work else holder.since if holder else 0,
            stopping=work.stopping if work else False,
            queue=self._waiting.messages,
            held=self._waiting.held,
            questions=self._around.approvals.questions(self._tab_id),
            retry=self._retry,
            dangling="\n\n".join(texts) if dangling and not holder else None,
            model=chosen.model,
            effort=chosen.effort,
            mode=chosen.mode,
            spent=self._spent,
            holder=holder.holder if holder else "",
            problem=self.problem,
            last_outcome=self.last_outcome,
            compacting=self._compacting,
            ways_on=() if work or holder else self._ways_on,
            new_tools=self._new_tools,
            asking=self._around.kin.asking(self._tab_id),
            unsaved=tuple(one.id for one in self._ledger.unsaved),
        )

    def tell(self) -> None:
        """Publishes the status."""
        self._around.publisher.status(self.status)

    def count(self) -> None:
        """What was used, what the next message would cost, and which tools could be told."""
        chosen, window = self._chosen(), self._around.window(self._chosen().model)
        if not self._tenure.is_loaded:
            self._spent = replace(self._spent, window=window)
            return
        following = Next(chosen.model, self._around.ttl(), self._around.now_ms())
        self._spent = self._ledger.digest.spent(window=window, following=following)
        self._new_tools = self._late_tools.to_take(self._spent.context, following)

    def read(self) -> None:
        """The rows say how the last turn ended."""
        rows = self._ledger.rows
        self.last_outcome = repair.outcome_of(rows, repair.last_turn_id(rows))
        self.read_ways()

    def read_ways(self) -> None:
        """The rows say what can be done about the last turn."""
        self._ways_on = ways.ways_on(self._ledger.rows)

    def look_at_tools(self) -> None:
        """What tool servers offer has changed."""
        before = self._new_tools
        self.count()
        if self._new_tools != before:
            self.tell()

    def show_retry(self, retry: Retry | None) -> None:
        if retry != self._retry:
            self._retry = retry
            self.tell()

    def show_compacting(self, compacting: Compacting | None) -> None:
        before, self._compacting = self._compacting, compacting
        if compacting != before:
            if before and compacting and compacting.part != before.part:
                self.count()  # the piece before has been paid
            self.tell()

    def progressed(self) -> None:
        """What runs has come a step further."""
        work = self._work()
        if work is not None:
            self.problem = work.problem
        self.count()
        self.tell()

    def not_begun(self, error: BaseException) -> None:
        """What a turn begins with could not be laid down."""
        if isinstance(error, StoreError):
            self.problem = str(error)
        self.tell()

    def over(self, work: Work, outcome: Outcome) -> None:
        """What ran is over; not told yet, for something may follow."""
        if isinstance(work, Turn):
            self.last_outcome = outcome
        self.problem = work.problem
        self._retry = None
