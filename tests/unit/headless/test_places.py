"""Where the data folder should not lie, and a disk that gets short of room."""

import shutil
from pathlib import Path, PurePosixPath

import pytest

from desktop.headless import places
from desktop.headless.places import DiskWatch, low_disk, network_kind, shared_folder
from tests.unit.store.builders import run

MOUNTS = r"""
/dev/sda1 / ext4 rw 0 0
tmpfs /tmp tmpfs rw 0 0
server:/home /home nfs4 rw 0 0
/dev/sdb1 /home/me/local ext4 rw 0 0
//box/share /media/the\040share cifs rw 0 0
me@host:/ /home/me/far fuse.sshfs rw 0 0
gdrive: /home/me/drive fuse.rclone rw 0 0
/dev/sdc1 /media/stick fuseblk rw 0 0
/home/me/.enc /home/me/secret fuse.gocryptfs rw 0 0
portal /run/user/1000/doc fuse.portal rw 0 0
/dev/sdd1 /srv nfs rw 0 0
/dev/sdd1 /srv xfs rw 0 0
broken line
""".strip().splitlines()


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/home/me/.local/share/nacre", "nfs4"),
        ("/home/me/local/nacre", ""),
        ("/media/the share/nacre", "cifs"),
        ("/home/me/far/nacre", "fuse.sshfs"),
        ("/home/me/drive", "fuse.rclone"),
        ("/home/me/drive2", "nfs4"),
        ("/media/stick/nacre", ""),
        ("/home/me/secret/nacre", ""),
        ("/srv/nacre", ""),  # the second mount there covers the first
        ("/opt/nacre", ""),
        ("/tmp/nacre", ""),
    ],
)
def test_u16_a_network_disk_is_known_by_the_table_of_mounts(folder: str, kind: str) -> None:
    assert network_kind(MOUNTS, PurePosixPath(folder)) == kind


@pytest.mark.parametrize(
    "name",
    [
        "OneDrive",
        "OneDrive - A Company",
        "onedrive",
        "Dropbox",
        "Dropbox (Personal)",
        "iCloudDrive",
        "Google Drive",
        "GoogleDrive-me@example.org",
        "Nextcloud",
        "Library/Mobile Documents",
        "Library/CloudStorage",
    ],
)
def test_u16_a_synchronised_folder_is_known_by_its_name_and_told(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name / "deep" / "nacre"
    folder.mkdir(parents=True)
    told = shared_folder(folder)
    assert str(folder) in told
    assert "synchronised" in told
    assert "--data-dir" in told


def test_u16_a_link_into_a_synchronised_folder_is_seen_through(tmp_path: Path) -> None:
    real = tmp_path / "Dropbox" / "nacre"
    real.mkdir(parents=True)
    (tmp_path / "plain").symlink_to(real)
    assert "(Dropbox)" in shared_folder(tmp_path / "plain")


@pytest.mark.parametrize(
    "name", ["nacre", "dropboxes", "my OneDrive notes", "Mobile Documents", "Onedrives", "drive"]
)
def test_other_folders_are_not_doubted(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    assert shared_folder(folder) == ""


def test_a_folder_that_leads_nowhere_is_no_error(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    assert shared_folder(loop) == ""
    assert low_disk(tmp_path / "not there") == ""


def test_u08_less_room_than_that_is_told_with_its_number(tmp_path: Path) -> None:
    assert low_disk(tmp_path, least_free=0) == ""
    told = low_disk(tmp_path, least_free=shutil.disk_usage(tmp_path).total)
    assert str(tmp_path) in told
    assert "are free on the disk" in told


def test_u08_the_person_is_warned_once_and_again_only_after_it_was_better(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[str, str]] = []
    usage = shutil.disk_usage(tmp_path)

    def free(size: int) -> None:
        monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=size))

    watch = DiskWatch(tmp_path, stand=lambda key, said, _: told.append((key, said)))
    for size in (600_000_000, 499_000_000, 400_000_000, 600_000_000, 499_000_000):
        free(size)
        run(watch.look())
    assert len(told) == 1
    assert told[0][0] == places.NOTICE
    assert "499.0 MB" in told[0][1]
    free(1_000_000_000)
    run(watch.look())
    assert told[1:] == [(places.NOTICE, "")]
    free(1)
    run(watch.look())
    assert len(told) == 3
