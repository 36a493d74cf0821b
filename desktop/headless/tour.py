"""The tour: a recorded conversation that works in a folder of its own, for a first look."""

import asyncio
import shutil
from pathlib import Path

from desktop import paths
from desktop.core.catalogue import Catalogue
from desktop.core.commands import Commands
from desktop.wire.replay import MODEL

TITLE = "Tour (a recording)"
QUESTION = "Show me around."


async def begin(folder: Path, catalogue: Catalogue, commands: Commands) -> str:
    """Asks the recording in a fresh copy of the sample, made at `folder`; the conversation's id."""
    await asyncio.to_thread(_copy_sample, folder)
    workspace = await catalogue.open_workspace(folder)
    tab = await catalogue.create_tab(workspace.id, title=TITLE)
    await commands.choose(tab.id, model=MODEL)
    await commands.send(tab.id, QUESTION)
    return tab.id


def _copy_sample(target: Path) -> None:
    shutil.copytree(paths.resources() / "tour" / "folder", target, dirs_exist_ok=True)
