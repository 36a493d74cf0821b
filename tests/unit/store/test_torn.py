"""A write-ahead log that is cut or damaged anywhere costs its last commits and nothing else."""

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from desktop.core.chunks import Text
from desktop.store.checkpoints import STEP_BYTES
from tests.unit.store.builders import chunk, new_tab, open_log, run

ROWS = 16
DAMAGES = 12
PAGE = 4096


def cut(content: bytes, dice: random.Random) -> bytes:
    """The tail was never written."""
    return content[: dice.randrange(len(content))]


def nulls_at_the_end(content: bytes, dice: random.Random) -> bytes:
    """The file has grown, its last pages were not written."""
    lost = PAGE * dice.randrange(1, 12)
    return content[:-lost] + b"\0" * lost


def a_page_of_nulls(content: bytes, dice: random.Random) -> bytes:
    """Written out of order: what comes after the hole is worth nothing."""
    start = dice.randrange(32, len(content) - PAGE)
    return content[:start] + b"\0" * PAGE + content[start + PAGE :]


def one_bit(content: bytes, dice: random.Random) -> bytes:
    place = dice.randrange(len(content))
    return content[:place] + bytes([content[place] ^ 1 << dice.randrange(8)]) + content[place + 1 :]


@pytest.mark.parametrize("damage", [cut, nulls_at_the_end, a_page_of_nulls, one_bit])
def test_f_s02_whatever_is_torn_the_rows_before_it_are_there_and_it_goes_on(
    tmp_path: Path, damage: Callable[[bytes, random.Random], bytes]
) -> None:
    """FIELD F-S02 a, c, SPEC C15: what is left is whole rows from the first one on, no gap."""
    whole = tmp_path / "whole"
    whole.mkdir()
    with open_log(whole) as log:
        tab = new_tab(log, whole)
    with open_log(whole, prefix="b") as log:
        written = [
            run(log.session(tab).append([chunk(f"c{n}", Text(f"{n} " * (n % 7) * 100))])).chunks[0]
            for n in range(ROWS)
        ]
        for end in ("", "-wal"):
            shutil.copy(whole / f"nacre.db{end}", tmp_path)
    content = (tmp_path / "nacre.db-wal").read_bytes()
    # Nothing of it has been folded in: SQLite syncs it before, so such a part is never torn.
    assert ROWS * PAGE < len(content) < STEP_BYTES
    dice = random.Random(damage.__name__)
    for number in range(DAMAGES):
        folder = tmp_path / str(number)
        folder.mkdir()
        shutil.copy(tmp_path / "nacre.db", folder)
        (folder / "nacre.db-wal").write_bytes(damage(content, dice))
        with open_log(folder, prefix="c") as torn:
            rows = run(torn.reader.page(tab, limit=2 * ROWS)).rows
            assert list(rows) == written[: len(rows)]
            assert run(torn.doctor())["ok"]
            assert run(torn.session(tab).append([chunk("on")])).chunks[0].seq == len(rows) + 1
