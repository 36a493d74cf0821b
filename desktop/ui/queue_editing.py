"""What the person does with the messages that wait: change one, take it back, put them in another
order, let them go.

One that is changed in the field stays in the queue, which is kept back meanwhile: it is there after
a crash (SPEC C05, C06). What stood in the field is kept beside it and comes back at the end.
"""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QObject

from desktop.core.commands import Commands
from desktop.core.drafts import Draft
from desktop.ui.composer import Composer
from desktop.ui.notice_bar import NoticeBar
from desktop.ui.queue_bar import QueueBar
from desktop.ui.tasks import Tasks


class QueueEditing(QObject):
    """Joins the queue, the line that says what is edited, and the field."""

    def __init__(
        self,
        tab_id: str,
        *,
        commands: Commands,
        tasks: Tasks,
        composer: Composer,
        queue_bar: QueueBar,
        bar: NoticeBar,
    ) -> None:
        # Of no widget: an edit that is given up with its page still lets the queue go.
        super().__init__()
        self._tab_id = tab_id
        self._commands = commands
        self._tasks = tasks
        self._composer = composer
        self._queue_bar = queue_bar
        self._bar = bar
        self._message_id = ""
        self._before: Draft | None = None
        self._is_gone = False
        queue_bar.taken_back.connect(self._take_back)
        queue_bar.ordered.connect(self._order)
        queue_bar.released.connect(self._release)
        bar.acted.connect(self.cancel)
        bar.dismissed.connect(self.cancel)

    @property
    def before(self) -> Draft | None:
        """What stood in the field before; None while no message is edited."""
        return self._before

    def edit(self, message_id: str) -> None:
        self.cancel()
        self._tasks.start(self._begin(message_id), f"edit a waiting message of {self._tab_id}")

    async def _begin(self, message_id: str) -> None:
        message = await self._commands.edit_queued(self._tab_id, message_id)
        if message is None:
            return
        if self._is_gone:
            await self._commands.put_queued(self._tab_id, message_id)
            return
        self._before, self._message_id = self._composer.draft(), message_id
        self._composer.refill(message.text, message.attachments)
        self._queue_bar.show_edited(message_id)
        self._bar.say(self.tr("Changing a message that waits. Nothing goes out meanwhile."))
        self._composer.field.setFocus()

    def cancel(self) -> None:
        """The message stays as it was."""
        message_id = self._leave()
        if message_id:
            self._tasks.start(
                self._commands.put_queued(self._tab_id, message_id), "leave a waiting message"
            )

    async def put(self, text: str, attachments: Sequence[Mapping[str, object]]) -> str:
        """Keeps the changed message; '' or a sentence where it had gone out, and then the text is
        in the field still. Raises NacreError: the edit goes on."""
        message_id = self._message_id
        is_there = await self._commands.put_queued(self._tab_id, message_id, text, attachments)
        if self._is_gone or self._message_id != message_id:
            return ""
        written = self._composer.draft()
        self._leave()
        if is_there:
            return ""
        self._add(written.text, written.attachments)
        return self.tr("That message has gone out already. What you wrote is in the field.")

    def _take_back(self, message_id: str) -> None:
        self._tasks.start(self._take_back_now(message_id), "take back")

    async def _take_back_now(self, message_id: str) -> None:
        message = await self._commands.cancel_queued(self._tab_id, message_id)
        if message is not None:
            self._add(message.text, message.attachments)

    def _add(self, text: str, attachments: Sequence[Mapping[str, object]]) -> None:
        """Below what stands in the field."""
        written = self._composer.text()
        self._composer.set_text(f"{written}\n{text}" if written else text)
        for one in attachments:
            self._composer.add(dict(one))

    def _order(self, message_ids: Sequence[str]) -> None:
        self._tasks.start(self._order_now(message_ids), "put what waits in another order")

    async def _order_now(self, message_ids: Sequence[str]) -> None:
        try:
            await self._commands.order_queued(self._tab_id, message_ids)
        finally:
            if not self._is_gone:
                self._queue_bar.settle(message_ids)

    def _release(self) -> None:
        self._tasks.start(self._commands.release_queue(self._tab_id), "release queue")

    def close(self) -> None:
        """The page is left for good."""
        self.cancel()
        self._is_gone = True

    def _leave(self) -> str:
        """The field as it was before; the message that was edited."""
        message_id, before = self._message_id, self._before
        self._message_id, self._before = "", None
        if before is not None:
            self._bar.say("")
            self._queue_bar.show_edited("")
            self._composer.refill(before.text, before.attachments, caret=before.caret)
            self._composer.field.setFocus()
        return message_id
