"""Every action of the program, declared once: its menu, its words, its keys (LOOK.md "Keys").

The window makes menus and shortcuts from this list; the list of shortcuts in Help is the same list.
What a person made of the keys is `ui/shortcuts`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu

from desktop.ui.tab_strip import PLACES


@dataclass(frozen=True, slots=True)
class ActionSpec:
    """One entry of a menu, or of the menu `under` that opens in it. `keys` are portable texts; the
    first is shown. `needs_doors`: it can only be used once the log is open;
    `over_fields`: its keys are heard before a text field's own."""

    name: str
    menu: str
    text: str
    keys: tuple[str, ...] = ()
    needs_doors: bool = True
    under: str = ""
    over_fields: bool = False


# Keys of the message field and of the permission bar: they act only there.
FIELD_KEYS: tuple[tuple[str, str], ...] = (
    ("Send", "Enter"),
    ("New line", "Shift+Enter"),
    ("Stop the agent", "Esc"),
    ("Earlier messages, in the empty field", "Up"),
    ("Name a file of the folder", "@"),
    ("Commands, where a message begins", "/"),
    ("Next permission mode", "Shift+Tab"),
    ("Answer a question: once, always, deny", "1, 2, 3"),
    ("Menu of what has the keyboard", "Shift+F10"),
)
ACTIONS: tuple[ActionSpec, ...] = (
    ActionSpec("new", "File", "New conversation", ("Ctrl+N", "Ctrl+T"), needs_doors=False),
    ActionSpec("new_window", "File", "New window", ("Ctrl+Shift+N",)),
    ActionSpec("open_folder", "File", "Open folder…", ("Ctrl+O",)),
    ActionSpec("close_tab", "File", "Close", ("Ctrl+W",)),
    ActionSpec("reopen_tab", "File", "Reopen closed conversation", ("Ctrl+Shift+T",)),
    ActionSpec("settings", "File", "Settings…", ("Ctrl+,",)),
    ActionSpec("quit", "File", "Quit", ("Ctrl+Q",), needs_doors=False),
    ActionSpec("copy", "Edit", "Copy", ("Ctrl+C",), needs_doors=False),
    ActionSpec("copy_markdown", "Edit", "Copy as Markdown", ("Ctrl+Shift+C",), needs_doors=False),
    ActionSpec("select_all", "Edit", "Select all", ("Ctrl+A",), needs_doors=False),
    ActionSpec("undo_put_away", "Edit", "Undo archive or bin", ("Ctrl+Alt+Z",)),
    ActionSpec("find", "Edit", "Find in the conversation", ("Ctrl+F",)),
    ActionSpec("find_next", "Edit", "Find next", ("F3",)),
    ActionSpec("find_previous", "Edit", "Find previous", ("Shift+F3",)),
    ActionSpec("search", "Edit", "Search in all conversations", ("Ctrl+Shift+F",)),
    ActionSpec("find_conversation", "Edit", "Find conversations by title"),
    ActionSpec("sidebar", "View", "Sidebar", ("Ctrl+B",), needs_doors=False),
    ActionSpec("right_pane", "View", "Right pane", ("Ctrl+J",)),
    ActionSpec("archived", "View", "Archived conversations"),
    ActionSpec("bin", "View", "Bin"),
    ActionSpec("zoom_in", "View", "Larger text", ("Ctrl++", "Ctrl+="), needs_doors=False),
    ActionSpec("zoom_out", "View", "Smaller text", ("Ctrl+-",), needs_doors=False),
    ActionSpec("zoom_reset", "View", "Normal text size", ("Ctrl+0",), needs_doors=False),
    ActionSpec("stop", "Conversation", "Stop", ()),
    ActionSpec("stop_all", "Conversation", "Stop everything", ("Ctrl+Shift+X",)),
    ActionSpec("retry", "Conversation", "Retry", ("Ctrl+R",)),
    ActionSpec("go_on", "Conversation", "Continue the answer", ("Ctrl+G",)),
    ActionSpec("compact", "Conversation", "Compact…"),
    ActionSpec("rename", "Conversation", "Rename…", ("F2",)),
    ActionSpec("edit_message", "Conversation", "Edit message…", ("Ctrl+Shift+E",)),
    ActionSpec("regenerate", "Conversation", "Regenerate the answer", ("Ctrl+Shift+R",)),
    ActionSpec("fork", "Conversation", "Fork from here", ("Ctrl+Shift+B",)),
    ActionSpec("quote", "Conversation", "Quote", ("Ctrl+Shift+9",)),
    ActionSpec("bookmark", "Conversation", "Bookmark", ("Ctrl+D",), over_fields=True),
    ActionSpec("wait_less", "Conversation", "Waiting message: earlier", ("Alt+Shift+Up",)),
    ActionSpec("wait_more", "Conversation", "Waiting message: later", ("Alt+Shift+Down",)),
    ActionSpec("usage", "Conversation", "Usage…"),
    ActionSpec("archive", "Conversation", "Archive", ("Ctrl+Shift+A",)),
    ActionSpec("trash", "Conversation", "Move to bin", ("Ctrl+Shift+Del",)),
    ActionSpec("palette", "Go", "Command or conversation…", ("Ctrl+K",), over_fields=True),
    ActionSpec("write", "Go", "Message field", ("Ctrl+L",), needs_doors=False),
    ActionSpec("next_tab", "Go", "Next conversation", ("Ctrl+Tab", "Ctrl+PgDown")),
    ActionSpec("previous_tab", "Go", "Previous conversation", ("Ctrl+Shift+Tab", "Ctrl+PgUp")),
    *(
        ActionSpec(
            f"tab_{at}", "Go", f"Conversation {at}", (f"Ctrl+{at}",), under="Conversation by place"
        )
        for at in PLACES
    ),
    ActionSpec("previous_prompt", "Go", "Previous prompt", ("Alt+Up",)),
    ActionSpec("next_prompt", "Go", "Next prompt", ("Alt+Down",)),
    ActionSpec("previous_branch", "Go", "Previous branch", ("Alt+Left",)),
    ActionSpec("next_branch", "Go", "Next branch", ("Alt+Right",)),
    ActionSpec("next_region", "Go", "Next region", ("F6",), needs_doors=False),
    ActionSpec("to_end", "Go", "End of the conversation", ("Ctrl+End",)),
    ActionSpec("shortcuts", "Help", "Keyboard shortcuts", ("Ctrl+/",)),
    ActionSpec("diagnostics", "Help", "Diagnostics…", needs_doors=False),
    ActionSpec("tour", "Help", "Play the tour", ()),
    ActionSpec("about", "Help", "About Nacre"),
)


def fill_menus(
    window: QMainWindow, menus: Mapping[str, QMenu], slots: Mapping[str, Callable[[], object]]
) -> dict[str, QAction]:
    """Makes every declared action, which must have its slot. Returns them by name."""
    made: dict[str, QAction] = {}
    inner: dict[str, QMenu] = {}
    for spec in ACTIONS:
        action = QAction(window.tr(spec.text), window)
        action.setObjectName(f"action.{spec.name}")
        action.setShortcuts([QKeySequence(keys) for keys in spec.keys])
        action.setEnabled(not spec.needs_doors)
        slot = slots[spec.name]
        action.triggered.connect(lambda _=False, slot=slot: slot())
        if spec.under and spec.under not in inner:
            inner[spec.under] = menus[spec.menu].addMenu(window.tr(spec.under))
        (inner[spec.under] if spec.under else menus[spec.menu]).addAction(action)
        made[spec.name] = action
    return made


def shortcut_lines(in_force: Mapping[str, tuple[str, ...]]) -> list[tuple[str, str]]:
    """`(what, keys)` for the list in Help, with the keys by action as this platform writes them."""
    lines: dict[str, list[str]] = {}
    for spec in ACTIONS:
        # Those of an inner menu are a row of keys: its first and its last say them all.
        lines.setdefault(spec.under or spec.text, []).extend(map(native, in_force[spec.name]))
    of_actions = [
        (what, " · ".join(keys) if len(keys) < len(PLACES) else f"{keys[0]} … {keys[-1]}")
        for what, keys in lines.items()
        if keys
    ]
    return [*FIELD_KEYS, *of_actions]


def native(keys: str) -> str:
    """Portable keys as this platform writes them."""
    return QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText)
