"""The keys of every action: what is declared, what a person changed, and what a row may hold."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QKeyCombination, Qt

from desktop import settings
from desktop.settings import KEYS
from desktop.ui.actions import ACTIONS, native
from desktop.ui.key_lines import lines, matching
from desktop.ui.shortcuts import (
    FIXED,
    SPECS,
    Shortcuts,
    is_needed_for_writing,
    keys_over_fields,
    pressed,
    read,
)

DECLARED = {spec.name: spec.keys for spec in ACTIONS}
CTRL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
NONE = Qt.KeyboardModifier.NoModifier


def words_of(shortcuts: Shortcuts, words: str = "", keys: str = "") -> list[str]:
    return [line.words for line in matching(lines(shortcuts), words, keys)]


# What is in force


def test_without_a_change_every_action_has_its_declared_keys_and_the_row_is_empty() -> None:
    assert Shortcuts().in_force() == DECLARED
    assert Shortcuts().text() == ""


def test_no_declared_key_is_one_that_could_not_be_chosen() -> None:
    keys = [one for held in DECLARED.values() for one in held]
    assert not [one for one in keys if is_needed_for_writing(one) or one in FIXED]
    assert not Shortcuts({name: list(held) for name, held in DECLARED.items()}).broken()


def test_keys_that_are_taken_are_gone_where_they_were_and_come_back_with_a_reset() -> None:
    taken = Shortcuts().given("bookmark", ("Ctrl+K",))
    assert taken.in_force()["bookmark"] == ("Ctrl+K",)
    assert taken.in_force()["palette"] == ()
    assert json.loads(taken.text()) == {"bookmark": ["Ctrl+K"]}
    back = taken.given("bookmark", SPECS["bookmark"].keys)
    assert back.in_force() == DECLARED and back.text() == ""


def test_to_get_the_own_keys_back_takes_them_from_who_was_given_them() -> None:
    taken = Shortcuts().given("bookmark", ("Ctrl+K", "Ctrl+Alt+K"))
    back = taken.given("palette", ("Ctrl+K",))
    assert back.in_force()["palette"] == ("Ctrl+K",)
    assert back.in_force()["bookmark"] == ("Ctrl+Alt+K",)


def test_an_action_can_be_without_keys_and_is_named_as_their_holder_otherwise() -> None:
    assert Shortcuts().holder("Ctrl+K") is SPECS["palette"]
    assert Shortcuts().holder("Ctrl+K", but="palette") is None
    assert Shortcuts().given("palette", ()).holder("Ctrl+K") is None


@given(
    st.lists(
        st.tuples(
            st.sampled_from(sorted(SPECS)),
            st.lists(st.sampled_from(["Ctrl+K", "Ctrl+N", "F3", "F9"]), unique=True, max_size=3),
        ),
        max_size=8,
    )
)
def test_whatever_is_given_no_keys_are_there_twice_and_the_row_leads_to_the_same(
    acts: list[tuple[str, list[str]]],
) -> None:
    shortcuts = Shortcuts()
    for name, keys in acts:
        shortcuts = shortcuts.given(name, tuple(keys))
        assert set(shortcuts.in_force()[name]) == set(keys)
    held = [one for keys in shortcuts.in_force().values() for one in keys]
    assert len(held) == len(set(held))
    assert read(shortcuts.text()).in_force() == shortcuts.in_force()
    settings.parse(KEYS.key, settings.render(KEYS.key, shortcuts.text()))
    assert shortcuts.reset().text() == ""


# What a row may hold (SPEC U33)


@pytest.mark.parametrize(
    "entry",
    [5, "Ctrl+P", None, {}, [5], [""], ["nonsense+"], ["A"], ["Return"], ["Ctrl+V"]],
    ids=str,
)
def test_u33_an_entry_that_cannot_be_used_is_named_and_all_others_work(entry: object) -> None:
    row = json.dumps({"find": entry, "palette": ["Ctrl+P"]})
    shortcuts = read(str(settings.parse(KEYS.key, row)))
    assert shortcuts.broken() == ("find",)
    assert shortcuts.in_force()["find"] == ("Ctrl+F",)
    assert shortcuts.in_force()["palette"] == ("Ctrl+P",)


def test_u33_actions_of_a_later_version_survive_a_change_and_a_reset() -> None:
    shortcuts = read('{"of later":["Ctrl+9"],"palette":["Ctrl+P"]}')
    changed = shortcuts.given("find", ("Ctrl+9", "Ctrl+Y")).reset()
    assert json.loads(changed.text()) == {"of later": ["Ctrl+9"]}
    assert not shortcuts.broken()


def test_u33_two_entries_of_the_same_keys_leave_them_to_the_first() -> None:
    shortcuts = read('{"find":["Ctrl+P"],"new":["ctrl+p"]}')
    assert shortcuts.in_force()["new"] == ("Ctrl+P",)
    assert shortcuts.in_force()["find"] == ()


@pytest.mark.parametrize("row", ["[]", "5", "{", "[" * 9000, '{"a":"' + "x" * 70_000 + '"}'])
def test_u33_a_row_that_is_no_object_is_named_and_all_keys_are_as_declared(row: str) -> None:
    preferences = settings.read({KEYS.key: row})
    assert [problem.key for problem in preferences.problems] == [KEYS.key]
    assert read(preferences.value(KEYS)).in_force() == DECLARED


# What is pressed


@pytest.mark.parametrize(
    ("held", "key", "text", "keys"),
    [
        (CTRL, Qt.Key.Key_K, "\x0b", "Ctrl+K"),
        (CTRL | SHIFT, Qt.Key.Key_K, "\x0b", "Ctrl+Shift+K"),
        (CTRL | SHIFT, Qt.Key.Key_Plus, "+", "Ctrl++"),
        (CTRL | SHIFT, Qt.Key.Key_Backtab, "", "Ctrl+Shift+Tab"),
        (CTRL | Qt.KeyboardModifier.KeypadModifier, Qt.Key.Key_Enter, "\r", "Ctrl+Return"),
        (NONE, Qt.Key.Key_F9, "", "F9"),
        (CTRL, Qt.Key.Key_Control, "", ""),
        (NONE, Qt.Key.Key_AltGr, "", ""),
        (NONE, Qt.Key.Key_unknown, "", ""),
    ],
)
def test_what_is_pressed_has_the_name_it_is_declared_with(
    held: Qt.KeyboardModifier, key: Qt.Key, text: str, keys: str
) -> None:
    assert pressed(QKeyCombination(held, key), text) == keys


@pytest.mark.parametrize("keys", ["A", "Shift+A", "Return", "Esc", "Shift+Tab", "Up", "Shift+Home"])
def test_a_key_that_writes_or_moves_can_not_be_had(keys: str) -> None:
    assert is_needed_for_writing(keys)


@pytest.mark.parametrize("keys", ["Ctrl+A", "Alt+Up", "Meta+Return", "F1", "Shift+F12", "Back"])
def test_a_key_that_writes_nothing_can_be_had(keys: str) -> None:
    assert not is_needed_for_writing(keys)


def test_a_text_field_leaves_what_the_person_chose_to_its_action() -> None:
    over = set(keys_over_fields(Shortcuts()))
    assert over == {"Ctrl+K", "Ctrl+D"}
    changed = Shortcuts().given("find", ("Ctrl+U",)).given("palette", ("Ctrl+E",))
    assert set(keys_over_fields(changed)) == {"Ctrl+U", "Ctrl+E", "Ctrl+D"}


# The lines


def test_lines_are_found_by_words_of_theirs_or_of_their_menu_and_by_keys() -> None:
    everything = words_of(Shortcuts())
    assert {spec.text for spec in ACTIONS} <= set(everything) and "Send" in everything
    assert words_of(Shortcuts(), "PREV prompt") == ["Previous prompt"]
    assert "Sidebar" in words_of(Shortcuts(), "view")
    assert words_of(Shortcuts(), keys="Ctrl+T") == ["New conversation"]
    assert words_of(Shortcuts().given("quit", ("Ctrl+T",)), keys="Ctrl+T") == ["Quit"]
    assert words_of(Shortcuts(), "sidebar", "Ctrl+T") == []


def test_keys_are_written_as_the_platform_writes_them() -> None:
    assert native("Ctrl+Shift+Del") == "Ctrl+Shift+Del"
