"""What a setting is, which values it takes, and how they are written as the text of a row."""

import json
import math
import re
from dataclasses import dataclass
from pathlib import PurePath
from typing import Generic, Literal, TypeVar, cast

from desktop.core.addresses import is_feed_address
from desktop.core.errors import SettingError

Value = bool | int | float | str
Kind = Literal["bool", "int", "float", "choice", "text", "folder", "address", "keys"]
Section = Literal[
    "Model", "Permissions", "Appearance", "Writing", "Keyboard", "Tools", "Storage", "Updates"
]

T = TypeVar("T", bound=Value)
T_co = TypeVar("T_co", bound=Value, covariant=True)

TEXT_LIMIT = 4096
KEYS_LIMIT = 65536
_TRUE = frozenset({"true", "1", "yes", "on"})
_FALSE = frozenset({"false", "0", "no", "off"})
_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")


@dataclass(frozen=True, slots=True)
class Choice:
    """One value a setting may have, and what the person reads for it."""

    value: str
    label: str


@dataclass(frozen=True, slots=True)
class Setting(Generic[T_co]):
    """One preference: its row key, its type, its default, its range and its words.

    `minimum` and `maximum` are inclusive and in `unit`; `choices` belong to the kind `choice`. A
    `folder` is a full path, or empty for the one that Nacre takes; `address` one that may be asked
    without a key, or empty; `keys` a JSON object, or empty.
    """

    key: str
    kind: Kind
    default: T_co
    section: Section
    label: str
    help: str
    choices: tuple[Choice, ...] = ()
    minimum: int | None = None
    maximum: int | None = None
    unit: str = ""


AnySetting = Setting[Value]


def value_of(setting: AnySetting, text: object) -> Value:
    """The value of a row. Raises SettingError, which names the setting and its range."""
    value = _converted(setting, text) if isinstance(text, str) else None
    if value is None or not _fits(setting, value):
        raise _bad(setting)
    return value


def text_of(setting: AnySetting, value: Value) -> str:
    """The text of a row, such that `value_of` gives the value back. Raises SettingError."""
    if not _has_kind(setting, value) or not _fits(setting, value):
        raise _bad(setting)
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else repr(value)


def allowed(setting: AnySetting) -> str:
    """The values a setting takes, as a part of a sentence."""
    match setting.kind:
        case "bool":
            return "true or false"
        case "choice":
            return "one of " + ", ".join(choice.value for choice in setting.choices)
        case "int" | "float":
            noun = "a whole number" if setting.kind == "int" else "a number"
            return f"{noun}{_range(setting)}"
        case "text":
            return f"a text of at most {TEXT_LIMIT} characters in one line"
        case "folder":
            return "the full path of a folder, or nothing"
        case "address":
            return "an address that begins with https:// and holds no password, or nothing"
        case "keys":
            return "a JSON object of actions and lists of their keys, or nothing"


def _range(setting: AnySetting) -> str:
    unit = f" {setting.unit}" if setting.unit else ""
    if setting.minimum is not None and setting.maximum is not None:
        return f" from {setting.minimum} to {setting.maximum}{unit}"
    if setting.minimum is not None:
        return f" of at least {setting.minimum}{unit}"
    if setting.maximum is not None:
        return f" of at most {setting.maximum}{unit}"
    return ""


def _bad(setting: AnySetting) -> SettingError:
    # The bad value is not repeated: it may be anything, a key pasted into the wrong field included.
    return SettingError(
        f"The setting “{setting.label}” ({setting.key}) has a value that can't be used.",
        way_out=f"It takes {allowed(setting)}.",
    )


def _converted(setting: AnySetting, text: str) -> Value | None:
    match setting.kind:
        case "bool":
            word = text.strip().lower()
            return True if word in _TRUE else False if word in _FALSE else None
        case "int":
            number = text.strip()
            return int(number) if _WHOLE.fullmatch(number) else None
        case "float":
            return _float(text)
        case "choice" | "text" | "folder" | "address" | "keys":
            return text


def _float(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _has_kind(setting: AnySetting, value: Value) -> bool:
    match setting.kind:
        case "bool":
            return isinstance(value, bool)
        case "int":
            return isinstance(value, int) and not isinstance(value, bool)
        case "float":
            return (
                isinstance(value, (int, float))
                and not isinstance(value, bool)
                and math.isfinite(value)
            )
        case "choice" | "text" | "folder" | "address" | "keys":
            return isinstance(value, str)


def _fits(setting: AnySetting, value: Value) -> bool:
    match setting.kind:
        case "bool":
            return True
        case "choice":
            return any(choice.value == value for choice in setting.choices)
        case "text":
            return isinstance(value, str) and _is_plain_line(value)
        case "folder":
            return isinstance(value, str) and _is_folder_name(value)
        case "address":
            return isinstance(value, str) and (not value or is_feed_address(value))
        case "keys":
            return isinstance(value, str) and _is_object(value)
        case "int" | "float":
            return _in_range(setting, cast("float", value))


def _in_range(setting: AnySetting, number: float) -> bool:
    above = setting.minimum is None or number >= setting.minimum
    return above and (setting.maximum is None or number <= setting.maximum)


def _is_folder_name(text: str) -> bool:
    return not text or (_is_plain_line(text) and PurePath(text).is_absolute())


def _is_object(text: str) -> bool:
    """What its entries say is looked at one by one, by who knows the actions."""
    try:
        made = json.loads(text) if text else {}
    except (ValueError, RecursionError):
        return False
    return isinstance(made, dict) and _is_plain_line(text, limit=KEYS_LIMIT)


def _is_plain_line(text: str, *, limit: int = TEXT_LIMIT) -> bool:
    """Printable and storable: no line breaks, no NUL, no half of a surrogate pair."""
    return len(text) <= limit and all(letter.isprintable() for letter in text)
