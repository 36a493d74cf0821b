"""The revisions up to this version's, carried out by Alembic. `schema` loads it when one is due."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection


def upgrade(connection: Connection, scripts: Path) -> None:
    """To the newest revision in this folder, in the transaction that the connection is in."""
    config = Config()
    config.set_main_option("script_location", str(scripts).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
