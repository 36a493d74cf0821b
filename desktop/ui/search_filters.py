"""What a search over everything is narrowed to: folder, time, who or which tool, and the bin."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from desktop.core.chunks import Type
from desktop.core.records import CatalogueView, SearchFilter
from desktop.ui.flow import FlowLayout
from desktop.ui.quiet_combo import QuietCombo
from desktop.ui.theme import Theme
from desktop.ui.visible import visible
from desktop.ui.wrapping_box import WrappingBox

# The tools that Nacre has itself; others join as they are found.
TOOLS = ("shell", "read_file", "edit_file", "write_file", "grep", "glob", "list_dir", "agent")
_TOOL = "tool "
_TYPES: dict[str, tuple[Type, ...]] = {
    "you": ("text",),
    "answers": ("text",),
    "thinking": ("thinking",),
    "tools": ("tool_call", "tool_result"),
}


class SearchFilters(QWidget):
    """`changed` when another choice was made; `value(now)` is the filter of this moment."""

    changed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._folders: dict[str, tuple[int, ...]] = {}
        self._tools: set[str] = set(TOOLS)
        row = FlowLayout(theme.space_8)
        self.setLayout(row)
        self.folder = self._combo("searchFolder", self.tr("Folder to search"))
        self.time = self._combo("searchTime", self.tr("Time to search"))
        self.who = self._combo("searchWho", self.tr("What to search"))
        self.bin = WrappingBox(self.tr("In the bin too"), self)
        self.bin.setObjectName("searchBin")
        self.bin.setMinimumHeight(theme.measures.hit)
        self.bin.toggled.connect(lambda _: self.changed.emit())
        for part in (self.folder, self.time, self.who, self.bin):
            row.addWidget(part)
        self.folder.addItem(self.tr("All folders"), "")
        for words, key in self._times():
            self.time.addItem(words, key)
        for words, key in self._sources():
            self.who.addItem(words, key)
        for name in TOOLS:
            self._add_tool(name)

    def value(self, now: datetime) -> SearchFilter:
        since, until = _span(str(self.time.currentData()), now)
        who = str(self.who.currentData())
        tool = who.removeprefix(_TOOL) if who.startswith(_TOOL) else ""
        return SearchFilter(
            workspace_ids=self._folders.get(str(self.folder.currentData()), ()),
            role="user" if who == "you" else "assistant" if who == "answers" else None,
            types=_TYPES.get(who, ()),
            tool=tool,
            since=since,
            until=until,
            in_bin=self.bin.isChecked(),
        )

    def show_folders(self, view: CatalogueView) -> None:
        """The folders to choose from; a project of several can be chosen as a whole."""
        chosen = str(self.folder.currentData())
        self._folders = {}
        self.folder.blockSignals(True)
        self.folder.clear()
        self.folder.addItem(self.tr("All folders"), "")
        for project in view.projects:
            inside = [one for one in view.workspaces if one.project_id == project.id]
            if len(inside) > 1:
                words = self.tr("{project}: all its folders").format(project=project.display_name)
                ids = tuple(one.id for one in inside)
                self._add_folder(f"project {project.id}", words, project.directory, ids)
            for one in inside:
                self._add_folder(f"folder {one.id}", one.display_name, one.directory, (one.id,))
        self.folder.show_index(max(self.folder.findData(chosen), 0))
        self.folder.blockSignals(False)

    def show_tools(self, names: Sequence[str]) -> None:
        """Tools that were found can be chosen from now on."""
        for name in names:
            if name and name not in self._tools:
                self._tools.add(name)
                self._add_tool(name)

    def set_theme(self, theme: Theme) -> None:
        for combo in (self.folder, self.time, self.who):
            combo.set_theme(theme)

    def _add_folder(self, key: str, words: str, tip: str, ids: tuple[int, ...]) -> None:
        self._folders[key] = ids
        self.folder.addItem(visible(words), key)
        at = self.folder.count() - 1
        self.folder.setItemData(at, visible(tip), Qt.ItemDataRole.ToolTipRole)

    def _add_tool(self, name: str) -> None:
        words = self.tr("Tool: {name}").format(name=visible(name))
        self.who.addItem(words, f"{_TOOL}{name}")

    def _combo(self, name: str, words: str) -> QuietCombo:
        combo = QuietCombo(self._theme, self)
        combo.setObjectName(name)
        combo.setAccessibleName(words)
        combo.setToolTip(words)
        combo.currentIndexChanged.connect(lambda _: self.changed.emit())
        return combo

    def _times(self) -> tuple[tuple[str, str], ...]:
        return (
            (self.tr("Any time"), ""),
            (self.tr("Today"), "0"),
            (self.tr("Last 7 days"), "7"),
            (self.tr("Last 30 days"), "30"),
            (self.tr("Last year"), "365"),
            (self.tr("Older than 30 days"), "-30"),
            (self.tr("Older than a year"), "-365"),
        )

    def _sources(self) -> tuple[tuple[str, str], ...]:
        return (
            (self.tr("Everything"), ""),
            (self.tr("What you wrote"), "you"),
            (self.tr("Answers"), "answers"),
            (self.tr("Thinking"), "thinking"),
            (self.tr("All tools"), "tools"),
        )


def _span(days: str, now: datetime) -> tuple[int | None, int | None]:
    """From when and until when (ms UTC): whole days of the person's own calendar."""
    if not days:
        return None, None
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    edge = round((midnight - timedelta(days=abs(int(days)))).timestamp() * 1_000)
    return (None, edge) if days.startswith("-") else (edge, None)
