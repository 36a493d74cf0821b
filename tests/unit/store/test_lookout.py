"""What another process did is told from what this one wrote, and who works where (SPEC U16)."""

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from desktop.core.status import Elsewhere
from tests.unit.store.builders import chunk, new_tab, open_log, run

HOLDER = """
import asyncio, sys
from pathlib import Path
from desktop.store.log import Log
folder, tab = Path(sys.argv[1]), sys.argv[2]
log = Log.open(folder / "nacre.db", blobs=folder / "blobs", run=folder / "run",
               new_id=lambda: "of-the-holder", now_ms=lambda: 7)
async def main():
    await log.session(tab).acquire_lease()
    print("held", flush=True)
    sys.stdin.readline()
    await log.close()
asyncio.run(main())
"""


def rename(folder: Path, title: str) -> None:
    """By plain SQL, as any other program could."""
    with closing(sqlite3.connect(folder / "nacre.db")) as plain, plain:
        plain.execute("UPDATE tabs SET title = ?", (title,))


def test_ones_own_writes_move_nothing_and_what_others_commit_does(tmp_path: Path) -> None:
    with open_log(tmp_path) as log:
        tab = new_tab(log, tmp_path)
        before = run(log.lookout.moved())
        run(log.session(tab).append([chunk("one")]))
        run(log.catalogue.name_tab(tab, "mine"))
        assert run(log.lookout.moved()) == before
        rename(tmp_path, "theirs")
        moved = run(log.lookout.moved())
        assert moved != before
        assert run(log.lookout.moved()) == moved


def test_what_others_commit_between_ones_own_writes_is_not_missed(tmp_path: Path) -> None:
    with open_log(tmp_path) as log:
        tab = new_tab(log, tmp_path)
        before = run(log.lookout.moved())
        rename(tmp_path, "theirs")
        run(log.session(tab).append([chunk("one")]))
        assert run(log.lookout.moved()) != before


def test_it_can_be_asked_while_another_program_keeps_the_write_lock(tmp_path: Path) -> None:
    with open_log(tmp_path) as log, closing(sqlite3.connect(tmp_path / "nacre.db")) as other:
        before = run(log.lookout.moved())
        other.execute("BEGIN IMMEDIATE")
        assert run(log.lookout.moved()) == before
        other.execute("ROLLBACK")


def test_a_log_that_is_only_read_hears_of_others_too(tmp_path: Path) -> None:
    with open_log(tmp_path) as made:
        tab = new_tab(made, tmp_path)
        with open_log(tmp_path, read_only=True, prefix="b") as log:
            before = run(log.lookout.moved())
            run(made.session(tab).append([chunk("one")]))
            assert run(log.lookout.moved()) != before
            assert run(log.lookout.look([tab])).revisions == {tab: 1}


def test_one_look_finds_the_revisions_that_were_asked_for_and_the_catalogues(
    tmp_path: Path,
) -> None:
    with open_log(tmp_path) as log:
        first, second = new_tab(log, tmp_path), new_tab(log, tmp_path)
        run(log.session(first).append([chunk("one")]))
        run(log.session(first).append([chunk("two")]))
        sight = run(log.lookout.look([first, "nobody's"]))
        assert sight.revisions == {first: 2}
        assert sight.catalogue == run(log.catalogue.revision())
        assert run(log.lookout.look([second])).revisions == {second: 0}


def test_who_works_elsewhere_is_seen_until_the_lease_is_given_back(tmp_path: Path) -> None:
    with open_log(tmp_path) as log, open_log(tmp_path, prefix="b", now_ms=lambda: 7) as other:
        tab = new_tab(log, tmp_path)
        run(log.session(tab).acquire_lease())
        assert run(log.lookout.look([])).elsewhere == {}
        run(log.session(tab).release_lease())
        run(other.session(tab).acquire_lease())
        (found,) = run(log.lookout.look([])).elsewhere.items()
        assert found == (tab, Elsewhere(f"{os.getpid()}-b-1", 7))
        run(other.session(tab).release_lease())
        assert run(log.lookout.look([])).elsewhere == {}


@pytest.mark.skipif(sys.platform == "win32", reason="kills as Unix does")
def test_c15_a_process_that_was_killed_works_nowhere(tmp_path: Path) -> None:
    with open_log(tmp_path) as log:
        tab = new_tab(log, tmp_path)
        process = subprocess.Popen(
            [sys.executable, "-c", HOLDER, str(tmp_path), tab],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert process.stdout is not None
        process.stdout.readline()
        holder = f"{process.pid}-of-the-holder"
        assert run(log.lookout.look([])).elsewhere == {tab: Elsewhere(holder, 7)}
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        assert run(log.lookout.look([])).elsewhere == {}
