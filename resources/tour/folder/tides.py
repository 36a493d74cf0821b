"""When is the next high tide? A rough answer for people with a kayak."""

from datetime import datetime, timedelta

RHYTHM = timedelta(hours=12, minutes=25)


def next_high_tide(last: datetime, now: datetime) -> datetime:
    """The first high tide after `now`, counted on from one that was seen."""
    tide = last
    while tide <= now:
        tide += RHYTHM
    return tide


if __name__ == "__main__":
    seen = datetime(2026, 1, 3, 10, 40)
    print(f"High water at {next_high_tide(seen, datetime.now()):%H:%M on %d %B}")
