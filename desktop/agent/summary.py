"""A summary as it comes from a model: an answer that is heard and not laid down."""

from dataclasses import dataclass

from desktop.agent.step import noted
from desktop.core.chunks import Text, ToolCall
from desktop.core.events import (
    BlockDelta,
    BlockFinished,
    BlockStarted,
    Failure,
    ModelEvent,
    ResponseFailed,
    ResponseFinished,
)
from desktop.core.records import RequestRecord

# What stands before a call is rather an announcement of it than a summary, unless it is as long.
LEAST_BESIDE_A_CALL = 200

EMPTY = "The model gave no summary."
CALLED = "The model wanted to use a tool instead of summarising."
CUT_OFF = "The summary was cut off before its end."
DECLINED = "The model declined to summarise."


@dataclass(frozen=True, slots=True)
class Answer:
    """A summary, or why there is none."""

    text: str = ""
    problem: str = ""
    too_large: bool = False


class Hearing:
    """An answer as it comes: `answer` once it is over. Thinking is not kept, no call is run."""

    def __init__(self, record: RequestRecord) -> None:
        self.record = record
        self.failure: Failure | None = None
        self.answer: Answer | None = None
        self.words = 0
        self._texts: list[str] = []
        self._has_call = False
        self._in_text: set[int] = set()

    def take(self, event: ModelEvent) -> None:
        self.record = noted(self.record, event)
        match event:
            case BlockStarted():
                if event.type == "text":
                    self._in_text.add(event.index)
            case BlockDelta() if event.index in self._in_text:
                self.words += sum(letter.isspace() for letter in event.text)
            case BlockFinished():
                if isinstance(event.payload, Text):
                    self._texts.append(event.payload.text)
                self._has_call = self._has_call or isinstance(event.payload, ToolCall)
            case ResponseFinished():
                self.answer = self._of(event.stop_reason)
            case ResponseFailed():
                self.failure = event.failure
                sentence = f"The conversation could not be compacted: {event.failure.sentence}"
                self.answer = Answer(problem=sentence, too_large=event.failure.kind == "too_large")
            case _:
                pass

    def _of(self, stop_reason: str) -> Answer:
        text = "\n\n".join(one for one in self._texts if one.strip()).strip()
        match stop_reason:
            case "refusal":
                return Answer(problem=DECLINED)
            case "model_context_window_exceeded":
                return Answer(problem=CUT_OFF, too_large=True)
            case "max_tokens" | "pause_turn":
                return Answer(problem=CUT_OFF)
            case _ if self._has_call and len(text) < LEAST_BESIDE_A_CALL:
                return Answer(problem=CALLED)
            case _:
                return Answer(text) if text else Answer(problem=EMPTY)
