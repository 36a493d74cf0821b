"""What pages of Settings share that list things as cards: tool servers, plugins.

A card comes, goes and moves without taking the keyboard from the others; what the person does with
one is carried out in a task, and what came of it stands on the page.
"""

from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Generic, TypeVar

from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QVBoxLayout, QWidget
from shiboken6 import isValid

from desktop.core.errors import NacreError
from desktop.ui.controls import act_button, text_label
from desktop.ui.flow import FlowLayout
from desktop.ui.server_words import breakable
from desktop.ui.tasks import Tasks
from desktop.ui.theme import Theme
from desktop.ui.visible import visible

V = TypeVar("V")
_TONES = ("success", "danger", "muted")


def say(label: QLabel, text: str) -> None:
    """A long word breaks anywhere; a screen reader hears it whole. Nothing takes no room."""
    label.setText(breakable(text))
    label.setAccessibleName(text)
    label.setVisible(bool(text))


def tell_tone(label: QLabel, tone: str) -> None:
    """`tone` is one of success, danger and muted, or empty for none."""
    for one in _TONES:
        label.setProperty(one, one == tone)
    label.style().polish(label)


class Card(QFrame, Generic[V]):
    """Lines of text, and buttons below them. `view` is what it shows; what is wanted names it."""

    def __init__(self, theme: Theme, view: V, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setProperty("surface", "card")
        self.view = view
        self._theme = theme
        self._column = column = QVBoxLayout(self)
        column.setContentsMargins(theme.space_16, theme.space_12, theme.space_16, theme.space_12)
        column.setSpacing(theme.space_4)

    def buttons(self) -> tuple[QPushButton, ...]:
        """In the order of the Tab key."""
        raise NotImplementedError

    def show_view(self, view: V) -> None:
        """Shows what is now."""
        raise NotImplementedError

    def _line(self, name: str, **looks: bool) -> QLabel:
        label = text_label(self, name)
        for look, value in looks.items():
            label.setProperty(look, value)
        self._column.addWidget(label)
        return label

    def _button(self, text: str, name: str, wanted: Callable[[object], object]) -> QPushButton:
        return act_button(self, text, name, lambda: wanted(self.view))

    def _add_buttons(self) -> None:
        row = FlowLayout(self._theme.space_8)
        for button in self.buttons():
            row.addWidget(button)
        self._column.addSpacing(self._theme.space_4)
        self._column.addLayout(row)

    def _show_buttons(self, shown: Mapping[QPushButton, bool], title: str) -> None:
        """Each says of what it is, for who hears it alone."""
        for button, is_shown in shown.items():
            button.setVisible(is_shown)
            button.setAccessibleName(f"{button.text()} {title}")


class Cards(Generic[V]):
    """The cards of a page by id, in `column`. The Tab key comes to them from `after`; the keyboard
    of one that goes is `back` there."""

    def __init__(
        self, theme: Theme, make: Callable[[V], Card[V]], *, after: QWidget, back: QWidget
    ) -> None:
        self.column = QVBoxLayout()
        self.column.setSpacing(theme.space_8)
        self._make = make
        self._after = after
        self._back = back
        self._cards: dict[str, Card[V]] = {}
        self._order: list[str] = []

    def show(self, views: Mapping[str, V]) -> None:
        """These, in this order; who is shown already stays where it is."""
        for id_ in [one for one in self._cards if one not in views]:
            self._drop(id_)
        for id_, view in views.items():
            known = self._cards.get(id_)
            if known is None:
                self._cards[id_] = self._make(view)
            elif known.view != view:
                known.show_view(view)
        self._put_in_order(list(views))

    def _put_in_order(self, ids: list[str]) -> None:
        if ids == self._order:
            return
        self._order = ids
        before = self._after
        for at, card in enumerate(self._cards[id_] for id_ in ids):
            self.column.removeWidget(card)
            self.column.insertWidget(at, card)
            for button in card.buttons():
                QWidget.setTabOrder(before, button)
                before = button

    def _drop(self, id_: str) -> None:
        card = self._cards.pop(id_)
        if any(button.hasFocus() for button in card.buttons()):
            self._back.setFocus()
        self.column.removeWidget(card)
        card.hide()
        card.deleteLater()


class Deeds:
    """What the person does on a page; after each, `show` shows what is. What went wrong stands in
    `answer` until the next thing is done."""

    def __init__(
        self, page: QWidget, answer: QLabel, tasks: Tasks, show: Callable[[], object]
    ) -> None:
        self._page = page
        self._answer = answer
        self._tasks = tasks
        self._show = show
        answer.hide()

    def do(self, work: Coroutine[Any, Any, object], name: str) -> None:
        self._tasks.start(self._done(work), name)

    def tell(self, text: str, *, danger: bool = False) -> None:
        tell_tone(self._answer, "danger" if danger else "")
        say(self._answer, visible(text))

    async def _done(self, work: Coroutine[Any, Any, object]) -> None:
        self.tell("")
        try:
            await work
        except NacreError as error:
            if isValid(self._page):
                self.tell(str(error), danger=True)
        if isValid(self._page):
            self._show()
