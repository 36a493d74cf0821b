"""Every preference of Nacre, declared once as data.

The settings dialog, the checks and the defaults all follow from `SETTINGS`. Preferences are rows
`(key, text)`; a row that can't be used falls back to its default and is named, a row that this
version does not know is kept (SPEC U33). Knows nothing of the store or of the window.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import cast

from desktop.core.errors import SettingError
from desktop.core.setting import AnySetting, Choice, Setting, T, Value, text_of, value_of

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
class Problem:
    """A row that can't be used, and the sentence that names it."""

    key: str
    sentence: str


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
    return value_of(_known(key), text)


def render(key: str, value: Value) -> str:
    """The text of a row, such that `parse` gives the value back. Raises SettingError."""
    return text_of(_known(key), value)


def _known(key: str) -> AnySetting:
    setting = _BY_KEY.get(key)
    if setting is None:
        raise SettingError(f"There is no setting named {key!r}.")
    return setting
