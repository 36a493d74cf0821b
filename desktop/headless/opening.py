"""Opens the log of a data folder, for every command and for the window."""

import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from desktop import paths
from desktop.core.records import CatalogueReceipt
from desktop.headless import places
from desktop.paths import DataFolder
from desktop.store.log import Log


def open_log(
    folder: DataFolder, *, on_catalogue_change: Callable[[CatalogueReceipt], None] | None = None
) -> Log:
    """The log of a prepared folder. Blocks; raises StoreError."""
    return Log.open(
        folder.database,
        blobs=folder.blobs,
        run=folder.run,
        new_id=new_id,
        now_ms=now_ms,
        on_catalogue_change=on_catalogue_change,
    )


def prepared(folder: paths.DataFolder) -> tuple[str, ...]:
    """Makes the folder ready; one that can't be written may still be read.

    Returns what the person should know about it: for a command's standard error.
    """
    notices = made_ready(folder)
    doubts = (places.shared_folder(folder.root), places.low_disk(folder.root))
    return (*notices, *(doubt for doubt in doubts if doubt))


def made_ready(folder: paths.DataFolder) -> tuple[str, ...]:
    """What there is to say when it is ready, or can be read at least. Raises DataFolderError."""
    try:
        return folder.prepare()
    except paths.DataFolderError as error:
        if error.reason in ("read-only", "full") and folder.database.is_file():
            return (error.sentence,)
        raise


def tidy_spool(spool: Path, before: float) -> None:
    """Takes away outputs that a process left behind; those of today may be another's, at work.

    `before` is in seconds since the epoch.
    """
    with suppress(OSError):
        for path in spool.iterdir():
            with suppress(OSError):
                if path.stat().st_mtime < before:
                    path.unlink()


def new_id() -> str:
    """A fresh id; uuid text."""
    return str(uuid.uuid4())


def now_ms() -> int:
    """Milliseconds UTC."""
    return time.time_ns() // 1_000_000
