"""Disks that are small, full or read-only, and a database that another program holds."""

import contextlib
import os
import sqlite3
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest


@contextlib.contextmanager
def locked(database: Path) -> Generator[None]:
    """Another program holds the database for writing."""
    with contextlib.closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.execute("begin immediate")
        try:
            yield
        finally:
            connection.execute("rollback")


@contextlib.contextmanager
def small_disk(folder: Path, size: str) -> Generator[None]:
    """The folder is a disk of its own of this size."""
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        pytest.skip("only root on Linux may mount a small disk")
    folder.mkdir(mode=0o700)
    command = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=0700", "tmpfs", str(folder)]
    mounted = subprocess.run(command, capture_output=True, text=True, check=False)
    if mounted.returncode != 0:
        pytest.skip(f"no small disk here: {mounted.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def remount(folder: Path, how: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{how}", str(folder)], check=True)


def fill(path: Path) -> None:
    """Writes until nothing more fits on the disk."""
    with path.open("wb", buffering=0) as file:
        for piece in (b"\0" * 65536, b"\0" * 4096):
            with contextlib.suppress(OSError):
                while file.write(piece):
                    pass
