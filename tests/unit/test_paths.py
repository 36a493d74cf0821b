"""The data folder: who chooses it, what may stand in its way, and what is never done in silence."""

import errno
import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from desktop import paths
from desktop.paths import DataFolder, DataFolderError, ResourcesMissing

pytestmark = pytest.mark.skipif(os.name != "posix", reason="XDG rules and modes are of POSIX")

NOBODY = 65534


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.delenv(paths.VARIABLE, raising=False)
    return tmp_path


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_argument_wins_over_the_variable_and_the_platform(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(paths.VARIABLE, str(home / "from-variable"))
    choice = paths.choose(str(home / "from-argument"))
    assert (choice.folder.root, choice.chosen_by) == (home / "from-argument", "argument")


def test_the_variable_wins_over_the_platform(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(paths.VARIABLE, str(home / "from-variable"))
    choice = paths.choose(None)
    assert (choice.folder.root, choice.chosen_by) == (home / "from-variable", "environment")


@pytest.mark.parametrize("blank", ["", "   "])
def test_a_blank_argument_or_variable_counts_as_not_given(
    home: Path, monkeypatch: pytest.MonkeyPatch, blank: str
) -> None:
    monkeypatch.setenv(paths.VARIABLE, blank)
    assert paths.choose(blank).chosen_by == "platform"


def test_a_relative_folder_is_taken_from_the_current_directory(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home)
    assert paths.choose("here").folder.root == home / "here"


def test_a_tilde_is_the_home_folder(home: Path) -> None:
    assert paths.choose("~/there").folder.root == home / "there"


def test_a_name_with_nul_in_it_is_refused_in_words(home: Path) -> None:
    with pytest.raises(DataFolderError) as caught:
        paths.choose(str(home / "a\0b")).folder.prepare()
    assert caught.value.reason == "name"
    assert caught.value.way_out


@pytest.mark.skipif(sys.platform == "darwin", reason="XDG is not used there")
class TestXdg:
    """F-C05: what may stand in XDG_DATA_HOME and HOME."""

    def test_without_it_the_data_lies_under_the_home_folder(self, home: Path) -> None:
        choice = paths.choose(None)
        assert choice.folder.root == home / ".local" / "share" / "nacre"
        assert choice.notices == ()

    def test_a_full_path_is_followed(self, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("XDG_DATA_HOME", str(home / "data"))
        assert paths.choose(None).folder.root == home / "data" / "nacre"

    @pytest.mark.parametrize("value", ["", "  "])
    def test_an_empty_one_is_not_there(
        self, home: Path, monkeypatch: pytest.MonkeyPatch, value: str
    ) -> None:
        monkeypatch.setenv("XDG_DATA_HOME", value)
        choice = paths.choose(None)
        assert choice.folder.root == home / ".local" / "share" / "nacre"
        assert choice.notices == ()

    def test_a_relative_one_is_ignored_and_that_is_told(
        self, home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("XDG_DATA_HOME", "data")
        choice = paths.choose(None)
        assert choice.folder.root == home / ".local" / "share" / "nacre"
        assert "XDG_DATA_HOME" in choice.notices[0]

    def test_a_trailing_blank_is_left_out_and_that_is_told(
        self, home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("XDG_DATA_HOME", f"{home / 'data'} ")
        choice = paths.choose(None)
        assert choice.folder.root == home / "data" / "nacre"
        assert "blanks" in choice.notices[0]

    def test_a_folder_whose_name_really_ends_in_a_blank_is_followed(
        self, home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (home / "data ").mkdir()
        monkeypatch.setenv("XDG_DATA_HOME", f"{home / 'data '}")
        assert paths.choose(None).folder.root == home / "data " / "nacre"

    @pytest.mark.parametrize("value", [None, "", "relative"])
    def test_without_a_usable_home_variable_the_account_says_where_home_is(
        self, home: Path, monkeypatch: pytest.MonkeyPatch, value: str | None
    ) -> None:
        if value is None:
            monkeypatch.delenv("HOME")
        else:
            monkeypatch.setenv("HOME", value)
        root = paths.choose(None).folder.root
        assert root.is_absolute()
        assert home not in root.parents

    @pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="changes the user")
    def test_without_any_home_one_is_told_what_to_do(self) -> None:
        done = as_user(54321, "paths.choose(None)", {"PATH": os.environ["PATH"]})
        assert "can't tell where your home folder is" in done
        assert "--data-dir" in done


class TestPrepare:
    def test_it_makes_private_folders(self, home: Path) -> None:
        old = os.umask(0)
        try:
            folder = DataFolder(home / "deep" / "data")
            assert folder.prepare() == ()
        finally:
            os.umask(old)
        parts = (folder.blobs, folder.run, folder.logs, folder.scratch, folder.spool)
        assert [mode(part) for part in (folder.root, *parts)] == [0o700] * 6
        assert not folder.database.exists()

    def test_it_can_be_done_again(self, home: Path) -> None:
        folder = DataFolder(home / "data")
        folder.prepare()
        (folder.scratch / "mine.txt").write_text("kept")
        assert folder.prepare() == ()
        assert (folder.scratch / "mine.txt").read_text() == "kept"

    def test_it_leaves_no_probe_behind(self, home: Path) -> None:
        folder = DataFolder(home / "data")
        folder.prepare()
        assert names(folder.root) == ["blobs", "logs", "run", "scratch", "spool"]

    def test_an_older_folder_of_nacre_becomes_private(self, home: Path) -> None:
        folder = DataFolder(home / "data")
        folder.root.mkdir(mode=0o755)
        folder.root.chmod(0o755)
        folder.database.touch()
        assert folder.prepare() == ()
        assert mode(folder.root) == 0o700

    def test_an_empty_folder_becomes_private_also_with_a_lock_in_it(self, home: Path) -> None:
        folder = DataFolder(home / "data")
        folder.root.mkdir()
        folder.root.chmod(0o755)
        folder.make_run()
        folder.window_lock.touch()
        assert folder.prepare() == ()
        assert mode(folder.root) == 0o700

    def test_a_folder_with_other_things_in_it_keeps_its_mode_and_that_is_told(
        self, home: Path
    ) -> None:
        home.chmod(0o755)
        (home / "letter.txt").touch()
        notices = DataFolder(home).prepare()
        assert mode(home) == 0o755
        assert str(home) in notices[0]

    def test_a_file_in_its_place_is_named(self, home: Path) -> None:
        (home / "data").write_text("mine")
        error = refused(home / "data")
        assert error.reason == "file"
        assert (home / "data").read_text() == "mine"

    def test_a_file_above_it_is_named(self, home: Path) -> None:
        (home / "file").touch()
        assert refused(home / "file" / "data").reason == "file"

    def test_a_link_that_leads_to_itself_is_named(self, home: Path) -> None:
        (home / "loop").symlink_to(home / "loop")
        assert refused(home / "loop").reason == "loop"
        assert refused(home / "loop" / "data").reason == "loop"

    def test_a_link_to_nowhere_is_named(self, home: Path) -> None:
        (home / "link").symlink_to(home / "missing-disk")
        assert refused(home / "link").reason == "missing"
        assert not (home / "missing-disk").exists()

    def test_a_link_to_a_folder_is_followed(self, home: Path) -> None:
        (home / "real").mkdir()
        (home / "link").symlink_to(home / "real")
        DataFolder(home / "link").prepare()
        assert (home / "real" / "blobs").is_dir()

    def test_a_name_that_is_too_long_leaves_no_half_made_folder(self, home: Path) -> None:
        assert refused(home / "new" / ("x" * 300)).reason == "name"
        assert list(home.iterdir()) == []

    @pytest.mark.skipif(sys.platform != "linux", reason="/proc is of Linux")
    def test_a_place_where_no_folder_can_be_made_is_refused(self) -> None:
        assert refused(Path("/proc/nacre/data")).reason in ("read-only", "missing")

    @pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="changes the user")
    def test_a_folder_that_may_only_be_read_is_named_and_left_as_it_is(self) -> None:
        with tempfile.TemporaryDirectory() as name:  # pytest's own folders are closed to others
            data = Path(name)
            (data / "nacre.db").touch()
            data.chmod(0o755)
            told = as_user(NOBODY, f"paths.DataFolder(Path({name!r})).prepare()", dict(os.environ))
            assert "may not write" in told
            assert "read-only" in told
            assert names(data) == ["nacre.db"]

    @pytest.mark.parametrize(
        ("number", "reason", "words"),
        [
            (errno.EROFS, "read-only", "may not write"),
            (errno.EACCES, "read-only", "may not write"),
            (errno.ENOSPC, "full", "no room"),
            (errno.EDQUOT, "full", "no room"),
            (errno.EIO, "other", "can't be used"),
        ],
    )
    def test_each_error_of_the_system_has_words(
        self, home: Path, number: int, reason: str, words: str
    ) -> None:
        error = paths.unusable(home, OSError(number, os.strerror(number)))
        assert error.reason == reason
        assert words in error.sentence
        assert str(home) in error.sentence
        assert "--data-dir" in error.way_out

    @pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="mounts a small disk")
    def test_a_full_disk_is_named_and_nothing_half_made_is_left(self, home: Path) -> None:
        script = (
            f"mount -t tmpfs -o size=64k none {home} && head -c 65536 /dev/zero > {home}/ballast;"
            f' {sys.executable} -c "$0"; ls {home}'
        )
        done = subprocess.run(
            ["unshare", "-m", "sh", "-c", script, telling(f"DataFolder(Path('{home}/data'))")],
            capture_output=True,
            text=True,
            check=False,
        )
        if "mount" in done.stderr or "unshare" in done.stderr:
            pytest.skip(f"no private mounts here: {done.stderr.strip()}")
        assert done.stdout.splitlines()[-1] == "ballast"
        assert "full There is no room left" in done.stdout


class TestResources:
    def test_a_checkout_has_them_beside_the_package(self, tmp_path: Path) -> None:
        (tmp_path / "desktop").mkdir()
        (tmp_path / "resources").mkdir()
        found = paths.find_resources(tmp_path / "desktop", frozen_root=None)
        assert found == tmp_path / "resources"

    def test_a_wheel_has_them_inside_the_package(self, tmp_path: Path) -> None:
        (tmp_path / "desktop" / "_resources").mkdir(parents=True)
        (tmp_path / "resources").mkdir()  # some other package's folder in site-packages
        found = paths.find_resources(tmp_path / "desktop", frozen_root=None)
        assert found == tmp_path / "desktop" / "_resources"

    def test_a_frozen_program_has_them_in_its_bundle(self, tmp_path: Path) -> None:
        (tmp_path / "resources").mkdir()
        found = paths.find_resources(tmp_path / "elsewhere", frozen_root=str(tmp_path))
        assert found == tmp_path / "resources"

    def test_a_broken_installation_says_so(self, tmp_path: Path) -> None:
        with pytest.raises(ResourcesMissing) as caught:
            paths.find_resources(tmp_path / "desktop", frozen_root=None)
        assert "_resources" in caught.value.detail

    def test_this_installation_has_them(self) -> None:
        assert paths.resources().is_dir()


def refused(root: Path) -> DataFolderError:
    with pytest.raises(DataFolderError) as caught:
        DataFolder(root).prepare()
    assert caught.value.way_out
    return caught.value


def telling(expression: str) -> str:
    """A program that prepares a folder and prints what the person would be told."""
    return f"""
from pathlib import Path
from desktop.paths import DataFolder, DataFolderError
try:
    {expression}.prepare()
except DataFolderError as error:
    print(error.reason, error)
"""


def as_user(uid: int, expression: str, environment: dict[str, str]) -> str:
    """What `expression` tells a person when it is run by another user. Changes the user only after
    the program is loaded, for that user may not be allowed to read it."""
    program = f"""
import os
from pathlib import Path
from desktop import paths
os.setgroups([])
os.setgid({uid})
os.setuid({uid})
try:
    {expression}
except paths.DataFolderError as error:
    print(error.reason, error)
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
