"""A draft keeps the place in its text and what is attached to it; prompts, turns and retractions
are found by indexes of what persons and the program say."""

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

COLUMNS = (
    "ALTER TABLE drafts ADD COLUMN caret INTEGER DEFAULT '0' NOT NULL",
    "ALTER TABLE drafts ADD COLUMN attachments_json TEXT DEFAULT '[]' NOT NULL",
)
INDEXES = (
    "CREATE INDEX idx_chunks_said ON chunks (tab_id, seq, turn_id)"
    " WHERE role = 'user' OR role = 'system'",
    "CREATE INDEX idx_chunks_turns ON chunks (tab_id, turn_id, seq)"
    " WHERE role = 'user' OR role = 'system'",
    "CREATE INDEX idx_chunks_retractions ON chunks (tab_id, seq)"
    " WHERE role = 'system' AND instr(data_json, '\"retracted\"')",
)


def upgrade() -> None:
    connection = op.get_bind()
    for statement in COLUMNS + INDEXES:
        connection.exec_driver_sql(statement)
