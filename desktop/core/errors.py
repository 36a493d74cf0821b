"""Errors that can be shown to the person as they are.

Whoever raises one says what happened in a plain sentence, what the person can do about it, and
keeps the technical text apart. Whoever catches one can show it without knowing it.
"""


class NacreError(Exception):
    """Something went wrong that the person may be told.

    `sentence` names the thing and the reason, `way_out` what one can do (may be empty), `detail`
    the technical text for the Details pane (never a secret).
    """

    def __init__(self, sentence: str, *, way_out: str = "", detail: str = "") -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.way_out = way_out
        self.detail = detail

    def __str__(self) -> str:
        return f"{self.sentence} {self.way_out}".strip()


class StoreError(NacreError):
    """The log can't be read or written; nothing that was sealed is lost."""


class StoreBusy(StoreError):
    """Another process held the database longer than the busy timeout."""


class StoreFull(StoreError):
    """The disk or quota is full."""


class StoreReadOnly(StoreError):
    """The data folder or the database may be read but not written."""


class StoreDamaged(StoreError):
    """The file is not a database, or SQLite found it damaged."""


class NewerSchema(StoreError):
    """A newer Nacre wrote this database; it was not touched (SPEC A09)."""


class LeaseHeld(NacreError):
    """Another living process runs this conversation."""


class InBin(NacreError):
    """The conversation is in the bin: it can be read and restored, not worked in."""

    def __init__(self, tab_id: str) -> None:
        super().__init__(
            "This conversation is in the bin.", way_out="Restore it to go on.", detail=tab_id
        )


class UnknownConversation(NacreError):
    """No conversation has this id."""


class UnknownFolder(NacreError):
    """A folder that was asked for is not there, or is no folder."""


class ToolFailed(NacreError):
    """A tool could not do what was asked; the sentence goes to the model as an error result."""


class CredentialError(NacreError):
    """A key can't be read, kept, or is not usable; never holds a character of the key."""


class ServersFileError(NacreError):
    """The list of tool servers could not be changed as asked; it is as it was."""


class SettingError(NacreError):
    """A setting's value is not usable; names the setting and the range."""


class FeedError(NacreError):
    """A feed of releases gave nothing that can be used."""


class ModelUnavailable(NacreError):
    """No model can be reached: no credential, or the client could not be built."""


class PayloadError(ValueError):
    """A stored payload does not have the shape of its type (SPEC C12)."""


class PluginError(NacreError):
    """A plugin can't be used, installed or changed as asked; what there was is as it was."""
