"""What a subagent is out for, what is heard of it while it works, and what it brings back."""

from collections.abc import Callable
from dataclasses import dataclass, field

from desktop.core.chunks import ErrorNote, LogChunk, System, Text, ToolCall
from desktop.core.records import Receipt, RequestRecord
from desktop.core.reducer import BlockOp
from desktop.core.status import TabStatus
from desktop.core.tools import ToolOutcome
from desktop.tools.output import cut_middle

LINE = 160

_ASIDE = (
    "You are a subagent: another agent gave you the task below. It sees nothing of what you do or"
    " say but your last answer, so put everything that it needs there. Nobody may be there to"
    " answer questions. Should you change files, say which.\n\nThe task:\n\n"
)
STOPPED = "The person stopped the subagent. What it had done until then stays done."
REFUSED = "The model declined to do this task."
BROKEN_OFF = "The subagent ended without an answer. It may have done part of its work."
NO_REASON = "It gave no reason."


def first_text(task: str) -> str:
    """What the subagent is told. It stands behind the beginning that it shares with its parent,
    which must be the same byte for byte (API C43)."""
    return _ASIDE + task


class Watch:
    """A listener of the subagent's conversation, from its first row on."""

    def __init__(self, report: Callable[[str], None], asks: Callable[[], None]) -> None:
        self.requests: dict[str, RequestRecord] = {}
        self.is_asking = False
        self.outcome = ""
        self._report = report
        self._asks = asks
        self._said: list[str] = []
        self._is_over = True
        self._reason = ""

    def receipt(self, receipt: Receipt) -> None:
        for row in receipt.chunks:
            self._take(row)
        self.requests.update({record.id: record for record in receipt.requests})

    def live(self, tab_id: str, op: BlockOp) -> None:
        """What streams is seen in its own conversation."""

    def status(self, status: TabStatus) -> None:
        is_asking = bool(status.questions)
        if is_asking != self.is_asking:
            self.is_asking = is_asking
            self._asks()

    def brought(self, *, limit: int) -> ToolOutcome:
        """The result for its parent; `limit` in bytes."""
        if self.outcome == "done" and self._said:
            return ToolOutcome(cut_middle("\n\n".join(self._said), limit))
        said = "\n\n".join([self._why(), *self._last_words()])
        return ToolOutcome(cut_middle(said, limit), is_error=True)

    def _why(self) -> str:
        match self.outcome:
            case "stopped":
                return STOPPED
            case "refused":
                return REFUSED
            case "failed":
                return f"The subagent failed. {self._reason or NO_REASON}"
            case _:
                return BROKEN_OFF

    def _last_words(self) -> list[str]:
        return ["The last that it said:", *self._said] if self._said else []

    def _take(self, row: LogChunk) -> None:
        """An answer is what is said after the last result or message; one may be in pieces."""
        match row.data:
            case Text() if row.role == "assistant":
                if self._is_over:
                    self._said.clear()
                self._is_over = False
                self._said.append(row.data.text)
                self._tell(row.data.text.strip().rpartition("\n")[2])
            case ToolCall():
                self._tell(_call_line(row.data))
            case ErrorNote():
                self._reason = row.data.message
            case System() if row.data.kind == "turn_end":
                self.outcome = str(row.data.fields.get("outcome", ""))
            case System() if row.data.kind == "notice" and row.data.text:
                self._reason = row.data.text
            case _:
                pass
        if row.role in ("user", "tool"):
            self._is_over = True

    def _tell(self, line: str) -> None:
        line = " ".join(line.split())
        self._report(f"{line if len(line) <= LINE else line[: LINE - 1] + '…'}\n" if line else "")


def _call_line(call: ToolCall) -> str:
    first = next((one for one in call.arguments.values() if isinstance(one, str) and one), "")
    return f"{call.name} {first[:LINE]}"


@dataclass(eq=False, slots=True)
class Head:
    """A turn that a person began, for which subagents work. `requests` are theirs, one dictionary
    for each that was started; `begun` counts those that were asked for."""

    tab_id: str
    turn_id: str
    begun: int = 0
    requests: list[dict[str, RequestRecord]] = field(default_factory=list[dict[str, RequestRecord]])
    is_told: bool = False


@dataclass(eq=False, slots=True)
class Errand:
    """One subagent from its call to its result. `tab_id` is '' until it has a conversation;
    `parent` is the errand whose agent began it, None for a person's conversation."""

    parent_tab_id: str
    parent: "Errand | None"
    head: Head
    watch: Watch
    tab_id: str = ""

    def ancestors(self) -> list[str]:
        """The conversations above, the nearest first."""
        above = self.parent.ancestors() if self.parent else []
        return [self.parent_tab_id, *above]
