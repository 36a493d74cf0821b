"""Indexes of what persons and the program say: prompts, turns and retractions are found by them."""

from alembic import op

revision = "0002"
down_revision = "0001"

INDEXES = """
CREATE INDEX idx_chunks_said ON chunks (tab_id, seq, turn_id)
    WHERE role = 'user' OR role = 'system';

CREATE INDEX idx_chunks_turns ON chunks (tab_id, turn_id, seq)
    WHERE role = 'user' OR role = 'system';

CREATE INDEX idx_chunks_retractions ON chunks (tab_id, seq)
    WHERE role = 'system' AND instr(data_json, '"retracted"')
"""


def upgrade() -> None:
    connection = op.get_bind()
    for statement in INDEXES.split(";\n\n"):
        connection.exec_driver_sql(statement)
