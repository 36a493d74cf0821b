"""When a scheduled backup is due, and when the last good one is too old."""

import pytest

from desktop.core.backups import DAY_MS, BackupNotes, KeptBackup, due_since, is_stale

NOW = 1_700_000_000_000


def _noted(at: int | None) -> BackupNotes:
    return BackupNotes(scheduled_at=at)


@pytest.mark.parametrize(
    ("notes", "interval", "since"),
    [
        (_noted(None), "daily", NOW),
        (_noted(NOW - DAY_MS + 1), "daily", None),
        (_noted(NOW - DAY_MS), "daily", NOW),
        (_noted(NOW - 3 * DAY_MS), "daily", NOW - 2 * DAY_MS),
        (_noted(NOW - 3 * DAY_MS), "weekly", None),
        (_noted(NOW - 8 * DAY_MS), "weekly", NOW - DAY_MS),
        (_noted(NOW + DAY_MS), "daily", NOW),  # made while the clock was wrong
        (_noted(None), "off", None),
        (BackupNotes(is_empty=True), "daily", None),
    ],
)
def test_when_a_scheduled_backup_is_due(
    notes: BackupNotes, interval: str, since: int | None
) -> None:
    assert due_since(notes, interval, NOW) == since


def test_the_last_good_one_is_too_old_after_three_intervals() -> None:
    """SPEC U17"""
    last = KeptBackup("b.zip", 1, NOW)
    assert not is_stale(last, "daily", NOW + 3 * DAY_MS)
    assert is_stale(last, "daily", NOW + 3 * DAY_MS + 1)
    assert not is_stale(last, "weekly", NOW + 20 * DAY_MS)
    assert not is_stale(last, "off", NOW + 900 * DAY_MS)
    assert not is_stale(None, "daily", NOW)
