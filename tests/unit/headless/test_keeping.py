"""What a person reads while a backup is made."""

import io
from collections.abc import Callable, Sequence

from desktop.headless.keeping import Progress


def _clock(times: Sequence[float]) -> Callable[[], float]:
    left = iter(times)
    return lambda: next(left)


def test_short_work_is_done_in_silence() -> None:
    out = io.StringIO()
    progress = Progress(out, _clock([0.0, 0.5, 1.9]))
    progress("copying the database", 1, 2)
    progress("copying the database", 2, 2)
    assert out.getvalue() == ""


def test_long_work_says_how_far_it_is_once_a_second() -> None:
    out = io.StringIO()
    progress = Progress(out, _clock([0.0, 2.1, 2.5, 3.2, 4.3]))
    progress("copying the database", 1_000_000, 4_000_000)
    progress("copying the database", 2_000_000, 4_000_000)
    progress("writing the archive", 3_000_000, 4_000_000)
    progress("checking the database", 0, 0)
    assert out.getvalue().splitlines() == [
        "nacre: copying the database: 25 % of 4.0 MB",
        "nacre: writing the archive: 75 % of 4.0 MB",
        "nacre: checking the database",
    ]
