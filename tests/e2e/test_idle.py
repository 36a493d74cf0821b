"""A window that is left alone does nothing (SPEC U05)."""

from pathlib import Path

import pytest

from tests.bench import _homes
from tests.bench.first_paint import started


@pytest.mark.timeout(300)
def test_u05_with_twenty_tabs_nothing_is_painted_and_no_timer_is_faster_than_a_second(
    tmp_path: Path,
) -> None:
    with _homes.full(tmp_path / "home", conversations=40, rows=60) as home:
        found = started("nacre_idle", home, "6", "shown").report
    assert found["pages"] == _homes.TABS
    assert found["paints"] == []
    assert {name: period for name, period in found["timers"].items() if period < 1} == {}
