"""Throws a conversation away and purges it, or goes on with that: `purger DATA_FOLDER TAB`."""

import asyncio
import sys
from pathlib import Path

from desktop.headless.opening import open_log
from desktop.paths import DataFolder


async def main(data: str, tab: str) -> None:
    log = open_log(DataFolder(Path(data)))
    try:
        print("open", flush=True)
        if any(one.id == tab for one in (await log.catalogue.view()).tabs):
            await log.catalogue.trash_tab(tab)
        await log.catalogue.purge_tab(tab)
        print("purged", flush=True)
    finally:
        await log.close()


asyncio.run(main(sys.argv[1], sys.argv[2]))
