"""Several turns of one conversation with a queue, in a process without a window.

`python -m tests.bench.drivers.talker DATA_FOLDER TAB TEXT…`: lets the queue go that an earlier
process left, sends every text while the turn of the one before runs, waits until all is done. It
prints what `nacre run --json` prints, and `{"event": "sent", "text"}` once a text is durable.
"""

import asyncio
import json
import sys
from pathlib import Path

from desktop.core.errors import NacreError
from desktop.diagnostics import LogFile, Redaction
from desktop.headless.opening import prepared
from desktop.headless.printing import printer_for
from desktop.headless.runtime import start
from desktop.paths import DataFolder


async def main(data: str, tab: str, texts: list[str]) -> None:
    folder = DataFolder(Path(data))
    prepared(folder)
    redaction = Redaction()
    log_file = LogFile(folder.logs, redaction)
    runtime = await start(folder, redaction=redaction, has_person=False)
    try:
        await runtime.find_key()
        unsubscribe = runtime.hub.subscribe(printer_for(as_json=True), tab_id=tab)
        await runtime.commands.open(tab)
        await runtime.commands.choose(tab, mode="auto")
        await runtime.commands.release_queue(tab)
        for text in texts:
            await runtime.commands.send(tab, text)
            print(json.dumps({"event": "sent", "text": text}), flush=True)
        await runtime.until_idle()
        unsubscribe()
    finally:
        await runtime.close()
        log_file.close()


try:
    asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
except NacreError as error:
    sys.exit(f"nacre: {error}")
