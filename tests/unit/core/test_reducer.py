"""The meaning of a stream: what opens, grows, seals, and what a cut leaves behind."""

from itertools import count

from hypothesis import given
from hypothesis import strategies as st

from desktop.core.chunks import NewChunk, Opaque, Payload, Stamp, Text, Thinking, ToolCall
from desktop.core.events import (
    BlockDelta,
    BlockFinished,
    BlockStarted,
    BlockType,
    Failure,
    ModelEvent,
    ResponseFailed,
    ResponseFinished,
    ResponseStarted,
    RetryScheduled,
    Usage,
)
from desktop.core.reducer import (
    CUTTING_STOP_REASONS,
    BlockOp,
    Dropped,
    Grew,
    OpenBlocks,
    Opened,
    Reducer,
    Sealed,
)

STAMP = Stamp("p:1", "m")
SIGNED = {"type": "thinking", "thinking": None, "signature": "s"}


def reducer() -> Reducer:
    numbers = count(1)
    return Reducer(turn_id="t", step=3, stamp=STAMP, new_id=lambda: f"b{next(numbers)}")


def reduced(*events: ModelEvent) -> list[BlockOp]:
    one = reducer()
    return [op for event in events for op in one.apply(event)]


def sealed(ops: list[BlockOp]) -> list[Payload]:
    return [op.chunk.data for op in ops if isinstance(op, Sealed)]


def started(index: int, kind: BlockType = "text") -> BlockStarted:
    return BlockStarted(index, kind, "look" if kind == "tool_call" else "", f"c{index}")


def ended(reason: str = "end_turn") -> ResponseFinished:
    return ResponseFinished(reason, Usage(), {})


FAILED = ResponseFailed(Failure("overloaded", "Busy."))


def test_a_block_opens_grows_and_seals_as_it_is_whole() -> None:
    ops = reduced(
        ResponseStarted("m", "m", Usage(), {}),
        started(0),
        BlockDelta(0, "Hel"),
        BlockDelta(0, "lo"),
        BlockFinished(0, Text("Hello")),
        ended(),
    )
    chunk = NewChunk("b1", "t", "assistant", Text("Hello"), step=3, stamp=STAMP)
    assert ops == [
        Opened("b1", "t", 3, "assistant", "text", "", "c0"),
        Grew("b1", "Hel"),
        Grew("b1", "lo"),
        Sealed(chunk),
    ]


def test_a_wait_for_a_retry_opens_nothing() -> None:
    assert reduced(RetryScheduled(Failure("network", "Gone."), 1, 2.0)) == []


def test_from_the_first_call_on_blocks_seal_together_at_the_end() -> None:
    one = reducer()
    before = [
        started(0),
        BlockFinished(0, Text("Let me.")),
        started(1, "tool_call"),
        BlockFinished(1, ToolCall("c1", "look", {})),
        started(2),
        BlockFinished(2, Text("And.")),
    ]
    ops = [op for event in before for op in one.apply(event)]
    assert sealed(ops) == [Text("Let me.")]
    assert sealed(one.apply(ended("tool_use"))) == [ToolCall("c1", "look", {}), Text("And.")]


def test_a_call_that_finishes_without_having_started_is_held_too() -> None:
    ops = reduced(BlockFinished(0, ToolCall("c1", "look", {})))
    assert ops == []


def test_A05_no_call_seals_after_a_reason_that_cuts() -> None:
    for reason in sorted(CUTTING_STOP_REASONS):
        ops = reduced(
            started(0),
            BlockFinished(0, Text("I will.")),
            started(1, "tool_call"),
            BlockFinished(1, ToolCall("c1", "look", {})),
            ended(reason),
        )
        assert sealed(ops) == [Text("I will.")]
        assert ops[-1] == Dropped("b2")


def test_A02_a_failure_seals_the_open_text_as_interrupted() -> None:
    ops = reduced(started(0), BlockDelta(0, "Ha"), FAILED)
    assert sealed(ops) == [Text("Ha", interrupted=True)]


def test_the_open_text_of_an_answer_cut_by_its_length_is_not_marked_interrupted() -> None:
    assert sealed(reduced(started(0), BlockDelta(0, "Ha"), ended("max_tokens"))) == [Text("Ha")]


def test_A03_half_a_call_and_half_a_thinking_leave_nothing() -> None:
    assert sealed(reduced(started(0, "tool_call"), BlockDelta(0, '{"a'), FAILED)) == []
    ops = reduced(started(0, "thinking"), BlockDelta(0, "Hm"), FAILED)
    assert ops[-1] == Dropped("b1")


def test_thinking_after_a_call_goes_with_the_call() -> None:
    ops = reduced(
        started(0, "tool_call"),
        BlockFinished(0, ToolCall("c1", "look", {})),
        started(1, "thinking"),
        BlockFinished(1, Thinking("Hm", SIGNED)),
        started(2),
        BlockFinished(2, Text("So.")),
        FAILED,
    )
    assert sealed(ops) == [Text("So.")]
    assert [op for op in ops if isinstance(op, Dropped)] == [Dropped("b1"), Dropped("b2")]


def test_C07_signed_thinking_without_text_is_kept_and_unsigned_is_dropped() -> None:
    signed = Thinking("", SIGNED)
    assert sealed(reduced(started(0, "thinking"), BlockFinished(0, signed), ended())) == [signed]
    assert sealed(reduced(started(0, "thinking"), BlockFinished(0, Thinking(" ")), ended())) == []


def test_empty_blocks_leave_nothing() -> None:
    for kind, payload in (("text", Text(" \n")), ("opaque", Opaque({}))):
        ops = reduced(started(0, kind), BlockFinished(0, payload), ended())  # type: ignore[arg-type]
        assert ops[1:] == [Dropped("b1")]


def test_growth_of_an_unknown_block_and_empty_growth_say_nothing() -> None:
    assert reduced(BlockDelta(7, "x"), started(0), BlockDelta(0, ""))[1:] == []


def test_cutting_twice_is_harmless() -> None:
    one = reducer()
    one.apply(started(0))
    one.apply(BlockDelta(0, "Ha"))
    assert len(one.cut()) == 1
    assert one.cut() == []


@st.composite
def streams(draw: st.DrawFn) -> list[ModelEvent]:
    """Responses as the wire makes them: blocks one after the other, then an end, cut anywhere."""
    events: list[ModelEvent] = []
    for index in range(draw(st.integers(0, 6))):
        kind = draw(st.sampled_from(("text", "thinking", "tool_call", "opaque")))
        pieces = draw(st.lists(st.text(max_size=4), max_size=4))
        whole = "".join(pieces)
        payload: Payload
        match kind:
            case "text":
                payload = Text(whole)
            case "thinking":
                payload = Thinking(whole, draw(st.sampled_from((None, SIGNED))))
            case "tool_call":
                payload = ToolCall(f"c{index}", "look", {})
            case _:
                payload = Opaque({"type": "server", "n": index})
        events.append(BlockStarted(index, kind, "look", f"c{index}"))  # type: ignore[arg-type]
        events.extend(BlockDelta(index, piece) for piece in pieces)
        events.append(BlockFinished(index, payload))
    reason = draw(st.sampled_from(("end_turn", "tool_use", *sorted(CUTTING_STOP_REASONS))))
    events.append(draw(st.sampled_from((ended(reason), FAILED))))
    cut = draw(st.integers(0, len(events)))
    return events if draw(st.booleans()) else events[:cut]


@given(streams())
def test_every_block_opens_once_and_ends_once_and_a_view_agrees(events: list[ModelEvent]) -> None:
    one = reducer()
    ops = [op for event in events for op in one.apply(event)]
    ops += one.cut()
    opened = [op.id for op in ops if isinstance(op, Opened)]
    over = [op.chunk.id if isinstance(op, Sealed) else op.id
            for op in ops if isinstance(op, Sealed | Dropped)]  # fmt: skip
    assert sorted(opened) == sorted(over)
    assert len(set(opened)) == len(opened)
    view = OpenBlocks()
    texts: dict[str, str] = {}
    for op in ops:
        if isinstance(op, Sealed) and (block := view.get(op.chunk.id)):
            texts[op.chunk.id] = block.text
        view.apply(op)
    assert len(view) == 0
    for op in ops:
        if isinstance(op, Sealed) and isinstance(op.chunk.data, Text):
            assert texts[op.chunk.id] == op.chunk.data.text, "stored is what was shown"
    order = [op.chunk.id for op in ops if isinstance(op, Sealed)]
    assert order == sorted(order, key=opened.index), "rows stand in the order blocks came"


@given(streams())
def test_calls_seal_only_at_a_message_end_that_lets_them_run(events: list[ModelEvent]) -> None:
    one = reducer()
    ops = [op for event in events for op in one.apply(event)]
    ops += one.cut()
    last = events[-1] if events else None
    runs = isinstance(last, ResponseFinished) and last.stop_reason not in CUTTING_STOP_REASONS
    has_calls = any(isinstance(data, ToolCall) for data in sealed(ops))
    assert not has_calls or runs
    if runs:
        wanted = [one.payload for one in events if isinstance(one, BlockFinished)]
        calls = [payload for payload in wanted if isinstance(payload, ToolCall)]
        assert [data for data in sealed(ops) if isinstance(data, ToolCall)] == calls


def test_C25_a_reader_that_comes_in_mid_stream_starts_from_a_copy() -> None:
    view = OpenBlocks()
    view.apply(Opened("b1", "t", 0, "assistant", "text"))
    view.apply(Grew("b1", "Hel"))
    late = view.copy()
    view.apply(Grew("b1", "lo"))
    assert [block.text for block in late] == ["Hel"]
    late.apply(Grew("b1", "p"))
    assert [block.text for block in view] == ["Hello"]


def test_P09_growth_of_a_block_that_is_not_open_is_left_out() -> None:
    view = OpenBlocks()
    view.apply(Grew("b1", "x"))
    assert view.get("b1") is None
    view.apply(Opened("b1", "t", 0, "assistant", "text"))
    view.remove("b1")
    view.remove("b1")
    assert len(view) == 0


def test_opening_twice_keeps_what_has_grown() -> None:
    view = OpenBlocks()
    view.apply(Opened("b1", "t", 0, "assistant", "text"))
    view.apply(Grew("b1", "x"))
    view.apply(Opened("b1", "t", 0, "assistant", "text"))
    assert [block.text for block in view] == ["x"]
