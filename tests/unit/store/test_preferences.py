"""Settings are rows: many processes change them at once and none loses another's (FIELD F-S05)."""

import subprocess
import sys
from pathlib import Path

from tests.unit.store.builders import open_log, run

WRITER = """
import asyncio, sys, uuid
from pathlib import Path
from desktop.store.log import Log
folder, key = Path(sys.argv[1]), sys.argv[2]
log = Log.open(folder / "nacre.db", blobs=folder / "blobs", run=folder / "run",
               new_id=lambda: uuid.uuid4().hex, now_ms=lambda: 1, busy_ms=20_000)
async def main():
    for n in range(int(sys.argv[3])):
        await log.catalogue.save_setting(key, str(n))
    await log.close()
asyncio.run(main())
"""
CHANGES = 100


def test_f_s05_five_processes_change_settings_and_every_one_is_kept(tmp_path: Path) -> None:
    keys = [f"key-{number}" for number in range(5)]
    with open_log(tmp_path, busy_ms=20_000) as log:
        run(log.catalogue.save_setting("mine", "stays"))
        writers = [
            subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), key, str(CHANGES)])
            for key in keys
        ]
        last = dict.fromkeys(keys, -1)
        while any(one.poll() is None for one in writers):
            found = run(log.catalogue.settings())
            assert found["mine"] == "stays"
            now = {key: int(found.get(key, -1)) for key in keys}
            assert all(now[key] >= last[key] for key in keys)
            last = now
        assert [one.wait() for one in writers] == [0] * 5
        assert run(log.catalogue.settings()) == {
            "mine": "stays",
            **dict.fromkeys(keys, str(CHANGES - 1)),
        }
