"""Edit, regenerate, fork and switch in one conversation's page (SPEC S13, U19).

Nothing here changes what was said: an answered message that is edited goes on in a fork, which
takes the conversation's place in the strip. What stood in the field is kept beside an edit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, assert_never

from PySide6.QtCore import QObject, Signal

from desktop.core.chunks import LogChunk, Text
from desktop.core.drafts import Draft
from desktop.ui.composer import Composer
from desktop.ui.doors import Doors
from desktop.ui.notice_bar import NoticeBar
from desktop.ui.tasks import Tasks
from desktop.ui.transcript.acts import Point, is_prompt
from desktop.ui.transcript.overlay import Wish
from desktop.ui.transcript.pane import TranscriptPane

_LOOKED_BACK = 256


@dataclass(frozen=True, slots=True)
class Editing:
    """The message that is being edited, and what stood in the field before."""

    prompt: LogChunk
    draft: Draft


class Branching(QObject):
    """`moved(tab_id, ViewState)`: that conversation takes this one's place, at that place in it.
    `forked(tab_id)`: it stands beside. `working(bool)` around what makes a fork.
    `edit_begins` before the field is another's, `editing_changed` when an edit begins or ends."""

    moved = Signal(str, object)
    forked = Signal(str)
    working = Signal(bool)
    edit_begins = Signal()
    editing_changed = Signal()

    def __init__(
        self,
        tab_id: str,
        *,
        doors: Doors,
        tasks: Tasks,
        pane: TranscriptPane,
        composer: Composer,
        bar: NoticeBar,
    ) -> None:
        # Of no widget: what is on its way when the page is closed ends as it should.
        super().__init__()
        self._tab_id = tab_id
        self._doors = doors
        self._tasks = tasks
        self._pane = pane
        self._composer = composer
        self._bar = bar
        self._editing: Editing | None = None
        self._is_gone = False
        pane.wished.connect(self._wish)
        pane.branch_wanted.connect(self._switch)
        bar.acted.connect(self.cancel)
        bar.dismissed.connect(self.cancel)

    # -- what is ------------------------------------------------------------------------------

    @property
    def editing(self) -> bool:
        return self._editing is not None

    @property
    def draft(self) -> Draft:
        """What the field holds of the conversation itself, an edit aside."""
        return self._editing.draft if self._editing is not None else self._composer.draft()

    def refresh(self) -> None:
        """Branches may have come or gone."""
        self._tasks.start(self._read(), f"branches of {self._tab_id}")

    async def _read(self) -> None:
        branches = await self._doors.catalogue.branches(self._tab_id)
        if not self._is_gone:
            self._pane.view.show_branches(branches)

    def close(self) -> None:
        """The page is left for good: an edit ends, what is on its way is not shown."""
        self.cancel()
        self._is_gone = True

    # -- editing ------------------------------------------------------------------------------

    def edit(self, prompt: LogChunk) -> None:
        """Opens the message in the field. What stood there comes back at the end."""
        if not isinstance(prompt.data, Text):
            return
        self.edit_begins.emit()
        composer = self._composer
        self._editing = Editing(prompt, self.draft)
        composer.refill(prompt.data.text, prompt.data.attachments)
        composer.show_editing(True)
        self._bar.say(self.tr("Editing an earlier message. What was said after it is kept."))
        composer.field.setFocus()
        self.editing_changed.emit()

    def cancel(self) -> None:
        """Ends the edit; the field is as it was before."""
        editing, self._editing = self._editing, None
        if editing is None:
            return
        self._bar.say("")
        self._composer.show_editing(False)
        draft = editing.draft
        self._composer.refill(draft.text, draft.attachments, caret=draft.caret)
        self._composer.field.setFocus()
        self.editing_changed.emit()

    async def send_edit(self, text: str, attachments: Sequence[dict[str, Any]]) -> None:
        """Sends the edited message. Raises NacreError; then the edit stays in the field."""
        editing = self._editing
        assert editing is not None
        self.working.emit(True)
        try:
            tab_id = await self._doors.commands.edit(
                self._tab_id, editing.prompt.id, text, attachments
            )
            if not self._is_gone:
                self.cancel()
            self._go(tab_id, editing.prompt.seq)
        finally:
            self.working.emit(False)

    # -- regenerate, fork, switch -------------------------------------------------------------

    def _wish(self, wish: Wish) -> None:
        match wish.act:
            case "edit":
                if wish.prompt is not None:
                    self.edit(wish.prompt)
            case "regenerate":
                self._tasks.start(self._regenerate(wish), f"regenerate in {self._tab_id}")
            case "fork":
                self._tasks.start(self._fork(wish.seq), f"fork {self._tab_id}")
            case "copy" | "subagent" | "quote" | "bookmark":
                pass
            case _:
                assert_never(wish.act)

    async def _regenerate(self, wish: Wish) -> None:
        prompt = wish.prompt or await self._prompt_before(wish.seq)
        if prompt is None:
            return
        self.working.emit(True)
        try:
            tab_id = await self._doors.commands.regenerate(self._tab_id, prompt.id)
            self._go(tab_id, prompt.seq)
        finally:
            self.working.emit(False)

    async def _prompt_before(self, seq: int) -> LogChunk | None:
        """The prompt of an answer that is longer than what is loaded."""
        has_older = True
        while has_older:
            page = await self._doors.reader.page(self._tab_id, limit=_LOOKED_BACK, before=seq)
            for row in reversed(page.rows):
                if isinstance(row, LogChunk) and is_prompt(row):
                    return row
            has_older = page.has_older and bool(page.rows)
            seq = page.rows[0].seq if page.rows else 0
        return None

    async def _fork(self, seq: int) -> None:
        self.working.emit(True)
        try:
            self.forked.emit(await self._doors.commands.fork(self._tab_id, at_seq=seq))
        finally:
            self.working.emit(False)

    def _switch(self, point: Point, tab_id: str) -> None:
        self._go(tab_id, point.seq)

    def _go(self, tab_id: str, seq: int) -> None:
        """To where another conversation parts from this one; that place stays on the screen."""
        if self._is_gone:
            return
        if tab_id == self._tab_id:
            self._pane.follow()
            return
        self.cancel()
        self.moved.emit(tab_id, self._pane.view.state_at(seq))
