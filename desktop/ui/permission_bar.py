"""The question before an act, above the composer; never a dialog (LOOK.md, SPEC U30, U31).

It names the act in a sentence and shows exactly what would run, with invisible characters made
visible. For half a second after it appeared, and after its window came to the front, nothing is
answered; it takes the focus from nobody who writes; no button is
a default; "always" shows its rule before it is kept and waits until all of a long act was seen.
A circle is asked about in the same place: let it go on, stop it, or tell it something (U27).
In a low window the words scroll; the buttons stand.
"""

from collections.abc import Callable, Sequence
from typing import assert_never

from PySide6.QtCore import QEvent, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from desktop.core.permissions import Act, Answer, Circle, Question
from desktop.ui.act_text import ActText
from desktop.ui.cards import say
from desktop.ui.flow import FlowLayout, hint_at_width, least_at_width
from desktop.ui.giving_way import GivingWay
from desktop.ui.theme import Theme
from desktop.ui.visible import visible

GUARD_MS = 500
_WITH_OTHERS = (
    Qt.KeyboardModifier.ControlModifier
    | Qt.KeyboardModifier.AltModifier
    | Qt.KeyboardModifier.MetaModifier
)


class PermissionBar(QFrame):
    """Shows the first open question of one conversation. `answered(question_id, Answer)`;
    `typed(text)`: a letter that answers nothing, for the field below."""

    answered = Signal(str, object)
    typed = Signal(str)
    guard_over = Signal()

    def __init__(
        self, theme: Theme, rule_words: Callable[[str, str], str], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("permissionBar")
        self.setProperty("rings", "inside")
        self.setAccessibleName(self.tr("Permission"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._theme = theme
        self._rule_words = rule_words
        self._question: Question | None = None
        self._seen_all = False
        self._is_new = False
        self._guard = QTimer(self, singleShot=True, interval=GUARD_MS)
        self._guard.timeout.connect(self._end_guard)
        self._build(theme)
        self.hide()

    def hasHeightForWidth(self) -> bool:
        return False

    def sizeHint(self) -> QSize:
        return hint_at_width(self, self._column)

    def minimumSizeHint(self) -> QSize:
        """Down to the buttons and some lines of what is said."""
        return least_at_width(self, self._column)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.updateGeometry()

    # -- what is ------------------------------------------------------------------------------

    def show_questions(self, questions: Sequence[Question]) -> None:
        """The first one is asked; the count says how many wait."""
        if not questions:
            self._question = None
            self._guard.stop()
            self.hide()
            return
        self._count.setText(
            self.tr("1 of {count}").format(count=len(questions)) if len(questions) > 1 else ""
        )
        if self._question is not None and self._question.id == questions[0].id:
            return
        self._ask(questions[0])

    def show_room(self, height: int) -> None:
        """How high the page is: the words take no more than a good part of it."""
        self._words.show_room(height)

    @property
    def question(self) -> Question | None:
        return self._question

    @property
    def guarded(self) -> bool:
        """Whether the half second still runs after it appeared or its window came to the front."""
        return self._guard.isActive()

    # -- asking -------------------------------------------------------------------------------

    def _ask(self, question: Question) -> None:
        about = question.about
        self._question = question
        sentence = visible(about.sentence)
        say(self._sentence, sentence)
        self.setAccessibleDescription(sentence)
        self._drop_rule()
        self._why.clear()
        match about:
            case Act():
                self._dress_for_act(about)
            case Circle():
                self._dress_for_circle()
            case _:
                assert_never(about)
        is_diff = isinstance(about, Act) and about.detail_kind == "diff"
        self._detail.show_act(visible(about.detail), is_diff=is_diff)
        self._seen_all = False
        self._is_new = True
        for button in self._buttons:
            button.setEnabled(False)
        self.show()
        self._guard.start()

    def changeEvent(self, event: QEvent) -> None:
        """A click that brings the window to the front is no answer, wherever it lands."""
        super().changeEvent(event)
        came = event.type() == QEvent.Type.ActivationChange and self.isActiveWindow()
        if came and self._question is not None:
            self._guard.start()

    def _dress_for_act(self, act: Act) -> None:
        self.setAccessibleName(self.tr("Permission"))
        facts = self._facts(act)
        say(self._where, facts)
        self._where.setToolTip(act.caution)
        self._where.setAccessibleDescription(act.caution)
        self._allow.setText(self.tr("Allow once  1"))
        self._always.setVisible(bool(act.offer))
        self._deny.setText(self.tr("Deny  3"))
        self._deny_now_button.setText(self.tr("Deny"))
        self._why.setPlaceholderText(self.tr("What should the agent do instead? (may stay empty)"))
        self._deny_row.hide()
        self._note_words()

    def _dress_for_circle(self) -> None:
        self.setAccessibleName(self.tr("The agent runs in circles"))
        self._where.hide()
        self._allow.setText(self.tr("Let it go on  1"))
        self._always.hide()
        self._deny.setText(self.tr("Stop it  3"))
        self._deny_now_button.setText(self.tr("Tell it"))
        self._why.setPlaceholderText(self.tr("What should the agent do instead?"))
        self._deny_row.show()
        self._note_words()

    def _is_about_circle(self) -> bool:
        return self._question is not None and isinstance(self._question.about, Circle)

    def _note_words(self) -> None:
        """A denial may go without words; to tell the agent nothing is no answer."""
        told = bool(self._why.text().strip()) or not self._is_about_circle()
        self._deny_now_button.setEnabled(told)

    def _facts(self, act: Act) -> str:
        facts: list[str] = []
        if act.where:
            facts.append(
                self.tr("in {place}").format(place=visible(act.where))
                if act.kind == "execute"
                else visible(act.where)
            )
        if act.outside:
            facts.append(self.tr("outside the conversation's folder"))
        if act.confined:
            facts.append(self.tr("in a sandbox"))
        elif act.caution:
            facts.append(self.tr("without a sandbox"))
        if act.kind == "execute":
            facts.append(
                self.tr("may write {places}").format(
                    places=", ".join(visible(one) for one in act.writes if one)
                )
                if any(act.writes)
                else self.tr("may write anywhere you can")
            )
            facts.append(self._network_words(confined=act.confined, network=act.network))
        return " · ".join(facts)

    def _network_words(self, *, confined: bool, network: bool) -> str:
        """Who has the network reaches what listens on this computer too, the display included."""
        if not network:
            return self.tr("no network")
        if confined:
            return self.tr("may use the network and what listens on this computer")
        return self.tr("may use the network")

    def _end_guard(self) -> None:
        if self._question is None:
            return
        self._allow.setEnabled(True)
        self._deny.setEnabled(True)
        self._note_scroll()
        if self._is_new:
            self._is_new = False
            self.guard_over.emit()

    def _note_scroll(self) -> None:
        bar = self._detail.verticalScrollBar()
        is_all = bar.value() >= bar.maximum() and self._words.is_at_end
        self._seen_all = self._seen_all or is_all
        self._always.setEnabled(self._seen_all and not self.guarded)
        self._always.setToolTip(
            "" if self._seen_all else self.tr("Scroll to the end of what would run first")
        )

    def _note_room(self) -> None:
        """A window made higher may show all of it; before the guard is over nothing is laid out."""
        if not self.guarded:
            self._note_scroll()

    # -- answering ----------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.modifiers() & _WITH_OTHERS:
            super().keyPressEvent(event)
            return
        wanted = {Qt.Key.Key_1: self._allow, Qt.Key.Key_2: self._always, Qt.Key.Key_3: self._deny}
        button = wanted.get(Qt.Key(event.key()))
        if button is not None:
            if button.isEnabled() and button.isVisible():
                button.click()
        elif event.text().isprintable() and event.text().strip():
            # Who begins to write means the agent: a 1 in what they write must allow nothing.
            self.typed.emit(event.text())
        else:
            super().keyPressEvent(event)

    def _answer(self, answer: Answer) -> None:
        if self._question is None or self.guarded:
            return
        question, self._question = self._question, None
        self.hide()
        self.answered.emit(question.id, answer)

    def _show_rule(self) -> None:
        if self._question is None:
            return
        act = self._question.about
        if not isinstance(act, Act):
            return
        say(
            self._rule,
            self.tr("From now on, without asking in this folder: {rule}").format(
                rule=visible(self._rule_words(act.tool, act.offer))
            ),
        )
        self._deny_row.hide()
        self._rule_row.show()
        self._words.show_part(self._rule)

    def _drop_rule(self) -> None:
        self._rule.hide()
        self._rule_row.hide()

    def _show_deny(self) -> None:
        if self._is_about_circle():
            self._answer(Answer("deny"))
            return
        self._drop_rule()
        self._deny_row.show()
        self._why.setFocus()

    # -- building -----------------------------------------------------------------------------

    def _build(self, theme: Theme) -> None:
        self._column = column = QVBoxLayout(self)
        column.setContentsMargins(theme.space_12, theme.space_8, theme.space_12, theme.space_8)
        column.setSpacing(theme.space_8)
        self._words = GivingWay(self.tr("What is asked"), self)
        self._words.setObjectName("permissionWords")
        self._words.column.setSpacing(theme.space_8)
        column.addWidget(self._words)
        self._fill_words(theme, self._words.column)
        column.addLayout(self._button_row(theme))
        column.addWidget(self._rule_widget(theme))
        column.addWidget(self._deny_widget(theme))
        for bar in (self._detail.verticalScrollBar(), self._words.verticalScrollBar()):
            bar.valueChanged.connect(lambda _: self._note_scroll())
            bar.rangeChanged.connect(lambda *_: self._note_room())

    def _fill_words(self, theme: Theme, column: QVBoxLayout) -> None:
        head = QHBoxLayout()
        self._sentence = QLabel(self)
        self._sentence.setObjectName("permissionSentence")
        self._sentence.setTextFormat(Qt.TextFormat.PlainText)
        self._sentence.setWordWrap(True)
        self._count = QLabel(self)
        self._count.setProperty("muted", True)
        head.addWidget(self._sentence, 1)
        head.addWidget(self._count)
        column.addLayout(head)
        self._detail = ActText(theme, self)
        self._detail.setObjectName("permissionDetail")
        self._detail.setAccessibleName(self.tr("What would run"))
        column.addWidget(self._detail)
        self._where = QLabel(self)
        self._where.setTextFormat(Qt.TextFormat.PlainText)
        self._where.setProperty("muted", True)
        self._where.setWordWrap(True)
        column.addWidget(self._where)
        self._rule = QLabel(self)
        self._rule.setObjectName("permissionRule")
        self._rule.setTextFormat(Qt.TextFormat.PlainText)
        self._rule.setWordWrap(True)
        self._rule.hide()
        column.addWidget(self._rule)

    def _button_row(self, theme: Theme) -> FlowLayout:
        row = FlowLayout(theme.space_8)
        self._allow = self._button(self.tr("Allow once  1"), "allowOnce")
        self._always = self._button(self.tr("Always in this workspace…  2"), "allowAlways")
        self._deny = self._button(self.tr("Deny  3"), "deny")
        self._buttons = (self._allow, self._always, self._deny)
        self._allow.clicked.connect(lambda: self._answer(Answer("once")))
        self._always.clicked.connect(self._show_rule)
        self._deny.clicked.connect(self._show_deny)
        for button in self._buttons:
            row.addWidget(button)
        return row

    def _rule_widget(self, theme: Theme) -> QWidget:
        self._rule_row = QWidget(self)
        row = QHBoxLayout(self._rule_row)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.space_8)
        keep = self._button(self.tr("Keep this rule"), "keepRule")
        keep.clicked.connect(lambda: self._answer(Answer("always")))
        back = self._button(self.tr("Not now"), "dropRule")
        back.clicked.connect(self._drop_rule)
        row.addWidget(keep)
        row.addWidget(back)
        row.addStretch(1)
        return self._rule_row

    def _deny_widget(self, theme: Theme) -> QWidget:
        self._deny_row = QWidget(self)
        row = QHBoxLayout(self._deny_row)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.space_8)
        self._why = QLineEdit(self._deny_row)
        self._why.setObjectName("denyReason")
        self._why.setAccessibleName(self.tr("What the agent should do instead"))
        self._why.returnPressed.connect(self._deny_now)
        self._why.textChanged.connect(lambda _: self._note_words())
        self._deny_now_button = self._button(self.tr("Deny"), "denyNow")
        self._deny_now_button.clicked.connect(self._deny_now)
        row.addWidget(self._why, 1)
        row.addWidget(self._deny_now_button)
        return self._deny_row

    def _deny_now(self) -> None:
        if self._deny_now_button.isEnabled():
            self._answer(Answer("deny", self._why.text().strip()))

    def _button(self, text: str, name: str) -> QPushButton:
        button = QPushButton(text, self)
        button.setObjectName(name)
        button.setAutoDefault(False)
        button.setDefault(False)
        return button
