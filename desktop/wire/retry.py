"""When a failed request goes out again, as numbers: no clock and no sleeping here.

Only failures that may pass are tried again, at most three times more, and a wait that a server asks
for is kept up to a minute (API §1.13, U29).
"""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from desktop.core.events import Failure

TRIES = 4
FIRST_WAIT = 0.5
LONGEST_BACK_OFF = 8.0
JITTER = 0.25


def delay(failure: Failure, attempt: int, *, jitter: float) -> float | None:
    """Seconds to wait after the `attempt`-th try (from 1) failed; None: give up.

    `jitter` is from 0 to 1 and shortens the back-off, never a wait that the server asked for.
    """
    if not failure.retryable or attempt >= TRIES:
        return None
    if failure.retry_after is not None:
        return failure.retry_after
    back_off = min(FIRST_WAIT * 2 ** (attempt - 1), LONGEST_BACK_OFF)
    return back_off * (1 - JITTER * jitter)


def asked_wait(*, milliseconds: str | None, after: str | None, now: float) -> float | None:
    """The wait in seconds of `retry-after-ms` and `retry-after` (seconds or an HTTP date).

    None where there is none that makes sense; `now` is seconds since the epoch.
    """
    short = _number(milliseconds)
    if short is not None:
        return _positive(short / 1000)
    seconds = _number(after)
    if seconds is not None:
        return _positive(seconds)
    return _until(after, now) if after else None


def _number(text: str | None) -> float | None:
    try:
        value = float(text) if text else None
    except ValueError:
        return None
    return value if value is not None and abs(value) < 1e9 else None


def _positive(seconds: float) -> float | None:
    return seconds if seconds > 0 else None


def _until(date: str, now: float) -> float | None:
    try:
        moment = parsedate_to_datetime(date)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return _positive((moment - datetime.fromtimestamp(now, UTC)).total_seconds())
