"""Keeps other programs of the person from reading the keys that this process holds.

On Linux every process of a user can read another one's environment and memory, so a command that
runs without a sandbox could read `ANTHROPIC_API_KEY` out of `/proc`. A process that says it is not
to be dumped is closed to them, and leaves no core file. What it starts is open again.
"""

import ctypes
import logging
import sys

_PR_SET_DUMPABLE = 4

_log = logging.getLogger(__name__)


def close_this_process() -> bool:
    """Whether it is closed now. Elsewhere than on Linux the system itself guards it, or nothing.

    The window calls it once it is painted: a desktop's portal looks into a process when it first
    hears of it (for dark and light), and refuses one that it can't look into.
    """
    if sys.platform != "linux":
        return False
    try:
        done = ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0) == 0
    except (OSError, AttributeError) as error:
        _log.warning("this process can't be closed to others: %s", error)
        return False
    if not done:
        _log.warning("this process can't be closed to others: error %s", ctypes.get_errno())
    return done
