"""Keeps what is being written in one conversation, or before there is one, and brings it back
(SPEC U14).

The text and the place in it are saved often; what is attached only when it is another.
"""

from collections.abc import Callable

from desktop.core.catalogue import Catalogue
from desktop.core.drafts import Draft
from desktop.ui import attaching
from desktop.ui.composer import Composer
from desktop.ui.one_by_one import one_by_one
from desktop.ui.tasks import Tasks


class Drafting:
    """`draft` says what is to be kept: what the field holds, an edit of an earlier message aside.

    Nothing is saved before what was kept has been read.
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
        self._kept: Draft | None = None
        self._one_by_one = one_by_one("draft", tab_id)

    @property
    def is_read(self) -> bool:
        """Whether what was kept is known; before that nothing is saved."""
        return self._kept is not None

    async def bring_back(self, is_gone: Callable[[], bool]) -> None:
        """Fills the field; what the person has begun to write meanwhile stands below."""
        async with self._one_by_one:
            kept = await self._catalogue.draft(self._tab_id)
        pictures = await attaching.pictures_of(kept.attachments)
        if is_gone():
            return
        # At once: a save in between would keep half of it.
        self._kept = kept
        written, composer = self._composer.text(), self._composer
        if not written and kept.text:
            composer.set_text(kept.text)
            composer.set_caret(kept.caret)
            # What was written in another life is where this one begins.
            composer.field.document().clearUndoRedoStacks()
        elif kept.text and kept.text != written:
            composer.set_text(f"{kept.text}\n{written}")
        for one, picture in zip(kept.attachments, pictures, strict=True):
            composer.attached.add(dict(one), picture)

    def save(self) -> None:
        """Keeps what is being written, in a task."""
        # As it is now: the page may be gone when the task runs.
        self._tasks.start(self._keep(self._draft()), "save draft")

    async def keep(self) -> None:
        """Keeps what is being written; raises StoreError when it can't be kept."""
        await self._keep(self._draft())

    async def _keep(self, draft: Draft) -> None:
        if self._kept is None:
            return
        async with self._one_by_one:
            kept = self._kept
            if kept == draft:
                return
            if (draft.text, draft.caret) != (kept.text, kept.caret):
                await self._catalogue.save_draft(self._tab_id, draft.text, caret=draft.caret)
            if draft.attachments != kept.attachments:
                await self._catalogue.save_attachments(self._tab_id, draft.attachments)
            self._kept = draft
