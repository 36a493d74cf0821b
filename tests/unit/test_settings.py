"""Preferences as data: every declaration is sound, every row is read or named, none is lost."""

from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop import settings
from desktop.core.errors import SettingError
from desktop.core.setting import AnySetting, Section, Setting, Value
from desktop.settings import SETTINGS, Preferences

LOOK_MODES = ["read-only", "ask", "accept-edits", "auto"]


def values_of(setting: AnySetting) -> st.SearchStrategy[Value]:
    low, high = setting.minimum, setting.maximum
    match setting.kind:
        case "bool":
            return st.booleans()
        case "int":
            return st.integers(low, high)
        case "float":
            return st.floats(low, high, allow_nan=False)
        case "choice":
            return st.sampled_from([choice.value for choice in setting.choices])
        case "text":
            return st.text(st.characters(categories=["L", "N", "P", "S"]), max_size=200)
        case "folder":
            return st.sampled_from(["", str(Path.cwd()), str(Path.cwd() / "with blanks in it")])
        case "address":
            return st.sampled_from(["", "https://host.example/feed", "http://localhost:1/feed"])
        case "keys":
            return st.sampled_from(["", "{}", '{"find": ["Ctrl+P"], "of later": 1}'])


def test_every_key_is_declared_once() -> None:
    keys = [setting.key for setting in SETTINGS]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda each: each.key)
class TestDeclaration:
    def test_its_default_is_one_of_its_values(self, setting: AnySetting) -> None:
        assert (
            settings.parse(setting.key, settings.render(setting.key, setting.default))
            == setting.default
        )

    def test_it_has_a_label_a_help_sentence_and_a_section(self, setting: AnySetting) -> None:
        assert setting.label and not setting.label.endswith(".")
        assert setting.help.endswith(".")
        assert setting.section in get_args(Section)

    def test_its_range_fits_its_kind(self, setting: AnySetting) -> None:
        assert bool(setting.choices) == (setting.kind == "choice")
        assert (setting.minimum is None) or setting.kind in ("int", "float")

    @pytest.mark.parametrize(
        "row", ["\0", "a\nb", "\ud800", "x" * 5000], ids=["nul", "lines", "surrogate", "long"]
    )
    def test_text_that_no_setting_takes_is_refused(self, setting: AnySetting, row: str) -> None:
        with pytest.raises(SettingError) as caught:
            settings.parse(setting.key, row)
        assert setting.label in caught.value.sentence
        assert caught.value.way_out

    @pytest.mark.parametrize("row", [None, b"true", 1, 1.5, [], {}])
    def test_a_row_of_another_type_is_refused(self, setting: AnySetting, row: object) -> None:
        with pytest.raises(SettingError):
            settings.parse(setting.key, row)


@given(st.sampled_from(SETTINGS).flatmap(lambda each: st.tuples(st.just(each), values_of(each))))
def test_what_is_rendered_is_read_back(pair: tuple[AnySetting, Value]) -> None:
    setting, value = pair
    assert settings.parse(setting.key, settings.render(setting.key, value)) == value


@given(st.dictionaries(st.sampled_from([each.key for each in SETTINGS]) | st.text(), st.text()))
def test_any_rows_give_usable_preferences_and_each_row_is_read_kept_or_named(
    rows: dict[str, str],
) -> None:
    """U33"""
    preferences = settings.read(rows)
    for setting in SETTINGS:
        settings.render(setting.key, preferences.value(setting))
    named = {problem.key for problem in preferences.problems}
    assert named | set(preferences.values) | set(preferences.unknown) == set(rows)


def test_without_rows_every_setting_has_its_default() -> None:
    preferences = settings.read({})
    assert [preferences.value(each) for each in SETTINGS] == [each.default for each in SETTINGS]


def test_a_bad_row_falls_to_the_default_and_is_named_and_the_others_hold() -> None:
    """U33"""
    preferences = settings.read({"appearance.theme": "pink", "appearance.font_scale": "150"})
    assert preferences.value(settings.THEME) == "system"
    assert preferences.value(settings.FONT_SCALE) == 150
    assert [problem.key for problem in preferences.problems] == ["appearance.theme"]
    assert "Colours" in preferences.problems[0].sentence


def test_a_bad_value_is_not_repeated() -> None:
    preferences = settings.read({"appearance.theme": "sk-ant-pasted-by-mistake"})
    assert "pasted" not in repr(preferences.problems)


def test_rows_of_another_version_survive() -> None:
    """U33"""
    preferences = settings.read({"from.the.future": "7"}).changed("appearance.theme", "dark")
    assert preferences.unknown == {"from.the.future": "7"}


def test_a_good_value_clears_its_problem() -> None:
    preferences = settings.read({"appearance.theme": "pink"}).changed("appearance.theme", "dark")
    assert preferences.problems == ()
    assert preferences.value(settings.THEME) == "dark"


@pytest.mark.parametrize("text", ["49", "301", "1e2", "", "9" * 30, "100%", "٥٠", "1_00", "nan"])
def test_numbers_outside_their_range_or_form_are_refused(text: str) -> None:
    with pytest.raises(SettingError) as caught:
        settings.parse("appearance.font_scale", text)
    assert "a whole number from 50 to 300 %" in caught.value.way_out


@pytest.mark.parametrize(
    ("text", "value"), [("true", True), ("1", True), (" ON ", True), ("False", False), ("0", False)]
)
def test_common_spellings_of_yes_and_no_are_read(text: str, value: bool) -> None:
    assert settings.parse("appearance.show_thinking", text) is value


@pytest.mark.parametrize("value", [1, "true", 1.0])
def test_a_value_of_another_type_is_not_written(value: Value) -> None:
    with pytest.raises(SettingError):
        settings.render("appearance.show_thinking", value)
    with pytest.raises(SettingError):
        settings.render("appearance.font_scale", True)


@pytest.mark.parametrize("text", ["backups", "./here", "~/kept", " ", "a:b"])
def test_a_folder_is_a_full_path_or_nothing(text: str) -> None:
    with pytest.raises(SettingError) as caught:
        settings.parse("backup.folder", text)
    assert "the full path of a folder" in caught.value.way_out
    assert settings.parse("backup.folder", "") == ""


def test_a_key_that_is_not_declared_can_not_be_written() -> None:
    with pytest.raises(SettingError):
        Preferences().changed("no.such", "x")


def test_real_numbers_are_finite_and_in_range(monkeypatch: pytest.MonkeyPatch) -> None:
    ratio: Setting[float] = Setting(
        "a.ratio", "float", 1.0, "Tools", "Ratio", "A ratio.", minimum=0
    )
    monkeypatch.setattr(settings, "_BY_KEY", {"a.ratio": ratio})
    assert settings.parse("a.ratio", "0.25") == 0.25
    for text in ("nan", "inf", "-1", "x"):
        with pytest.raises(SettingError) as caught:
            settings.parse("a.ratio", text)
    assert "a number of at least 0" in caught.value.way_out


def test_the_defaults_are_those_of_the_design() -> None:
    preferences = settings.read({})
    assert preferences.value(settings.MODEL) == "claude-opus-5-5"
    assert preferences.value(settings.EFFORT) == "default"
    assert preferences.value(settings.PERMISSION_MODE) == "ask"
    assert preferences.value(settings.SEND_KEY) == "enter"
    assert preferences.value(settings.SHELL_TIME_LIMIT) == 120
    assert settings.SHELL_TIME_LIMIT.maximum == 600
    assert preferences.value(settings.TOOL_OUTPUT_LIMIT) == 1024
    assert [choice.value for choice in settings.PERMISSION_MODE.choices] == LOOK_MODES
    assert preferences.value(settings.BACKUP_INTERVAL) == "daily"
    assert preferences.value(settings.BACKUP_KEEP) == 7
    assert preferences.value(settings.BACKUP_FOLDER) == ""
