"""SPEC P02: one folder has one name, however it was written and whatever tells spellings apart."""

import os
import unicodedata
from collections.abc import Collection
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath
from typing import Generic, Literal, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.core.errors import UnknownFolder
from desktop.store.folders import folder_name, plain, spelled

P = TypeVar("P", bound=PurePath)


class Volume(Generic[P]):
    """A file system that takes every spelling of a name for the same one, and keeps the first."""

    def __init__(self, *folders: P) -> None:
        self._flavour = type(folders[0])
        self._listings: dict[tuple[str, ...], dict[str, str]] = {}
        for folder in folders:
            for depth, name in enumerate(folder.parts[1:], start=1):
                above = tuple(map(_alike, folder.parts[:depth]))
                self._listings.setdefault(above, {}).setdefault(_alike(name), name)

    def names(self, folder: P) -> Collection[str]:
        return self._listings.get(tuple(map(_alike, folder.parts)), {}).values()

    def is_same(self, one: P, other: P) -> bool:
        return self._is_there(one) and [*map(_alike, one.parts)] == [*map(_alike, other.parts)]

    def _is_there(self, path: P) -> bool:
        above = self._listings.get(tuple(map(_alike, path.parts[:-1])), {})
        return _alike(path.name) in above

    def name_of(self, written: P) -> P:
        return spelled(plain(written), names=self.names, is_same=self.is_same)


def _alike(name: str) -> str:
    return unicodedata.normalize("NFD", name).casefold()


WINDOWS = Volume(PureWindowsPath("C:\\Users\\Änne\\My Work"), PureWindowsPath("C:\\Users\\bob"))


@pytest.mark.parametrize(
    "written",
    [
        "C:\\Users\\Änne\\My Work",
        "C:/Users/Änne/My Work",
        "c:\\users\\änne\\my work\\",
        "C:/USERS\\ÄNNE/MY WORK//",
        "C:\\Users\\.\\Änne\\My Work\\.",
        "\\\\?\\C:\\Users\\Änne\\My Work",
        "\\\\?\\c:\\users\\änne\\MY work",
    ],
)
def test_P02_windows_ways_to_write_a_folder_are_one(written: str) -> None:
    assert str(WINDOWS.name_of(PureWindowsPath(written))) == "C:\\Users\\Änne\\My Work"


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("\\\\Server\\Share\\Work", "\\\\server\\share\\Work"),
        ("//SERVER/share/Work/", "\\\\server\\share\\Work"),
        ("\\\\?\\UNC\\server\\SHARE\\Work", "\\\\server\\share\\Work"),
        ("\\\\?\\unc\\server\\SHARE\\Work", "\\\\server\\share\\Work"),
        ("d:\\", "D:\\"),
    ],
)
def test_P02_the_roots_of_windows_have_one_spelling(written: str, name: str) -> None:
    assert str(plain(PureWindowsPath(written))) == name


def test_P02_a_windows_folder_that_is_gone_keeps_what_is_left_of_its_name() -> None:
    written = PureWindowsPath("c:/users/BOB/Gone/Away")
    assert str(WINDOWS.name_of(written)) == "C:\\Users\\bob\\Gone\\Away"


Form = Literal["NFC", "NFD"]


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("kept", ["NFC", "NFD"])
def test_P02_a_volume_of_macos_spells_case_and_accents_its_own_way(form: Form, kept: Form) -> None:
    name = unicodedata.normalize(kept, "/Users/Zoë/Café")
    volume = Volume(PurePosixPath(name))
    for written in ("/Users/Zoë/Café", "/users/zoë/CAFÉ", "//Users/Zoë/Café/"):
        found = volume.name_of(PurePosixPath(unicodedata.normalize(form, written)))
        assert str(found) == name


def test_P02_a_folder_that_may_not_be_listed_keeps_the_spelling_it_was_given() -> None:
    volume = Volume(PurePosixPath("/Shut/Work"))

    def names(folder: PurePosixPath) -> Collection[str]:
        return () if folder == PurePosixPath("/Shut") else volume.names(folder)

    written = PurePosixPath("/shut/work")
    assert str(spelled(written, names=names, is_same=volume.is_same)) == "/Shut/work"


def test_P02_where_spellings_are_told_apart_nothing_is_listed(tmp_path: Path) -> None:
    def names(folder: PurePosixPath) -> Collection[str]:
        raise AssertionError(f"{folder} was listed")

    written = PurePosixPath("/Work/work/WORK")
    assert spelled(written, names=names, is_same=lambda one, other: one == other) == written


@given(st.text(st.sampled_from("aAäÄßẞıİſK"), min_size=1, max_size=6), st.integers(0, 4))
def test_P02_every_spelling_of_a_name_leads_to_the_one_that_is_listed(name: str, way: int) -> None:
    volume = Volume(PurePosixPath("/x") / name)
    spellings = (
        name.upper(),
        name.lower(),
        name.swapcase(),
        unicodedata.normalize("NFD", name),
        unicodedata.normalize("NFC", name.upper()),
    )
    written = PurePosixPath("/x") / spellings[way]
    if volume.is_same(written, PurePosixPath("/x") / name):
        assert volume.name_of(written) == PurePosixPath("/x") / name


@pytest.mark.skipif(os.name == "nt", reason="these spellings are POSIX")
def test_P02_posix_ways_to_write_a_folder_are_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "Work" / "inner"
    folder.mkdir(parents=True)
    (tmp_path / "link").symlink_to(folder.parent)
    (tmp_path / "chain").symlink_to(tmp_path / "link")
    monkeypatch.chdir(tmp_path)
    ways = [
        f"{folder}/",
        f"/{folder}",
        f"{folder.parent}//inner",
        f"{folder}/../inner/.",
        f"{tmp_path}/link/inner",
        f"{tmp_path}/chain/inner",
        f"{tmp_path}/link/../Work/inner",
        "Work/inner",
        "./chain/inner/",
    ]
    assert {folder_name(Path(way)) for way in ways} == {folder.resolve()}


@pytest.mark.skipif(os.name == "nt", reason="a backslash is a letter of a name on POSIX alone")
def test_P02_on_posix_a_backslash_and_case_are_letters_of_the_name(tmp_path: Path) -> None:
    """Where the disk tells `Work` and `work` apart they are two folders."""
    for name in ("a\\b", "Work", "work"):
        (tmp_path / name).mkdir(exist_ok=True)
    assert folder_name(tmp_path / "a\\b").name == "a\\b"
    apart = len(list(tmp_path.iterdir())) == 3
    assert (folder_name(tmp_path / "work") != folder_name(tmp_path / "Work")) == apart


def test_P02_a_link_beside_its_folder_that_differs_in_case_alone_is_its_folder(
    tmp_path: Path,
) -> None:
    """The file system calls both the same; the folder is the one that is listed as it is."""
    (tmp_path / "Work").mkdir()
    if (tmp_path / "wORK").exists():
        pytest.skip("this disk ignores case")
    (tmp_path / "wORK").symlink_to(tmp_path / "Work")
    assert folder_name(tmp_path / "wORK") == folder_name(tmp_path / "Work") == tmp_path / "Work"


def test_P02_a_folder_that_is_gone_keeps_its_name_where_that_is_asked_for(tmp_path: Path) -> None:
    gone = tmp_path / "there" / ".." / "gone"
    with pytest.raises(UnknownFolder):
        folder_name(gone)
    assert folder_name(gone, must_exist=False) == tmp_path.resolve() / "gone"
