"""The encrypted file: what is on the disk, who opens it, and that nothing that happens loses a key.

A cheap derivation stands in for the real one where a test opens many files.
"""

import asyncio
import functools
import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.credentials import key_format, sealing
from desktop.credentials.key_file import KeyFile
from desktop.credentials.key_format import Damaged, Foreign, Header, Newer, Sealed, parse
from desktop.credentials.sealing import Seal, WrongPassphrase
from desktop.credentials.secret import Secret
from desktop.credentials.status import KeyringError, Status
from tests.unit.credentials.keyrings import Door

ACCOUNT = "anthropic@api.anthropic.com"
OTHER = "anthropic@localhost:11434"
KEY = "key-Zq9xYw77aaBB"
PASSPHRASE = Secret("four words and a döt")
WRONG = Secret("four words and a dot")
QUICK = 2**10


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "keys.encrypted"


@pytest.fixture
def key_file(path: Path) -> KeyFile:
    """A file with one key, written and closed again."""
    begun = opened(path)
    begun.set(ACCOUNT, KEY)
    return KeyFile(path)


def opened(path: Path, passphrase: Secret = PASSPHRASE) -> KeyFile:
    key_file = KeyFile(path, cost=QUICK)
    key_file.open(passphrase)
    return key_file


def refusal(act: object) -> Status:
    assert callable(act)
    with pytest.raises(KeyringError) as caught:
        act()
    assert caught.value.status.sentence and caught.value.status.way_out
    assert "Zq9" not in f"{caught.value} {caught.value.detail}"
    return caught.value.status


class TestOnDisk:
    def test_nothing_is_written_before_the_first_key(self, path: Path) -> None:
        begun = KeyFile(path)
        assert begun.look().state == "absent"
        begun.open(PASSPHRASE)
        assert begun.look().state == "ready"
        assert begun.get(ACCOUNT) is None
        assert list(path.parent.iterdir()) == []

    def test_the_file_is_the_persons_alone_and_shows_nothing(
        self, key_file: KeyFile, path: Path
    ) -> None:
        """PLATFORM 3.3.5"""
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        data = path.read_bytes()
        for word in (KEY, ACCOUNT, "anthropic", PASSPHRASE.reveal()):
            assert word.encode() not in data
        others = [one for one in path.parent.iterdir() if one != path]
        assert all(one.stat().st_size == 0 for one in others), "a lock and nothing else"

    def test_the_first_line_says_how_the_key_is_derived(
        self, key_file: KeyFile, path: Path
    ) -> None:
        path.unlink()
        real = KeyFile(path)
        real.open(PASSPHRASE)
        real.set(ACCOUNT, KEY)
        header = parse(path.read_bytes()).header
        assert (header.n, header.r, header.p, len(header.salt)) == (2**16, 8, 1, 16)
        assert path.read_bytes().startswith(b'{"format": "nacre-keys", "version": 1')

    def test_every_write_has_a_fresh_nonce_and_every_file_a_salt_of_its_own(
        self, path: Path, tmp_path: Path
    ) -> None:
        key_file = opened(path)
        written: list[Sealed] = []
        for _ in range(3):
            key_file.set(ACCOUNT, KEY)
            written.append(parse(path.read_bytes()))
        assert len({one.nonce for one in written}) == 3
        assert len({one.header.salt for one in written}) == 1
        another = opened(tmp_path / "another")
        another.set(ACCOUNT, KEY)
        assert parse((tmp_path / "another").read_bytes()).header.salt != written[0].header.salt

    def test_the_last_key_that_goes_takes_the_file_with_it(self, path: Path) -> None:
        """The next start has nothing to ask a passphrase for."""
        key_file = opened(path)
        key_file.set(ACCOUNT, KEY)
        key_file.set(OTHER, "x")
        assert key_file.delete(ACCOUNT)
        assert opened(path).get(OTHER) == "x"
        assert key_file.delete(OTHER)
        assert not path.exists()
        assert key_file.look().state == "absent"
        assert not key_file.delete(OTHER)
        assert key_file.get(OTHER) is None


class TestPassphrase:
    def test_the_right_one_opens_it_after_a_restart(self, key_file: KeyFile) -> None:
        """U34"""
        assert key_file.look().state == "locked"
        assert refusal(lambda: key_file.get(ACCOUNT)).state == "locked"
        key_file.open(PASSPHRASE)
        assert key_file.look().state == "ready"
        assert key_file.get(ACCOUNT) == KEY

    def test_the_same_letters_open_it_however_they_were_composed(self, key_file: KeyFile) -> None:
        key_file.open(Secret("four words and a do\u0308t"))
        assert key_file.get(ACCOUNT) == KEY

    def test_a_wrong_one_is_told_and_changes_nothing(self, key_file: KeyFile, path: Path) -> None:
        before = path.read_bytes()
        told = refusal(lambda: key_file.open(WRONG))
        assert told.state == "locked"
        assert "does not open" in told.sentence
        assert key_file.look().state == "locked"
        for act in (
            lambda: key_file.set(ACCOUNT, "x"),
            lambda: key_file.delete(ACCOUNT),
            lambda: key_file.get(ACCOUNT),
        ):
            assert refusal(act).state == "locked"
        assert path.read_bytes() == before

    def test_a_wrong_one_does_not_close_a_file_that_is_open(self, path: Path) -> None:
        key_file = opened(path)
        key_file.set(ACCOUNT, KEY)
        refusal(lambda: key_file.open(WRONG))
        assert key_file.get(ACCOUNT) == KEY

    def test_a_seal_shows_and_carries_nothing(self) -> None:
        seal = Seal(Header(b"s" * 16, n=QUICK), PASSPHRASE)
        assert "döt" not in repr(seal)
        with pytest.raises(TypeError):
            seal.__reduce_ex__(2)


CHEAP = Seal(Header(b"0123456789abcdef", n=QUICK), PASSPHRASE)


class TestFormat:
    @given(st.dictionaries(st.text(max_size=20), st.text(max_size=60), max_size=5))
    def test_whatever_is_kept_comes_back(self, entries: dict[str, str]) -> None:
        assert CHEAP.open(parse(CHEAP.close(entries))) == entries

    @given(st.data())
    def test_a_changed_byte_anywhere_is_found_and_never_taken_for_a_wrong_passphrase(
        self, data: st.DataObject
    ) -> None:
        whole = bytearray(CHEAP.close({ACCOUNT: KEY}))
        at = data.draw(st.integers(0, len(whole) - 1))
        whole[at] ^= data.draw(st.integers(1, 255))
        with pytest.raises((Damaged, Foreign, Newer)):
            parse(bytes(whole))

    @given(st.integers(0, 300), st.binary(max_size=40))
    def test_a_file_that_was_cut_or_grew_is_found(self, keep: int, more: bytes) -> None:
        whole = CHEAP.close({ACCOUNT: KEY})
        changed = whole[:keep] + more
        if changed == whole:
            return
        with pytest.raises((Damaged, Foreign, Newer)):
            parse(changed)

    @given(st.binary(max_size=400))
    def test_any_bytes_are_an_answer_and_no_crash(self, data: bytes) -> None:
        with pytest.raises((Damaged, Foreign, Newer)):
            parse(data)

    def test_the_first_line_can_not_be_changed_even_by_who_mends_the_sum(self) -> None:
        sealed = parse(CHEAP.close({ACCOUNT: KEY}))
        weaker = Header(sealed.header.salt, n=QUICK * 2)
        forged = parse(Sealed(weaker, sealed.nonce, sealed.ciphertext).data())
        with pytest.raises(WrongPassphrase):
            Seal(weaker, PASSPHRASE).open(forged)

    @pytest.mark.parametrize(
        "header",
        [
            Header(b"s" * 16, n=2**30),
            Header(b"s" * 16, n=2**4),
            Header(b"s" * 16, r=1000),
            Header(b"s" * 16, p=1000),
            Header(b"s"),
        ],
    )
    def test_parameters_that_would_take_for_ever_or_protect_nothing_are_not_obeyed(
        self, header: Header
    ) -> None:
        with pytest.raises(Damaged):
            parse(Sealed(header, b"n" * 12, b"c" * 32).data())


class TestBadFiles:
    @pytest.mark.parametrize(
        ("data", "words"),
        [
            (b"", "damaged"),
            (b"\0" * 300, "not such a file"),
            (b"-----BEGIN PRIVATE KEY-----\n", "not such a file"),
            (key_format.BEGINNING + b'2, "kdf": "new"}\n', "newer Nacre"),
            (key_format.BEGINNING + b"1", "not such a file"),
            (key_format.BEGINNING + b'1, "salt": 5}\n' + b"x" * 99, "damaged"),
            (b"x" * (2 * 1024 * 1024), "not such a file"),
        ],
    )
    def test_what_can_not_be_read_is_named_and_left_alone(
        self, path: Path, data: bytes, words: str
    ) -> None:
        path.write_bytes(data)
        key_file = KeyFile(path)
        told = key_file.look()
        assert told.state == "broken"
        assert words in told.sentence and str(path) in told.sentence
        for act in (
            lambda: key_file.open(PASSPHRASE),
            lambda: key_file.set(ACCOUNT, KEY),
            lambda: key_file.get(ACCOUNT),
            lambda: key_file.delete(ACCOUNT),
        ):
            with pytest.raises(Exception) as caught:
                act()
            assert key_file.explain(caught.value).state == "broken"
        assert path.read_bytes() == data

    def test_a_folder_or_a_link_in_its_place_is_named(self, path: Path, tmp_path: Path) -> None:
        path.mkdir()
        assert "not such a file" in KeyFile(path).look().sentence
        path.rmdir()
        path.symlink_to(tmp_path / "elsewhere")
        assert "not such a file" in KeyFile(path).look().sentence

    def test_after_it_was_removed_a_new_one_can_be_begun(self, path: Path) -> None:
        path.write_bytes(b"damaged")
        key_file = KeyFile(path, cost=QUICK)
        key_file.erase()
        key_file.open(PASSPHRASE)
        key_file.set(ACCOUNT, KEY)
        assert opened(path).get(ACCOUNT) == KEY

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
    def test_a_full_disk_leaves_the_old_file(
        self, key_file: KeyFile, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        before = path.read_bytes()
        key_file.open(PASSPHRASE)
        real = os.open

        def on_a_full_disk(name: Path, flags: int, mode: int = 0o777) -> int:
            return (
                real("/dev/full", os.O_WRONLY)
                if str(name).endswith(".new")
                else real(name, flags, mode)
            )

        monkeypatch.setattr(os, "open", on_a_full_disk)
        with pytest.raises(OSError) as caught:
            key_file.set(OTHER, "x")
        told = key_file.explain(caught.value)
        assert "disk is full" in told.sentence and "Nothing was changed" in told.way_out
        assert path.read_bytes() == before

    def test_another_process_that_writes_for_ever_is_told(
        self, key_file: KeyFile, path: Path
    ) -> None:
        door, holder = Door(), KeyFile(path)

        def hold() -> None:
            with holder._alone():  # pyright: ignore[reportPrivateUsage]
                door()

        thread = threading.Thread(target=hold)
        thread.start()
        try:
            door.reached.wait(5)
            impatient = KeyFile(path, lock_seconds=0.1)
            impatient.open(PASSPHRASE)
            assert impatient.get(ACCOUNT) == KEY, "reading waits for nobody"
            with pytest.raises(Exception) as caught:
                impatient.set(OTHER, "x")
            assert "Another Nacre" in impatient.explain(caught.value).sentence
        finally:
            door.open()
            thread.join()


WRITER = """
import sys
from pathlib import Path
from desktop.credentials.key_file import KeyFile
from desktop.credentials.secret import Secret
key_file = KeyFile(Path(sys.argv[1]))
key_file.open(Secret(sys.argv[2]))
print("open", flush=True)
sys.stdin.readline()
for number in range(int(sys.argv[4])):
    key_file.set(f"{sys.argv[3]}{number}", "x" * 40)
"""

# Forks for each point; the child kills itself at that one of the calls that touch the disk, and the
# parent tells what is in the file then, and whether the next write goes on as if nothing had been.
KILLED = """
import json, os, signal, sys
from pathlib import Path
from desktop.credentials.key_file import KeyFile
from desktop.credentials.secret import Secret
path, passphrase = Path(sys.argv[1]), sys.argv[2]
act, arguments, old = map(json.loads, sys.argv[3:])
key_file = KeyFile(path)
key_file.open(Secret(passphrase))
whole = path.read_bytes()
def kill_at(point):
    calls = 0
    def reached():
        nonlocal calls
        calls += 1
        if calls == point:
            os.kill(os.getpid(), signal.SIGKILL)
    def counted(real):
        def call(*given, **named):
            reached()
            result = real(*given, **named)
            reached()
            return result
        return call
    for name in ("open", "fsync", "replace", "unlink", "fdopen", "close"):
        setattr(os, name, counted(getattr(os, name)))
for point in range(1, 100):
    path.write_bytes(whole)
    child = os.fork()
    if not child:
        kill_at(point)
        getattr(key_file, act)(*arguments)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    if status == 0:
        break
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL, status
    found = {name: secret for name in old if (secret := key_file.get(name)) is not None}
    key_file.set("next", "y")
    assert key_file.get("next") == "y"
    print(json.dumps(found))
"""


class TestProcesses:
    def test_two_processes_that_add_keys_lose_none_of_each_other(self, path: Path) -> None:
        opened(path).set(ACCOUNT, KEY)
        writers = [
            subprocess.Popen(
                [sys.executable, "-c", WRITER, str(path), PASSPHRASE.reveal(), name, "20"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
            for name in ("a", "b")
        ]
        for writer in writers:
            assert writer.stdout is not None
            assert writer.stdout.readline() == b"open\n"
        for writer in writers:
            assert writer.stdin is not None
            writer.stdin.write(b"\n")
            writer.stdin.flush()
        for writer in writers:
            with writer:
                writer.communicate(timeout=60)
            assert writer.returncode == 0
        found = opened(path)
        assert found.get(ACCOUNT) == KEY
        for name in ("a", "b"):
            assert all(found.get(f"{name}{number}") == "x" * 40 for number in range(20))

    def test_a_file_that_another_process_made_anew_asks_for_its_passphrase(
        self, path: Path
    ) -> None:
        first = opened(path)
        first.set(ACCOUNT, KEY)
        KeyFile(path).erase()
        opened(path, WRONG).set(ACCOUNT, "theirs")
        assert first.look().state == "locked"
        assert refusal(lambda: first.set(ACCOUNT, "mine")).state == "locked"
        assert opened(path, WRONG).get(ACCOUNT) == "theirs"

    @pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
    @pytest.mark.parametrize(
        ("act", "arguments", "old", "new"),
        [
            ("set", (ACCOUNT, "new"), {ACCOUNT: KEY, OTHER: "x"}, {ACCOUNT: "new", OTHER: "x"}),
            ("delete", (OTHER,), {ACCOUNT: KEY, OTHER: "x"}, {ACCOUNT: KEY}),
            ("delete", (ACCOUNT,), {ACCOUNT: KEY}, {}),
        ],
        ids=["replace", "remove one", "remove the last"],
    )
    def test_killed_at_any_point_of_a_write_the_file_is_the_old_or_the_new_one(
        self,
        path: Path,
        act: str,
        arguments: tuple[str, ...],
        old: dict[str, str],
        new: dict[str, str],
    ) -> None:
        path.write_bytes(CHEAP.close(old))
        command = [sys.executable, "-c", KILLED, str(path), PASSPHRASE.reveal()]
        done = subprocess.run(
            [*command, *map(json.dumps, (act, arguments, old))],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        found = [json.loads(line) for line in done.stdout.splitlines()]
        assert len(found) > 8
        before = found.count(old)
        assert 0 < before < len(found)
        assert found == [old] * before + [new] * (len(found) - before), "one moment and no other"


def test_the_cipher_is_not_loaded_before_a_passphrase_is_there(path: Path) -> None:
    program = f"""
import sys
from pathlib import Path
from desktop.credentials import keys
from desktop.credentials.key_file import KeyFile
KeyFile(Path({str(path)!r})).look()
print("cryptography" in sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"


def test_making_the_key_leaves_the_loop_alive(path: Path) -> None:
    """U34: a fifth of a second of work on another thread, which lets this one go on."""

    async def act() -> list[float]:
        loop = asyncio.get_running_loop()
        make = functools.partial(sealing.new_seal, PASSPHRASE, key_format.COST)
        work = loop.run_in_executor(None, lambda: [make() for _ in range(3)])
        gaps: list[float] = []
        while not work.done():
            before = loop.time()
            await asyncio.sleep(0.001)
            gaps.append(loop.time() - before)
        await work
        return gaps

    gaps = asyncio.run(act())
    assert sum(gaps) > 5 * max(gaps), "the loop ran on in between"
