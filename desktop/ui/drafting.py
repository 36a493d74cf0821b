"""Keeps what is being written in one conversation, or before there is one, and brings it back
(SPEC U14).

The text and the place in it are saved often; what is attached only when it is another.
"""

from collections.abc import Callable
from dataclasses import replace

from desktop.core.catalogue import Catalogue
from desktop.core.drafts import Draft, units
from desktop.ui import attaching
from desktop.ui.composer import Composer
from desktop.ui.one_by_one import one_by_one
from desktop.ui.tasks import Tasks


class Drafting:
    """`draft` says what is to be kept: what the field holds, an edit of an earlier message aside.

    What was kept before is in front of all that is written until it stands in the field too.
    """

    def __init__(
        self,
        tab_id: str,
        *,
        catalogue: Catalogue,
        tasks: Tasks,
        composer: Composer,
        draft: Callable[[], Draft],
    ) -> None:
        self._tab_id = tab_id
        self._catalogue = catalogue
        self._tasks = tasks
        self._composer = composer
        self._draft = draft
        # What was kept when this began, and what is kept now; None before it was read.
        self._found: Draft | None = None
        self._kept: Draft | None = None
        self.is_read = False
        """Whether what was kept stands in the field."""

    async def bring_back(self, is_gone: Callable[[], bool]) -> None:
        """Fills the field; what the person has begun to write meanwhile stands below."""
        async with one_by_one("draft", self._tab_id):
            found = await self._find()
        pictures = await attaching.pictures_of(found.attachments)
        if is_gone():
            return
        # At once: a save in between would keep half of it.
        self.is_read = True
        composer = self._composer
        written = Draft(composer.text())
        whole = _joined(found, written)
        if whole.text != written.text:
            composer.set_text(whole.text)
        if not written.text and found.text:
            composer.set_caret(found.caret)
            # What was written in another life is where this one begins.
            composer.field.document().clearUndoRedoStacks()
        for one, picture in zip(found.attachments, pictures, strict=True):
            composer.attached.add(dict(one), picture)

    def save(self) -> None:
        """Keeps what is being written, in a task."""
        # As it is now: the page may be gone when the task runs.
        self._tasks.start(self._keep(self._draft(), is_whole=self.is_read), "save draft")

    async def keep(self) -> None:
        """Keeps what is being written; raises StoreError when it can't be kept."""
        await self._keep(self._draft(), is_whole=self.is_read)

    async def _find(self) -> Draft:
        if self._found is None:
            self._found = self._kept = await self._catalogue.draft(self._tab_id)
        return self._found

    async def _keep(self, draft: Draft, *, is_whole: bool) -> None:
        async with one_by_one("draft", self._tab_id):
            found = await self._find()
            draft = draft if is_whole else _joined(found, draft)
            kept = self._kept or found
            if kept == draft:
                return
            if (draft.text, draft.caret) != (kept.text, kept.caret):
                await self._catalogue.save_draft(self._tab_id, draft.text, caret=draft.caret)
            if draft.attachments != kept.attachments:
                await self._catalogue.save_attachments(self._tab_id, draft.attachments)
            self._kept = draft


def _joined(found: Draft, written: Draft) -> Draft:
    """What was kept, and below it what was written before that was known."""
    attachments = (*found.attachments, *written.attachments)
    if not written.text:
        return replace(found, attachments=attachments)
    if not found.text or found.text == written.text:
        return replace(written, attachments=attachments)
    before = f"{found.text}\n"
    caret = units(before) + written.caret
    return Draft(before + written.text, caret, attachments)
