"""From a model's events to blocks that open, grow and seal: the meaning of a stream.

`Reducer` is the writing half: events in, operations out; the agent makes rows of what seals.
`OpenBlocks` is the reading half: the same operations applied in a view. Both are the only owners of
these rules, so that what is stored and what is shown cannot differ (DESIGN.md §2, §5):

* a block seals when it is whole; from the first tool call on, the blocks of a response are held and
  seal together, at the end of a message whose stop reason lets the calls run;
* when a response is cut, the open text seals as interrupted, and finished texts that were held are
  kept; half a thinking block and every call are dropped, with the thinking that came after a call
  (it is bound to the call that will never be sent);
* a text without a visible character and thinking without text and signature leave nothing.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import assert_never

from desktop.core.chunks import (
    NewChunk,
    Opaque,
    Payload,
    Role,
    Stamp,
    Text,
    Thinking,
    ToolCall,
    Type,
)
from desktop.core.events import (
    BlockDelta,
    BlockFinished,
    BlockStarted,
    ModelEvent,
    ResponseFailed,
    ResponseFinished,
    ResponseStarted,
    RetryScheduled,
)
from desktop.core.growing import Growing
from desktop.core.printed import Growth, Span

# Stop reasons after which a call that came in the message must not run: its arguments may be cut
# off (API.md §1.3) or the provider took the answer back.
CUTTING_STOP_REASONS = frozenset({"max_tokens", "model_context_window_exceeded", "refusal"})


@dataclass(frozen=True, slots=True)
class Opened:
    """A block begins to stream; it has an id and no place in the log yet."""

    id: str
    turn_id: str
    step: int
    role: Role
    type: Type
    name: str = ""
    call_id: str = ""


@dataclass(frozen=True, slots=True)
class Grew:
    """More of a block. Of a tool's output: in its colours, and in place of its last `back`
    characters, with `lost` lines left out before it (`core.printed.Growth`)."""

    id: str
    text: str
    spans: tuple[Span, ...] = ()
    back: int = 0
    lost: int = 0


@dataclass(frozen=True, slots=True)
class Sealed:
    """The block is whole and is to become a row."""

    chunk: NewChunk


@dataclass(frozen=True, slots=True)
class Dropped:
    """The block leaves no row; a view takes it away."""

    id: str


BlockOp = Opened | Grew | Sealed | Dropped


@dataclass(slots=True)
class OpenBlock:
    """A block while it streams. `parts` grow; `text` joins them (and keeps them joined).

    What a tool prints has no end: of that, `output` keeps both ends.
    """

    opened: Opened
    parts: list[str] = field(default_factory=list[str])
    output: Growing | None = None

    def grow(self, op: Grew) -> None:
        if self.output is not None:
            self.output.add(Growth(op.text, op.spans, op.back, op.lost))
        else:
            self.parts.append(op.text)

    def copy(self) -> "OpenBlock":
        output = self.output.copy() if self.output is not None else None
        return OpenBlock(self.opened, list(self.parts), output)

    @property
    def text(self) -> str:
        if self.output is not None:
            return self.output.text
        if len(self.parts) > 1:
            self.parts[:] = ["".join(self.parts)]
        return self.parts[0] if self.parts else ""


@dataclass(slots=True)
class _Held:
    """A block that came after the first call, or is that call: whole or still open."""

    id: str
    payload: Payload


class Reducer:
    """Reduces one response (one step). Feed it every event in order, then nothing more."""

    def __init__(self, *, turn_id: str, step: int, stamp: Stamp, new_id: Callable[[], str]) -> None:
        self._turn_id = turn_id
        self._step = step
        self._stamp = stamp
        self._new_id = new_id
        self._open: dict[int, OpenBlock] = {}
        self._held: list[_Held] = []
        self._holding = False
        self.finished = False

    def apply(self, event: ModelEvent) -> list[BlockOp]:
        """The operations that this event causes, in order."""
        match event:
            case BlockStarted():
                return self._start(event)
            case BlockDelta():
                return self._grow(event)
            case BlockFinished():
                return self._finish_block(event)
            case ResponseFinished():
                self.finished = True
                if event.stop_reason in CUTTING_STOP_REASONS:
                    return self._cut(interrupted=event.stop_reason == "refusal")
                return self._release()
            case ResponseFailed():
                return self.cut()
            case ResponseStarted() | RetryScheduled():
                return []
            case _:
                assert_never(event)

    def cut(self) -> list[BlockOp]:
        """Ends the response where it stands: stopped, failed, or cut off. Repeating is harmless."""
        return self._cut(interrupted=True)

    def _start(self, event: BlockStarted) -> list[BlockOp]:
        opened = Opened(
            id=self._new_id(),
            turn_id=self._turn_id,
            step=self._step,
            role="assistant",
            type=event.type,
            name=event.name,
            call_id=event.call_id,
        )
        self._open[event.index] = OpenBlock(opened)
        if event.type == "tool_call":
            self._holding = True
        return [opened]

    def _grow(self, event: BlockDelta) -> list[BlockOp]:
        block = self._open.get(event.index)
        if block is None or not event.text:
            return []
        block.parts.append(event.text)
        return [Grew(block.opened.id, event.text)]

    def _finish_block(self, event: BlockFinished) -> list[BlockOp]:
        block = self._open.pop(event.index, None)
        id_ = block.opened.id if block else self._new_id()
        if _is_empty(event.payload):
            return [Dropped(id_)] if block else []
        if self._holding or isinstance(event.payload, ToolCall):
            self._holding = True
            self._held.append(_Held(id_, event.payload))
            return []
        return [self._seal(id_, event.payload)]

    def _release(self) -> list[BlockOp]:
        ops: list[BlockOp] = [self._seal(held.id, held.payload) for held in self._held]
        self._held.clear()
        ops.extend(self._close_open(interrupted=True))
        return ops

    def _cut(self, *, interrupted: bool) -> list[BlockOp]:
        ops: list[BlockOp] = []
        for held in self._held:
            kept = isinstance(held.payload, Text)
            ops.append(self._seal(held.id, held.payload) if kept else Dropped(held.id))
        self._held.clear()
        ops.extend(self._close_open(interrupted=interrupted))
        return ops

    def _close_open(self, *, interrupted: bool) -> Iterable[BlockOp]:
        blocks, self._open = list(self._open.values()), {}
        for block in blocks:
            text = Text(block.text, interrupted=interrupted)
            if block.opened.type == "text" and not _is_empty(text):
                yield self._seal(block.opened.id, text)
            else:
                yield Dropped(block.opened.id)

    def _seal(self, id_: str, payload: Payload) -> Sealed:
        return Sealed(
            NewChunk(
                id=id_,
                turn_id=self._turn_id,
                step=self._step,
                role="assistant",
                data=payload,
                stamp=self._stamp,
            )
        )


def _is_empty(payload: Payload) -> bool:
    match payload:
        case Text():
            return not payload.text.strip()
        case Thinking():
            return not payload.text.strip() and payload.metadata is None
        case Opaque():
            return not payload.block
        case _:
            return False


class OpenBlocks:
    """The blocks of one tab that stream now, as a reader sees them, in the order they opened."""

    def __init__(self) -> None:
        self._blocks: dict[str, OpenBlock] = {}

    def __iter__(self) -> Iterator[OpenBlock]:
        return iter(list(self._blocks.values()))

    def __len__(self) -> int:
        return len(self._blocks)

    def get(self, id_: str) -> OpenBlock | None:
        return self._blocks.get(id_)

    def apply(self, op: BlockOp) -> None:
        """Applies one operation; a growth of a block that is not open is left out (SPEC P09)."""
        match op:
            case Opened():
                output = Growing() if op.type == "tool_result" else None
                self._blocks.setdefault(op.id, OpenBlock(op, output=output))
            case Grew():
                block = self._blocks.get(op.id)
                if block is not None:
                    block.grow(op)
            case Sealed():
                self._blocks.pop(op.chunk.id, None)
            case Dropped():
                self._blocks.pop(op.id, None)
            case _:
                assert_never(op)

    def remove(self, id_: str) -> None:
        """The row of this block has arrived."""
        self._blocks.pop(id_, None)

    def copy(self) -> "OpenBlocks":
        """A reader that subscribes in mid-stream starts from here (SPEC C25)."""
        other = OpenBlocks()
        other._blocks = {id_: block.copy() for id_, block in self._blocks.items()}
        return other
