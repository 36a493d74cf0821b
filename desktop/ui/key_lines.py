"""The lines of Settings → Keyboard: what they say and which of them a filter leaves."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QFont, QStandardItem, QStandardItemModel

from desktop.ui.actions import ACTIONS, FIELD_KEYS, native
from desktop.ui.shortcuts import Keys, Shortcuts

NAME_ROLE = int(Qt.ItemDataRole.UserRole)
EXACTLY = Qt.MatchFlag.MatchExactly | Qt.MatchFlag.MatchRecursive
FIXED_GROUP = "Always the same"


@dataclass(frozen=True, slots=True)
class Line:
    """`name` of the action, empty for keys that act only in one field and can't be changed."""

    group: str
    words: str
    keys: Keys
    name: str = ""
    is_changed: bool = False


def lines(shortcuts: Shortcuts) -> list[Line]:
    """Every action in the order of the menus, then what is always the same."""
    in_force, own = shortcuts.in_force(), shortcuts.own()
    return [
        *(
            Line(one.menu, _say(one.text), in_force[one.name], one.name, one.name in own)
            for one in ACTIONS
        ),
        *(Line(FIXED_GROUP, _say(words), tuple(keys.split(", "))) for words, keys in FIELD_KEYS),
    ]


def matching(all_lines: Sequence[Line], words: str, keys: str) -> list[Line]:
    """Those that have every word, in their own or in their group's, and the keys."""
    wanted = words.casefold().split()
    return [
        line
        for line in all_lines
        if all(word in f"{line.group} {line.words}".casefold() for word in wanted)
        and (not keys or native(keys) in map(native, line.keys))
    ]


def fill(model: QStandardItemModel, shown: Sequence[Line]) -> None:
    """Puts the lines under their groups."""
    for group in dict.fromkeys(line.group for line in shown):
        head = QStandardItem(_say(group))
        head.setSelectable(False)
        head.setFont(_bold(head))
        for line in shown:
            if line.group == group:
                head.appendRow(items(line))
        model.appendRow([head, QStandardItem()])


def items(line: Line) -> list[QStandardItem]:
    """The cells of a line; what was changed is bold, and told."""
    what, keys = QStandardItem(line.words), QStandardItem(" · ".join(map(native, line.keys)))
    what.setData(line.name, NAME_ROLE)
    for cell in (what, keys):
        cell.setToolTip(cell.text())
    if line.is_changed:
        keys.setFont(_bold(keys))
        told = _say("{keys}, changed").format(keys=keys.text() or _say("none"))
        keys.setData(told, Qt.ItemDataRole.AccessibleTextRole)
    return [what, keys]


def _bold(cell: QStandardItem) -> QFont:
    font = cell.font()
    font.setBold(True)
    return font


def _say(text: str) -> str:
    return QCoreApplication.translate("Keyboard", text)
