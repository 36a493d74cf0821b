"""The first schema: every table, the full-text index, and what a legacy file must give up.

A revision is frozen: it says what the schema was, whatever `tables` says today. Triggers are not
here; they are made anew after every migration (`desktop.store.triggers`).
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

# They may lie in a legacy file with rows in them, and then stay as they are (SPEC C01).
KEPT_TABLES = """
CREATE TABLE IF NOT EXISTS api_keys (
    key_id TEXT NOT NULL,
    provider TEXT,
    api_key TEXT,
    imported_at INTEGER,
    updated_at INTEGER,
    PRIMARY KEY (key_id)
);

CREATE TABLE IF NOT EXISTS credentials (
    key_id TEXT NOT NULL,
    provider TEXT,
    access_token TEXT,
    refresh_token TEXT,
    expires_at INTEGER,
    subscription_type TEXT,
    source_file TEXT,
    imported_at INTEGER,
    updated_at INTEGER,
    PRIMARY KEY (key_id)
);

CREATE TABLE IF NOT EXISTS settings (
    "key" TEXT NOT NULL,
    value TEXT,
    PRIMARY KEY ("key")
);

CREATE TABLE IF NOT EXISTS usage_cache (
    key_id TEXT NOT NULL,
    provider TEXT,
    cached_at INTEGER,
    report_json TEXT,
    PRIMARY KEY (key_id)
);

CREATE TABLE IF NOT EXISTS wake_schedule (
    hour INTEGER NOT NULL,
    next_wake_at INTEGER,
    PRIMARY KEY (hour)
)
"""

TABLES = """
CREATE TABLE backups (
    id INTEGER NOT NULL,
    file TEXT NOT NULL,
    size INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    checked_at INTEGER,
    PRIMARY KEY (id)
);

CREATE TABLE blobs (
    sha256 TEXT NOT NULL,
    size INTEGER NOT NULL,
    media_type TEXT NOT NULL,
    PRIMARY KEY (sha256)
);

CREATE TABLE catalogue_revision (
    id INTEGER NOT NULL,
    revision BIGINT NOT NULL,
    PRIMARY KEY (id),
    CONSTRAINT catalogue_revision_one_row CHECK (id = 1),
    CONSTRAINT catalogue_revision_revision CHECK (revision >= 0)
);

CREATE TABLE plugins (
    id TEXT NOT NULL,
    generation INTEGER NOT NULL,
    grants TEXT NOT NULL,
    PRIMARY KEY (id)
);

CREATE TABLE projects (
    id INTEGER NOT NULL,
    directory TEXT NOT NULL,
    display_name TEXT NOT NULL,
    kind TEXT NOT NULL,
    git_remote TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    archived_at INTEGER,
    PRIMARY KEY (id),
    CONSTRAINT projects_kind CHECK (kind IN ('git', 'directory')),
    UNIQUE (directory)
);

CREATE TABLE workspaces (
    id INTEGER NOT NULL,
    project_id INTEGER NOT NULL,
    directory TEXT NOT NULL,
    display_name TEXT NOT NULL,
    kind TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    archived_at INTEGER,
    PRIMARY KEY (id),
    CONSTRAINT workspaces_kind CHECK (kind IN ('checkout', 'worktree')),
    FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE,
    UNIQUE (directory)
);

CREATE INDEX ix_workspaces_project_id ON workspaces (project_id);

CREATE TABLE permission_rules (
    workspace_id INTEGER NOT NULL,
    tool TEXT NOT NULL,
    "match" TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, tool, "match"),
    FOREIGN KEY(workspace_id) REFERENCES workspaces (id) ON DELETE CASCADE
);

CREATE TABLE tabs (
    id TEXT NOT NULL,
    workspace_id INTEGER NOT NULL,
    title TEXT NOT NULL,
    position INTEGER NOT NULL,
    is_open INTEGER NOT NULL,
    parent_tab_id TEXT,
    forked_from TEXT,
    forked_at_seq INTEGER,
    created_at INTEGER NOT NULL,
    last_message_at INTEGER,
    archived_at INTEGER,
    trashed_at INTEGER,
    purged_at INTEGER,
    PRIMARY KEY (id),
    UNIQUE (id, workspace_id),
    CONSTRAINT tabs_is_open CHECK (is_open IN (0, 1)),
    FOREIGN KEY(workspace_id) REFERENCES workspaces (id) ON DELETE CASCADE,
    FOREIGN KEY(parent_tab_id) REFERENCES tabs (id) DEFERRABLE INITIALLY DEFERRED,
    FOREIGN KEY(forked_from) REFERENCES tabs (id) DEFERRABLE INITIALLY DEFERRED
);

CREATE INDEX ix_tabs_forked_from ON tabs (forked_from);

CREATE INDEX ix_tabs_parent_tab_id ON tabs (parent_tab_id);

CREATE INDEX ix_tabs_workspace_id ON tabs (workspace_id);

CREATE TABLE agent_snapshots (
    agent_id TEXT NOT NULL,
    workspace_id INTEGER NOT NULL,
    lifecycle TEXT NOT NULL,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    effort TEXT NOT NULL,
    permission_mode TEXT NOT NULL,
    persistence_json TEXT NOT NULL,
    attention_kind TEXT,
    attention_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (agent_id),
    FOREIGN KEY(agent_id, workspace_id) REFERENCES tabs (id, workspace_id) ON DELETE CASCADE
);

CREATE TABLE bookmarks (
    id INTEGER NOT NULL,
    tab_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    note TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (id),
    UNIQUE (tab_id, seq),
    FOREIGN KEY(tab_id) REFERENCES tabs (id) ON DELETE CASCADE
);

CREATE TABLE chunks (
    ordinal INTEGER NOT NULL,
    id TEXT NOT NULL,
    tab_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    turn_id TEXT NOT NULL,
    step INTEGER DEFAULT '0' NOT NULL,
    role TEXT NOT NULL,
    type TEXT NOT NULL,
    data_json TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    provider TEXT,
    model TEXT,
    search_text TEXT,
    PRIMARY KEY (ordinal),
    CONSTRAINT chunks_seq CHECK (seq >= 1),
    CONSTRAINT chunks_step CHECK (step >= 0),
    CONSTRAINT chunks_role CHECK (
        (type = 'text' AND role IN ('user', 'assistant'))
        OR (type IN ('thinking', 'tool_call', 'opaque') AND role = 'assistant')
        OR (type = 'tool_result' AND role = 'tool')
        OR (type = 'error' AND role IN ('assistant', 'system'))
        OR (type = 'system' AND role = 'system')
    ),
    UNIQUE (id),
    FOREIGN KEY(tab_id) REFERENCES tabs (id) ON DELETE CASCADE
);

CREATE UNIQUE INDEX idx_chunks_tab_seq ON chunks (tab_id, seq);

CREATE TABLE conversation_session_revisions (
    session_id TEXT NOT NULL,
    revision BIGINT NOT NULL,
    PRIMARY KEY (session_id),
    CONSTRAINT session_revisions_revision CHECK (revision >= 0),
    FOREIGN KEY(session_id) REFERENCES tabs (id) ON DELETE CASCADE
);

CREATE TABLE drafts (
    tab_id TEXT NOT NULL,
    text TEXT NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (tab_id),
    FOREIGN KEY(tab_id) REFERENCES tabs (id) ON DELETE CASCADE
);

CREATE TABLE leases (
    tab_id TEXT NOT NULL,
    process_id TEXT NOT NULL,
    acquired_at INTEGER NOT NULL,
    PRIMARY KEY (tab_id),
    FOREIGN KEY(tab_id) REFERENCES tabs (id) ON DELETE CASCADE
);

CREATE TABLE model_requests (
    id TEXT NOT NULL,
    tab_id TEXT NOT NULL,
    turn_id TEXT NOT NULL,
    step INTEGER NOT NULL,
    message_id TEXT,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    stop_reason TEXT,
    usage_json TEXT,
    cache_json TEXT,
    started_at INTEGER NOT NULL,
    ended_at INTEGER,
    error_json TEXT,
    PRIMARY KEY (id),
    FOREIGN KEY(tab_id) REFERENCES tabs (id) ON DELETE CASCADE
);

CREATE INDEX ix_model_requests_tab_id ON model_requests (tab_id);

CREATE TABLE queued_messages (
    ordinal INTEGER NOT NULL,
    id TEXT NOT NULL,
    tab_id TEXT NOT NULL,
    data_json TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (ordinal),
    UNIQUE (id),
    FOREIGN KEY(tab_id) REFERENCES tabs (id) ON DELETE CASCADE
);

CREATE INDEX idx_queued_messages_tab ON queued_messages (tab_id, ordinal);

CREATE TABLE view_state (
    tab_id TEXT NOT NULL,
    data_json TEXT NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (tab_id),
    FOREIGN KEY(tab_id) REFERENCES tabs (id) ON DELETE CASCADE
)
"""

# Newest first by rowid is how the index is searched. No merging while a row is appended: it is done
# when the store closes, and `crisismerge` bounds what gathers until then.
SEARCH = """
CREATE VIRTUAL TABLE chunks_search USING fts5(
    search_text, content='chunks', content_rowid='ordinal', tokenize='unicode61 remove_diacritics 2'
);

INSERT INTO chunks_search(chunks_search, rank) VALUES ('automerge', 0);

INSERT INTO chunks_search(chunks_search, rank) VALUES ('crisismerge', 64);

INSERT INTO catalogue_revision(id, revision) VALUES (1, 0)
"""


# So many columns of a legacy `tabs` are enough to know it by.
LEGACY_TABS = {"id", "key_id", "model_id", "status"}


def upgrade() -> None:
    connection = op.get_bind()
    inspector = sa.inspect(connection)
    tables = inspector.get_table_names()
    if "messages" in tables:
        connection.exec_driver_sql("DROP TABLE messages")
        connection.exec_driver_sql("DROP TABLE IF EXISTS tabs")
    elif "tabs" in tables and {one["name"] for one in inspector.get_columns("tabs")} >= LEGACY_TABS:
        connection.exec_driver_sql("DROP TABLE tabs")
    for script in (KEPT_TABLES, TABLES, SEARCH):
        for statement in script.split(";\n\n"):
            connection.exec_driver_sql(statement)
