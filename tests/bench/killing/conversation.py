"""A conversation whose processes are killed one after the other, each taking up the one before.

The server answers with thinking, texts and calls whose commands append their own id to a file
outside: that file says what took effect. Every process is both the next victim and the proof that
the log of the last one can be gone on with.
"""

import copy
import json
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.bench.killing.found import DATA, ID, SEQ, TYPE, Found, Rows, look
from tests.bench.killing.tally import Tally
from tests.bench.killing.victim import Left, Moment, ended, quiet
from tests.e2e.nacre import Home
from tests.fakes.messages_api import (
    MessagesServer,
    Received,
    Reply,
    assert_extends,
    reply,
    text,
    thinking,
    tool_use,
)

NOT_STARTED = "Interrupted, not started"
OUTCOME_UNKNOWN = "Interrupted, outcome unknown"
CRASH_TEXTS = (NOT_STARTED, OUTCOME_UNKNOWN)
PACE_MS = 2.0
# A kill comes on the average after so many printed lines and then so many seconds.
LINES, SECONDS = 30, 0.02
WORDS = ["layer", "nacre", "shell", "pearl", "tide", "sand", "reef", "current", "salt", "lagoon"]


@dataclass(frozen=True, slots=True)
class Trouble:
    """What befalls a process in place of its death; `undo` is called when it has ended."""

    name: str
    strike: Callable[[], None]
    undo: Callable[[], None]


class Conversation:
    """One data folder with one conversation, and the server that it talks to.

    Without a `trouble` its processes are killed.
    """

    def __init__(
        self, folder: Path, *, seed: str, tally: Tally, trouble: Trouble | None = None
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._where = seed
        self._tally = tally
        self._trouble = trouble
        self._dice = random.Random(seed)
        self._server = MessagesServer(self._answer)
        self._home = Home(folder)
        self._workspace = self._home.workspace
        self._trace = self._workspace / "trace.txt"  # a command can write nothing else
        self._trace.touch()
        self._tab = ""
        self._rows: Rows = ()
        # Open calls with whether their mark was in the log; ids of answered ones; known effects.
        self._open_calls: dict[str, bool] = {}
        self._answered: set[str] = set()
        self._known_effects: set[str] = set()
        self._sent: list[str] = []
        self._dangling = ""
        self._count = 0

    def run(self, kills: int) -> None:
        """So many processes that are killed, and one that is not."""
        with self._server:
            for _ in range(kills):
                self._one(self._moment())
            self._last()

    # One process.

    def _one(self, at: Moment | None) -> None:
        self._count += 1
        talks = bool(self._tab) and self._dice.random() < 0.4
        texts = [self._text() for _ in range(self._dice.randint(1, 4) if talks else 1)]
        if self._dangling and not talks and self._dice.random() < 0.4:
            texts = [self._dangling]  # an unanswered text, sent again unchanged
        left = self._start(texts, talks=talks, at=at)
        kind = self._trouble.name if self._trouble else "talk" if talks else "run"
        self._tally.add(f"runs.{kind}", at is not None)
        self._tally.add(f"hits.{kind}", left.was_hit)
        self._judge_end(left)
        self._judge(left)

    def _start(self, texts: Sequence[str], *, talks: bool, at: Moment | None) -> Left:
        data = str(self._home.data)
        if talks:
            words = ["-m", "tests.bench.drivers.talker", data, self._tab, *texts]
        else:
            place = ["--tab", self._tab] if self._tab else ["--workspace", str(self._workspace)]
            words = ["-m", "desktop", "--data-dir", data, "run", "--json", "--permission", "auto"]
            words += [*place, *texts]
        environment = {**self._home.environment(), "ANTHROPIC_BASE_URL": self._server.base_url}
        trouble = self._trouble
        left = ended(
            words,
            environment=environment,
            notes=self._folder / "notes.txt",
            at=at,
            deed=trouble.strike if trouble else None,
        )
        if trouble is not None:
            trouble.undo()
        return left

    def _moment(self) -> Moment:
        """Mostly somewhere among the events, now and then before the first one."""
        if self._dice.random() < 0.1:
            return Moment(seconds=self._dice.uniform(0.0, 1.5))
        lines = 1 + int(self._dice.expovariate(1 / LINES))
        return Moment(lines=lines, seconds=self._dice.expovariate(1 / SECONDS))

    def _last(self) -> None:
        """Nothing is killed any more: the conversation is whole and has nothing open."""
        self._one(None)
        found = self._look()
        if found.queued:
            self._one_talk()
            found = self._look()
        self._check(not found.queued, f"{len(found.queued)} messages are queued at the end")
        self._check(not self._open_calls, f"calls without result at the end: {self._open_calls}")
        said = [data["text"] for _, data in found.data("text")]
        for one in self._sent:
            count = said.count(one)
            self._check(count == 1, f"a sent text is there {count} times: {one!r}")
        self._judge_requests(found)

    def _one_talk(self) -> None:
        text_ = self._text()
        self._judge(self._start([text_], talks=True, at=None))

    def _text(self) -> str:
        return f"{self._where} {self._count} {self._dice.randrange(10**9)}"

    # What a process left.

    def _judge_end(self, left: Left) -> None:
        """Whoever is not killed ends by itself, and well unless it met with trouble."""
        if left.was_hit and self._trouble is None:
            return
        fine = (0, 1) if left.was_hit else (0,)
        said = f"it ended with {left.code}: {left.err[-400:]}"
        self._check(left.code in fine, said)
        self._check("Traceback" not in left.err, said)
        self._check(left.code == 0 or bool(left.err.strip()), "it failed without a word")

    def _judge(self, left: Left) -> None:
        self._check(quiet(self._workspace), "a tool still ran a minute after the kill")
        found = self._look()
        before, rows = self._rows, found.rows
        self._tally.add("rows", len(rows) - len(before))
        for fault in found.faults:
            self._broken(fault)
        self._check(rows[: len(before)] == before, "rows of before are gone or changed")
        self._judge_printed(left, found)
        self._judge_effects(found)
        self._judge_crash_texts(rows[len(before) :])
        self._judge_counts(found)
        self._rows = rows
        if rows and not self._tab:
            self._tab = rows[0][0]
        self._dangling = _dangling(rows)

    def _look(self) -> Found:
        return look(self._home.database, self._folder / "copy")

    def _judge_printed(self, left: Left, found: Found) -> None:
        """Every seal was printed after its row was durable, every sent text was kept."""
        rows = {row[ID]: row for row in found.rows}
        waiting = {json.loads(data)["text"] for _, data in found.queued}
        said = {data["text"] for _, data in found.data("text")}
        for line in left.out:
            event = json.loads(line)
            if event["event"] == "chunk-seal":
                self._tally.add("seals")
                row = rows.get(event["id"])
                same = row is not None and (row[SEQ], json.loads(row[DATA])) == (
                    event["seq"],
                    event["data"],
                )
                self._check(same, f"a sealed chunk is lost: {line.strip()} is {row}")
            elif event["event"] == "sent":
                self._tally.add("sent")
                self._sent.append(event["text"])
                kept = event["text"] in waiting or event["text"] in said
                self._check(kept, f"a sent text is lost: {event['text']!r}")

    def _judge_effects(self, found: Found) -> None:
        """What took effect outside has the row of its call, and the mark that it started."""
        calls = {data["callId"] for _, data in found.data("tool_call")}
        started = _started(found.rows)
        done = self._effects()
        for call_id in done - self._known_effects:
            self._tally.add("effects")
            self._check(call_id in calls, f"{call_id} took effect without its row")
            self._check(call_id in started, f"{call_id} took effect without its mark")
        self._known_effects |= done

    def _judge_crash_texts(self, new: Rows) -> None:
        """Calls that a kill left open are answered once, by what the log and the world know."""
        effects = self._effects()
        for row in new:
            if row[TYPE] == "tool_result":
                self._judge_result(json.loads(row[DATA]), effects)
        for row in new:
            data = json.loads(row[DATA])
            if row[TYPE] == "tool_call" and data["callId"] not in self._answered:
                self._open_calls[data["callId"]] = False
        for call_id in _started(new) & self._open_calls.keys():
            self._open_calls[call_id] = True

    def _judge_result(self, data: dict[str, Any], effects: set[str]) -> None:
        call_id, said = data["callId"], data["result"]
        self._check(call_id not in self._answered, f"{call_id} has two results")
        self._answered.add(call_id)
        was_started = self._open_calls.pop(call_id, None)
        if was_started is None:
            # Called and answered by one process: only a run of it may stand there.
            self._check(not said.startswith(CRASH_TEXTS), f"{call_id}: {said!r} by its own run")
            return
        self._tally.add("called_unknown" if was_started else "called_not_started")
        wanted = OUTCOME_UNKNOWN if was_started else NOT_STARTED
        self._check(said.startswith(wanted), f"{call_id} is told {said!r}, not {wanted!r}")
        if call_id in effects:
            self._check(was_started, f"{call_id} took effect and is called not started")

    def _judge_counts(self, found: Found) -> None:
        accepted = [one for one in self._server.requests if not one.refused]
        self._check(
            found.requests >= len(accepted),
            f"{len(accepted)} requests went out, {found.requests} are recorded",
        )
        chunks = len(found.rows)
        low, high = chunks + found.requests, chunks + 2 * found.requests
        self._check(
            low <= found.revision <= high,
            f"the revision is {found.revision}, for {chunks} rows and {found.requests} requests",
        )

    def _judge_requests(self, found: Found) -> None:
        """All were valid, and each begins with the one before it, retracted texts left out."""
        asked = self._server.requests
        self._tally.add("requests", len(asked))
        for one in asked:
            self._check(not one.refused, f"the server refused a request: {one.error}")
        for error in self._server.errors:
            self._broken(f"the server's script failed: {error!r}")
        gone = _retracted(found.rows)
        bodies = [_without(one.json, gone) for one in asked if not one.refused]
        for number, (earlier, later) in enumerate(pairwise(bodies), start=2):
            try:
                assert_extends(earlier, later)
            except AssertionError as error:
                self._broken(f"request {number} does not extend the one before: {error}")

    def _check(self, holds: bool, what: str) -> None:
        self._tally.check(holds, f"{self._where}, process {self._count}", what)

    def _broken(self, what: str) -> None:
        self._check(False, what)

    # The world outside.

    def _effects(self) -> set[str]:
        written = {path.stem for path in self._workspace.glob("call_*.txt")}
        return written | set(self._trace.read_text().split())

    def _answer(self, received: Received) -> Reply:
        """On the server's thread; chosen by the request's number, so that a seed repeats it."""
        dice = random.Random(f"{self._where} {received.number}")
        blocks = [text(_words(dice, 30))] if dice.random() < 0.8 else []
        if dice.random() < 0.7:
            blocks.insert(0, thinking(_words(dice, 12)))
        if dice.random() < 0.6:
            blocks += [self._call(dice, received.number, n) for n in range(dice.randint(1, 4))]
        return reply(*(blocks or [text(_words(dice, 60))])).paced(PACE_MS)

    def _call(self, dice: random.Random, request: int, number: int) -> Any:
        call_id = f"call_{request}_{number}"
        if dice.random() < 0.3:
            return tool_use("write_file", {"path": f"{call_id}.txt", "content": "x"}, id=call_id)
        rest = dice.choice(("", "; sleep 0.1", "; sleep 0.4", f"; seq {dice.randint(1, 3_000)}"))
        before = dice.choice(("", "sleep 0.02; "))
        command = f"{before}echo {call_id} >> {self._trace}{rest}"
        return tool_use("shell", {"command": command}, id=call_id)


def _words(dice: random.Random, count: int) -> str:
    return " ".join(dice.choices(WORDS, k=dice.randint(1, count)))


def _started(rows: Rows) -> set[str]:
    """The calls that rows say have started."""
    found: set[str] = set()
    for row in rows:
        if row[TYPE] == "system":
            found.update(json.loads(row[DATA]).get("started", ()))
    return found


def _retracted(rows: Rows) -> set[str]:
    """The texts that rows take back."""
    ids: set[str] = set()
    for row in rows:
        if row[TYPE] == "system":
            ids.update(json.loads(row[DATA]).get("chunkIds", ()))
    return {json.loads(row[DATA])["text"] for row in rows if row[ID] in ids and row[TYPE] == "text"}


def _dangling(rows: Rows) -> str:
    """The one unanswered text at the end, '' where there is none or are several."""
    gone = _retracted(rows)
    texts: list[str] = []
    for row in reversed(rows):
        if row[5] in ("assistant", "tool"):
            break
        if row[5] == "user":
            texts.append(json.loads(row[DATA])["text"])
    kept = [one for one in texts if one not in gone]
    return kept[0] if len(kept) == 1 else ""


def _without(body: dict[str, Any], texts: Iterable[str]) -> dict[str, Any]:
    """A request without these texts of the person."""
    gone = set(texts)
    if not gone:
        return body
    kept = copy.deepcopy(body)
    for message in kept["messages"]:
        if message["role"] == "user":
            message["content"] = [
                block for block in message["content"] if block.get("text") not in gone
            ]
    kept["messages"] = [message for message in kept["messages"] if message["content"]]
    return kept
