"""When a failed request goes out again (API §1.13, SPEC U29, FIELD F-X03)."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.core.events import Failure
from desktop.wire import failures, retry
from desktop.wire.failures import Refused

NOW = 1_800_000_000.0
HEADERS = st.one_of(st.none(), st.text(), st.floats().map(str), st.integers().map(str))


def date(seconds: float) -> str:
    return format_datetime(datetime.fromtimestamp(NOW, UTC) + timedelta(seconds=seconds), True)


@pytest.mark.parametrize(
    ("milliseconds", "after", "wait"),
    [
        (None, "7", 7),
        ("1500", "7", 1.5),
        (None, date(30), 30),
        (None, date(-30), None),
        (None, "Mon, 99 Jan 2026 99:99:99 GMT", None),
        (None, "soon", None),
        (None, "-3", None),
        (None, "0", None),
        (None, "nan", None),
        (None, "inf", None),
        ("soon", "7", 7),
        (None, None, None),
    ],
)
def test_f_x03_what_a_server_asks_for_is_understood(
    milliseconds: str | None, after: str | None, wait: float | None
) -> None:
    assert retry.asked_wait(milliseconds=milliseconds, after=after, now=NOW) == wait


@given(milliseconds=HEADERS, after=HEADERS)
def test_f_x03_whatever_stands_in_the_headers_a_wait_makes_sense(
    milliseconds: str | None, after: str | None
) -> None:
    wait = retry.asked_wait(milliseconds=milliseconds, after=after, now=NOW)
    assert wait is None or 0 < wait < float("inf")


@given(attempt=st.integers(1, retry.TRIES - 1), jitter=st.floats(0, 1))
def test_u29_the_back_off_grows_and_its_jitter_only_shortens_it(
    attempt: int, jitter: float
) -> None:
    failure = Failure("overloaded", "Busy.", retryable=True)
    wait = retry.delay(failure, attempt, jitter=jitter)
    full = retry.FIRST_WAIT * 2 ** (attempt - 1)
    assert wait is not None
    assert full * (1 - retry.JITTER) <= wait <= min(full, retry.LONGEST_BACK_OFF)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (61, "a minute"),
        (300, "5 minutes"),
        (3_600, "60 minutes"),
        (7_200, "2 hours"),
        (86_400, "24 hours"),
        (7 * 86_400, "7 days"),
    ],
)
def test_f_x03_a_wait_over_the_cap_is_not_waited_for_but_told(seconds: float, words: str) -> None:
    refused = Refused(429, "rate_limit_error", retry_after=seconds)
    failure = failures.of_answer(refused)
    assert failure.way_out == f"The server asks to wait about {words}. Try again then."
    assert retry.delay(failure, 1, jitter=0) is None
    kept = failures.of_answer(Refused(429, "rate_limit_error", retry_after=failures.LONGEST_WAIT))
    assert retry.delay(kept, 1, jitter=1) == failures.LONGEST_WAIT
