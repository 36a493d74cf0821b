"""Prints a running turn: as text for a person, or as one JSON object a line for a program."""

import json
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
from desktop.core.records import Receipt
from desktop.core.reducer import BlockOp, Dropped, Grew, Opened, Sealed
from desktop.core.status import TabStatus


class Printer(Protocol):
    """A reader of one conversation's feed that writes; `outcome` of the last turn that ended."""

    outcome: str | None

    def receipt(self, receipt: Receipt) -> None: ...

    def live(self, tab_id: str, op: BlockOp) -> None: ...

    def status(self, status: TabStatus) -> None: ...


class JsonPrinter:
    """The events of DESIGN.md §8. A seal is printed after its row is durable."""

    def __init__(self, out: TextIO, notes: TextIO) -> None:
        self._out = out
        self._notes = notes
        self._problem = ""
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
                self._print({"event": "chunk-delta", "id": op.id, "text": op.text})
            case Dropped() | Sealed():
                pass
            case _:
                assert_never(op)

    def status(self, status: TabStatus) -> None:
        """What could not be kept is said on standard error; there is no event for it."""
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
        self._retry = 0
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
        if status.retry is not None and status.retry.attempt != self._retry:
            self._note(f"{status.retry.reason} Trying again…")
        self._retry = status.retry.attempt if status.retry else 0
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
                self._note(chunk.data.message)
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
