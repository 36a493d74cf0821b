"""A draft keeps the place in its text, and what is attached to it."""

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

COLUMNS = (
    "ALTER TABLE drafts ADD COLUMN caret INTEGER DEFAULT '0' NOT NULL",
    "ALTER TABLE drafts ADD COLUMN attachments_json TEXT DEFAULT '[]' NOT NULL",
)


def upgrade() -> None:
    connection = op.get_bind()
    for statement in COLUMNS:
        connection.exec_driver_sql(statement)
