"""Whatever lies in a log, the request is one that the provider takes (U21, C45)."""

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from desktop.core.chunks import ErrorNote, Opaque, System, Text, Thinking, ToolCall, ToolResult
from desktop.core.conversation import compaction
from desktop.core.model import RequestOptions
from desktop.core.rewrites import leaving_out_thinking
from desktop.wire.growing import OPEN, GrowingRequest
from desktop.wire.request import build, serialise
from tests.effort import examples
from tests.fakes.messages_api import assert_extends
from tests.fakes.sim.strictness import refuse_as_the_provider_does
from tests.unit.wire.rows_of import ME, MODELS, TOOLS, Log, bytes_of, paper, picture, reloaded

WORDS = st.text(max_size=8) | st.sampled_from(["", " \n", "ok \ud83d", "plain"])
IDS = st.sampled_from(["a", "b", "c", "a:b", "", "toolu_01"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | WORDS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(WORDS, inner, max_size=2),
    max_leaves=4,
)
ARGUMENTS = st.dictionaries(WORDS, VALUES, max_size=3)
METADATA = st.none() | st.sampled_from(
    [
        {"type": "thinking", "thinking": None, "signature": "s"},
        {"type": "thinking", "thinking": None, "signature": ""},
        {"type": "redacted_thinking", "data": "d"},
    ]
)
SERVER_CALL: dict[str, Any] = {"type": "server_tool_use", "name": "web_search", "input": {}}
SERVER_RESULT: dict[str, Any] = {"type": "web_search_tool_result", "content": []}
SEARCH = {"type": "web_search_20260318", "name": "web_search"}


@st.composite
def opaque(draw: st.DrawFn) -> Opaque:
    id_ = draw(st.sampled_from(["srvtoolu_1", "srvtoolu_2"]))
    if draw(st.booleans()):
        return Opaque({**SERVER_CALL, "id": id_})
    return Opaque({**SERVER_RESULT, "tool_use_id": id_})


PICTURES = [picture(1), picture(2), paper()]
BYTES = bytes_of(*PICTURES)
ENTRIES = st.sampled_from(
    [
        *(one.entry for one in PICTURES),
        {**picture(3).entry},  # whose bytes are gone
        {**picture(1).entry, "replaced": True},
        {"kind": "image", "sha256": "../../etc/passwd", "mediaType": "image/png"},
        {"kind": "image", "mediaType": "image/svg+xml"},
        {"kind": "document", "sha256": 7, "mediaType": None},
        {"kind": ["image"]},
        {"name": "a.txt", "mediaType": "text/plain", "text": "plain"},
        {},
    ]
)
SHOWN = st.lists(ENTRIES, max_size=3)

ROWS = st.one_of(
    st.tuples(st.just("user"), WORDS.map(Text)),
    st.tuples(st.just("user"), st.builds(Text, WORDS, SHOWN.map(tuple))),
    st.tuples(
        st.just("tool"),
        st.builds(
            lambda id_, text, failed, images: ToolResult(
                id_, "read_file", text, failed, extra={"images": images}
            ),
            IDS,
            WORDS,
            st.booleans(),
            SHOWN | st.just("odd") | st.just([7]),
        ),
    ),
    st.tuples(st.just("assistant"), WORDS.map(Text)),
    st.tuples(st.just("assistant"), st.builds(Thinking, WORDS, METADATA)),
    st.tuples(st.just("assistant"), st.builds(ToolCall, IDS, WORDS, ARGUMENTS)),
    st.tuples(st.just("assistant"), opaque()),
    st.tuples(st.just("tool"), st.builds(ToolResult, IDS, WORDS, WORDS, st.booleans())),
    st.tuples(st.just("system"), st.builds(ErrorNote, WORDS)),
    st.tuples(
        st.just("system"),
        st.builds(System, st.sampled_from(["fact", "notice", "turn_end", "compaction"]), WORDS),
    ),
    st.tuples(
        st.just("system"),
        st.builds(
            lambda count: System("tools", fields={"tools": TOOLS[:count]}), st.integers(0, 2)
        ),
    ),
    st.tuples(
        st.just("system"),
        st.sampled_from(
            [
                System("rewrite", "", {"replaced": [{"chunkId": "row-3"}, 7, {"index": 1}]}),
                System("rewrite", "", {"replaced": None, "thinkingBefore": "x"}),
            ]
        ),
    ),
)


@st.composite
def logs(draw: st.DrawFn) -> Log:
    """Rows of every kind in any order, in a few turns and steps, some taken back."""
    log = Log()
    if draw(st.booleans()):
        log.prompt(draw(WORDS))
    for role, data in draw(st.lists(ROWS, max_size=24)):
        log.turn = draw(st.sampled_from(["t1", "t2"]))
        log.step = draw(st.integers(0, 2))
        log.add(role, data)  # pyright: ignore[reportArgumentType]
    for row in tuple(log.rows):
        if draw(st.integers(0, 9)) == 0 and row.role != "system":
            log.retract(row)
        if draw(st.integers(0, 9)) == 0:
            log.add("system", compaction(draw(WORDS), draw(st.lists(st.sampled_from(log.rows)))))
            log.add(*draw(ROWS))  # pyright: ignore[reportArgumentType]
        if draw(st.integers(0, 9)) == 0:
            log.replaces((row.id, draw(st.integers(0, 2))))
            log.add(*draw(ROWS))  # pyright: ignore[reportArgumentType]
        if draw(st.integers(0, 19)) == 0:
            log.add("system", leaving_out_thinking(row.seq, ""))
    return log


@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.too_slow])
@given(logs(), st.sampled_from([ME.model, "claude-haiku-4-5", "claude-fable-5-2"]))
def test_u21_any_log_gives_a_request_that_the_provider_takes(log: Log, model: str):
    body = build(log.rows, RequestOptions(model), models=MODELS, stamp=ME, pictures=BYTES)
    body.setdefault("tools", []).append(SEARCH)
    refuse_as_the_provider_does(body)
    serialise(body).decode("utf-8")


@settings(max_examples=examples(300), suppress_health_check=[HealthCheck.too_slow])
@given(logs(), st.data())
def test_a_request_grown_from_the_last_has_the_bytes_of_one_built_anew(
    log: Log, data: st.DataObject
):
    """C03, and what a step costs is what it added."""
    growing = GrowingRequest(MODELS)
    for count in sorted(data.draw(st.sets(st.integers(0, len(log.rows)), min_size=1))):
        rows = log.rows[:count]
        options = RequestOptions(ME.model, resumed=data.draw(st.integers(0, 9)) == 0)
        built = serialise(build(rows, options, models=MODELS, stamp=ME, pictures=BYTES))
        assert growing.next(rows, options, ME, BYTES) == built
        assert list(growing.call_ids) == [
            row.data.call_id for row in rows if isinstance(row.data, ToolCall)
        ]


@settings(max_examples=examples(30), suppress_health_check=[HealthCheck.too_slow])
@given(logs())
def test_c03_any_log_gives_the_same_bytes_after_a_reload(log: Log):
    options = RequestOptions(ME.model)
    built = build(log.rows, options, models=MODELS, stamp=ME, pictures=BYTES)
    again = build(reloaded(log.rows), options, models=MODELS, stamp=ME, pictures=BYTES)
    assert serialise(again) == serialise(built)


@st.composite
def steps(draw: st.DrawFn) -> list[tuple[str, Any]]:
    return draw(
        st.lists(
            st.one_of(
                st.tuples(st.just("turn"), WORDS.filter(str.strip)),
                st.tuples(st.just("calls"), st.integers(1, 4)),
                st.tuples(st.just("queued"), WORDS.filter(str.strip)),
                st.tuples(st.just("stopped"), WORDS),
            ),
            min_size=2,
            max_size=8,
        )
    )


@settings(max_examples=examples(30), suppress_health_check=[HealthCheck.too_slow])
@given(steps())
def test_c45_every_request_of_an_orderly_conversation_extends_the_one_before(
    script: list[tuple[str, Any]],
):
    log = Log()
    log.prompt()
    log.user("begin")
    previous = log.body()
    for number, (kind, value) in enumerate(script):
        match kind:
            case "turn":
                log.thinks("hm", f"s{number}")
                log.says(f"done {number}")
                log.turn, log.step = f"t{number}", 0
                log.user(value)
            case "calls":
                log.thinks("", f"s{number}")
                for at in range(value):
                    log.calls(f"c{number}_{at}", path=f"{at}")
                for at in reversed(range(value)):
                    log.result(f"c{number}_{at}")
                log.step += 1
            case "queued":
                log.calls(f"q{number}")
                log.result(f"q{number}")
                log.fact("It is later.")
                log.user(value)
                log.step += 1
            case _:
                log.add("assistant", Text(value, interrupted=True))
                log.error("stopped")
                log.turn, log.step = f"t{number}", 0
                log.user("go on")
        body = log.body()
        assert_extends(previous, body)
        previous = body


def test_a_grown_request_of_a_long_turn_folds_only_its_last_steps():
    log = Log()
    log.prompt()
    log.user("begin")
    growing = GrowingRequest(MODELS)
    options = RequestOptions(ME.model)
    for step in range(60):
        log.step = step
        log.thinks("hm", f"s{step}")
        for at in range(3):
            log.calls(f"c{step}_{at}", path=f"{at}")
        for at in reversed(range(3)):
            log.result(f"c{step}_{at}")
        if step == 40:
            log.retract(log.user("never mind"))
        grown = growing.next(log.rows, options, ME)
        assert grown == serialise(build(log.rows, options, models=MODELS, stamp=ME))
        assert len(growing.unsettled) <= OPEN
    log.turn, log.step = "t2", 0
    log.add("system", System("compaction", "what there was"))
    grown = growing.next(log.rows, options, ME)
    assert grown == serialise(build(log.rows, options, models=MODELS, stamp=ME))
