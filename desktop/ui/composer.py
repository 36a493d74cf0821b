"""Where the person writes, and everything about sending beside it (LOOK.md "The window").

A large paste becomes an attachment (SPEC U07). Knows nothing of agents: it emits signals.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent, QTextCursor
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QStackedLayout,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from desktop.core.drafts import Draft, units
from desktop.settings import PERMISSION_MODE
from desktop.ui import words
from desktop.ui.attached_entry import with_text
from desktop.ui.attachments import Attachments
from desktop.ui.choice_words import EFFORT_WORDS, MODE_WORDS, MODES
from desktop.ui.context_ring import ContextRing
from desktop.ui.estimate import Estimate
from desktop.ui.flow import FlowLayout, hint_at_width, least_at_width
from desktop.ui.key_line import KeyLine
from desktop.ui.message_field import MessageField
from desktop.ui.plain_text import text_of
from desktop.ui.quiet_combo import QuietCombo
from desktop.ui.theme import Theme

if TYPE_CHECKING:
    from desktop.core.access import AccessState
    from desktop.core.model import ModelInfo, Spent
    from desktop.core.permissions import PermissionMode


class Composer(QFrame):
    """The field, its attachments, and the row with model, effort, mode, context, cost and send.

    Signals carry what the person wants; `show_*` methods say what is. `key_wanted` is the line's of
    a missing key; `models_wanted` while the choice of models is looked at, `choices_changed` when
    there are others.
    """

    send_wanted = Signal(str, list)
    stop_wanted = Signal()
    attach_wanted = Signal(object)
    model_chosen = Signal(str)
    models_wanted = Signal()
    choices_changed = Signal()
    effort_chosen = Signal(str)
    mode_chosen = Signal(str)
    draft_changed = Signal()
    key_wanted = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("composerFrame")
        self._theme = theme
        self._models: tuple[ModelInfo, ...] = ()
        self._ready = False
        self._key_line: KeyLine | None = None
        # Whether a text was a command, which is carried out then and not sent.
        self.interpret: Callable[[str], bool] = lambda _: False
        self.field = MessageField(self)
        self.attached = Attachments(theme, self)
        self._build(theme)
        self._draft = QTimer(self, singleShot=True, interval=400)
        self._draft.timeout.connect(self.draft_changed)
        self._wire()
        self._fit()

    # -- what is ------------------------------------------------------------------------------

    @property
    def theme(self) -> Theme:
        return self._theme

    def text(self) -> str:
        return text_of(self.field.document())

    def set_text(self, text: str) -> None:
        """Puts a text into the field as if typed (it can be undone)."""
        cursor = self.field.textCursor()
        cursor.select(cursor.SelectionType.Document)
        cursor.insertText(text)
        self.field.moveCursor(cursor.MoveOperation.End)

    def draft(self) -> Draft:
        """All that is being written, and the place in it."""
        caret = self.field.textCursor().position()
        return Draft(self.text(), caret, tuple(self.attachments()))

    def refill(
        self, text: str, attachments: Sequence[Mapping[str, Any]], *, caret: int | None = None
    ) -> None:
        """Puts another message into the field, with its attachments; the caret at its end."""
        self.attached.clear()
        self.set_text(text)
        for one in attachments:
            self.add(dict(one))
        if caret is not None:
            self.set_caret(caret)

    def set_caret(self, caret: int) -> None:
        """The caret at a place in the text, or at its end where there is none."""
        cursor = self.field.textCursor()
        cursor.setPosition(min(caret, self.field.document().characterCount() - 1))
        self.field.setTextCursor(cursor)

    def show_editing(self, editing: bool) -> None:
        """While an earlier message is edited the button sends that, whatever runs."""
        self._editing = editing
        self._refresh()

    def attachments(self) -> list[dict[str, Any]]:
        return self.attached.entries

    def drop_sent(self, text: str, attachments: Sequence[Mapping[str, Any]]) -> None:
        """What has gone out leaves the field; what was written behind it meanwhile stays."""
        if self.text() == text and self.attachments() == list(attachments):
            self.clear()
            return
        if not self.text().startswith(text):
            return
        cursor = QTextCursor(self.field.document())
        cursor.setPosition(units(text), QTextCursor.MoveMode.KeepAnchor)
        cursor.removeSelectedText()
        self.field.document().clearUndoRedoStacks()
        self.attached.drop(attachments)

    def clear(self) -> None:
        self.field.clear()
        self.attached.clear()
        self._draft.stop()

    def attach(self, name: str, text: str) -> None:
        """Adds a text as an attachment; it is sent byte for byte."""
        self.add(with_text({"name": name, "mediaType": "text/plain", "text": ""}, text))

    def add(self, attachment: dict[str, Any]) -> None:
        """Adds an attachment as a row of the log has it, or with the bytes to be kept."""
        self.attached.add(attachment)

    def show_ready(self, ready: bool, why_not: str = "") -> None:
        """Whether a message could go out; `why_not` is the reason on the button."""
        self._ready = ready
        self._send.setToolTip(self.tr("Send (Enter)") if ready else why_not)
        self._refresh()

    def show_key(self, state: AccessState | None, *, waiting: bool) -> None:
        """Says over the field why no key can be had and what helps; None while none is missed."""
        if self._key_line is None:
            if state is None:
                return
            self._key_line = KeyLine(self._theme, self)
            self._key_line.wanted.connect(self.key_wanted)
            self._column.insertWidget(0, self._key_line)
        self._key_line.show_state(state, waiting=waiting)

    def show_running(self, running: bool, stopping: bool) -> None:
        """While a turn runs the button stops it; with a text in the field it queues that."""
        self._running = running
        self._stop.setEnabled(running and not stopping)
        self._refresh()

    def show_models(self, models: Sequence[ModelInfo]) -> None:
        self._models = tuple(models)
        chosen = self._model.currentData()
        self._model.offer(
            (info.id, info.name or info.id) for info in self._models if not info.recorded
        )
        if chosen:
            self.show_choice(chosen, self._effort.currentData() or "", self._mode.currentData())
        self.choices_changed.emit()

    def show_choice(self, model: str, effort: str, mode: str) -> None:
        """The conversation's model, effort and permission mode; a model of '' while they are not
        known, and then nothing is shown of them."""
        info = next((one for one in self._models if one.id == model), None)
        self._model.show_value(model, info.name if info else model)
        self._effort.blockSignals(True)
        self._effort.clear()
        for value in ("", *(info.efforts if info else ())):
            self._effort.addItem(EFFORT_WORDS.get(value, value), value)
        self._effort.blockSignals(False)
        self._effort.show_value(effort, effort)
        self._mode.show_value(mode, mode)
        self._is_known = bool(model)
        self._show_choices()

    def choice(self) -> tuple[str, str, PermissionMode]:
        """Model, effort and permission mode as they stand."""
        return (
            str(self._model.currentData() or ""),
            str(self._effort.currentData() or ""),
            self._mode.currentData() or "ask",
        )

    def choices(self, name: str) -> list[tuple[str, str]]:
        """What can be chosen as `model`, `effort` or `mode`: values and their words. Who asks looks
        at the choice."""
        combo = self._combos[name]
        combo.looked_at.emit()
        return [(str(combo.itemData(at)), combo.itemText(at)) for at in range(combo.count())]

    def choose(self, name: str, value: str) -> None:
        """Chooses a value of `choices` as if by the mouse."""
        combo = self._combos[name]
        combo.show_index(combo.findData(value))
        combo.activated.emit(combo.currentIndex())

    def show_low(self, is_low: bool) -> None:
        """On a low page there is a line to write in and the button; the choices are commands."""
        if is_low == self._is_low:
            return
        self._is_low = is_low
        for part in (self._ring, self._cost):
            part.setVisible(not is_low)
        self._show_choices()
        self._fit()
        self.updateGeometry()

    def _show_choices(self) -> None:
        is_shown = self._is_known and not self._is_low
        for combo in (self._model, self._mode):
            combo.setVisible(is_shown)
        self._effort.setVisible(is_shown and self._effort.count() > 1)

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        for part in (self._model, self._effort, self._mode, self._ring):
            part.set_theme(theme)

    def show_spent(self, spent: Spent) -> None:
        self._ring.show_context(spent.context, spent.window)
        cost = words.dollars(spent.dollars)
        self._cost.setText(cost)
        # Said together: a name of its own hides what stands on a label.
        self._cost.setAccessibleName(self.tr("Cost of this conversation: {cost}").format(cost=cost))
        self._cost.setToolTip(
            self.tr("{prompt} tokens read ({cached} from the cache), {output} written").format(
                prompt=words.tokens(spent.prompt),
                cached=words.tokens(spent.cache_read),
                output=words.tokens(spent.output),
            )
        )

    # -- building -----------------------------------------------------------------------------

    def _build(self, theme: Theme) -> None:
        self._is_low = False
        self._is_known = False
        self._running = False
        self._editing = False
        self._column = column = QVBoxLayout(self)
        column.setContentsMargins(theme.space_12, theme.space_8, theme.space_12, theme.space_8)
        column.setSpacing(theme.space_4)
        column.addWidget(self.attached)
        column.addWidget(self.field)
        # Where the width ends the choices go on in the next line; their words are never cut.
        row = FlowLayout(theme.space_8, last_at_end=True)
        self._attach = QToolButton(self)
        self._attach.setText("+")
        self._attach.setObjectName("attachButton")
        self._attach.setAccessibleName(self.tr("Attach files"))
        self._attach.setToolTip(self.tr("Attach files"))
        self._model = self._combo(self.tr("Model"), "modelChoice")
        self._effort = self._combo(self.tr("Effort"), "effortChoice")
        self._mode = self._combo(self.tr("Permissions"), "modeChoice")
        self._combos = {"model": self._model, "effort": self._effort, "mode": self._mode}
        for mode in MODES:
            self._mode.addItem(self.tr(MODE_WORDS[mode]), mode)
        help_of = {choice.value: choice.label for choice in PERMISSION_MODE.choices}
        for index, mode in enumerate(MODES):
            self._mode.setItemData(index, help_of[mode], Qt.ItemDataRole.ToolTipRole)
        # Nobody is shown what is not chosen: they come with the choice.
        for combo in self._combos.values():
            combo.hide()
        self._estimate = Estimate(self.field, self)
        self._ring = ContextRing(theme, self)
        self._cost = QLabel(self)
        self._cost.setObjectName("costLabel")
        self._cost.setAccessibleName(self.tr("Cost of this conversation"))
        self._send = QPushButton(self.tr("Send"), self)
        self._send.setObjectName("sendButton")
        self._send.setProperty("primary", True)
        self._stop = QPushButton(self.tr("Stop"), self)
        self._stop.setObjectName("stopButton")
        self._stop.setToolTip(self.tr("Stop (Esc)"))
        self._one_place = QStackedLayout()
        holder = QWidget(self)
        holder.setLayout(self._one_place)
        holder.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._one_place.addWidget(self._send)
        self._one_place.addWidget(self._stop)
        for widget in (self._attach, self._model, self._effort, self._mode):
            row.addWidget(widget)
        self._end = end = QWidget(self)
        ending = QHBoxLayout(end)
        ending.setContentsMargins(0, 0, 0, 0)
        ending.setSpacing(theme.space_8)
        for widget in (self._estimate, self._ring, self._cost, holder):
            ending.addWidget(widget)
        row.addWidget(end)
        column.addLayout(row)

    def _combo(self, name: str, object_name: str) -> QuietCombo:
        combo = QuietCombo(self._theme, self)
        combo.setObjectName(object_name)
        combo.setAccessibleName(name)
        combo.setToolTip(name)
        return combo

    def _wire(self) -> None:
        self.field.textChanged.connect(self._changed)
        self.field.submitted.connect(self._submit)
        self.field.stop_wanted.connect(self.stop_wanted)
        self.field.mode_cycled.connect(self._cycle_mode)
        self.field.long_paste.connect(
            lambda text: self.attach(self.attached.free_name(self.tr("Pasted text")), text)
        )
        self.field.document().documentLayout().documentSizeChanged.connect(lambda _: self._fit())
        self._send.clicked.connect(self._submit)
        self._stop.clicked.connect(self.stop_wanted)
        self._attach.clicked.connect(lambda: self.attach_wanted.emit(None))
        self.field.given.connect(self.attach_wanted)
        self.field.cursorPositionChanged.connect(self._drafted)
        self.attached.changed.connect(self._changed)
        self.attached.changed.connect(lambda: self._estimate.show_attached(self.attached.entries))
        self._model.looked_at.connect(self.models_wanted)
        self._model.activated.connect(lambda _: self.model_chosen.emit(self._model.currentData()))
        self._effort.activated.connect(
            lambda _: self.effort_chosen.emit(self._effort.currentData())
        )
        self._mode.activated.connect(lambda _: self.mode_chosen.emit(self._mode.currentData()))

    # -- what the person does -----------------------------------------------------------------

    def _submit(self) -> None:
        text = self.text()
        if not self._editing and self.interpret(text):
            return
        if not self._send.isEnabled() or not (text.strip() or self.attached.entries):
            return
        self.send_wanted.emit(text, self.attachments())

    def _changed(self) -> None:
        self._drafted()
        self._refresh()

    def _drafted(self) -> None:
        """What is written is kept soon, also of one who never pauses."""
        if not self._draft.isActive():
            self._draft.start()

    def _refresh(self) -> None:
        filled = bool(self.attached.entries) or not self.field.document().isEmpty()
        queues = self._running and not self._editing
        self._send.setText(self.tr("Queue") if queues else self.tr("Send"))
        self._send.setEnabled(self._ready and filled and not self.attached.is_reading)
        stop_shown = queues and not filled
        self._one_place.setCurrentWidget(self._stop if stop_shown else self._send)

    def _cycle_mode(self) -> None:
        following = (self._mode.currentIndex() + 1) % self._mode.count()
        self._mode.setCurrentIndex(following)
        self.mode_chosen.emit(self._mode.currentData())

    def least_with_choices(self) -> int:
        """How high it has to be at its width with all its choices, shown or not."""
        theme, hit = self._theme, self._theme.measures.hit
        parts = [self._attach, self._model, self._mode, self._end]
        if self._effort.count() > 1:
            parts.append(self._effort)
        if self._is_low:  # then they are not counted with the end
            parts += [self._ring, self._cost]
        room = self.width() - 2 * theme.space_12
        lines, left = 1, 0
        for part in parts:
            width = part.sizeHint().width()
            if left and left + width > room:
                lines, left = lines + 1, 0
            left += width + theme.space_8
        choices = lines * (max(hit, self._send.sizeHint().height()) + theme.space_8)
        attached = self.attached.minimumSizeHint().height() if self.attached.isVisible() else 0
        return self._field_height(least=2) + choices + attached + 3 * theme.space_8

    def hasHeightForWidth(self) -> bool:
        return False

    def sizeHint(self) -> QSize:
        return hint_at_width(self, self._column)

    def minimumSizeHint(self) -> QSize:
        return least_at_width(self, self._column)

    # -- size ---------------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()
        self.updateGeometry()

    def _fit(self) -> None:
        """The field is as high as its text, up to 40 % of the window."""
        self.field.setFixedHeight(self._field_height(least=1 if self._is_low else 2))

    def _field_height(self, *, least: int) -> int:
        document = self.field.document()
        line = self.field.fontMetrics().lineSpacing()
        lines = max(least, int(document.size().height()))
        margins = round(document.documentMargin() * 2) + self._theme.space_4
        window = self.window().height() or 600
        return min(lines * line + margins, int(window * 0.4))
