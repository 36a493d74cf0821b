"""Every table of `nacre.db`, column for column (DESIGN.md §4).

The one description of the schema: migrations are compared with it by a test, the hot path and the
catalogue use the `Table` objects at the end. Nobody makes entities of these classes on a hot path.
Times are ms UTC. What no mapped class can say (triggers, full-text index) is in `triggers`.
"""

# SQLModel declares `__tablename__` as a function's result; a plain name is what it documents.
# pyright: reportAssignmentType=false

from typing import ClassVar

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    text,
)
from sqlmodel import Field, SQLModel

# Who may say what (DESIGN.md §4 "Roles and types").
ROLE_OF_TYPE = (
    "(type = 'text' AND role IN ('user', 'assistant'))"
    " OR (type IN ('thinking', 'tool_call', 'opaque') AND role = 'assistant')"
    " OR (type = 'tool_result' AND role = 'tool')"
    " OR (type = 'error' AND role IN ('assistant', 'system'))"
    " OR (type = 'system' AND role = 'system')"
)
# What persons and the program say, and of that what takes rows back (a few others may look so); a
# query must have these words to use the indexes.
SAID = "role = 'user' OR role = 'system'"
RETRACTS = "role = 'system' AND instr(data_json, '\"retracted\"')"


class Row(SQLModel):
    """What all tables share: one collection of their own."""

    metadata: ClassVar[MetaData] = MetaData()  # pyright: ignore[reportIncompatibleVariableOverride]


class ProjectRow(Row, table=True):
    __tablename__ = "projects"
    __table_args__ = (CheckConstraint("kind IN ('git', 'directory')", name="projects_kind"),)

    id: int = Field(primary_key=True)
    directory: str = Field(sa_type=Text, unique=True)
    display_name: str = Field(sa_type=Text)
    kind: str = Field(sa_type=Text)
    git_remote: str | None = Field(sa_type=Text)
    created_at: int
    updated_at: int
    archived_at: int | None


class WorkspaceRow(Row, table=True):
    __tablename__ = "workspaces"
    __table_args__ = (CheckConstraint("kind IN ('checkout', 'worktree')", name="workspaces_kind"),)

    id: int = Field(primary_key=True)
    project_id: int = Field(foreign_key="projects.id", ondelete="CASCADE", index=True)
    directory: str = Field(sa_type=Text, unique=True)
    display_name: str = Field(sa_type=Text)
    kind: str = Field(sa_type=Text)
    created_at: int
    updated_at: int
    archived_at: int | None


class TabRow(Row, table=True):
    __tablename__ = "tabs"
    __table_args__ = (
        UniqueConstraint("id", "workspace_id"),
        CheckConstraint("is_open IN (0, 1)", name="tabs_is_open"),
    )

    id: str = Field(sa_type=Text, primary_key=True)
    workspace_id: int = Field(foreign_key="workspaces.id", ondelete="CASCADE", index=True)
    title: str = Field(sa_type=Text)
    position: int
    is_open: int
    parent_tab_id: str | None = Field(
        sa_type=Text,
        sa_column_args=(ForeignKey("tabs.id", deferrable=True, initially="DEFERRED"),),
        index=True,
    )
    forked_from: str | None = Field(
        sa_type=Text,
        sa_column_args=(ForeignKey("tabs.id", deferrable=True, initially="DEFERRED"),),
        index=True,
    )
    forked_at_seq: int | None
    created_at: int
    last_message_at: int | None
    archived_at: int | None
    trashed_at: int | None
    purged_at: int | None


class AgentSnapshotRow(Row, table=True):
    __tablename__ = "agent_snapshots"
    __table_args__ = (
        ForeignKeyConstraint(
            ["agent_id", "workspace_id"], ["tabs.id", "tabs.workspace_id"], ondelete="CASCADE"
        ),
    )

    agent_id: str = Field(sa_type=Text, primary_key=True)
    workspace_id: int
    lifecycle: str = Field(sa_type=Text)
    provider: str = Field(sa_type=Text)
    model: str = Field(sa_type=Text)
    effort: str = Field(sa_type=Text)
    permission_mode: str = Field(sa_type=Text)
    persistence_json: str = Field(sa_type=Text)
    attention_kind: str | None = Field(sa_type=Text)
    attention_at: int | None
    created_at: int
    updated_at: int


class ChunkRow(Row, table=True):
    """The log. `ordinal` is the full-text index's key and survives a VACUUM (DESIGN.md §10)."""

    __tablename__ = "chunks"
    __table_args__ = (
        Index("idx_chunks_tab_seq", "tab_id", "seq", unique=True),
        Index("idx_chunks_said", "tab_id", "seq", "turn_id", sqlite_where=text(SAID)),
        Index("idx_chunks_turns", "tab_id", "turn_id", "seq", sqlite_where=text(SAID)),
        Index("idx_chunks_retractions", "tab_id", "seq", sqlite_where=text(RETRACTS)),
        CheckConstraint("seq >= 1", name="chunks_seq"),
        CheckConstraint("step >= 0", name="chunks_step"),
        CheckConstraint(ROLE_OF_TYPE, name="chunks_role"),
    )

    ordinal: int = Field(primary_key=True)
    id: str = Field(sa_type=Text, unique=True)
    tab_id: str = Field(sa_type=Text, foreign_key="tabs.id", ondelete="CASCADE")
    seq: int
    turn_id: str = Field(sa_type=Text)
    step: int = Field(sa_column_kwargs={"server_default": "0"})
    role: str = Field(sa_type=Text)
    type: str = Field(sa_type=Text)
    data_json: str = Field(sa_type=Text)
    created_at: int
    provider: str | None = Field(sa_type=Text)
    model: str | None = Field(sa_type=Text)
    search_text: str | None = Field(sa_type=Text)


class ModelRequestRow(Row, table=True):
    """One request to a model; their order is that of their rowids."""

    __tablename__ = "model_requests"

    id: str = Field(sa_type=Text, primary_key=True)
    tab_id: str = Field(sa_type=Text, foreign_key="tabs.id", ondelete="CASCADE", index=True)
    turn_id: str = Field(sa_type=Text)
    step: int
    message_id: str | None = Field(sa_type=Text)
    provider: str = Field(sa_type=Text)
    model: str = Field(sa_type=Text)
    stop_reason: str | None = Field(sa_type=Text)
    usage_json: str | None = Field(sa_type=Text)
    cache_json: str | None = Field(sa_type=Text)
    started_at: int
    ended_at: int | None
    error_json: str | None = Field(sa_type=Text)


class SessionRevisionRow(Row, table=True):
    __tablename__ = "conversation_session_revisions"
    __table_args__ = (CheckConstraint("revision >= 0", name="session_revisions_revision"),)

    session_id: str = Field(
        sa_type=Text, primary_key=True, foreign_key="tabs.id", ondelete="CASCADE"
    )
    revision: int = Field(sa_type=BigInteger)


class CatalogueRevisionRow(Row, table=True):
    __tablename__ = "catalogue_revision"
    __table_args__ = (
        CheckConstraint("id = 1", name="catalogue_revision_one_row"),
        CheckConstraint("revision >= 0", name="catalogue_revision_revision"),
    )

    id: int = Field(primary_key=True)
    revision: int = Field(sa_type=BigInteger)


class LeaseRow(Row, table=True):
    __tablename__ = "leases"

    tab_id: str = Field(sa_type=Text, primary_key=True, foreign_key="tabs.id", ondelete="CASCADE")
    process_id: str = Field(sa_type=Text)
    acquired_at: int


class DraftRow(Row, table=True):
    """`attachments_json` is as in a text payload, each long value a `{"sha256"}` that is a blob.

    `caret` is the place in the text as the field counts it (UTF-16).
    """

    __tablename__ = "drafts"

    tab_id: str = Field(sa_type=Text, primary_key=True, foreign_key="tabs.id", ondelete="CASCADE")
    text: str = Field(sa_type=Text)
    updated_at: int
    caret: int = Field(sa_column_kwargs={"server_default": "0"})
    attachments_json: str = Field(sa_type=Text, sa_column_kwargs={"server_default": "[]"})


class QueuedMessageRow(Row, table=True):
    """`data_json` is a text payload as in `chunks`; the order of the queue is `ordinal`."""

    __tablename__ = "queued_messages"
    __table_args__ = (Index("idx_queued_messages_tab", "tab_id", "ordinal"),)

    ordinal: int = Field(primary_key=True)
    id: str = Field(sa_type=Text, unique=True)
    tab_id: str = Field(sa_type=Text, foreign_key="tabs.id", ondelete="CASCADE")
    data_json: str = Field(sa_type=Text)
    created_at: int


class BookmarkRow(Row, table=True):
    __tablename__ = "bookmarks"
    __table_args__ = (UniqueConstraint("tab_id", "seq"),)

    id: int = Field(primary_key=True)
    tab_id: str = Field(sa_type=Text, foreign_key="tabs.id", ondelete="CASCADE")
    seq: int
    note: str = Field(sa_type=Text)
    created_at: int


class ViewStateRow(Row, table=True):
    __tablename__ = "view_state"

    tab_id: str = Field(sa_type=Text, primary_key=True, foreign_key="tabs.id", ondelete="CASCADE")
    data_json: str = Field(sa_type=Text)
    updated_at: int


class PermissionRuleRow(Row, table=True):
    __tablename__ = "permission_rules"

    workspace_id: int = Field(primary_key=True, foreign_key="workspaces.id", ondelete="CASCADE")
    tool: str = Field(sa_type=Text, primary_key=True)
    match: str = Field(sa_type=Text, primary_key=True)
    created_at: int


class PluginRow(Row, table=True):
    __tablename__ = "plugins"

    id: str = Field(sa_type=Text, primary_key=True)
    generation: int
    grants: str = Field(sa_type=Text)


class BlobRow(Row, table=True):
    __tablename__ = "blobs"

    sha256: str = Field(sa_type=Text, primary_key=True)
    size: int
    media_type: str = Field(sa_type=Text)


class BackupRow(Row, table=True):
    __tablename__ = "backups"

    id: int = Field(primary_key=True)
    file: str = Field(sa_type=Text)
    size: int
    created_at: int
    checked_at: int | None


# The five kept tables. They may come from a legacy database, so nothing in them may be changed.


class SettingRow(Row, table=True):
    __tablename__ = "settings"

    key: str = Field(sa_type=Text, primary_key=True)
    value: str | None = Field(sa_type=Text)


class CredentialRow(Row, table=True):
    __tablename__ = "credentials"

    key_id: str = Field(sa_type=Text, primary_key=True)
    provider: str | None = Field(sa_type=Text)
    access_token: str | None = Field(sa_type=Text)
    refresh_token: str | None = Field(sa_type=Text)
    expires_at: int | None
    subscription_type: str | None = Field(sa_type=Text)
    source_file: str | None = Field(sa_type=Text)
    imported_at: int | None
    updated_at: int | None


class ApiKeyRow(Row, table=True):
    __tablename__ = "api_keys"

    key_id: str = Field(sa_type=Text, primary_key=True)
    provider: str | None = Field(sa_type=Text)
    api_key: str | None = Field(sa_type=Text)
    imported_at: int | None
    updated_at: int | None


class UsageCacheRow(Row, table=True):
    __tablename__ = "usage_cache"

    key_id: str = Field(sa_type=Text, primary_key=True)
    provider: str | None = Field(sa_type=Text)
    cached_at: int | None
    report_json: str | None = Field(sa_type=Text)


class WakeScheduleRow(Row, table=True):
    __tablename__ = "wake_schedule"

    hour: int = Field(primary_key=True)
    next_wake_at: int | None


def _table(row: type[Row]) -> Table:
    return Row.metadata.tables[str(row.__tablename__)]


PROJECTS = _table(ProjectRow)
WORKSPACES = _table(WorkspaceRow)
TABS = _table(TabRow)
SNAPSHOTS = _table(AgentSnapshotRow)
CATALOGUE_REVISION = _table(CatalogueRevisionRow)
DRAFTS = _table(DraftRow)
BLOBS = _table(BlobRow)
RULES = _table(PermissionRuleRow)
SETTINGS = _table(SettingRow)
PLUGINS = _table(PluginRow)
