"""Builders of rows for the tests of core."""

from desktop.core.chunks import LogChunk, Payload, Role, System, Text, ToolCall, ToolResult


def row(seq: int, role: Role, data: Payload, *, turn: str = "t1", step: int = 0) -> LogChunk:
    return LogChunk(
        id=f"r{seq}", tab_id="tab", seq=seq, turn_id=turn, step=step, role=role, data=data,
        created_at=seq,
    )  # fmt: skip


def log(*parts: tuple[Role, Payload]) -> list[LogChunk]:
    return [row(seq, role, data) for seq, (role, data) in enumerate(parts, start=1)]


def user(text: str) -> tuple[Role, Payload]:
    return "user", Text(text)


def said(text: str) -> tuple[Role, Payload]:
    return "assistant", Text(text)


def called(call_id: str) -> tuple[Role, Payload]:
    return "assistant", ToolCall(call_id, "look", {})


def answered(call_id: str) -> tuple[Role, Payload]:
    return "tool", ToolResult(call_id, "look", "ok")


def system(kind: str, **fields: object) -> tuple[Role, Payload]:
    return "system", System(kind, fields=fields)
