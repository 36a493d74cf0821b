"""Reading a conversation's file for views: pages by seq, as the database gives them.

The file is gone through once, then only what was added to it; of each row its place is kept, 16
bytes, and a page reads the lines of its own rows. Nothing is written and no lock is taken, so a
page can be read while another process works in the conversation. Blocking; for one thread.
"""

from array import array
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from desktop.core.chunks import DamagedRow, LogChunk
from desktop.core.records import Page
from desktop.store import failures
from desktop.store.jsonl_file import Reading, SessionFile
from desktop.store.jsonl_lines import read_line


@dataclass(slots=True)
class Places:
    """Where the rows are: their seqs, ascending, and the bytes that their lines begin at.

    `damaged` says of a line, by its first byte, why it is left out.
    """

    seqs: "array[int]" = field(default_factory=lambda: array("q"))
    starts: "array[int]" = field(default_factory=lambda: array("q"))
    damaged: dict[int, str] = field(default_factory=dict[int, str])

    def see(self, seq: int, at: int, found: LogChunk | str) -> None:
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

    def revision(self) -> int:
        with failures.told(self._path):
            self._look()
        return self._reading.contents.revision

    def report(self) -> tuple[int, dict[int, str], bool]:
        """How many rows there are, the reasons by damaged line, and whether the end is torn."""
        with failures.told(self._path):
            self._look()
        known = self._reading
        return len(known.contents.ids), dict(known.contents.damaged), known.size > known.end

    def _look(self) -> None:
        added = Places()
        known = self._reading.contents
        self._reading = self._file.read(self._reading, added.see)
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
                row = read_line(text, self._session_id).found
                reason = places.damaged.get(at, "" if isinstance(row, LogChunk) else "changed")
                if isinstance(row, LogChunk) and not reason:
                    yield replace(row, seq=seq)
                else:
                    raw = text.decode("utf-8", "replace")
                    yield DamagedRow(f"{self._session_id}:{at}", seq, reason or str(row), raw)
