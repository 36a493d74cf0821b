"""Every preference of Nacre, declared once as data.

The settings dialog, the checks and the defaults all follow from `SETTINGS`. Preferences are rows
`(key, text)`; a row that can't be used falls back to its default and is named, a row that this
version does not know is kept (SPEC U33). Knows nothing of the store or of the window.
"""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from types import MappingProxyType
from typing import Generic, Literal, TypeVar, cast

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


@dataclass(frozen=True, slots=True)
class Problem:
    """A row that can't be used, and the sentence that names it."""

    key: str
    sentence: str


MODEL: Setting[str] = Setting(
    "model.default",
    "text",
    "claude-opus-5-5",
    "Model",
    "Model for new conversations",
    "Each conversation keeps the model it was started with until you change it there.",
)
EFFORT: Setting[str] = Setting(
    "model.effort",
    "choice",
    "default",
    "Model",
    "Effort",
    "How long the model thinks before it answers. More effort takes longer and costs more.",
    choices=(
        Choice("default", "As the model suggests"),
        Choice("low", "Low"),
        Choice("medium", "Medium"),
        Choice("high", "High"),
        Choice("xhigh", "Very high"),
        Choice("max", "Highest"),
    ),
)
COMPACT_AT: Setting[str] = Setting(
    "model.compact_at",
    "choice",
    "80",
    "Model",
    "Compact a conversation by itself",
    "When it fills so much of what the model can read, the agent goes on with a summary. "
    "Everything stays here to read.",
    choices=(
        Choice("off", "Never"),
        Choice("60", "At 60 %"),
        Choice("70", "At 70 %"),
        Choice("80", "At 80 %"),
        Choice("90", "At 90 %"),
    ),
)
BASE_URL: Setting[str] = Setting(
    "model.base_url",
    "text",
    "",
    "Model",
    "Server address",
    "Leave this empty for the provider's own server. A server on this computer has an address "
    "such as http://localhost:11434.",
)
CACHE_TTL: Setting[str] = Setting(
    "model.cache_ttl",
    "choice",
    "5m",
    "Model",
    "Keep a conversation in the provider's cache for",
    "What lies in the cache is read for a twentieth to a tenth of its price, with some models less."
    " Each token is written there once: for 5 minutes at 1.25 times its price, for 1 hour at twice"
    " its price. Every message starts the time anew. One hour pays if you often answer later than"
    " after 5 minutes. It counts from the next message on.",
    choices=(Choice("5m", "5 minutes"), Choice("1h", "1 hour")),
)
KEEP_WARM: Setting[str] = Setting(
    "model.keep_warm",
    "choice",
    "off",
    "Model",
    "Keep a resting conversation in that cache",
    "Shortly before its time there is over, a request that wants no answer starts it anew, at the"
    " price of reading the conversation once. Conversation → Usage… lists each as “Kept warm”. Only"
    " while the conversation is open, and only as long as it is cheaper than sending all again.",
    choices=(
        Choice("off", "Never"),
        Choice("1", "Once in each pause"),
        Choice("3", "Up to 3 times in each pause"),
        Choice("6", "Up to 6 times in each pause"),
        Choice("12", "Up to 12 times in each pause"),
    ),
)
MESSAGE_THREADS: Setting[bool] = Setting(
    "model.message_threads",
    "bool",
    False,
    "Model",
    "Let the provider hold the conversation between steps (experimental)",
    "A step then sends only what is new. This saves upload and waiting, and no money: the provider"
    " charges every token as without it. It keeps the conversation in its memory for up to an hour."
    " Whatever goes wrong with it, the whole conversation is sent as usual. Only with the"
    " provider's own server.",
)
PERMISSION_MODE: Setting[str] = Setting(
    "permissions.mode",
    "choice",
    "ask",
    "Permissions",
    "What the agent may do in new conversations",
    "Reading inside the conversation's folder is always allowed. Files outside it are never "
    "changed without asking.",
    choices=(
        Choice("read-only", "Only read"),
        Choice("ask", "Ask before each change"),
        Choice("accept-edits", "Change files without asking, ask before commands"),
        Choice("auto", "Change files and run commands without asking"),
    ),
)
THEME: Setting[str] = Setting(
    "appearance.theme",
    "choice",
    "system",
    "Appearance",
    "Colours",
    "Light or dark, or as the system is set.",
    choices=(
        Choice("system", "As the system"),
        Choice("light", "Light"),
        Choice("dark", "Dark"),
    ),
)
FONT_SCALE: Setting[int] = Setting(
    "appearance.font_scale",
    "int",
    100,
    "Appearance",
    "Font size",
    "Scales all text of the program.",
    minimum=50,
    maximum=300,
    unit="%",
)
TRANSCRIPT_ZOOM: Setting[int] = Setting(
    "appearance.transcript_zoom",
    "int",
    100,
    "Appearance",
    "Zoom of conversations",
    "Scales the text of conversations only.",
    minimum=50,
    maximum=300,
    unit="%",
)
REDUCED_MOTION: Setting[bool] = Setting(
    "appearance.reduced_motion",
    "bool",
    False,
    "Appearance",
    "Reduce motion",
    "Nothing moves or fades, except while you scroll.",
)
SHOW_THINKING: Setting[bool] = Setting(
    "appearance.show_thinking",
    "bool",
    False,
    "Appearance",
    "Show thinking",
    "Shows the model's thinking unfolded. It is kept in either case.",
)
SEND_KEY: Setting[str] = Setting(
    "writing.send_key",
    "choice",
    "enter",
    "Writing",
    "Send with",
    "With Enter, Shift+Enter begins a new line. With Ctrl+Enter, Enter begins a new line.",
    choices=(Choice("enter", "Enter"), Choice("ctrl-enter", "Ctrl+Enter")),
)
KEYS: Setting[str] = Setting(
    "keyboard.keys",
    "keys",
    "",
    "Keyboard",
    "Changed keyboard shortcuts",
    "The actions whose keys were changed, by name; all others have the keys that Nacre gives them.",
)
SHELL_TIME_LIMIT: Setting[int] = Setting(
    "tools.shell_time_limit",
    "int",
    120,
    "Tools",
    "Time limit for commands",
    "A command that runs longer is stopped. The agent may ask for more, up to 600 s.",
    minimum=1,
    maximum=600,
    unit="s",
)
SHELL_MEMORY_LIMIT: Setting[int] = Setting(
    "tools.shell_memory_limit",
    "int",
    4096,
    "Tools",
    "Memory limit for commands",
    "What each process of a command may reserve. Java and large builds may need more. 0 sets no "
    "limit. It works on Linux.",
    minimum=0,
    maximum=4194304,
    unit="MB",
)
TOOL_OUTPUT_LIMIT: Setting[int] = Setting(
    "tools.output_limit",
    "int",
    1024,
    "Tools",
    "Limit for the kept output of a tool",
    "The agent sees the beginning and the end of a long output; all of it is kept beside the "
    "conversation, up to this size.",
    minimum=1,
    maximum=65536,
    unit="MB",
)
SUBAGENT_BUDGET: Setting[str] = Setting(
    "tools.subagent_budget",
    "choice",
    "5",
    "Tools",
    "Budget for a message with subagents",
    "Once a message has cost so much with all subagents that work for it, no further one begins "
    "and those that work come to an end. Where a price is unknown, 2,000,000 tokens count for all "
    "of it.",
    choices=(
        Choice("off", "No limit"),
        Choice("1", "$1"),
        Choice("2", "$2"),
        Choice("5", "$5"),
        Choice("10", "$10"),
        Choice("20", "$20"),
        Choice("50", "$50"),
    ),
)
BACKUP_INTERVAL: Setting[str] = Setting(
    "backup.interval",
    "choice",
    "daily",
    "Storage",
    "Make a backup by itself",
    "While the window is open and no agent works. Each one is opened again, read and counted "
    "before it is called good. Keys are never in it.",
    choices=(Choice("off", "Never"), Choice("daily", "Every day"), Choice("weekly", "Every week")),
)
BACKUP_KEEP: Setting[int] = Setting(
    "backup.keep",
    "int",
    7,
    "Storage",
    "Scheduled backups to keep",
    "Older scheduled ones are deleted, but only after a new one was found good. Backups that you "
    "make yourself or rename are never deleted, and no conversation ever is.",
    minimum=1,
    maximum=365,
)
BACKUP_FOLDER: Setting[str] = Setting(
    "backup.folder",
    "folder",
    "",
    "Storage",
    "Folder for scheduled backups",
    "Empty: the folder “backups” beside your conversations.",
)
RELEASE_FEED: Setting[str] = Setting(
    "updates.feed",
    "address",
    "",
    "Updates",
    "Address of a feed of releases",
    "Empty: nothing is asked. With an address, Nacre asks it once a day while the window is open"
    " and tells you of a newer version. It installs nothing. Hosts of code give out such a feed,"
    " for example https://host/owner/nacre/releases.atom. They see your network address, as with"
    " any page, and nothing else.",
)

AnySetting = Setting[Value]

SETTINGS: tuple[AnySetting, ...] = (
    MODEL,
    EFFORT,
    COMPACT_AT,
    BASE_URL,
    CACHE_TTL,
    KEEP_WARM,
    MESSAGE_THREADS,
    PERMISSION_MODE,
    THEME,
    FONT_SCALE,
    TRANSCRIPT_ZOOM,
    REDUCED_MOTION,
    SHOW_THINKING,
    SEND_KEY,
    KEYS,
    SHELL_TIME_LIMIT,
    SHELL_MEMORY_LIMIT,
    TOOL_OUTPUT_LIMIT,
    SUBAGENT_BUDGET,
    BACKUP_INTERVAL,
    BACKUP_KEEP,
    BACKUP_FOLDER,
    RELEASE_FEED,
)

_BY_KEY: Mapping[str, AnySetting] = MappingProxyType({each.key: each for each in SETTINGS})


@dataclass(frozen=True, slots=True)
class Preferences:
    """All preferences as read: a value for every setting, the rows of other versions, and what
    was wrong."""

    values: Mapping[str, Value] = field(default_factory=dict[str, Value])
    unknown: Mapping[str, str] = field(default_factory=dict[str, str])
    problems: tuple[Problem, ...] = ()

    def value(self, setting: Setting[T]) -> T:
        """The person's choice, or the default."""
        return cast("T", self.values.get(setting.key, setting.default))

    def changed(self, key: str, value: Value) -> "Preferences":
        """The same preferences with one good value more; raises SettingError for a bad one."""
        checked = parse(key, render(key, value))
        rest = tuple(problem for problem in self.problems if problem.key != key)
        return Preferences({**self.values, key: checked}, self.unknown, rest)


def read(rows: Mapping[str, object]) -> Preferences:
    """Preferences from the rows of the table `settings`. Never raises for what the rows hold."""
    values: dict[str, Value] = {}
    unknown: dict[str, str] = {}
    problems: list[Problem] = []
    for key, text in rows.items():
        if key not in _BY_KEY:
            if isinstance(text, str):
                unknown[key] = text
            continue
        try:
            values[key] = parse(key, text)
        except SettingError as error:
            problems.append(Problem(key, error.sentence))
    return Preferences(values, unknown, tuple(problems))


def parse(key: str, text: object) -> Value:
    """The value of a row. Raises SettingError, which names the setting and its range."""
    setting = _known(key)
    value = _converted(setting, text) if isinstance(text, str) else None
    if value is None or not _fits(setting, value):
        raise _bad(setting)
    return value


def render(key: str, value: Value) -> str:
    """The text of a row, such that `parse` gives the value back. Raises SettingError."""
    setting = _known(key)
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


def _known(key: str) -> AnySetting:
    setting = _BY_KEY.get(key)
    if setting is None:
        raise SettingError(f"There is no setting named {key!r}.")
    return setting


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
            return isinstance(value, str) and (not value or _is_feed_address(value))
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


def _is_feed_address(value: str) -> bool:
    # The window's first picture needs the settings, but no address.
    from desktop.core.releases import is_feed_address  # noqa: PLC0415

    return is_feed_address(value)
