"""What the window says to a screen reader of conversations: each thing once, when it is whole.

It hears the feed and speaks for the conversation in view; of the others it only says that they
need the person (SPEC U38, U40).
"""

from collections.abc import Callable

from PySide6.QtWidgets import QWidget

from desktop.core.chunks import ErrorNote, LogChunk, System, Text
from desktop.core.groups import is_silent
from desktop.core.permissions import Act, Question
from desktop.core.records import Receipt
from desktop.core.reducer import BlockOp
from desktop.core.status import TabStatus
from desktop.feed.hub import Hub
from desktop.ui import words
from desktop.ui.announcing import announce
from desktop.ui.transcript.phrases import error_lines, notice
from desktop.ui.transcript.saying import say
from desktop.ui.visible import in_order, visible

LISTENED = 600  # letters; the row has the rest
_ENDINGS = ("turn_end", "compaction", "notice")


class Announcer:
    """A `Publisher` that hears all conversations. `in_view` is the id of the one that is looked at,
    '' for none; of several windows only the one that `is_front` speaks."""

    def __init__(
        self,
        window: QWidget,
        hub: Hub,
        *,
        in_view: Callable[[], str],
        title_of: Callable[[str], str],
        is_front: Callable[[], bool] = lambda: True,
    ) -> None:
        self._window = window
        self._hub = hub
        self._in_view = in_view
        self._title_of = title_of
        self._is_front = is_front
        # By conversation: the last row that was heard, the question that was said, that the person
        # is needed there, the wait that was said.
        self._heard: dict[str, int] = {}
        self._asked: dict[str, str] = {}
        self._needed: set[str] = set()
        self._waits: dict[str, tuple[str, str]] = {}

    def receipt(self, receipt: Receipt) -> None:
        """Rows are sealed: what is new of them is said, but not what is only published again."""
        heard = self._heard.get(receipt.tab_id, 0)
        for row in receipt.chunks:
            sentence = sentence_of(row)
            if sentence and row.seq > heard and receipt.tab_id == self._in_view():
                self._announce(sentence)
        self._heard[receipt.tab_id] = max([heard, *(row.seq for row in receipt.chunks)])

    def live(self, tab_id: str, op: BlockOp) -> None:
        """What is not whole is not said."""

    def status(self, status: TabStatus) -> None:
        if status.tab_id == self._in_view():
            self._tell_question(status)
            self._tell_wait(status)
        elif not status.questions:
            self._needed.discard(status.tab_id)
        elif not self._is_known(status):
            self._needed.add(status.tab_id)
            title = in_order(self._title_of(status.tab_id)) or say("A conversation")
            self._announce(say("{0} needs you").format(title))

    def shown(self, tab_id: str) -> None:
        """A conversation came into view: what waits there is said now."""
        status = self._hub.last_status(tab_id)
        if status is not None:
            self.status(status)

    def _is_known(self, status: TabStatus) -> bool:
        return (
            status.tab_id in self._needed
            or self._asked.get(status.tab_id) == status.questions[0].id
        )

    def _tell_question(self, status: TabStatus) -> None:
        self._needed.discard(status.tab_id)
        if not status.questions:
            self._asked.pop(status.tab_id, None)
        elif self._asked.get(status.tab_id) != status.questions[0].id:
            self._asked[status.tab_id] = status.questions[0].id
            self._announce(question_words(status.questions[0]), at_once=True)

    def _tell_wait(self, status: TabStatus) -> None:
        """A countdown is said when it begins, and not again for the same reason in the turn."""
        retry = status.retry
        if retry is None:
            return
        wait = (status.turn_id, retry.reason)
        if self._waits.get(status.tab_id) != wait:
            self._waits[status.tab_id] = wait
            time = words.seconds(round(retry.seconds * 1000))
            self._announce(say("{0} Trying again in {1}.").format(retry.reason, time))

    def _announce(self, sentence: str, *, at_once: bool = False) -> None:
        if self._is_front():
            announce(self._window, sentence, at_once=at_once)


def sentence_of(row: LogChunk) -> str:
    """What is said when this row seals: an answer, why a turn failed, that it was stopped; empty
    for all that the person did or that is only a step on the way."""
    match row.data:
        case Text() if row.role == "assistant" and not row.data.interrupted:
            return say("Answer: {0}").format(listened(row.data.text))
        case ErrorNote():
            return say("Failed: {0}").format(listened(" ".join(error_lines(row.data))))
        case System() if row.data.kind in _ENDINGS and not is_silent(row):
            # Why it failed stands in a row of its own.
            failed = row.data.fields.get("outcome") == "failed"
            return "" if failed else listened(notice(row.data))
        case _:
            return ""


def question_words(question: Question) -> str:
    """The act in a sentence, and the command itself where it is one."""
    about = question.about
    sentence = visible(about.sentence)
    if not isinstance(about, Act):
        return sentence
    if about.detail_kind == "command":
        sentence = f"{sentence}: {listened(visible(about.detail))}"
    return say("The agent asks for permission. {0}").format(sentence)


def listened(text: str) -> str:
    """As much as one listens to in one go, to the end of a word; then that there is more."""
    if len(text) <= LISTENED:
        return text
    cut = text[:LISTENED]
    whole = cut.rsplit(None, 1)[0] if any(map(str.isspace, cut.strip())) else cut
    return say("{0} … There is more to read.").format(whole)
