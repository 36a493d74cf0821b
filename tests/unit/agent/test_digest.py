"""What is kept of a conversation is what a look through all of it would find (SPEC U03, U24)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from desktop.agent import context
from desktop.agent.digest import LOOK_BACK, Digest
from desktop.agent.spending import Bill, Next
from desktop.core.chunks import ErrorNote, LogChunk, Payload, Role, System, Text, ToolResult
from desktop.core.conversation import compaction, told
from desktop.core.records import RequestRecord
from desktop.core.rewrites import leaving_out_thinking, replacing, standing
from desktop.core.shown import placed
from tests.unit.agent.stage import TARIFF

NEXT = Next("model-1", "5m", at=2_000)
PICTURE = {
    "kind": "image",
    "sha256": "a" * 64,
    "mediaType": "image/png",
    "width": 100,
    "height": 100,
    "size": 1_000,
}


@dataclass
class Story:
    """Rows and records as they come, and the digest that hears of them."""

    rows: list[LogChunk]
    records: list[RequestRecord]
    digest: Digest

    @classmethod
    def begun(cls) -> "Story":
        made = cls([], [], Digest(TARIFF))
        made.digest.begin(made.rows, ())
        return made

    def say(self, role: Role, data: Payload, step: int) -> None:
        seq = len(self.rows) + 1
        row = LogChunk(f"r{seq}", "tab", seq, "t", step, role, data, seq)
        self.rows.append(row)
        self.digest.rows_came([row])

    def note(self, record: RequestRecord) -> None:
        self.records.append(record)
        self.digest.records_came([record])

    def check(self) -> None:
        bill = Bill(TARIFF)
        for one in self.records:
            bill.take(one)
        digest = self.digest
        assert digest.size() == context.size(self.rows, bill.usage_of)
        shown = placed(told(standing(self.rows)))
        assert digest.shown() == {place: (row, media) for place, row, media in shown}
        found = digest.spent(window=9, following=NEXT)
        assert (found.prompt, found.output) == (
            sum(used(one)[0] for one in latest(self.records)),
            sum(used(one)[1] for one in latest(self.records)),
        )


def latest(records: Sequence[RequestRecord]) -> list[RequestRecord]:
    return list({one.id: one for one in records}.values())


def used(record: RequestRecord) -> tuple[int, int]:
    raw: Any = record.usage or {}
    return raw.get("input_tokens", 0), raw.get("output_tokens", 0)


def act(story: Story, kind: str, number: int, step: int) -> None:
    """One thing that may come, about the row of this number from the end."""
    about = story.rows[-1 - number % len(story.rows)] if story.rows else None
    match kind:
        case "user":
            story.say("user", Text("u" * number, attachments=(PICTURE,) * (number % 2)), step)
        case "answer":
            story.say("assistant", Text("a" * number), step)
        case "result":
            extra = {"images": [PICTURE]} if number % 3 == 0 else {}
            story.say("tool", ToolResult("c", "look", "x" * number, extra=extra), step)
        case "error":
            story.say("assistant", ErrorNote("It broke."), step)
        case "record":
            usage = {"input_tokens": number, "output_tokens": 3} if number % 4 else None
            record = RequestRecord(f"q{step}{number % 2}", "tab", "t", step, "p", "m", 1)
            story.note(record if usage is None else _with(record, usage))
        case "retracted" if about is not None:
            story.say("system", System("retracted", fields={"chunkIds": [about.id]}), step)
        case "thinking":
            story.say("system", leaving_out_thinking(len(story.rows) + 1, "Left out."), step)
        case "rewrite" if about is not None:
            story.say("system", replacing([(about.id, 0)], "Gone."), step)
        case "compaction" if about is not None:
            story.say("system", compaction("Short.", [about]), step)
        case "prompt":
            story.say("system", System("prompt", "p" * number, {"tools": []}), step)
        case _:
            pass


def _with(record: RequestRecord, usage: dict[str, int]) -> RequestRecord:
    return RequestRecord(record.id, "tab", "t", record.step, "p", "m", 1, usage=usage, ended_at=2)


KINDS = ("user", "answer", "result", "error", "record", "retracted", "thinking", "rewrite")
RARE = ("compaction", "prompt")


@given(
    st.lists(
        st.tuples(
            st.sampled_from((*KINDS * 3, *RARE)),
            st.integers(0, 90),
            st.integers(0, 5),
            st.booleans(),
        ),
        max_size=60,
    )
)
def test_u24_what_is_kept_is_what_a_look_through_everything_finds(
    acts: list[tuple[str, int, int, bool]],
) -> None:
    story = Story.begun()
    for kind, number, step, looks in acts:
        act(story, kind, number, step)
        if looks:
            story.check()
    story.check()
    again = Digest(TARIFF)
    again.begin(story.rows, latest(story.records))
    assert again.size() == story.digest.size()
    assert again.shown() == story.digest.shown()


class CountedRows(list[LogChunk]):
    """Counts how many rows are looked at."""

    looked = 0

    def __getitem__(self, at: Any) -> Any:
        found = super().__getitem__(at)
        self.looked += len(found) if isinstance(at, slice) else 1
        return found

    def __iter__(self) -> Any:
        self.looked += len(self)
        return super().__iter__()


@given(st.booleans())
def test_u03_a_step_looks_at_no_more_rows_in_a_long_conversation(is_counted: bool) -> None:
    story = Story.begun()
    for step in range(1_000):
        story.say("assistant", Text("a"), step)
        story.say("tool", ToolResult("c", "look", "x"), step)
    story.rows = CountedRows(story.rows)
    story.digest.begin(story.rows, ())
    story.digest.size()
    story.rows.looked = 0
    for step in range(1_000, 1_010):
        record = RequestRecord(f"q{step}", "tab", "t", step, "p", "m", 1)
        story.note(record)
        story.say("assistant", Text("a"), step)
        usage = {"input_tokens": 7_000 + step, "output_tokens": 3} if is_counted else {}
        story.note(_with(record, usage))
        story.say("tool", ToolResult("c", "look", "x"), step)
        story.digest.spent(window=9, following=NEXT)
        story.digest.shown()
    assert story.rows.looked <= 10 * LOOK_BACK
