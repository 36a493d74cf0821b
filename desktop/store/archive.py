"""The archive of a backup: a ZIP file of the database, its blobs and a manifest that says what is
in it (decision 0005).

Every member is named in the manifest with its size and SHA-256, and nothing else may be in the
file; names are matched whole, so that none can lead out of the folder they are read out to. All
content passes in pieces. Errors of the ZIP library end here: they become `Unsound`.
"""

import hashlib
import json
import re
import struct
import time
import zipfile
import zlib
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

FORMAT = "nacre-backup"
VERSION = 1
MANIFEST = "manifest.json"
DATABASE = "nacre.db"
PIECE = 1024 * 1024
# A manifest has about 150 bytes a blob; more than this is no manifest of ours.
LARGEST_MANIFEST = 512 * PIECE

_SHA256 = re.compile("[0-9a-f]{64}")
_BLOB = re.compile(r"blobs/([0-9a-f]{2})/(\1[0-9a-f]{62})")
_PRIVATE = 0o600 << 16
# Speed over size: text shrinks to a third at any level.
_LEVEL = 1
_ENCRYPTED = 0x1
# The year 1980: a ZIP file knows no earlier one.
_EARLIEST = 315_532_800
_CONTENTS = "its table of contents"
_LOCAL = struct.Struct("<4s5H3I2H")
_FAULTS = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    OverflowError,
)


class Unsound(Exception):
    """A member of an archive is not what the manifest or the format says."""

    def __init__(self, member: str, why: str) -> None:
        super().__init__(f"{member}: {why}")
        self.member = member
        self.why = why


class NewerArchive(Exception):
    """The archive's format is one of a later program."""


@dataclass(frozen=True, slots=True)
class Member:
    """The size in bytes and the hash of one file in the archive."""

    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """What an archive holds. `counts` are rows by table; times are ms UTC.

    `missing` and `damaged` are hashes of blobs that were gone or changed when the backup was made:
    a backup of the rest is better than none, but it has to be said. `scheduled_for` is the data
    folder whose schedule made it; empty for one that a person made.
    """

    program: str
    schema: int
    created_at: int
    counts: Mapping[str, int]
    members: Mapping[str, Member] = field(default_factory=dict[str, Member])
    missing: tuple[str, ...] = ()
    damaged: tuple[str, ...] = ()
    keys_left_out: int = 0
    scheduled_for: str = ""

    @property
    def size(self) -> int:
        """Bytes of all members as they are read out."""
        return sum(one.size for one in self.members.values())


def blob_name(sha256: str) -> str:
    return f"blobs/{sha256[:2]}/{sha256}"


class ArchiveWriter:
    """Puts files into a new archive, hashing what it reads; whole only after `finish`."""

    def __init__(self, out: IO[bytes], *, created_at: int) -> None:
        self._zip = zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL)
        self._time = time.gmtime(max(created_at // 1000, _EARLIEST))[:6]

    def __enter__(self) -> "ArchiveWriter":
        return self

    def __exit__(self, *_: object) -> None:
        # The library would else try to finish the file when it is collected.
        with suppress(OSError, ValueError):
            self._zip.close()

    def add(self, name: str, file: Path, on_piece: Callable[[int], None]) -> Member:
        """Copies a file; raises OSError."""
        digest, size = hashlib.sha256(), 0
        entry = self._entry(name)
        with file.open("rb") as content:
            # Tells the library whether the sizes need 64 bits.
            entry.file_size = file.stat().st_size
            with self._zip.open(entry, "w") as out:
                while piece := content.read(PIECE):
                    digest.update(piece)
                    size += len(piece)
                    out.write(piece)
                    on_piece(len(piece))
        return Member(size, digest.hexdigest())

    def finish(self, manifest: Manifest) -> None:
        """Writes the manifest and the table of contents."""
        text = json.dumps(_manifest_to_json(manifest), indent=1)
        self._zip.writestr(self._entry(MANIFEST), text.encode(), compresslevel=_LEVEL)
        self._zip.close()

    def _entry(self, name: str) -> zipfile.ZipInfo:
        entry = zipfile.ZipInfo(name, self._time)
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = _PRIVATE
        # Python 3.11 takes the level from the entry and leaves it unset.
        entry._compresslevel = _LEVEL  # pyright: ignore
        return entry


class ArchiveReader:
    """An archive whose table of contents and manifest agree. Made by `open_archive`."""

    def __init__(self, archive: zipfile.ZipFile, manifest: Manifest) -> None:
        self._zip = archive
        self.manifest = manifest

    def read_out(
        self, name: str, write: Callable[[bytes], object], on_piece: Callable[[int], None]
    ) -> None:
        """Hands a member's content to `write`; raises Unsound when it is not what was put in."""
        promised = self.manifest.members[name]
        digest, size = hashlib.sha256(), 0
        with _sound(name):
            source = self._zip.open(name)
        with source:
            while True:
                with _sound(name):
                    piece = source.read(PIECE)
                if not piece:
                    break
                digest.update(piece)
                size += len(piece)
                if size > promised.size:
                    raise Unsound(name, "it is longer than it was")
                write(piece)
                on_piece(len(piece))
        if size != promised.size:
            raise Unsound(name, "it is shorter than it was")
        if digest.hexdigest() != promised.sha256:
            raise Unsound(name, "its checksum is not the one it was stored with")


@contextmanager
def open_archive(path: Path) -> Generator[ArchiveReader]:
    """Opens an archive and holds its contents against its manifest, reading no other member.

    Raises Unsound, NewerArchive, OSError.
    """
    with path.open("rb") as file:
        archive = _contents(file)
        with archive:
            manifest = _manifest(archive)
            _compare(archive, manifest)
            yield ArchiveReader(archive, manifest)


def _contents(file: IO[bytes]) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(file)
    except _FAULTS as error:
        raise _cut_off(file) from error


def _manifest(archive: zipfile.ZipFile) -> Manifest:
    with _sound(MANIFEST):
        try:
            info = archive.getinfo(MANIFEST)
        except KeyError as error:
            raise Unsound(MANIFEST, "it is not there") from error
        _refuse_odd(info)
        if info.file_size > LARGEST_MANIFEST:
            raise Unsound(MANIFEST, "it is too large to be one")
        with archive.open(info) as source:
            found = json.loads(source.read(LARGEST_MANIFEST))
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise Unsound(MANIFEST, "it is not one of Nacre's")
    version = found.get("version")
    if not isinstance(version, int) or version < 1:
        raise Unsound(MANIFEST, "it names no version")
    if version > VERSION:
        raise NewerArchive
    try:
        return _manifest_from_json(found)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Unsound(MANIFEST, "something in it is missing or of the wrong kind") from error


def _compare(archive: zipfile.ZipFile, manifest: Manifest) -> None:
    """Both name the same members, once each, all at places that a backup may write to."""
    infos = archive.infolist()
    seen: set[str] = set()
    for info in infos:
        name = info.orig_filename
        if name in seen:
            raise Unsound(name, "it is there twice")
        seen.add(name)
        if name == MANIFEST:
            continue
        if name != info.filename or (name != DATABASE and not _BLOB.fullmatch(name)):
            raise Unsound(ascii(name)[1:-1], "no backup has a file of this name")
        member = manifest.members.get(name)
        if member is None:
            raise Unsound(name, "the manifest does not name it")
        _refuse_odd(info)
        if info.file_size != member.size:
            raise Unsound(name, "its size is not the one in the manifest")
    for name in (DATABASE, *manifest.members):
        if name not in seen:
            raise Unsound(ascii(name)[1:-1], "it is not there")


def _refuse_odd(info: zipfile.ZipInfo) -> None:
    if info.flag_bits & _ENCRYPTED:
        raise Unsound(info.filename, "it is marked as encrypted")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise Unsound(info.filename, "it is packed in an unknown way")


@contextmanager
def _sound(member: str) -> Generator[None]:
    try:
        yield
    except _FAULTS as error:
        raise Unsound(member, "it can't be unpacked") from error


def _cut_off(file: IO[bytes]) -> Unsound:
    """The member in which a file without its end stops: its headers are walked from the start."""
    end = file.seek(0, 2)
    place = 0
    while place < end:
        file.seek(place)
        header = file.read(_LOCAL.size)
        if len(header) < _LOCAL.size or not header.startswith(b"PK\x03\x04"):
            break
        *_, packed, _size, name_length, extra_length = _LOCAL.unpack(header)
        name = ascii(file.read(name_length).decode("ascii", "replace"))[1:-1]
        extra = file.read(extra_length)
        if packed == 0xFFFFFFFF and len(extra) >= 20:
            (packed,) = struct.unpack_from("<Q", extra, 12)
        place += _LOCAL.size + name_length + extra_length + packed
        if packed == 0 or place > end:
            return Unsound(name, "the archive is cut off in it")
    if place == 0:
        return Unsound("the whole file", "it is no archive")
    return Unsound(_CONTENTS, "it is cut off or changed")


def _manifest_to_json(manifest: Manifest) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": VERSION,
        "program": manifest.program,
        "schema": manifest.schema,
        "createdAt": manifest.created_at,
        "counts": dict(manifest.counts),
        "missingBlobs": list(manifest.missing),
        "damagedBlobs": list(manifest.damaged),
        "keysLeftOut": manifest.keys_left_out,
        "scheduledFor": manifest.scheduled_for,
        "members": {
            name: {"size": one.size, "sha256": one.sha256} for name, one in manifest.members.items()
        },
    }


def _manifest_from_json(found: dict[str, Any]) -> Manifest:
    members = {
        str(name): Member(_whole(one["size"]), _hash(one["sha256"]))
        for name, one in found["members"].items()
    }
    return Manifest(
        program=str(found["program"]),
        schema=_whole(found["schema"]),
        created_at=_whole(found["createdAt"]),
        counts={str(table): _whole(count) for table, count in found["counts"].items()},
        members=members,
        missing=tuple(_hash(one) for one in found["missingBlobs"]),
        damaged=tuple(_hash(one) for one in found["damagedBlobs"]),
        keys_left_out=_whole(found["keysLeftOut"]),
        scheduled_for=str(found.get("scheduledFor", "")),
    )


def _whole(value: object) -> int:
    if type(value) is not int or value < 0:
        raise TypeError("no whole number")
    return value


def _hash(value: object) -> str:
    if not isinstance(value, str) or not _SHA256.fullmatch(value):
        raise TypeError("no hash")
    return value
