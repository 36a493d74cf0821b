"""What a person can do about an answer that was cut; the rule is in `agent/ways`."""

from typing import Literal

Way = Literal["retry", "go_on"]
WAYS: tuple[Way, ...] = ("retry", "go_on")
