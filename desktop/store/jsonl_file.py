"""The file of one conversation, as bytes: read by lines, added to at its end, mended at its end.

What stands in the file is never rewritten. A tail that a crash left (half a line, NULs, the first
lines of a batch) is copied into a file of its own beside it before it is cut off (FIELD F-S02); a
file that is not ours is refused with every byte as it was. Blocking; for the store's own thread.
"""

import os
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO

from filelock import FileLock, Timeout

from desktop.core.errors import LeaseHeld, NewerSchema, PayloadError, StoreDamaged, StoreError
from desktop.paths import sync_folder
from desktop.store.jsonl_lines import (
    HEADER_START,
    VERSION,
    Contents,
    Line,
    Seen,
    header_line,
    header_of,
    read_line,
    skim_line,
)

# A first line longer than this is no header; the rest of a foreign file is never read.
_LONGEST_HEADER = 64 * 1024
_PIECE = 1024 * 1024
_BINARY = getattr(os, "O_BINARY", 0)


@dataclass(slots=True)
class Reading:
    """How far a file was read, and what stands there.

    `end` is the byte after the last whole record, `lines` how many lines are before it; `size`
    and `inode` are those of the file then. `open_end`: the last record has no `\\n` behind it.
    """

    contents: Contents = field(default_factory=Contents)
    end: int = 0
    lines: int = 0
    size: int = 0
    inode: int = 0
    open_end: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether a new line can be written right behind what was read."""
        return self.end == self.size and not self.open_end and self.lines > 0


class SessionFile:
    """`SESSION.jsonl` and what lies beside it: its lock and the tails that were set aside.

    `must_exist`: the conversation has a file already, so one that is not there is missed. So is one
    that was seen before.
    """

    def __init__(self, path: Path, session_id: str, *, must_exist: bool = False) -> None:
        self.path = path
        self._session_id = session_id
        self._must_exist = must_exist
        self._lock_path = path.with_name(f"{path.name}.lock")
        self._lock = FileLock(self._lock_path, thread_local=False)

    @property
    def is_locked(self) -> bool:
        """Whether this object holds the lock."""
        return self._lock.is_locked

    def lock(self) -> None:
        """Takes the system's lock, which ends with the process; raises LeaseHeld (SPEC S10)."""
        if self._lock.is_locked:
            return
        if self._must_exist:
            self._stat()
        else:
            _make_folder(self.path.parent)
        try:
            self._lock.acquire(timeout=0)
        except Timeout as error:
            raise self._held() from error
        with suppress(OSError):
            if not self._lock_path.stat().st_size:
                self._lock_path.write_text(str(os.getpid()))

    def unlock(self) -> None:
        if self._lock.is_locked:
            self._lock.release()

    def read(self, known: Reading, seen: Seen, *, skims: bool = False) -> Reading:
        """Reads what was added since `known` (all, where the file is another one by now).

        `seen` hears of each row; where one `skims`, of its place alone. Raises StoreError, and
        NewerSchema; changes nothing.
        """
        found = self._stat()
        if found is None:
            return Reading()
        self._must_exist = True
        if found.st_ino != known.inode or found.st_size < known.end or known.open_end:
            known = Reading(inode=found.st_ino)
        if found.st_size == known.size:
            return known
        with self._open() as file:
            if known.end == 0:
                self._read_header(file, known)
            file.seek(known.end)
            self._read_lines(file, known, seen, skims=skims)
        known.size = max(found.st_size, known.end)
        return known

    def grown_smaller(self, known: Reading) -> bool:
        """Whether something that was read is not there any more."""
        found = self._stat()
        return found is not None and found.st_size < known.end

    def mend(self, known: Reading, *, created: int) -> Path | None:
        """Makes the file ready for the next line; where a damaged tail was set aside.

        With the lock in hand only: a tail may be another process's line on its way.
        """
        if known.is_whole:
            return None
        with self._opened() as handle:
            aside = self._set_aside(handle, known) if known.size > known.end else None
            if known.lines == 0:
                self._write(handle, header_line(self._session_id, created=created), known)
            elif known.open_end:
                self._write(handle, b"\n", known)
            known.open_end = False
            known.inode = os.fstat(handle).st_ino
        self._must_exist = True
        sync_folder(self.path.parent)
        return aside

    def append(self, data: bytes, known: Reading) -> None:
        """Writes whole lines at the end, durable when it returns; a failure leaves none of them."""
        with self._opened() as handle:
            self._write(handle, data, known)

    def _write(self, handle: int, data: bytes, known: Reading) -> None:
        try:
            _write_all(handle, data)
            os.fsync(handle)
        except BaseException:
            # Nobody was told that these lines are kept; half of them must not stay.
            os.ftruncate(handle, known.end)
            raise
        known.end += len(data)
        known.size = known.end
        known.lines += data.count(b"\n") if not known.open_end else 0

    def _set_aside(self, handle: int, known: Reading) -> Path:
        """Copies what stands behind the last whole record, then cuts it off."""
        for number in range(1, known.size + 2):
            aside = self.path.with_name(f"{self.path.name}.torn-{number}")
            try:
                target = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o600)
            except FileExistsError:
                continue
            break
        else:
            raise StoreError(f"No name is free beside {self.path}.")
        try:
            os.lseek(handle, known.end, os.SEEK_SET)
            while piece := os.read(handle, _PIECE):
                _write_all(target, piece)
            os.fsync(target)
        finally:
            os.close(target)
        sync_folder(self.path.parent)
        os.ftruncate(handle, known.end)
        os.fsync(handle)
        known.size = known.end
        return aside

    def _read_header(self, file: BinaryIO, known: Reading) -> None:
        """Takes the first line in; raises where the file is not this conversation's."""
        line = file.readline(_LONGEST_HEADER)
        header = header_of(line.strip(b"\0"))
        if header is None:
            if line.endswith(b"\n") and self._is_record(file.readline()):
                # A damaged first line does not make the rest another's.
                known.contents.damaged[1] = "the header can't be read"
                known.end, known.lines = len(line), 1
            elif not _is_torn_header(line, file):
                raise self._foreign()
            return
        if header.version > VERSION:
            raise NewerSchema(
                f"{self.path} was written by a newer Nacre (format {header.version}).",
                way_out="Update Nacre to go on with it. The file was left alone.",
            )
        if header.session_id != self._session_id:
            raise StoreDamaged(
                f"{self.path} holds another conversation than its name says.",
                way_out="Give it its name back, or move it away. The file was left alone.",
                detail=header.session_id,
            )
        known.end, known.lines = _end_of(line), 1
        known.open_end = not line.endswith(b"\n")

    def _read_lines(self, file: BinaryIO, known: Reading, seen: Seen, *, skims: bool) -> None:
        """Takes in what is whole: lines, and of lines that were written together all or none."""
        batch: list[Line] = []
        number, at = known.lines, known.end
        while raw := file.readline():
            text = raw.strip(b"\0\r\n")
            is_open = not raw.endswith(b"\n")
            # A whole record that lost its newline counts; anything else is torn.
            if is_open and (known.lines == 0 or not text):
                return
            number += 1
            line = skim_line(text, number=number, at=at) if skims and not is_open else None
            line = line or read_line(text, self._session_id, number=number, at=at)
            if is_open and isinstance(line.found, PayloadError):
                return
            at += _end_of(raw)
            if not batch and not raw.strip():
                known.end, known.lines = at, number
                continue
            batch = self._joined(batch, line, known, seen)
            if batch[-1].more == 0:
                _take(batch, known, seen, end=at, open_end=is_open)
                batch = []

    def _joined(self, batch: list[Line], line: Line, known: Reading, seen: Seen) -> list[Line]:
        """The batch with this line, or the new one that it begins: nothing readable is hidden."""
        expected = batch[-1].more - 1 if batch else 0
        if not line.is_known:
            return [*batch, replace(line, more=max(expected, 0))]
        if batch and line.more != expected:
            _take(batch, known, seen, end=line.at, open_end=False)
            batch = []
        return [*batch, line]

    def _is_record(self, line: bytes) -> bool:
        found = read_line(line.strip(b"\0\r\n"), self._session_id).found
        return not isinstance(found, PayloadError)

    def _stat(self) -> os.stat_result | None:
        try:
            found = self.path.stat()
        except (FileNotFoundError, NotADirectoryError) as error:
            if self._must_exist:
                raise self._gone() from error
            return None
        if not stat.S_ISREG(found.st_mode):
            raise StoreError(
                f"{self.path} is not a file.", way_out="Choose another folder for conversations."
            )
        return found

    @contextmanager
    def _opened(self) -> Generator[int]:
        handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | _BINARY, 0o600)
        try:
            yield handle
        finally:
            os.close(handle)

    def _open(self) -> BinaryIO:
        try:
            return self.path.open("rb")
        except PermissionError as error:
            raise StoreError(
                f"Nacre may not read {self.path}.",
                way_out="Make the file readable for you, then try again.",
                detail=str(error),
            ) from error

    def _gone(self) -> StoreError:
        folder = self.path.parent
        missing = f"the folder {folder}" if not folder.is_dir() else f"the file {self.path}"
        return StoreError(
            f"This conversation is kept in {missing}, which is not there.",
            way_out="Put it back (is a drive not connected?). If it lies in another folder now, go"
            f" on with: nacre run --tab {self._session_id} --store jsonl:FOLDER TEXT",
        )

    def _held(self) -> LeaseHeld:
        holder = ""
        with suppress(OSError, ValueError):
            holder = str(int(self._lock_path.read_text()))
        named = f" (process {holder})" if holder else ""
        return LeaseHeld(
            f"Another Nacre{named} is working in this conversation.",
            way_out="Wait until it is done, or stop it there.",
            detail=holder,
        )

    def _foreign(self) -> StoreDamaged:
        return StoreDamaged(
            f"{self.path} is not a conversation that Nacre wrote, or its beginning is damaged.",
            way_out="Move it away, or choose another folder. The file was left alone.",
        )


def _take(batch: list[Line], known: Reading, seen: Seen, *, end: int, open_end: bool) -> None:
    for line in batch:
        known.contents.take(line, seen)
    known.end, known.lines, known.open_end = end, batch[-1].number, open_end


def _is_torn_header(line: bytes, rest: BinaryIO) -> bool:
    """Whether a crash cut our first line off, or left NULs alone in its place."""
    if b"\n" in line:
        return False
    text = line.strip(b"\0")
    if not text:
        return not any(piece.strip(b"\0") for piece in iter(lambda: rest.read(_PIECE), b""))
    is_all = len(line) < _LONGEST_HEADER
    return is_all and (text.startswith(HEADER_START) or HEADER_START.startswith(text))


def _end_of(line: bytes) -> int:
    """How many bytes of a line belong to it: NULs behind a last line without newline do not."""
    return len(line) if line.endswith(b"\n") else len(line.rstrip(b"\0"))


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise StoreError(
            f"{folder} is not a folder, so no conversation can be kept there.",
            way_out="Choose another folder.",
        ) from error


def _write_all(handle: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(handle, rest) :]
