"""One conversation in the window: its transcript, and below it what is asked and what is written.

The page shows statuses and rows and sends commands; it never meets an agent. Its window of rows is
loaded when it comes into view and let go when it leaves it (SPEC U09).
"""

from collections.abc import Callable, Sequence
from typing import Any, assert_never

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from desktop.core.errors import NacreError
from desktop.core.model import ModelInfo
from desktop.core.permissions import Answer
from desktop.core.records import Receipt
from desktop.core.reducer import BlockOp
from desktop.core.status import TabStatus
from desktop.core.ways import Way
from desktop.ui.activity import ActivityLine
from desktop.ui.banner import Banner
from desktop.ui.bookmarking import Bookmarking
from desktop.ui.branching import Branching
from desktop.ui.completion import plugging
from desktop.ui.composer import Composer
from desktop.ui.doors import Doors
from desktop.ui.drafting import Drafting
from desktop.ui.find_bar import FindBar
from desktop.ui.finding import Finding
from desktop.ui.notice_bar import NoticeBar
from desktop.ui.page_column import lay_out
from desktop.ui.page_room import PageRoom
from desktop.ui.permission_bar import PermissionBar
from desktop.ui.place_keeping import PlaceKeeping
from desktop.ui.queue_bar import QueueBar
from desktop.ui.queue_editing import QueueEditing
from desktop.ui.quoting import quote_into
from desktop.ui.recalling import Recalling
from desktop.ui.resend_line import ResendLine
from desktop.ui.stepping import Stepping
from desktop.ui.tasks import Tasks
from desktop.ui.theme import Theme
from desktop.ui.tools_line import ToolsLine
from desktop.ui.transcript.overlay import Wish
from desktop.ui.transcript.pane import TranscriptPane
from desktop.ui.ways_bar import WaysBar


class ConversationPage(QWidget):
    """`tab_id` is fixed. `pane`, and a `composer` that was written in already, become its own.
    `open_wanted(tab_id)`: a subagent's conversation is to be shown."""

    attach_wanted = Signal(object)
    unarchive_wanted = Signal()
    open_wanted = Signal(str)

    def __init__(
        self,
        tab_id: str,
        *,
        theme: Theme,
        tasks: Tasks,
        doors: Doors,
        pane: TranscriptPane,
        now_ms: Callable[[], int],
        composer: Composer | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("conversationPage")
        self.tab_id = tab_id
        self.pane = pane
        self._tasks = tasks
        self._doors = doors
        self._sending = False
        self._dangling_shown = ""
        self._problem = ""
        self._is_gone = False
        self.archived_bar = NoticeBar(
            theme, name="archivedBar", act=self.tr("Unarchive"), closable=False, parent=self
        )
        self._recorded: set[str] = set()
        self.composer = composer or Composer(theme, self)
        self.resend_line = ResendLine(now_ms, self)
        self.permission_bar = PermissionBar(theme, doors.rule_words, self)
        self.asking_bar = NoticeBar(
            theme,
            name="askingBar",
            act=self.tr("Open"),
            closable=False,
            said_elsewhere=True,
            parent=self,
        )
        self.queue_bar = QueueBar(theme, self)
        self.activity = ActivityLine(now_ms, self)
        self.ways_bar = WaysBar(theme, self)
        self.banner = Banner(theme, self)
        self.find_bar = FindBar(theme, self)
        self.finding = Finding(
            tab_id, search=doors.search, tasks=tasks, view=pane.view, bar=self.find_bar
        )
        self.tools_line = ToolsLine(theme, self)
        self.edit_bar = NoticeBar(
            theme, name="editBar", act=self.tr("Cancel"), closable=False, parent=self
        )
        self.branching = Branching(
            tab_id,
            doors=doors,
            tasks=tasks,
            pane=pane,
            composer=self.composer,
            bar=self.edit_bar,
        )
        self.queue_edit_bar = NoticeBar(
            theme, name="queueEditBar", act=self.tr("Cancel"), closable=False, parent=self
        )
        self.queue_editing = QueueEditing(
            tab_id,
            commands=doors.commands,
            tasks=tasks,
            composer=self.composer,
            queue_bar=self.queue_bar,
            bar=self.queue_edit_bar,
        )
        self.drafting = Drafting(
            tab_id,
            catalogue=doors.catalogue,
            tasks=tasks,
            composer=self.composer,
            draft=lambda: self.queue_editing.before or self.branching.draft,
        )
        self.recalling = Recalling(tab_id, self.composer, reader=doors.reader, tasks=tasks)
        self.commanding = plugging.for_conversation(
            tab_id, self.composer, self.find_bar, doors=doors, tasks=tasks
        )
        self.stepping = Stepping(tab_id, outline=doors.outline, tasks=tasks, view=pane.view)
        self.place_keeping = PlaceKeeping(tab_id, catalogue=doors.catalogue, tasks=tasks, pane=pane)
        self.bookmarking = Bookmarking(tab_id, catalogue=doors.catalogue, tasks=tasks, pane=pane)
        self._build(theme)
        self._wire()
        self._status = TabStatus(tab_id)
        self._unsubscribe = doors.hub.subscribe(self, tab_id=tab_id)
        known = doors.hub.last_status(tab_id)
        self.status(known or doors.commands.status(tab_id))
        tasks.start(self._open(), f"open {tab_id}")

    # -- heard from the feed ------------------------------------------------------------------

    def receipt(self, receipt: Receipt) -> None:
        """What was said is heard for ↑ in the empty field."""
        self.recalling.hear(receipt)

    def live(self, tab_id: str, op: BlockOp) -> None:
        """The transcript's own scope hears these."""

    def status(self, status: TabStatus) -> None:
        """What the conversation does now. A page that was closed meanwhile shows nothing."""
        if self._is_gone:
            return
        self._status = status
        self.activity.show_status(status)
        # Once the rows have heard of it too.
        QTimer.singleShot(0, self, self._show_ways)
        self.permission_bar.show_questions(status.questions)
        self.asking_bar.say(self._asking_words(len(status.asking)))
        self.queue_bar.show_queue(status.queue, held=status.held)
        self.composer.show_running(status.phase == "running", status.stopping)
        self.composer.show_choice(status.model, status.effort, status.mode)
        self.composer.show_spent(status.spent)
        self.resend_line.show_spent(status.spent, is_running=status.phase == "running")
        self.tools_line.show_tools(status.new_tools, is_idle=status.phase == "idle")
        self.refresh_ready()
        self._show_problem(self._problem_of(status))
        if status.dangling and status.dangling != self._dangling_shown:
            self._dangling_shown = status.dangling
            if not self.composer.text():
                self.composer.set_text(status.dangling)

    def _show_ways(self) -> None:
        """Over the field while the rows don't show it, which is known once they are laid out."""
        if not self._status.ways_on or self.pane.shows(self._status):
            in_rows = self.pane.view.ways.in_sight
            self.ways_bar.show_status(self._status, in_rows=in_rows)

    def _look_for_ways(self) -> None:
        """At each frame of what streams, where there are none as a rule."""
        if self._status.ways_on:
            self._show_ways()

    def _problem_of(self, status: TabStatus) -> str:
        if not (status.problem and status.unsaved):
            return status.problem
        return self.tr("{problem} The end of this conversation is not saved yet.").format(
            problem=status.problem
        )

    def _show_problem(self, problem: str) -> None:
        """Says a problem once: who closed it does not want it again with the next status."""
        if problem == self._problem:
            return
        was, self._problem = self._problem, problem
        if problem or self.banner.message == was:
            self.banner.say(problem)

    def _asking_words(self, count: int) -> str:
        if count > 1:
            return self.tr("{count} subagents need your answer.").format(count=count)
        return self.tr("A subagent needs your answer.") if count else ""

    # -- for the window -----------------------------------------------------------------------

    def show_models(self, models: Sequence[ModelInfo]) -> None:
        self.composer.show_models(models)
        self.composer.show_choice(self._status.model, self._status.effort, self._status.mode)
        self._recorded = {info.id for info in models if info.recorded}
        self.refresh_ready()

    def show_archived(self, archived: bool) -> None:
        """An archived conversation can be read as it is; a message takes it out of the archive."""
        words = self.tr("This conversation is archived. A new message takes it out of the archive.")
        self.archived_bar.say(words if archived else "")

    def set_theme(self, theme: Theme) -> None:
        self.pane.set_theme(theme)
        self.composer.set_theme(theme)

    def enter(self) -> None:
        """The page comes into view."""
        self.pane.enter()
        self.refresh()

    def refresh(self) -> None:
        """What stands beside the rows may have changed: branches and bookmarks."""
        self.branching.refresh()
        self.bookmarking.refresh()

    def leave(self) -> None:
        """The page goes out of view; its rows are let go, its place is kept."""
        self.pane.leave()
        self.place_keeping.save()

    def close_page(self) -> None:
        """Ends everything of the page; the conversation itself goes on."""
        self._is_gone = True
        self.finding.close()
        self.queue_editing.close()
        self.branching.close()
        self.bookmarking.close()
        self._unsubscribe()
        self.leave()

    def save_draft(self) -> None:
        """Keeps what is being written, in a task."""
        self.drafting.save()

    async def keep_draft(self) -> None:
        """Keeps what is being written; raises StoreError when it can't be kept."""
        await self.drafting.keep()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc stops wherever on the page the focus is; the field has its say first."""
        if event.key() == Qt.Key.Key_Escape and not event.modifiers():
            self.escape()
            return
        super().keyPressEvent(event)

    def escape(self) -> None:
        """Esc: out of an edit; where none is, the turn stops."""
        if self.branching.editing:
            self.branching.cancel()
        elif self.queue_editing.before is not None:
            self.queue_editing.cancel()
        else:
            self.stop()

    def stop(self) -> None:
        if self._status.phase == "running":
            self._tasks.start(self._doors.commands.stop(self.tab_id), f"stop {self.tab_id}")

    @property
    def ways_on(self) -> tuple[Way, ...]:
        """What can be done about the last answer, if it did not come to its end."""
        return self._status.ways_on

    def take(self, way: Way) -> None:
        """Asks again, or for the rest of an answer that was cut; a no-op where there is none."""
        if way in self.ways_on:
            self._tasks.start(self._take_now(way), f"{way} in {self.tab_id}")

    async def _take_now(self, way: Way) -> None:
        commands = self._doors.commands
        match way:
            case "retry":
                await commands.retry(self.tab_id)
            case "go_on":
                await commands.go_on(self.tab_id)
            case _:
                assert_never(way)
        if self._is_gone:
            return
        offered, self._dangling_shown = self._dangling_shown, ""
        if offered and self.composer.text() == offered:  # it has been sent again
            self.composer.clear()
            self.save_draft()
        self.pane.follow()

    # -- doing --------------------------------------------------------------------------------

    def _take_tools(self) -> None:
        self._tasks.start(self._doors.commands.take_tools(self.tab_id), "take the new tools")

    async def _open(self) -> None:
        await self.drafting.bring_back(lambda: self._is_gone)
        if self._is_gone:
            return
        self.status(await self._doors.commands.open(self.tab_id))

    def _send(self, text: str, attachments: list[dict[str, Any]]) -> None:
        if self._sending:
            return
        self._sending = True
        self.refresh_ready()
        self._tasks.start(self._send_now(text, attachments), f"send {self.tab_id}")

    async def _send_now(self, text: str, attachments: list[dict[str, Any]]) -> None:
        """The field is emptied only once the message is durable; otherwise it keeps the text."""
        editing = self.branching.editing
        changing = self.queue_editing.before is not None and not editing
        try:
            if editing:
                await self.branching.send_edit(text, attachments)
            elif changing:
                self.banner.say(await self.queue_editing.put(text, attachments))
                return
            else:
                await self._doors.commands.send(self.tab_id, text, attachments)
        except NacreError as error:
            if self._is_gone:
                raise
            self.banner.say(str(error), error.detail)
            return
        finally:
            self._sending = False
            if not self._is_gone:
                self.refresh_ready()
        if self._is_gone:
            return
        self.banner.say("")
        offered, self._dangling_shown = self._dangling_shown, ""
        if editing:
            # What was edited is what was offered: it has been answered for.
            if offered and self.composer.text() == offered:
                self.composer.clear()
            self.save_draft()
            return
        self.composer.drop_sent(text, attachments)
        self.save_draft()
        self.pane.follow()

    def _answer(self, question_id: str, answer: Answer) -> None:
        self._tasks.start(self._doors.commands.answer(question_id, answer), "answer")
        self.composer.field.setFocus()

    def _write(self, text: str) -> None:
        self.composer.field.setFocus()
        self.composer.field.insertPlainText(text)

    def _try_now(self) -> None:
        self._tasks.start(self._doors.commands.try_now(self.tab_id), f"try now {self.tab_id}")

    def _choose(self, **choice: Any) -> None:
        self._tasks.start(self._doors.commands.choose(self.tab_id, **choice), "choose")

    def refresh_ready(self) -> None:
        """Whether a message could go out now, and why not."""
        access = self._doors.access.state()
        # A recording is played without a key.
        is_needed = self._status.model not in self._recorded
        is_missed = is_needed and not access.ready
        self.composer.show_key(
            access if is_needed and (is_missed or access.locked) else None,
            waiting=self._doors.unlocking.waiting,
        )
        if self._status.phase == "elsewhere":
            self.composer.show_ready(False, self.tr("This conversation runs in another process"))
        elif is_missed:
            self.composer.show_ready(False, self.tr("No key can be used now"))
        else:
            self.composer.show_ready(not self._sending, self.tr("Sending…"))

    # -- building -----------------------------------------------------------------------------

    def _build(self, theme: Theme) -> None:
        foot, inner = lay_out(self, theme, above=(self.banner, self.find_bar), rows=self.pane)
        now = QHBoxLayout()
        now.setSpacing(theme.space_8)
        now.addWidget(self.activity, 1)
        now.addWidget(self.ways_bar)
        inner.addLayout(now)
        for widget in (
            self.permission_bar,
            self.asking_bar,
            self.queue_bar,
            self.archived_bar,
            self.tools_line,
            self.edit_bar,
            self.queue_edit_bar,
            self.composer,
            self.resend_line,
        ):
            inner.addWidget(widget)
        PageRoom(
            self,
            theme,
            rows=self.pane.view,
            foot=foot,
            composer=self.composer,
            permission_bar=self.permission_bar,
            queue_bar=self.queue_bar,
        )

    def _wire(self) -> None:
        self.composer.send_wanted.connect(self._send)
        self.composer.stop_wanted.connect(self.escape)
        self.archived_bar.acted.connect(self.unarchive_wanted)
        self.tools_line.acted.connect(self._take_tools)
        self.composer.attach_wanted.connect(self.attach_wanted)
        self.composer.draft_changed.connect(self.save_draft)
        self.composer.model_chosen.connect(lambda model: self._choose(model=model))
        self.composer.effort_chosen.connect(lambda effort: self._choose(effort=effort))
        self.composer.mode_chosen.connect(lambda mode: self._choose(mode=mode))
        self.asking_bar.acted.connect(self._open_asking)
        self.pane.wished.connect(self._take_wish)
        self.pane.way_wanted.connect(self.take)
        self.pane.view.laid_out.connect(self._look_for_ways)
        self.ways_bar.chosen.connect(self.take)
        self.ways_bar.hurried.connect(self._try_now)
        self.ways_bar.given_up.connect(self.stop)
        self.pane.failed.connect(self.banner.say)
        self.permission_bar.answered.connect(self._answer)
        self.permission_bar.guard_over.connect(self._offer_focus)
        self.permission_bar.typed.connect(self._write)
        self.queue_bar.edit_wanted.connect(self.branching.cancel)
        self.queue_bar.edit_wanted.connect(self.queue_editing.edit)
        self.branching.edit_begins.connect(self.queue_editing.cancel)

    def _open_asking(self) -> None:
        if self._status.asking:
            self.open_wanted.emit(self._status.asking[0])

    def _take_wish(self, wish: Wish) -> None:
        if wish.act == "subagent" and wish.subagent:
            self.open_wanted.emit(wish.subagent)
        elif wish.act == "quote":
            quote_into(self.composer.field, wish.text)

    def _offer_focus(self) -> None:
        """The keys 1, 2, 3 answer once the bar has the focus; never taken from one who writes."""
        if self.isVisible() and not self.composer.text():
            self.permission_bar.setFocus()
