"""A data folder has one window process: the first holds the lock, the others hand over and end.

`enter` is called before anything of the window is loaded, so a second start is over at once.
"""

import os
import time

from desktop.app.window_lock import WindowLock
from desktop.core.errors import NacreError
from desktop.core.links import Place
from desktop.paths import DataFolder

PATIENCE = 2.0  # seconds for an answer
ENDING = 6.0  # seconds for a window that says it is about to end
PAUSE = 0.05


class FrontDoor:
    """The lock of the folder, and what the person who started this process wants to see."""

    def __init__(self, folder: DataFolder, place: Place | None) -> None:
        self._folder = folder
        self.place = place
        self._lock = WindowLock(folder)

    @property
    def is_held(self) -> bool:
        """Whether this process is known to be the only one with a window on the folder."""
        return self._lock.held

    @property
    def address(self) -> str:
        """Where second starts are heard; '' where none can be told from a first."""
        from desktop.app.handing_over import address

        return address(self._folder) if self._lock.held else ""

    def enter(self, *, seconds: float = PATIENCE) -> bool:
        """True when this process is to open the window, False when another one has been told.

        Raises NacreError when another holds the lock and does not answer within these seconds: two
        would write.
        """
        if self._lock.take():
            return True
        # Only a second start pays for what it takes to talk.
        from desktop.app.handing_over import Message, address, tell

        message = Message(self.place, os.environ.get("XDG_ACTIVATION_TOKEN", "")[:256])
        where = address(self._folder)
        began = time.monotonic()
        patience = seconds
        while (left := began + patience - time.monotonic()) > 0:
            answer = tell(where, message, seconds=min(left, seconds)) if where else None
            if answer == "done":
                return False
            if answer == "ending":
                patience = ENDING
            if self._lock.take():
                return True
            time.sleep(PAUSE)
        raise NacreError(
            "Nacre is open on this data folder already, but it does not answer.",
            way_out="Wait until it does, or end it first.",
        )

    def leave(self) -> None:
        """The next start is the first one again."""
        self._lock.release()
