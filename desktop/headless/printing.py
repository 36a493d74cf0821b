"""Prints a running turn: as text for a person, or as one JSON object a line for a program."""

import json
import math
import sys
import unicodedata
from typing import Any, Protocol, TextIO, assert_never

from desktop.core.chunks import (
    ErrorNote,
    LogChunk,
    System,
    Text,
    ToolCall,
    ToolResult,
    payload_to_json,
)
from desktop.core.model import Retry
from desktop.core.records import Receipt
from desktop.core.reducer import BlockOp, Dropped, Grew, Opened, Sealed
from desktop.core.status import TabStatus


class Printer(Protocol):
    """A reader of one conversation's feed that writes; `outcome` of the last turn that ended."""

    outcome: str | None

    def receipt(self, receipt: Receipt) -> None: ...

    def live(self, tab_id: str, op: BlockOp) -> None: ...

    def status(self, status: TabStatus) -> None: ...


class Waits:
    """A line for each wait of a request that goes out again, each told once."""

    def __init__(self) -> None:
        self._told: Retry | None = None

    def words(self, status: TabStatus) -> str:
        """'' where there is nothing new to tell."""
        retry = status.retry
        if retry is None or retry == self._told:
            return ""
        self._told = retry
        return (
            f"{retry.reason} Trying again in {waiting_time(retry.seconds)}"
            f" (attempt {retry.attempt + 1}). Ctrl+C gives it up."
        )


class JsonPrinter:
    """The events of DESIGN.md §8. A seal is printed after its row is durable."""

    def __init__(self, out: TextIO, notes: TextIO) -> None:
        self._out = out
        self._notes = notes
        self._problem = ""
        self._waits = Waits()
        self.outcome: str | None = None

    def receipt(self, receipt: Receipt) -> None:
        for chunk in receipt.chunks:
            data = payload_to_json(chunk.data)
            self._print({"event": "chunk-seal", "id": chunk.id, "seq": chunk.seq, "data": data})
            outcome = outcome_of(chunk)
            if outcome is not None:
                self.outcome = outcome
                self._print({"event": "turn-done", "turnId": chunk.turn_id, "outcome": outcome})

    def live(self, tab_id: str, op: BlockOp) -> None:
        match op:
            case Opened():
                self._print(
                    {
                        "event": "chunk-open",
                        "id": op.id,
                        "turnId": op.turn_id,
                        "step": op.step,
                        "role": op.role,
                        "type": op.type,
                    }
                )
            case Grew():
                back = {"back": op.back} if op.back else {}
                self._print({"event": "chunk-delta", "id": op.id, "text": op.text, **back})
            case Dropped() | Sealed():
                pass
            case _:
                assert_never(op)

    def status(self, status: TabStatus) -> None:
        """Waits and what could not be kept are said on standard error; there is no event for it."""
        wait = self._waits.words(status)
        if wait:
            self._notes.write(printable(wait) + "\n")
            self._notes.flush()
        if status.problem and status.problem != self._problem:
            self._notes.write(printable(status.problem) + "\n")
        self._problem = status.problem

    def _print(self, event: dict[str, Any]) -> None:
        # ASCII keeps lone surrogates and odd terminals from breaking a line.
        self._out.write(json.dumps(event) + "\n")
        self._out.flush()


class TextPrinter:
    """The answer on standard output; calls, waits and errors on standard error."""

    def __init__(self, out: TextIO, notes: TextIO) -> None:
        self._out = out
        self._notes = notes
        self._texts: set[str] = set()
        self._fresh_line = True
        self._waits = Waits()
        self.outcome: str | None = None

    def receipt(self, receipt: Receipt) -> None:
        for chunk in receipt.chunks:
            self._chunk(chunk)

    def live(self, tab_id: str, op: BlockOp) -> None:
        if isinstance(op, Opened) and op.type == "text" and op.role == "assistant":
            self._texts.add(op.id)
        elif isinstance(op, Grew) and op.id in self._texts:
            self._write(op.text)

    def status(self, status: TabStatus) -> None:
        wait = self._waits.words(status)
        if wait:
            self._note(wait)
        if status.problem:
            self._note(status.problem)

    def _chunk(self, chunk: LogChunk) -> None:
        match chunk.data:
            case Text() if chunk.role == "assistant":
                if chunk.id not in self._texts:
                    self._write(chunk.data.text)
                self._end_line()
            case ToolCall():
                self._note(f"→ {chunk.data.name} {json.dumps(dict(chunk.data.arguments))[:200]}")
            case ToolResult() if chunk.data.is_error:
                self._note(f"✕ {chunk.data.name}: {chunk.data.result[:400]}")
            case ErrorNote():
                more = (chunk.data.extra.get(key) for key in ("kept", "wayOut"))
                self._note(" ".join([chunk.data.message, *(str(one) for one in more if one)]))
            case System() if chunk.data.kind == "notice" and chunk.data.text:
                self._note(chunk.data.text)
            case _:
                self.outcome = outcome_of(chunk) or self.outcome

    def _write(self, text: str) -> None:
        self._out.write(printable(text))
        self._out.flush()
        self._fresh_line = text.endswith("\n")

    def _end_line(self) -> None:
        if not self._fresh_line:
            self._out.write("\n")
            self._out.flush()
            self._fresh_line = True

    def _note(self, text: str) -> None:
        self._end_line()
        self._notes.write(printable(text) + "\n")
        self._notes.flush()


def waiting_time(seconds: float) -> str:
    """`0.5 s`, `7 s`, `1 min 30 s`."""
    if seconds < 1:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(math.ceil(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def outcome_of(chunk: LogChunk) -> str | None:
    """How a turn ended, when this row says so."""
    if isinstance(chunk.data, System) and chunk.data.kind == "turn_end":
        return str(chunk.data.fields.get("outcome", ""))
    return None


def printable(text: str) -> str:
    """Text that can't steer a terminal: control characters but line breaks and tabs are dropped."""
    kept = "".join(one for one in text if one in "\n\t" or unicodedata.category(one) != "Cc")
    return kept.encode("utf-8", "replace").decode("utf-8")


def printer_for(*, as_json: bool) -> Printer:
    return JsonPrinter(sys.stdout, sys.stderr) if as_json else TextPrinter(sys.stdout, sys.stderr)
