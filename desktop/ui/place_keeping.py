"""Keeps where one conversation is read, across tabs and starts of the program (SPEC U11, U37).

Saved when the conversation is left, and while it is read a while after the place has changed: who
scrolls writes once, who reads writes nothing. A place that can't be kept is nobody's trouble.
"""

import logging
from dataclasses import replace

from PySide6.QtCore import QObject, QTimer

from desktop.core.catalogue import Catalogue
from desktop.core.errors import NacreError
from desktop.core.records import ViewState
from desktop.ui.one_by_one import one_by_one
from desktop.ui.tasks import Tasks
from desktop.ui.transcript.pane import TranscriptPane

SAVE_MS = 2_000
MOST_FOLDS = 256

_LOG = logging.getLogger(__name__)


class PlaceKeeping(QObject):
    """The place is read when the pane is entered first, and never saved before that."""

    def __init__(
        self, tab_id: str, *, catalogue: Catalogue, tasks: Tasks, pane: TranscriptPane
    ) -> None:
        # Of no widget: what is on its way when the page is closed ends as it should.
        super().__init__()
        self._tab_id = tab_id
        self._catalogue = catalogue
        self._tasks = tasks
        self._pane = pane
        self._kept: ViewState | None = None
        self._timer = QTimer(self, singleShot=True, interval=SAVE_MS)
        self._timer.timeout.connect(self.save)
        pane.recall_with(self._recall)
        pane.view.laid_out.connect(self._changed)

    @property
    def due(self) -> bool:
        """Whether something is going to be saved."""
        return self._timer.isActive()

    def save(self) -> None:
        """Keeps the place, in a task."""
        self._timer.stop()
        # As it is now: the page may be gone when the task runs.
        self._tasks.start(self._keep(self._pane.state), f"keep the place in {self._tab_id}")

    async def keep(self) -> None:
        """Keeps the place; returns when it is kept."""
        await self._keep(self._pane.state)

    def _changed(self) -> None:
        # What streams is laid out with every frame: for who follows it is one place.
        is_end = self._kept is not None and self._kept.following and self._pane.view.following
        if not self._timer.isActive() and not is_end and self._pane.loaded:
            self._timer.start()

    async def _recall(self) -> ViewState:
        try:
            async with one_by_one("place", self._tab_id):
                state = await self._catalogue.view_state(self._tab_id)
        except NacreError as error:
            _LOG.warning("the place in a conversation could not be read: %s", error)
            return ViewState()
        self._kept = state
        return state

    async def _keep(self, state: ViewState | None) -> None:
        async with one_by_one("place", self._tab_id):
            if state is None or (state := _kept_of(state)) == self._kept:
                return
            try:
                await self._catalogue.save_view_state(self._tab_id, state)
            except NacreError as error:
                _LOG.warning("the place in a conversation could not be kept: %s", error)
                return
            self._kept = state


def _kept_of(state: ViewState) -> ViewState:
    """What of a place is worth keeping: the end is the end, whatever row stands there."""
    folds = state.folds[-MOST_FOLDS:]
    return ViewState(folds=folds) if state.following else replace(state, folds=folds)
