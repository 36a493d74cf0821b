"""Reading a conversation's file for views: pages by seq, as the database gives them.

The file is skimmed once, then only what was added to it; of each row its place is kept, 16 bytes,
and a page reads the lines of its own rows. Nothing is written and no lock is taken, so a
page can be read while another process works in the conversation. Blocking; for one thread.
"""

from array import array
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from desktop.core.chunks import DamagedRow, LogChunk
from desktop.core.records import Page, Requests
from desktop.store import failures
from desktop.store.jsonl_file import Reading, SessionFile
from desktop.store.jsonl_lines import RowHead, read_line


@dataclass(slots=True)
class Places:
    """Where the rows are: their seqs, ascending, and the bytes that their lines begin at.

    `damaged` says of a line, by its first byte, why it is left out.
    """

    seqs: "array[int]" = field(default_factory=lambda: array("q"))
    starts: "array[int]" = field(default_factory=lambda: array("q"))
    damaged: dict[int, str] = field(default_factory=dict[int, str])

    def see(self, seq: int, at: int, found: LogChunk | RowHead | str) -> None:
        """Takes in a line as it is read."""
        self.add(seq, at)
        if isinstance(found, str):
            self.damaged[at] = found

    def add(self, seq: int, at: int) -> None:
        """A damaged line has its place only until a row claims it."""
        while self.seqs and self.seqs[-1] >= seq:
            self.seqs.pop()
            self.starts.pop()
        self.seqs.append(seq)
        self.starts.append(at)

    def piece(self, limit: int, before: int | None, after: int | None, around: int | None) -> slice:
        """Which rows a page has."""
        count = len(self.seqs)
        if after is not None:
            start = bisect_left(self.seqs, after + 1)
            return slice(start, min(start + limit, count))
        if around is not None:
            middle = bisect_left(self.seqs, around)
            start = max(min(middle - limit // 2, count - limit), 0)
            return slice(start, min(start + limit, count))
        end = count if before is None else bisect_left(self.seqs, before)
        return slice(max(end - limit, 0), end)


class FSJSONLPages:
    """The pages of one conversation's file. Raises StoreError, also where the file is gone."""

    def __init__(self, folder: Path, session_id: str) -> None:
        self._session_id = session_id
        self._path = folder / f"{session_id}.jsonl"
        self._file = SessionFile(self._path, session_id, must_exist=True)
        self._reading = Reading()
        self._places = Places()

    def page(
        self,
        *,
        limit: int,
        before: int | None = None,
        after: int | None = None,
        around: int | None = None,
    ) -> Page:
        """As `LogReader.page`; a line that can't be read comes as a DamagedRow in its place."""
        with failures.told(self._path):
            self._look()
            places = self._places
            piece = places.piece(max(limit, 0), before, after, around)
            rows = tuple(self._rows(piece))
        return Page(
            rows=rows,
            total=places.seqs[-1] if places.seqs else 0,
            has_older=piece.start > 0,
            has_newer=piece.stop < len(places.seqs),
            revision=self._reading.contents.revision,
        )

    def requests(self) -> Requests:
        with failures.told(self._path):
            self._look()
        contents = self._reading.contents
        return Requests(tuple(contents.requests.values()), contents.revision)

    def revision(self) -> int:
        with failures.told(self._path):
            self._look()
        return self._reading.contents.revision

    def fault(self) -> str:
        """What is wrong inside of the file, in a sentence; '' for nothing. Raises StoreError."""
        with failures.told(self._path):
            damaged = self._file.read(Reading(), Places().see).contents.damaged
        if not damaged:
            return ""  # a torn end is no fault: the next write sets it aside, and says so
        number = min(damaged)
        return (
            f"{len(damaged)} lines of {self._path} can't be read, the first of them line {number}"
            f" ({damaged[number]})."
        )

    def _look(self) -> None:
        added = Places()
        known = self._reading.contents
        self._reading = self._file.read(self._reading, added.see, skims=True)
        if self._reading.contents is not known:
            self._places = Places()
        for seq, at in zip(added.seqs, added.starts, strict=True):
            self._places.add(seq, at)
        self._places.damaged.update(added.damaged)

    def _rows(self, piece: slice) -> Iterator[LogChunk | DamagedRow]:
        places = self._places
        with self._path.open("rb") as file:
            for seq, at in zip(places.seqs[piece], places.starts[piece], strict=True):
                file.seek(at)
                text = file.readline().strip(b"\0\r\n")
                line = read_line(text, self._session_id)
                reason = places.damaged.get(at, "")
                if isinstance(line.found, LogChunk) and not reason:
                    yield replace(line.found, seq=seq)
                else:
                    id_ = line.head.id if line.head else f"{self._session_id}:{at}"
                    raw = text.decode("utf-8", "replace")
                    yield DamagedRow(id_, seq, reason or str(line.found), raw)
