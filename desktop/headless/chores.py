"""What is done to the log beside the agents' work: its file is looked over once, and it is tidied
in idle moments."""

import logging
from collections.abc import Callable
from functools import partial
from pathlib import Path

from desktop.core.errors import StoreError
from desktop.feed.timing import Start
from desktop.headless.rounds import Later
from desktop.store.upkeep import Upkeep

_LOG = logging.getLogger(__name__)

# After the start, so that the first pages are not read in competition with the whole file.
FILE_CHECK_SECONDS = 10.0
# Steps that each hold the writer for some 10 to 30 ms.
TIDY_SECONDS = 180.0
TIDY_STEP_SECONDS = 2.0


class FileCheck:
    """Whether the database is whole; `report` gets a sentence where it is not."""

    def __init__(self, upkeep: Upkeep, database: Path, *, report: Callable[[str], None]) -> None:
        self._upkeep = upkeep
        self._database = database
        self._report = report

    def watch(self, later: Later, start: Start) -> None:
        """Looks once."""
        later(FILE_CHECK_SECONDS, partial(self._begin, start))

    def _begin(self, start: Start) -> None:
        start(self.look(), "check the file")

    async def look(self) -> None:
        """Has SQLite look over the file; closing the log ends it."""
        try:
            found = await self._upkeep.check()
        except StoreError as error:
            _LOG.info("The file was not checked to its end: %s", error)
            return
        if found:
            _LOG.error("The quick check of the file found %d faults", len(found))
            self._report(
                f"{self._database} is damaged ({found[0]}). What can be read is shown."
                " Make a copy of the data folder now; `nacre doctor` says more, and"
                " `nacre restore` brings a backup back into an empty folder."
            )


class Tidying:
    """Tidies the log step by step while no turn runs, for as long as something is to do."""

    def __init__(
        self, upkeep: Upkeep, *, is_busy: Callable[[], bool], later: Later, start: Start
    ) -> None:
        self._upkeep = upkeep
        self._is_busy = is_busy
        self._later = later
        self._start = start

    def begin_in(self, seconds: float = TIDY_SECONDS) -> None:
        """The first step, so many seconds from now."""
        self._later(seconds, self._begin)

    def _begin(self) -> None:
        if self._is_busy() or not self._upkeep.is_untidy:
            self.begin_in(TIDY_SECONDS)
        else:
            self._start(self._tidy(), "tidy the log")

    async def _tidy(self) -> None:
        """A step; the next one soon, while there is more to do."""
        try:
            has_more = await self._upkeep.tidy()
        except StoreError:
            has_more = False
        self.begin_in(TIDY_STEP_SECONDS if has_more else TIDY_SECONDS)
