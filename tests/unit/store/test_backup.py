"""Backups: made while others write, checked before they are good, and brought back whole."""

import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from desktop.core.chunks import Text
from desktop.core.errors import NacreError, NewerSchema, StoreDamaged, StoreError, StoreFull
from desktop.store import backup, restoring
from desktop.store.backup import Backup
from desktop.store.plain import SCHEMA, connect
from tests.unit.store.builders import chunk, new_tab, open_log, run, tool_turn

NOW = 1_700_000_000_000
TABLES = ("projects", "workspaces", "tabs", "chunks", "drafts", "blobs", "settings")


def _quiet(_words: str, _done: int, _total: int) -> None:
    pass


def _make(folder: Path, target: Path) -> Backup:
    return backup.write(
        folder / "nacre.db",
        target,
        blobs=folder / "blobs",
        program="1.2.3",
        now_ms=lambda: NOW,
        tell=_quiet,
    )


def _bring_back(archive: Path, folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    restoring.restore(archive, folder / "nacre.db", blobs=folder / "blobs", tell=_quiet)


def _rows(folder: Path) -> dict[str, list[tuple[Any, ...]]]:
    with closing(sqlite3.connect(folder / "nacre.db")) as plain:
        return {one: plain.execute(f"SELECT rowid, * FROM {one}").fetchall() for one in TABLES}


def _blobs(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted((folder / "blobs").rglob("*"))
        if path.is_file()
    }


def _files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a conversation, an attached text kept as a blob, and a setting."""
    folder = tmp_path_factory.mktemp("built")
    workspace = folder / "workspace"
    workspace.mkdir()
    with open_log(folder) as log:
        tab = new_tab(log, workspace)
        attached = Text("see", attachments=({"name": "a.txt", "text": "attached text " * 50},))
        run(log.session(tab).append([*tool_turn(), chunk("x", attached, turn="turn-2")]))
        run(log.catalogue.save_setting("theme", "dark"))
    assert len(_blobs(folder)) == 1
    return folder


@pytest.fixture
def data(built: Path, tmp_path: Path) -> Path:
    """The folder as `built`, to be changed."""
    return Path(shutil.copytree(built, tmp_path / "data"))


@pytest.fixture
def good(data: Path, tmp_path: Path) -> Path:
    return _make(data, tmp_path / "good.zip").file


@dataclass(frozen=True, slots=True)
class Open:
    """An archive taken apart: a test changes a part and puts it together again."""

    manifest: dict[str, Any]
    members: dict[str, bytes]

    def put(self, path: Path) -> Path:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in self.members.items():
                archive.writestr(name, content)
            archive.writestr("manifest.json", json.dumps(self.manifest))
        return path

    def name(self, member: str, content: bytes) -> None:
        """Puts a member in and lets the manifest agree with it."""
        self.members[member] = content
        digest = hashlib.sha256(content).hexdigest()
        self.manifest["members"][member] = {"size": len(content), "sha256": digest}


@pytest.fixture
def taken_apart(good: Path) -> Open:
    with zipfile.ZipFile(good) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    return Open(json.loads(members.pop("manifest.json")), members)


def _refused(archive: Path, folder: Path) -> str:
    """What is said; nothing may have appeared in the folder."""
    folder.mkdir(exist_ok=True)
    before = _files(folder)
    with pytest.raises(StoreError) as told:
        _bring_back(archive, folder)
    assert _files(folder) == before
    return str(told.value)


def test_u17_a_restored_folder_has_equal_rows_and_blobs_and_goes_on(
    data: Path, good: Path, tmp_path: Path
) -> None:
    new = tmp_path / "new"
    _bring_back(good, new)
    assert _rows(new) == _rows(data)
    assert _blobs(new) == _blobs(data)
    assert _files(new) == ["blobs", *_files(new)[1:3], "nacre.db"]
    with open_log(new, prefix="later") as log:
        tab = run(log.catalogue.view()).tabs[0].id
        run(log.session(tab).append([chunk("more", "going on", turn="turn-3")]))
        assert run(log.doctor())["ok"]
        with closing(sqlite3.connect(new / "nacre.db")) as plain:
            assert plain.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_u17_the_last_good_backup_is_known_to_the_doctor(data: Path, good: Path) -> None:
    with open_log(data) as log:
        found = run(log.doctor())["lastBackup"]
    assert found["file"] == str(good)
    assert found["bytes"] == good.stat().st_size
    assert (found["createdAt"], found["checkedAt"], found["isThere"]) == (NOW, NOW, True)
    assert found["time"] == "2023-11-14T22:13:20+00:00"


def test_without_a_backup_the_doctor_says_never(data: Path) -> None:
    with open_log(data) as log:
        assert run(log.doctor())["lastBackup"] == "never"


def test_the_manifest_names_versions_counts_sizes_and_hashes(taken_apart: Open) -> None:
    manifest = taken_apart.manifest
    assert (manifest["format"], manifest["version"]) == ("nacre-backup", 1)
    assert (manifest["program"], manifest["schema"]) == ("1.2.3", SCHEMA)
    assert manifest["createdAt"] == NOW
    assert manifest["counts"]["chunks"] == 6
    assert manifest["counts"]["blobs"] == 1
    assert {
        name: {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        for name, content in taken_apart.members.items()
    } == manifest["members"]


@pytest.mark.skipif(os.name != "posix", reason="modes are of POSIX")
def test_an_archive_and_a_restored_database_are_private(good: Path, tmp_path: Path) -> None:
    _bring_back(good, tmp_path / "new")
    assert good.stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "new" / "nacre.db").stat().st_mode & 0o777 == 0o600


def test_a_backup_while_another_thread_appends_is_one_moment_of_the_log(
    data: Path, tmp_path: Path
) -> None:
    """A01, U17: a prefix of the rows, and the writer is never kept waiting for long."""
    stop, begun = threading.Event(), threading.Event()

    def append() -> None:
        with open_log(data, prefix="writer") as log:
            tab = run(log.catalogue.view()).tabs[0].id
            session = log.session(tab)
            number = 0
            while not stop.is_set():
                run(session.append([chunk(f"w{number}", "y" * 9_000, turn=f"w{number}")]))
                number += 1
                if number == 20:
                    begun.set()

    writer = threading.Thread(target=append)
    writer.start()
    seen: list[int] = []

    def tell(words: str, done: int, _total: int) -> None:
        if words == "copying the database":
            seen.append(done)

    try:
        assert begun.wait(30)
        made = [
            backup.write(
                data / "nacre.db",
                tmp_path / f"{number}.zip",
                blobs=data / "blobs",
                program="1",
                now_ms=lambda: NOW,
                tell=tell,
            )
            for number in range(3)
        ]
    finally:
        stop.set()
        writer.join(30)
    assert not writer.is_alive()
    assert seen
    everything = _rows(data)["chunks"]
    for one in made:
        new = tmp_path / one.file.stem
        _bring_back(one.file, new)
        rows = _rows(new)["chunks"]
        assert len(rows) == one.manifest.counts["chunks"] >= 26
        assert rows == everything[: len(rows)]


OTHER_PROCESS = """
import sqlite3, sys
plain = sqlite3.connect(sys.argv[1])
print(plain.execute("SELECT count(*) FROM chunks").fetchone()[0])
plain.close()
"""


def test_u17_a_backup_of_an_open_log_lets_go_of_no_lock_on_it(tmp_path: Path) -> None:
    """Else the next process that ends would delete the write-ahead log, and with it every row that
    is laid down here from then on."""
    (tmp_path / "data").mkdir()

    def seen_elsewhere() -> int:
        command = [sys.executable, "-c", OTHER_PROCESS, str(tmp_path / "data" / "nacre.db")]
        return int(subprocess.run(command, capture_output=True, check=True).stdout)

    with open_log(tmp_path / "data") as log:
        tab = new_tab(log, tmp_path)
        run(log.session(tab).append([chunk("before")]))
        _make(tmp_path / "data", tmp_path / "kept.zip")
        assert seen_elsewhere() == 1
        run(log.session(tab).append([chunk("after")]))
        assert seen_elsewhere() == 2
        assert log.database.with_name("nacre.db-wal").exists()


def test_keys_that_wait_for_a_keyring_are_left_out_of_the_backup(
    data: Path, tmp_path: Path
) -> None:
    """Keys are never exported: a database from before the keyring may still hold some."""
    secret = "canary-5f1d0c-never-exported"
    with closing(sqlite3.connect(data / "nacre.db", isolation_level=None)) as plain:
        plain.execute("PRAGMA secure_delete=OFF")
        plain.execute(
            "INSERT INTO credentials(key_id, access_token, refresh_token) VALUES ('k', ?, ?)",
            (secret + "-a", "keyring:k"),
        )
        plain.execute("INSERT INTO api_keys(key_id, api_key) VALUES ('k', ?)", (secret + "-b",))
        plain.execute("INSERT INTO api_keys(key_id, api_key) VALUES ('gone', ?)", (secret + "-c",))
        plain.execute("DELETE FROM api_keys WHERE key_id = 'gone'")
    made = _make(data, tmp_path / "b.zip")
    assert made.manifest.keys_left_out == 2
    _bring_back(made.file, tmp_path / "new")
    assert secret.encode() in (data / "nacre.db").read_bytes()
    for path in (tmp_path / "new").rglob("*"):
        assert path.is_dir() or secret.encode() not in path.read_bytes()
    with closing(sqlite3.connect(tmp_path / "new" / "nacre.db")) as plain:
        found = plain.execute("SELECT access_token, refresh_token FROM credentials").fetchall()
    assert found == [(None, "keyring:k")]


def test_a_blob_that_is_gone_or_changed_is_told_and_does_not_prevent_a_backup(
    data: Path, tmp_path: Path
) -> None:
    with open_log(data) as log:
        tab = run(log.catalogue.view()).tabs[0].id
        attached = Text("two", attachments=({"name": "b.txt", "text": "other " * 50},))
        run(log.session(tab).append([chunk("y", attached, turn="turn-4")]))
    first, second = sorted(path for path in (data / "blobs").rglob("*") if path.is_file())
    first.unlink()
    second.write_bytes(b"changed")
    made = _make(data, tmp_path / "b.zip")
    assert made.manifest.missing == (first.name,)
    assert made.manifest.damaged == (second.name,)
    _bring_back(made.file, tmp_path / "new")
    assert _blobs(tmp_path / "new") == _blobs(data)


def test_an_existing_file_is_never_replaced_by_a_backup(data: Path, tmp_path: Path) -> None:
    target = tmp_path / "mine.zip"
    target.write_bytes(b"mine")
    with pytest.raises(StoreError, match="is there already"):
        _make(data, target)
    assert target.read_bytes() == b"mine"


def test_a_name_that_is_taken_while_the_backup_is_made_is_not_replaced(
    data: Path, tmp_path: Path
) -> None:
    target = tmp_path / "out" / "mine.zip"
    target.parent.mkdir()

    def tell(_words: str, _done: int, _total: int) -> None:
        target.write_bytes(b"mine")

    with pytest.raises(StoreError, match="is there already"):
        backup.write(
            data / "nacre.db",
            target,
            blobs=data / "blobs",
            program="1",
            now_ms=lambda: NOW,
            tell=tell,
        )
    assert _files(target.parent) == ["mine.zip"]
    assert target.read_bytes() == b"mine"


@pytest.mark.parametrize("stage", ["copying", "writing", "reading"])
def test_a_backup_that_is_broken_off_leaves_nothing(data: Path, tmp_path: Path, stage: str) -> None:
    out = tmp_path / "out"
    out.mkdir()

    def tell(words: str, _done: int, _total: int) -> None:
        if words.startswith(stage):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        backup.write(
            data / "nacre.db",
            out / "b.zip",
            blobs=data / "blobs",
            program="1",
            now_ms=lambda: NOW,
            tell=tell,
        )
    assert _files(out) == []


def test_u17_an_archive_that_changes_on_the_disk_before_it_is_checked_is_not_called_good(
    data: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    flipped: list[Path] = []

    def tell(words: str, _done: int, _total: int) -> None:
        if words == "reading the archive" and not flipped:
            flipped.extend(out.glob("*/archive"))
            _flip(flipped[0], flipped[0].stat().st_size // 2)

    # The first piece of the check is told after it was read, so more than one is needed.
    with closing(sqlite3.connect(data / "nacre.db", isolation_level=None)) as plain:
        plain.execute("INSERT INTO settings VALUES ('big', hex(randomblob(3000000)))")
    with pytest.raises(StoreError, match=r"did not come back as it was written: nacre\.db"):
        backup.write(
            data / "nacre.db",
            out / "b.zip",
            blobs=data / "blobs",
            program="1",
            now_ms=lambda: NOW,
            tell=tell,
        )
    assert flipped
    assert _files(out) == []
    with open_log(data) as log:
        assert run(log.doctor())["lastBackup"] == "never"


def test_no_backup_is_made_of_a_damaged_database_and_the_reason_is_named(
    data: Path, tmp_path: Path
) -> None:
    with closing(sqlite3.connect(data / "nacre.db", isolation_level=None)) as plain:
        root, page = plain.execute(
            "SELECT rootpage, (SELECT page_size FROM pragma_page_size) FROM sqlite_master"
            " WHERE name = 'idx_chunks_tab_seq'"
        ).fetchone()
    with (data / "nacre.db").open("r+b") as file:
        file.seek((root - 1) * page + page - 40)
        file.write(b"\x07" * 40)
    with pytest.raises(StoreDamaged, match=r"is damaged, so no backup was made of it: .+"):
        _make(data, tmp_path / "b.zip")
    assert not (tmp_path / "b.zip").exists()


def test_a_newer_database_and_a_missing_one_are_not_backed_up(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="nothing to back up"):
        _make(tmp_path, tmp_path / "b.zip")
    with closing(sqlite3.connect(tmp_path / "nacre.db")) as plain:
        plain.execute(f"PRAGMA user_version={SCHEMA + 1}")
    with pytest.raises(NewerSchema):
        _make(tmp_path, tmp_path / "b.zip")
    assert _files(tmp_path) == ["nacre.db"]


def test_a_legacy_database_is_backed_up_as_it_is(tmp_path: Path) -> None:
    old = tmp_path / "old"
    old.mkdir()
    with closing(sqlite3.connect(old / "nacre.db")) as plain:
        plain.execute("CREATE TABLE messages(id TEXT PRIMARY KEY)")
        plain.execute("INSERT INTO messages VALUES ('m')")
        plain.commit()
    made = _make(old, tmp_path / "b.zip")
    assert (made.manifest.schema, made.manifest.counts, made.noted) == (0, {"messages": 1}, False)
    _bring_back(made.file, tmp_path / "new")
    with closing(sqlite3.connect(tmp_path / "new" / "nacre.db")) as plain:
        assert plain.execute("SELECT * FROM messages").fetchall() == [("m",)]


def test_a_row_that_can_not_be_written_does_not_make_the_backup_bad(
    data: Path, tmp_path: Path
) -> None:
    with closing(connect(data / "nacre.db", "write", busy_ms=0)) as other:
        other.execute("BEGIN IMMEDIATE")
        made = backup.write(
            data / "nacre.db",
            tmp_path / "b.zip",
            blobs=data / "blobs",
            program="1",
            now_ms=lambda: NOW,
            tell=_quiet,
            busy_ms=50,
        )
        other.execute("ROLLBACK")
    assert not made.noted
    _bring_back(made.file, tmp_path / "new")
    assert _rows(tmp_path / "new") == _rows(data)


@pytest.mark.parametrize("end", ["", "-wal", "-journal"])
def test_a_folder_with_a_database_or_its_left_over_is_refused_untouched(
    good: Path, tmp_path: Path, end: str
) -> None:
    """A log left behind would be played into the restored database."""
    new = tmp_path / "new"
    new.mkdir()
    (new / f"nacre.db{end}").write_bytes(b"old")
    said = _refused(good, new)
    assert f"nacre.db{end}" in said
    assert "--data-dir" in said
    assert (new / f"nacre.db{end}").read_bytes() == b"old"


def test_a_database_that_appears_meanwhile_is_not_replaced(good: Path, tmp_path: Path) -> None:
    new = tmp_path / "new"
    new.mkdir()

    def tell(_words: str, _done: int, _total: int) -> None:
        (new / "nacre.db").write_bytes(b"other")

    with pytest.raises(StoreError, match="a database already"):
        restoring.restore(good, new / "nacre.db", blobs=new / "blobs", tell=tell)
    assert (new / "nacre.db").read_bytes() == b"other"


@pytest.mark.parametrize("key", ["version", "schema"])
def test_a_newer_format_or_schema_is_refused_untouched(
    taken_apart: Open, tmp_path: Path, key: str
) -> None:
    """A09, FIELD F-S09."""
    taken_apart.manifest[key] += 1
    taken_apart.members["something/new"] = b"of a later format" if key == "version" else b""
    if key == "schema":
        del taken_apart.members["something/new"]
    path = taken_apart.put(tmp_path / "newer.zip")
    with pytest.raises(NewerSchema, match="newer Nacre"):
        restoring.look(path)
    assert "newer Nacre" in _refused(path, tmp_path / "new")


@pytest.mark.parametrize(
    "name",
    [
        "../evil",
        "/tmp/evil",
        "blobs/../../evil",
        "blobs/aa/../nacre.db",
        "..\\evil",
        "C:\\evil",
        "nacre.db/",
        "nacre.db-wal",
        f"blobs/bb/{'a' * 64}",
        f"blobs/aa/{'a' * 64}\n",
        f"blobs/aa/{'A' * 64}",
        "run/x.lock",
        "other.txt",
    ],
)
def test_a_member_that_would_go_elsewhere_is_refused(
    taken_apart: Open, tmp_path: Path, name: str
) -> None:
    taken_apart.name(name, b"evil")
    said = _refused(taken_apart.put(tmp_path / "evil.zip"), tmp_path / "new")
    assert ascii(name)[1:-1] in said
    assert not (tmp_path / "evil").exists()


def _drop(member: str) -> Callable[[Open], None]:
    return lambda it: it.members.__delitem__(member)


def _unnamed(it: Open) -> None:
    del it.manifest["members"]["nacre.db"]


def _other_content(it: Open) -> None:
    it.members["nacre.db"] = it.members["nacre.db"][::-1]


def _shorter(it: Open) -> None:
    it.members["nacre.db"] = it.members["nacre.db"][:-1]


def _fewer_rows(it: Open) -> None:
    it.manifest["counts"]["chunks"] -= 1


def _other_table(it: Open) -> None:
    it.manifest["counts"]["unheard_of"] = 0


def _other_schema(it: Open) -> None:
    it.manifest["schema"] = 0


def _no_database(it: Open) -> None:
    it.name("nacre.db", b"SQLite format 3\0 or so" * 200)


def _blob_forgotten(it: Open) -> None:
    blob = next(name for name in it.members if name.startswith("blobs/"))
    del it.members[blob], it.manifest["members"][blob]


@pytest.mark.parametrize(
    ("change", "member", "why"),
    [
        (_drop("nacre.db"), "nacre.db", "not there"),
        (_unnamed, "nacre.db", "does not name it"),
        (_other_content, "nacre.db", "checksum"),
        (_shorter, "nacre.db", "size"),
        (_fewer_rows, "nacre.db", "6 rows in chunks"),
        (_other_table, "nacre.db", "unheard_of"),
        (_other_schema, "nacre.db", "another schema"),
        (_no_database, "nacre.db", "the database in it"),
        (_blob_forgotten, "blobs/", "not there"),
    ],
)
def test_an_archive_that_is_not_what_its_manifest_says_is_refused_by_name(
    taken_apart: Open, tmp_path: Path, change: Callable[[Open], None], member: str, why: str
) -> None:
    change(taken_apart)
    said = _refused(taken_apart.put(tmp_path / "changed.zip"), tmp_path / "new")
    assert member in said
    assert why in said


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no json",
        "[" * 100_000,
        "[]",
        "{}",
        '{"format": "other"}',
        '{"format": "nacre-backup"}',
        '{"format": "nacre-backup", "version": "1"}',
        '{"format": "nacre-backup", "version": 1, "members": []}',
        '{"format": "nacre-backup", "version": 1, "members": {"a": {"size": -1, "sha256": "x"}}}',
    ],
)
def test_a_manifest_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "odd.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("manifest.json", text)
    assert "manifest.json" in _refused(path, tmp_path / "new")


@pytest.mark.parametrize("content", [b"", b"PK", b"no archive at all" * 99, b"PK\3\4" * 20])
def test_a_file_that_is_no_archive_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "odd.zip"
    path.write_bytes(content)
    assert "odd.zip" in _refused(path, tmp_path / "new")


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    assert "There is no backup" in _refused(tmp_path / "none.zip", tmp_path / "new")


def _flip(path: Path, place: int) -> None:
    with path.open("r+b") as file:
        file.seek(place)
        byte = file.read(1)[0]
        file.seek(place)
        file.write(bytes([byte ^ 0x10]))


def test_u17_wherever_an_archive_is_cut_off_it_is_refused_and_the_member_is_named(
    good: Path, tmp_path: Path
) -> None:
    content = good.read_bytes()
    with zipfile.ZipFile(good) as archive:
        places = {info.filename: info.header_offset for info in archive.infolist()}
    cut = tmp_path / "cut.zip"
    for name, place in places.items():
        cut.write_bytes(content[: place + 34 + len(name)])
        assert name in _refused(cut, tmp_path / "new")
    for end in [*range(0, len(content), 199), len(content) - 1]:
        cut.write_bytes(content[:end])
        assert "cut.zip" in _refused(cut, tmp_path / "new")


def test_u17_wherever_a_bit_flips_the_archive_is_refused_or_nothing_is_lost(
    data: Path, good: Path, tmp_path: Path
) -> None:
    """A flip in a date of the archive changes no content; any other must be found."""
    with zipfile.ZipFile(good) as archive:
        inside = {info.filename: info for info in archive.infolist()}
    content = good.read_bytes()
    flipped = tmp_path / "flipped.zip"
    rows, blobs = _rows(data), _blobs(data)
    refused = 0
    size = len(content)
    for place in sorted({*range(0, size, max(1, size // 120)), *range(size - 330, size, 3)}):
        flipped.write_bytes(content)
        _flip(flipped, place)
        new = tmp_path / "new"
        try:
            _bring_back(flipped, new)
        except NacreError:
            refused += 1
            assert _files(new) == []
        else:
            assert (_rows(new), _blobs(new)) == (rows, blobs)
        shutil.rmtree(new)
    assert refused > 100
    for name, info in inside.items():
        flipped.write_bytes(content)
        _flip(flipped, info.header_offset + 30 + len(name) + info.compress_size // 2)
        assert f"{name}: " in _refused(flipped, tmp_path / "new")


def test_what_a_dead_process_left_behind_is_swept_and_a_living_one_is_left_alone(
    data: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    dead = out / ".nacre-working-dead"
    dead.mkdir(parents=True)
    (dead / "lock").touch()
    (dead / "copy").write_bytes(b"half")
    seen: list[list[str]] = []

    def tell(words: str, _done: int, _total: int) -> None:
        if words == "reading the archive" and not seen:
            seen.append([])
            _make(data, out / "second.zip")
            seen.append(_files(out))

    backup.write(
        data / "nacre.db",
        out / "first.zip",
        blobs=data / "blobs",
        program="1",
        now_ms=lambda: NOW,
        tell=tell,
    )
    assert any("archive" in name for name in seen[1])
    assert _files(out) == ["first.zip", "second.zip"]


def test_names_are_by_time_and_never_the_same_twice(tmp_path: Path) -> None:
    first = backup.free_name(tmp_path, NOW)
    first.touch()
    second = backup.free_name(tmp_path, NOW)
    assert first.name.startswith("nacre-2023111")
    assert second.name == f"{first.stem}-2.zip"


def test_a_large_blob_takes_no_more_memory_than_a_small_one(data: Path, tmp_path: Path) -> None:
    content = os.urandom(1_000_000) * 40
    digest = hashlib.sha256(content).hexdigest()
    place = data / "blobs" / digest[:2] / digest
    place.parent.mkdir(exist_ok=True)
    place.write_bytes(content)
    with closing(sqlite3.connect(data / "nacre.db", isolation_level=None)) as plain:
        plain.execute("INSERT INTO blobs VALUES (?, ?, 'text/plain')", (digest, len(content)))
    size = len(content)
    del content
    tracemalloc.start()
    try:
        made = _make(data, tmp_path / "b.zip")
        _bring_back(made.file, tmp_path / "new")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < size / 4
    assert _blobs(tmp_path / "new") == _blobs(data)


@pytest.fixture
def tiny(tmp_path: Path) -> Iterator[Path]:
    """A disk of 8 MiB."""
    place = tmp_path / "tiny"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(place)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode != 0:
        pytest.skip("only root can mount a small disk")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def _fill(disk: Path) -> None:
    """To the last byte."""
    with suppress(OSError), (disk / "filler").open("ab", buffering=0) as file:
        while file.write(b"x" * 4096):
            pass


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root")
@pytest.mark.parametrize("stage", ["before", "copying", "writing", "reading"])
def test_f_s04_a_disk_that_fills_up_is_told_and_leaves_no_half_file(
    data: Path, tmp_path: Path, tiny: Path, stage: str
) -> None:
    with closing(sqlite3.connect(data / "nacre.db", isolation_level=None)) as plain:
        plain.execute("INSERT INTO settings VALUES ('big', hex(randomblob(1200000)))")

    def tell(words: str, _done: int, _total: int) -> None:
        if words.startswith(stage):
            _fill(tiny)

    if stage == "before":
        _fill(tiny)
    # The whole copy is one step for the database, so a disk that fills up then is met later.
    with pytest.raises(StoreFull, match="no room left"):
        backup.write(
            data / "nacre.db",
            tiny / "b.zip",
            blobs=data / "blobs",
            program="1",
            now_ms=lambda: NOW,
            tell=tell,
        )
    assert _files(tiny) == ["filler"]
    with open_log(data) as log:
        assert run(log.doctor())["lastBackup"] == "never"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root")
def test_f_s04_a_disk_that_is_full_gets_no_half_restored_folder(
    data: Path, tmp_path: Path, tiny: Path
) -> None:
    with closing(sqlite3.connect(data / "nacre.db", isolation_level=None)) as plain:
        plain.execute("INSERT INTO settings VALUES ('big', hex(randomblob(5000000)))")
    made = _make(data, tmp_path / "b.zip")
    with pytest.raises(StoreFull, match="no room left"):
        _bring_back(made.file, tiny)
    assert _files(tiny) == []


BACKUP_OR_RESTORE = """
import sys
from pathlib import Path
from desktop.store import backup, restoring
what, source, target, stage = sys.argv[1:]
def tell(words, done, total):
    if words.startswith(stage):
        print("now", flush=True)
        sys.stdin.read()
if what == "backup":
    backup.write(Path(source) / "nacre.db", Path(target), blobs=Path(source) / "blobs",
                 program="1", now_ms=lambda: 1, tell=tell)
else:
    restoring.restore(Path(source), Path(target) / "nacre.db",
                      blobs=Path(target) / "blobs", tell=tell)
"""


def _killed_at(stage: str, what: str, source: Path, target: Path) -> None:
    """A process of its own, dead as soon as it has told about the stage."""
    process = subprocess.Popen(
        [sys.executable, "-c", BACKUP_OR_RESTORE, what, str(source), str(target), stage],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[3],
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "now\n"
        process.kill()


@pytest.mark.parametrize("stage", ["copying", "writing", "reading"])
def test_u17_killed_in_mid_backup_there_is_no_file_and_the_next_one_is_good(
    data: Path, tmp_path: Path, stage: str
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    _killed_at(stage, "backup", data, out / "b.zip")
    assert not (out / "b.zip").exists()
    made = _make(data, out / "b.zip")
    assert _files(out) == ["b.zip"]
    _bring_back(made.file, tmp_path / "new")
    assert _rows(tmp_path / "new") == _rows(data)


def test_killed_in_mid_restore_there_is_no_database_and_it_can_be_repeated(
    data: Path, good: Path, tmp_path: Path
) -> None:
    new = tmp_path / "new"
    new.mkdir()
    _killed_at("reading", "restore", good, new)
    assert not (new / "nacre.db").exists()
    _bring_back(good, new)
    assert _rows(new) == _rows(data)
    assert not [name for name in _files(new) if "working" in name]
