"""What the database itself refuses and counts, whoever writes (DESIGN.md §4).

Three families: the log is append-only, revisions move with the data, the full-text index follows
the log. They use built-in functions only, so that any SQLite client keeps the promises. All are
dropped before a migration and made again after it from here.
"""

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection

_REFUSALS = {
    "chunks_no_update": """
        BEFORE UPDATE ON chunks BEGIN
            SELECT RAISE(ABORT, 'a sealed chunk is never rewritten');
        END""",
    # REPLACE would delete the old row first, without the trigger that refuses it.
    "chunks_no_replace": """
        BEFORE INSERT ON chunks
        WHEN EXISTS (SELECT 1 FROM chunks WHERE id = NEW.id)
          OR EXISTS (SELECT 1 FROM chunks WHERE tab_id = NEW.tab_id AND seq = NEW.seq)
          OR EXISTS (SELECT 1 FROM chunks WHERE ordinal = NEW.ordinal)
        BEGIN
            SELECT RAISE(ABORT, 'a sealed chunk is never replaced');
        END""",
    "chunks_no_delete": """
        BEFORE DELETE ON chunks
        WHEN EXISTS (SELECT 1 FROM tabs WHERE id = OLD.tab_id AND purged_at IS NULL)
        BEGIN
            SELECT RAISE(ABORT, 'a chunk goes only with its tab');
        END""",
    # REPLACE of these would cascade conversations away.
    "projects_no_replace": """
        BEFORE INSERT ON projects
        WHEN EXISTS (SELECT 1 FROM projects WHERE id = NEW.id OR directory = NEW.directory)
        BEGIN
            SELECT RAISE(ABORT, 'a project is never replaced');
        END""",
    "workspaces_no_replace": """
        BEFORE INSERT ON workspaces
        WHEN EXISTS (SELECT 1 FROM workspaces WHERE id = NEW.id OR directory = NEW.directory)
        BEGIN
            SELECT RAISE(ABORT, 'a workspace is never replaced');
        END""",
    "tabs_no_replace": """
        BEFORE INSERT ON tabs WHEN EXISTS (SELECT 1 FROM tabs WHERE id = NEW.id)
        BEGIN
            SELECT RAISE(ABORT, 'a tab is never replaced');
        END""",
}

_SEARCH = {
    "chunks_search_insert": """
        AFTER INSERT ON chunks WHEN NEW.search_text IS NOT NULL BEGIN
            INSERT INTO chunks_search(rowid, search_text) VALUES (NEW.ordinal, NEW.search_text);
        END""",
    "chunks_search_delete": """
        AFTER DELETE ON chunks WHEN OLD.search_text IS NOT NULL BEGIN
            INSERT INTO chunks_search(chunks_search, rowid, search_text)
            VALUES ('delete', OLD.ordinal, OLD.search_text);
        END""",
}

# A change that changes nothing moves no revision (SPEC R01), so the columns are compared.
_REQUEST_COLUMNS = (
    "id tab_id turn_id step message_id provider model stop_reason usage_json cache_json"
    " started_at ended_at error_json"
)
_CATALOGUE_COLUMNS = {
    "projects": "id directory display_name kind git_remote created_at updated_at archived_at",
    "workspaces": "id project_id directory display_name kind created_at updated_at archived_at",
    "tabs": (
        "id workspace_id title position is_open parent_tab_id forked_from forked_at_seq created_at"
        " last_message_at archived_at trashed_at purged_at"
    ),
    "agent_snapshots": (
        "agent_id workspace_id lifecycle provider model effort permission_mode persistence_json"
        " attention_kind attention_at created_at updated_at"
    ),
}


def _differs(columns: str) -> str:
    old = ", ".join(f"OLD.{column}" for column in columns.split())
    new = ", ".join(f"NEW.{column}" for column in columns.split())
    return f"({old}) IS NOT ({new})"


def _count(row: str) -> str:
    """One more for the row's tab; nothing where the tab is gone (a cascade).

    Not an upsert: the conflict clause of the statement outside would override the one inside.
    """
    return f"""
            INSERT INTO conversation_session_revisions(session_id, revision)
            SELECT id, 0 FROM tabs WHERE id = {row}.tab_id AND NOT EXISTS
                (SELECT 1 FROM conversation_session_revisions WHERE session_id = {row}.tab_id);
            UPDATE conversation_session_revisions SET revision = revision + 1
            WHERE session_id = {row}.tab_id;"""


def _revisions() -> dict[str, str]:
    found = {
        "chunks_revision_insert": f"AFTER INSERT ON chunks BEGIN {_count('NEW')} END",
        "chunks_revision_delete": f"AFTER DELETE ON chunks BEGIN {_count('OLD')} END",
        "requests_revision_insert": f"AFTER INSERT ON model_requests BEGIN {_count('NEW')} END",
        "requests_revision_update": (
            f"AFTER UPDATE ON model_requests WHEN {_differs(_REQUEST_COLUMNS)}"
            f" BEGIN {_count('NEW')} END"
        ),
        "requests_revision_move": (
            "AFTER UPDATE ON model_requests WHEN OLD.tab_id IS NOT NEW.tab_id"
            f" BEGIN {_count('OLD')} END"
        ),
    }
    for table, columns in _CATALOGUE_COLUMNS.items():
        count = "BEGIN UPDATE catalogue_revision SET revision = revision + 1; END"
        found[f"{table}_revision_insert"] = f"AFTER INSERT ON {table} {count}"
        found[f"{table}_revision_delete"] = f"AFTER DELETE ON {table} {count}"
        found[f"{table}_revision_update"] = (
            f"AFTER UPDATE ON {table} WHEN {_differs(columns)} {count}"
        )
    return found


def temporary() -> Sequence[str]:
    """What notes in `temp.touched` each row of the catalogue for which the revision counts."""
    found = ["CREATE TEMP TABLE touched(kind TEXT NOT NULL, id NOT NULL)"]
    for table, columns in _CATALOGUE_COLUMNS.items():
        key = columns.split()[0]
        for event, row, when in (
            ("INSERT", "NEW", ""),
            ("DELETE", "OLD", ""),
            ("UPDATE", "NEW", f"WHEN {_differs(columns)}"),
        ):
            found.append(
                f"CREATE TEMP TRIGGER {table}_touched_{event.lower()} AFTER {event} ON main.{table}"
                f" {when} BEGIN INSERT INTO touched VALUES ('{table}', {row}.{key}); END"
            )
    return found


TRIGGERS: Mapping[str, str] = {**_REFUSALS, **_SEARCH, **_revisions()}


_ON_TABLES = frozenset({"chunks", "model_requests", *_CATALOGUE_COLUMNS})


def drop_all(connection: Connection) -> None:
    """Every trigger on these tables goes, of whatever version; those on kept tables stay."""
    found = connection.exec_driver_sql(
        "SELECT name, tbl_name FROM sqlite_master WHERE type = 'trigger'"
    )
    for name, table in found.all():
        if table in _ON_TABLES:
            quoted = str(name).replace('"', '""')
            connection.exec_driver_sql(f'DROP TRIGGER "{quoted}"')


def create_all(connection: Connection) -> None:
    for name, body in TRIGGERS.items():
        connection.exec_driver_sql(f"CREATE TRIGGER {name} {body}")
