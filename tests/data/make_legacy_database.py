"""Makes a legacy data folder: its database, its obsolete journal, all that is odd in such files.

    python tests/data/make_legacy_database.py DIR [--messages N] [--huge N]

Everything is a function of the arguments. `SECRETS` are the plaintexts that no file may hold in
the end; each begins with `canary-`, so that one search finds them all.
"""

import argparse
import random
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

MEGABYTE = 1024 * 1024
KEPT = ("settings", "usage_cache", "wake_schedule", "credentials", "api_keys")
SECRET_COLUMNS = {("credentials", 2), ("credentials", 3), ("api_keys", 2)}
JOURNAL = (
    "conversation_session_streams",
    "conversation_session_events",
    "conversation_message_versions",
    "conversation_turn_versions",
    "conversation_journal_meta",
)
JOURNAL_FILES = ("session-events.sqlite", "session-events.sqlite-wal", "session-events.sqlite-shm")
OTHER_HOST_FILES = ("conversation-token.key", "session-events.sqlite.bak", "approvals/one.json")
CANARY = b"canary-"

TABLES = """
CREATE TABLE messages(id TEXT PRIMARY KEY, tab_id TEXT, seq INTEGER, role TEXT,
    content_json TEXT, created_at INTEGER);
CREATE TABLE tabs(id TEXT PRIMARY KEY, title TEXT, key_id TEXT, model_id TEXT, parent_tab_id TEXT,
    status TEXT, is_open INTEGER, position INTEGER, created_at INTEGER, updated_at INTEGER);
CREATE TABLE settings(key TEXT PRIMARY KEY, value TEXT);
CREATE TABLE usage_cache(key_id TEXT PRIMARY KEY, provider TEXT, cached_at INTEGER,
    report_json TEXT);
CREATE TABLE wake_schedule(hour INTEGER PRIMARY KEY, next_wake_at INTEGER);
CREATE TABLE credentials(key_id TEXT PRIMARY KEY, provider TEXT, access_token TEXT,
    refresh_token TEXT, expires_at INTEGER, subscription_type TEXT, source_file TEXT,
    imported_at INTEGER, updated_at INTEGER);
CREATE TABLE api_keys(key_id TEXT PRIMARY KEY, provider TEXT, api_key TEXT, imported_at INTEGER,
    updated_at INTEGER);
CREATE INDEX messages_of_tab ON messages(tab_id, seq);
"""

# What nobody promised: a column, indexes and triggers that only this installation has.
ADDITIONS = """
ALTER TABLE settings ADD COLUMN note;
CREATE INDEX keys_by_provider ON api_keys(provider, api_key);
CREATE UNIQUE INDEX one_token ON credentials(access_token);
CREATE TABLE attachments(id INTEGER PRIMARY KEY, message_id TEXT REFERENCES messages(id),
    file TEXT);
CREATE TABLE audit(what TEXT, old TEXT);
CREATE TRIGGER touch_key AFTER UPDATE ON api_keys BEGIN
    UPDATE api_keys SET updated_at = updated_at + 1000 WHERE key_id IS NEW.key_id;
    INSERT INTO audit VALUES('api_keys', OLD.api_key);
END;
CREATE TRIGGER only_says AFTER UPDATE ON settings WHEN OLD.key = 'never' BEGIN
    INSERT INTO audit VALUES('delete from conversation_session_events', NULL);
    -- update conversation_journal_meta
END;
"""

JOURNAL_TABLES = """
CREATE TABLE conversation_session_streams(session_id TEXT PRIMARY KEY REFERENCES tabs(id),
    head INTEGER NOT NULL);
CREATE TABLE conversation_session_events(id INTEGER PRIMARY KEY, session_id TEXT, payload TEXT);
CREATE TABLE conversation_message_versions(message_id TEXT REFERENCES messages(id), version INTEGER,
    body TEXT, PRIMARY KEY(message_id, version)) WITHOUT ROWID;
CREATE TABLE conversation_turn_versions(turn_id TEXT, version INTEGER);
CREATE TABLE conversation_journal_meta(key TEXT PRIMARY KEY, value);
CREATE INDEX events_of_session ON conversation_session_events(session_id);
"""

JOURNAL_TRIGGERS = {
    "journal_message": """AFTER INSERT ON messages BEGIN
        INSERT INTO conversation_session_events(session_id, payload)
        VALUES(NEW.tab_id, NEW.content_json);
    END""",
    "journal_setting": """AFTER UPDATE ON settings BEGIN
        INSERT OR REPLACE INTO conversation_journal_meta VALUES(NEW.key, NEW.value);
    END""",
    "journal_key": """AFTER UPDATE OF api_key ON api_keys BEGIN
        INSERT INTO "conversation_session_events"(payload) VALUES(OLD.api_key);
    END""",
    "journal_forget": """BEFORE DELETE ON credentials BEGIN
        DELETE /* all of them */ FROM [conversation_turn_versions] WHERE turn_id = OLD.key_id;
    END""",
    "journal_wake": """AFTER INSERT ON wake_schedule BEGIN
        UPDATE OR IGNORE `Conversation_Session_Streams` SET head = head + 1;
    END""",
}

_LONE_SURROGATE = b"canary-\xed\xa0\x80-not-utf-8"
_NO_TEXTS = (b"key-\xed\xa0\x80", b"\xff\xfe")
_ODD = b"canary-\xc3\x28-as-text"
_LONG = "canary-long-" + "x" * 5000

# In the order of the columns.
API_KEYS: tuple[tuple[object, ...], ...] = (
    ("work", "anthropic", "canary-key-work", 1_700_000_000_000, 1_700_000_500_000),
    ("old", "anthropic", "canary-key-old", 1_600_000_000_000, 1_600_000_000_000),
    ("other", "somebody", "canary-key-other", 5, None),
    ("unused", "anthropic", None, None, None),
    ("empty", "anthropic", "", None, None),
    ("moved", "anthropic", "keyring:moved-before", 1, 2),
    ("Schlüssel 🐚", "anthropic", "canary-key with spaces", -5, -(2**63)),
    (None, None, "canary-key-nobody", None, "yesterday"),
    (None, "anthropic", "canary-key-nobody-2\nline", 2**63 - 1, 3.5),
    (b"\xff\x00raw", b"anthropic", _LONE_SURROGATE, b"", ""),
    ("nul", "", "canary-key-with-\0-inside", 0, 0),
    ("k" * 300, "anthropic", _LONG, 0, 0),
)

CREDENTIALS: tuple[tuple[object, ...], ...] = (
    ("me", "anthropic", "canary-access-me", "canary-refresh-me", 1, "max", "/home/me/x", 2, 3),
    ("half", "anthropic", "canary-access-half", None, None, None, None, None, None),
    ("none", "anthropic", None, "", 2**62, "", "\ud800".encode("utf-8", "surrogatepass"), 0, 0),
    ("blob", None, b"canary-access-blob", b"canary-\x00\x01\xfe", "soon", 7, 8.25, "x", b"y"),
)


def _secrets() -> Iterator[bytes]:
    for row in (*API_KEYS, *CREDENTIALS):
        for value in row[2:4]:
            text = value.encode() if isinstance(value, str) else value
            if isinstance(text, bytes) and text.startswith(CANARY):
                yield text


SECRETS = (*_secrets(), _ODD)


def make(folder: Path, *, messages: int = 3000, huge: int = 2, journal: bool = True) -> Path:
    """A whole legacy folder; the path of its database, which lies in rollback mode."""
    folder.mkdir(parents=True, exist_ok=True)
    database = folder / "nacre.db"
    with closing(sqlite3.connect(database)) as plain:
        # As a program would leave it that never cared: old pages keep what was in them.
        plain.execute("PRAGMA secure_delete=OFF")
        plain.executescript(TABLES + ADDITIONS)
        if journal:
            plain.executescript(JOURNAL_TABLES)
            for name, body in JOURNAL_TRIGGERS.items():
                plain.execute(f"CREATE TRIGGER {name} {body}")
        _fill(plain, messages=messages, huge=huge)
        _leave_old_pages(plain)
        plain.commit()
    if journal:
        make_host(folder)
    return database


def make_host(folder: Path) -> None:
    """The journal's files and what else lies beside them. None of them is a database."""
    host = folder / ".host"
    for name in (*JOURNAL_FILES, *OTHER_HOST_FILES):
        (host / name).parent.mkdir(parents=True, exist_ok=True)
        (host / name).write_bytes(f"not to be opened: {name}".encode())


def rows(database: Path) -> dict[str, list[tuple[object, ...]]]:
    """The five kept tables: each value as its type and its bytes, whatever it is."""
    with closing(sqlite3.connect(database)) as plain:
        plain.text_factory = bytes
        found: dict[str, list[tuple[object, ...]]] = {}
        for table in KEPT:
            columns = [row[1].decode() for row in plain.execute(f"PRAGMA table_info({table})")]
            each = ", ".join(f"typeof({one}), CAST({one} AS BLOB)" for one in columns)
            found[table] = plain.execute(f"SELECT rowid, {each} FROM {table} ORDER BY 1").fetchall()
        return found


def without_secrets(
    found: Mapping[str, list[tuple[object, ...]]],
) -> dict[str, list[tuple[object, ...]]]:
    """The same without the secret columns, the only ones that may ever change."""
    return {
        table: [
            tuple(
                value
                for place, value in enumerate(row)
                if (table, (place - 1) // 2) not in SECRET_COLUMNS or place == 0
            )
            for row in table_rows
        ]
        for table, table_rows in found.items()
    }


def _fill(plain: sqlite3.Connection, *, messages: int, huge: int) -> None:
    plain.executemany(
        "INSERT INTO tabs VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (f"tab-{n}", f"Tab {n} 🐚", "work", "model", None, "idle", n % 2, n, n, n)
            for n in range(max(1, messages // 50))
        ],
    )
    plain.executemany(
        "INSERT INTO messages VALUES(?, ?, ?, ?, ?, ?)",
        [
            (f"m-{n}", f"tab-{n // 50}", n % 50, "user", f'[{{"text": "message {n}"}}]', n)
            for n in range(messages)
        ],
    )
    for n in range(huge):
        plain.execute(
            "INSERT INTO messages VALUES(?, 'tab-0', ?, 'tool', ?, 0)",
            (f"huge-{n}", 1000 + n, chr(97 + n) * 10 * MEGABYTE),
        )
    plain.execute("INSERT INTO attachments VALUES(1, 'm-0', 'a.png'), (2, 'gone', 'b.png')")
    plain.executemany(
        "INSERT INTO settings(key, value, note) VALUES(?, ?, ?)",
        _settings(MEGABYTE if huge else 5_000),
    )
    # Texts that are none: what a program wrote that never looked at its bytes.
    plain.execute("INSERT INTO settings VALUES(CAST(? AS TEXT), CAST(? AS TEXT), NULL)", _NO_TEXTS)
    plain.executemany("INSERT INTO api_keys VALUES(?, ?, ?, ?, ?)", API_KEYS)
    plain.execute("INSERT INTO api_keys(key_id, api_key) VALUES('odd', CAST(? AS TEXT))", (_ODD,))
    plain.executemany("INSERT INTO credentials VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)", CREDENTIALS)
    chance = random.Random(1)
    plain.executemany(
        "INSERT INTO usage_cache VALUES(?, ?, ?, ?)",
        [(f"k-{n}", "p", chance.randrange(2**60), f'{{"n": {n}}}') for n in range(1500)],
    )
    plain.executemany(
        "INSERT INTO wake_schedule VALUES(?, ?)",
        [(-(2**63), None), (7, 2**63 - 1), (8, "not a time"), (9, b"\x00\xff"), (10, 1.5)],
    )
    plain.execute("UPDATE settings SET value = value WHERE key = 'theme'")  # fires a trigger


def _settings(size: int) -> Iterator[tuple[object, ...]]:
    yield "theme", "dark", None
    yield "empty", "", b"note"
    yield "nothing", None, 1
    yield None, "a row without a key", 2
    yield None, "another", 3
    yield "", "an empty key", 4
    yield "unicode", "grüße 日本 🐚 \u0000 after NUL", 5
    yield "bytes", b"\x00\xff\xfe", 6
    yield "number", 12345678901234567890.5, 7
    yield "negative", -(2**63), 8
    yield "huge", "h" * size, 9
    yield b"blob key", "x", 10
    for n in range(1000):
        yield f"key-{n}", f"value {n}", None


def _leave_old_pages(plain: sqlite3.Connection) -> None:
    """A key that was replaced and one that was deleted, whose bytes are still in the file."""
    plain.execute(
        "INSERT INTO usage_cache VALUES('big', 'p', 1, ?)", ("canary-in-old-pages " * 5000,)
    )
    plain.execute("INSERT INTO api_keys VALUES('gone', 'p', 'canary-key-deleted', 1, 1)")
    plain.commit()
    plain.execute("DELETE FROM usage_cache WHERE key_id = 'big'")
    plain.execute("DELETE FROM api_keys WHERE key_id = 'gone'")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--messages", type=int, default=3000)
    parser.add_argument("--huge", type=int, default=2, help="messages of 10 MB")
    arguments = parser.parse_args()
    print(make(arguments.folder, messages=arguments.messages, huge=arguments.huge))


if __name__ == "__main__":
    main()
