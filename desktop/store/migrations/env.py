"""Alembic's environment: it runs inside the transaction that `desktop.store.schema` holds open.

For a new revision: `alembic revision` with this folder as `script_location`; `tables` is what the
schema is compared with.
"""

from alembic import context

from desktop.store.tables import Row

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Row.metadata,
)
context.run_migrations()
