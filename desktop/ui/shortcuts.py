"""The keys of every action as they are in force: what is declared, and what the person changed.

A value, kept as one row of the settings that holds the changed ones only. A changed action has its
keys before all that are only declared, so what is taken from another comes back to it by itself.
Names that this version does not know survive; an entry that can't be used is named (SPEC U33).
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import cast

from PySide6.QtCore import QKeyCombination, Qt
from PySide6.QtGui import QKeySequence

from desktop.ui.actions import ACTIONS, ActionSpec

Keys = tuple[str, ...]

SPECS: Mapping[str, ActionSpec] = MappingProxyType({spec.name: spec for spec in ACTIONS})
# What a text field, the message field and the menus do with their keys themselves.
FIXED: Mapping[str, str] = MappingProxyType(
    {
        "Ctrl+X": "Cut",
        "Ctrl+V": "Paste",
        "Ctrl+Z": "Undo",
        "Ctrl+Shift+Z": "Redo",
        "Ctrl+Return": "Send",
        "Shift+F10": "Menu of what has the keyboard",
    }
)
_CHORD = (
    Qt.KeyboardModifier.ControlModifier
    | Qt.KeyboardModifier.AltModifier
    | Qt.KeyboardModifier.MetaModifier
)
_SAME = {Qt.Key.Key_Backtab: Qt.Key.Key_Tab, Qt.Key.Key_Enter: Qt.Key.Key_Return}


@dataclass(frozen=True, slots=True)
class Shortcuts:
    """`changed` holds the entries of the row as they were read, good or not."""

    changed: Mapping[str, object] = field(default_factory=dict[str, object])

    def in_force(self) -> dict[str, Keys]:
        """The keys of every action; none is there twice."""
        taken: set[str] = set()
        found: dict[str, Keys] = {}
        own = self.own()
        for name in sorted(SPECS, key=lambda name: name not in own):
            found[name] = tuple(one for one in own.get(name, SPECS[name].keys) if one not in taken)
            taken.update(found[name])
        return {name: found[name] for name in SPECS}

    def own(self) -> dict[str, Keys]:
        """The good entries of actions there are."""
        read = {name: _keys_of(self.changed[name]) for name in SPECS if name in self.changed}
        return {name: keys for name, keys in read.items() if keys is not None}

    def broken(self) -> tuple[str, ...]:
        """The actions whose entry can't be used, and which have their declared keys."""
        own = self.own()
        return tuple(name for name in SPECS if name in self.changed and name not in own)

    def holder(self, keys: str, but: str = "") -> ActionSpec | None:
        """Which action has these keys now."""
        for name, held in self.in_force().items():
            if keys in held and name != but:
                return SPECS[name]
        return None

    def given(self, name: str, keys: Keys) -> "Shortcuts":
        """The action has these keys and no other has them; with its declared ones it is as if it
        had never been changed."""
        changed = {
            other: [one for one in held if one not in keys] for other, held in self.own().items()
        }
        changed[name] = list(keys)
        if keys == SPECS[name].keys:
            del changed[name]
        kept = {each: value for each, value in self.changed.items() if each != name}
        return Shortcuts({**kept, **changed})

    def reset(self) -> "Shortcuts":
        """As declared; what this version does not know stays."""
        return Shortcuts({name: held for name, held in self.changed.items() if name not in SPECS})

    def text(self) -> str:
        """The row."""
        return json.dumps(dict(self.changed), separators=(",", ":")) if self.changed else ""


def read(row: str) -> Shortcuts:
    """From the row, which is a JSON object or empty: `settings` has looked."""
    return Shortcuts(cast("dict[str, object]", json.loads(row)) if row else {})


def keys_over_fields(shortcuts: Shortcuts) -> Iterator[str]:
    """What a text field must not take: the keys of actions that say so, and those that the person
    chose."""
    own = shortcuts.own()
    for name, keys in shortcuts.in_force().items():
        if name in own or SPECS[name].over_fields:
            yield from keys


def pressed(combination: QKeyCombination, text: str) -> str:
    """Portable keys of a key event with its text; empty while only Ctrl and the like are held."""
    key, held = combination.key(), combination.keyboardModifiers()
    held &= ~Qt.KeyboardModifier.KeypadModifier
    if key == Qt.Key.Key_unknown or Qt.Key.Key_Shift <= key <= Qt.Key.Key_ScrollLock:
        return ""
    if Qt.Key.Key_Super_L <= key <= Qt.Key.Key_Hyper_R or key == Qt.Key.Key_AltGr:
        return ""
    # The Shift of a sign is how it is written on this keyboard: Ctrl++ and not Ctrl+Shift++.
    if text and text.isprintable() and not text.isalpha() and not text.isspace():
        held &= ~Qt.KeyboardModifier.ShiftModifier
    return _portable(QKeySequence(QKeyCombination(held, _SAME.get(key, key))))


def is_needed_for_writing(keys: str) -> bool:
    """A key without Ctrl, Alt or Meta writes or moves, unless it is one of F1 … or of the media."""
    combination = _chord(QKeySequence(keys))
    if combination.keyboardModifiers() & _CHORD:
        return False
    key = combination.key()
    return not (Qt.Key.Key_F1 <= key <= Qt.Key.Key_F35 or key >= Qt.Key.Key_Back)


def _keys_of(entry: object) -> Keys | None:
    """The keys of an entry, or None where it is not a list of keys that can be used."""
    if not isinstance(entry, list):
        return None
    keys: list[str] = []
    for one in cast("list[object]", entry):
        sequence = QKeySequence(one if isinstance(one, str) else "")
        if sequence.count() != 1 or _chord(sequence).key() == Qt.Key.Key_unknown:
            return None
        portable = _portable(sequence)
        if is_needed_for_writing(portable) or portable in FIXED:
            return None
        keys.append(portable)
    return tuple(dict.fromkeys(keys))


def _chord(sequence: QKeySequence) -> QKeyCombination:
    return sequence[0]  # pyright: ignore[reportIndexIssue, reportUnknownVariableType] (not in the stubs)


def _portable(sequence: QKeySequence) -> str:
    return sequence.toString(QKeySequence.SequenceFormat.PortableText)
