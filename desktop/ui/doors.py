"""What the window gets handed in once the log, the agents and the network side are loaded."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QDialog, QWidget

from desktop.core.access import Access
from desktop.core.backups import BackupState
from desktop.core.catalogue import Catalogue
from desktop.core.commands import Commands
from desktop.core.protocols import LogReader, OutlineReader, Search
from desktop.core.records import Storage, Tab
from desktop.feed.hub import Hub
from desktop.ui.attaching import Reading
from desktop.ui.sidebar_list import ConversationList
from desktop.ui.storage_jobs import StorageJobs
from desktop.ui.unlocking import Unlocking
from desktop.ui.welcome import WelcomePage

# Over a window: its actions, the conversations used last first, and what opens one.
ShowPalette = Callable[
    [QWidget, Mapping[str, QAction], Sequence[Tab], Callable[[str], object]], None
]


@dataclass(frozen=True, slots=True)
class StorageDoors:
    """What the page of storage asks: sizes, backups, when the schedule has looked (until the
    returned call), the long work, the time (ms UTC)."""

    storage: Callable[[], Awaitable[Storage]]
    backups: Callable[[], Awaitable[BackupState]]
    on_backup_look: Callable[[Callable[[], None]], Callable[[], None]]
    jobs: StorageJobs
    now_ms: Callable[[], int]
    data_folder: str


@dataclass(frozen=True, slots=True)
class Doors:
    """The protocols behind which everything else lies. `start_tour` returns the tour's tab id,
    `file_names` the files of a folder for one who names one."""

    commands: Commands
    catalogue: Catalogue
    reader: LogReader
    outline: OutlineReader
    search: Search
    hub: Hub
    access: Access
    unlocking: Unlocking
    start_tour: Callable[[], Awaitable[str]]
    rule_words: Callable[[str, str], str]
    settings_dialog: Callable[[QWidget], QDialog]
    welcome_page: Callable[[QWidget], WelcomePage]
    conversation_list: Callable[[QWidget], ConversationList]
    show_shortcuts: Callable[[QWidget], None]
    show_about: Callable[[QWidget], None]
    show_usage: Callable[[QWidget, str], None]
    show_palette: ShowPalette
    reading: Reading
    file_names: Callable[[Path], Awaitable[Sequence[str]]]
