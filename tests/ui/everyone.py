"""What is wrong for people who hear the window, or who have no mouse, as sentences.

`misheard` walks the accessible tree as a screen reader does; `untabbed` goes through a window with
Tab and looks at each stop. An empty list is what a test wants.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QAccessible, QAccessibleInterface, QColor, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFormLayout, QWidget

from tests.ui.contrast import contrast

Role = QAccessible.Role
USABLE = {
    Role.Button,
    Role.CheckBox,
    Role.RadioButton,
    Role.ComboBox,
    Role.EditableText,
    Role.SpinBox,
    Role.Slider,
    Role.Link,
    Role.List,
    Role.ListItem,
    Role.Tree,
    Role.TreeItem,
    Role.Table,
    Role.PageTabList,
    Role.PageTab,
    Role.MenuItem,
    Role.ButtonMenu,
}
# What only the mouse reaches, with the key that does the same.
BY_KEY = {
    "Close this conversation": "Ctrl+W",
    "Empty this field": "Ctrl+A, Del",
    "What fits": "the arrows in its field",
    "Commands": "the arrows in the message field",
}
_WORDS = re.compile(r"[^\W\d_]{2,}")
_MANY = (Role.ListItem, Role.TreeItem)  # may be alike: rows of what the person wrote, and cells
_SILENT = (Role.StaticText, Role.TreeItem)  # that may have nothing to say
_MOST_STOPS = 120
_RING = 3.0  # WCAG 1.4.11


@dataclass(frozen=True, slots=True)
class Node:
    """A part as it is told: role, name and what is told of it beside."""

    role: Role
    name: str
    about: str
    is_focusable: bool
    is_enabled: bool
    labels: int
    children: tuple["Node", ...]
    kind: str

    def __str__(self) -> str:
        return f"{self.role.name} “{self.name}” ({self.kind})"

    @property
    def is_named(self) -> bool:
        """In words. The name of a choice is its value: what it chooses is told beside. A cell of a
        table may be a number or empty: its column has the words."""
        if self.role == Role.ComboBox:
            return bool(self.labels) or bool(_WORDS.search(self.about))
        return self.role == Role.TreeItem or bool(_WORDS.search(self.name))


def tree(part: QWidget) -> Node:
    """The tree of what can be seen."""
    return _node(QAccessible.queryAccessibleInterface(part))


def nodes(node: Node) -> Iterator[Node]:
    yield node
    for child in node.children:
        yield from nodes(child)


def misheard(part: QWidget) -> list[str]:
    """Controls without a name in words or with a role that does not fit, names that are told twice
    side by side, forms whose words do not belong to their fields."""
    return [*_misnamed(tree(part)), *_unlabelled(part)]


def _node(interface: QAccessibleInterface) -> Node:
    state, made = interface.state(), interface.object()
    children = [interface.child(at) for at in range(interface.childCount())]
    return Node(
        role=interface.role(),
        name=interface.text(QAccessible.Text.Name).strip(),
        about=interface.text(QAccessible.Text.Description),
        is_focusable=bool(state.focusable),
        is_enabled=not state.disabled,
        labels=len(interface.relations(QAccessible.RelationFlag.Label)),
        children=tuple(
            _node(one) for one in children if one and one.isValid() and not one.state().invisible
        ),
        kind=f"{type(made).__name__} {made.objectName()}" if made else "",
    )


def _misnamed(node: Node) -> Iterator[str]:
    names: dict[str, Node] = {}
    for child in node.children:
        if child.role in USABLE and not child.is_named:
            yield f"{child} has no name in words"
        elif child.is_focusable and not child.name and child.role not in _SILENT:
            yield f"{child} takes the keyboard and says nothing"
        if "\u200b" in child.name:
            yield f"{child} is told with the places where its line may break"
        if child.role in USABLE and child.is_enabled and child.role not in _MANY:
            if child.name in names and child.role != Role.ComboBox:
                yield f"{child} is called like its neighbour {names[child.name]}"
            names[child.name] = child
            if not child.is_focusable and child.name not in BY_KEY and child.role != Role.MenuItem:
                yield f"{child} can't be reached with the keyboard"
        yield from _misnamed(child)


def _unlabelled(part: QWidget) -> Iterator[str]:
    for form in part.findChildren(QFormLayout):
        for row in range(form.rowCount()):
            words = form.itemAt(row, QFormLayout.ItemRole.LabelRole)
            item = form.itemAt(row, QFormLayout.ItemRole.FieldRole)
            label, field = (one.widget() if one else None for one in (words, item))
            if label is None or field is None or field.focusPolicy() == Qt.FocusPolicy.NoFocus:
                continue
            buddy = label.property("buddy") or getattr(label, "buddy", lambda: None)()
            if buddy not in (field, field.focusProxy()):
                yield f"the words over {field.objectName()} are not its label"


@dataclass(frozen=True, slots=True)
class Stop:
    """Where Tab halts, and the place of that part in its parent."""

    part: QWidget
    place: QRect

    def __str__(self) -> str:
        name = self.part.accessibleName() or str(self.part.property("text") or "")
        return f"{type(self.part).__name__} {self.part.objectName()} “{name}”"


def untabbed(
    window: QWidget, first: QWidget, do: Callable[[Callable[[], object]], object]
) -> list[str]:
    """Goes on from `first` with Tab until it is there again: parts that are not reached, a place
    one can't leave, steps against the eye, and stops where no ring is seen. `do` acts as an event
    would."""
    do(window.activateWindow)
    do(first.setFocus)
    stops: list[Stop] = []
    wrong: list[str] = []
    for _ in range(_MOST_STOPS):
        focus = QApplication.focusWidget()
        if focus is None or focus.window() is not window:
            return [*wrong, f"Tab leads out of the window after {stops[-1:] or first}"]
        if stops and focus is stops[0].part:
            break
        if stops and focus is stops[-1].part:
            return [*wrong, f"Tab does not lead on from {stops[-1]}"]
        stops.append(Stop(focus, focus.geometry()))
        if not has_ring(_picture(focus), _picture_without(focus, do)):
            wrong.append(f"{stops[-1]} shows no ring while it has the keyboard")
        do(lambda part=focus: QTest.keyClick(part, Qt.Key.Key_Tab))
    else:
        return [*wrong, f"Tab never comes around to {stops[0]}"]
    return [*wrong, *_missed(window, stops), *_against_the_eye(stops)]


def _missed(window: QWidget, stops: list[Stop]) -> list[str]:
    """What takes Tab and is in sight, and was not reached."""
    reached = {id(stop.part) for stop in stops}
    return [
        f"{Stop(part, QRect())} is not reached"
        for part in window.findChildren(QWidget)
        if part.isVisible()
        and part.isEnabled()
        and part.window() is window
        and part.focusPolicy() & Qt.FocusPolicy.TabFocus
        and part.focusProxy() is None
        and id(part) not in reached
    ]


def _against_the_eye(stops: list[Stop]) -> list[str]:
    """Within one part of the window the keyboard goes line by line in the direction of reading."""
    wrong: list[str] = []
    for one, other in pairwise(stops):
        if one.part.parentWidget() is not other.part.parentWidget():
            continue
        leftwards = one.part.layoutDirection() == Qt.LayoutDirection.RightToLeft
        a, b = one.place.center(), other.place.center()
        is_same_line = other.place.top() <= a.y() <= other.place.bottom()
        on = (b.x() < a.x() if leftwards else b.x() > a.x()) if is_same_line else b.y() > a.y()
        if not on:
            wrong.append(f"{other} comes after {one} and stands before it")
    return wrong


def _picture(part: QWidget) -> QImage:
    """The part, or the frame around it where that is what is ringed."""
    frame = part.parentWidget()
    ringed = frame if frame is not None and part.property("rings") == "around" else part
    return ringed.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)


def _picture_without(part: QWidget, do: Callable[[Callable[[], object]], object]) -> QImage:
    """The same without the keyboard on it."""
    do(part.clearFocus)
    picture = _picture(part)
    do(lambda: part.setFocus(Qt.FocusReason.TabFocusReason))
    return picture


def has_ring(focused: QImage, other: QImage) -> bool:
    """Whether the pictures differ along an edge or more, by pixels with a contrast of 3:1."""
    if focused.size() != other.size():
        return False
    wide, high = focused.width(), focused.height()
    seen: dict[tuple[int, int], bool] = {}
    count = 0
    lines = (memoryview(one.constBits()).cast("B").cast("I") for one in (focused, other))
    ours, theirs = lines
    for y in range(high):
        line = slice(y * wide, (y + 1) * wide)
        if ours[line] == theirs[line]:
            continue
        for pair in zip(ours[line], theirs[line], strict=True):
            if pair[0] != pair[1]:
                if pair not in seen:
                    seen[pair] = _is_told_apart(*pair)
                count += seen[pair]
    return count >= min(wide, high)


def _is_told_apart(one: int, other: int) -> bool:
    return contrast(QColor(one).name(), QColor(other).name()) >= _RING
