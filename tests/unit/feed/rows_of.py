"""Builders of rows for the feed's tests."""

from desktop.core.chunks import LogChunk, NewChunk, Payload, Role, System, Text


def text(seq: int, said: str = "", *, role: Role = "assistant", turn: str = "t1") -> LogChunk:
    return row(seq, Text(said or f"row {seq}"), role=role, turn=turn)


def row(seq: int, data: Payload, *, role: Role = "assistant", turn: str = "t1") -> LogChunk:
    return LogChunk(
        id=f"c{seq}",
        tab_id="tab",
        seq=seq,
        turn_id=turn,
        step=0,
        role=role,
        data=data,
        created_at=1_000 * seq,
    )


def new(id_: str, data: Payload | str, *, role: Role = "assistant", turn: str = "t1") -> NewChunk:
    payload = Text(data) if isinstance(data, str) else data
    if isinstance(payload, System):
        role = "system"
    return NewChunk(id=id_, turn_id=turn, role=role, data=payload)
