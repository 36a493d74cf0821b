"""Settings → Plugins: each plugin there is, how it is doing, and what can be done with it.

It follows the plugins as they tell of themselves. Nothing of a folder is kept or run before the
person has seen what would be started and agreed.
"""

from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from PySide6.QtCore import QEvent, QTimer
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget
from shiboken6 import isValid

from desktop.core.errors import NacreError
from desktop.core.plugins import PluginList, PluginOffer, PluginView
from desktop.ui import asking, plugin_words
from desktop.ui.controls import act_button, text_label
from desktop.ui.plugin_card import PluginCard
from desktop.ui.plugin_offer import PluginOfferBox
from desktop.ui.server_words import breakable
from desktop.ui.tasks import Tasks
from desktop.ui.theme import Theme

SHOW_MS = 100


class PluginsPage(QWidget):
    """One page of the settings; a change counts at once."""

    def __init__(
        self, theme: Theme, plugins: PluginList, tasks: Tasks, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("pluginsPage")
        self._theme = theme
        self._plugins = plugins
        self._tasks = tasks
        self._cards: dict[str, PluginCard] = {}
        self._order: list[str] = []
        self._is_busy = False
        self._build()
        # Many changes in a moment are shown at once.
        self._soon = QTimer(self, singleShot=True, interval=SHOW_MS)
        self._soon.timeout.connect(self._show)
        self.destroyed.connect(plugins.on_change(self._moved))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._show()
        self._do(self._plugins.look(), "look at the plugins")

    def event(self, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Resize):
            # A scroll area knows nothing of texts that get taller as they get narrower.
            self.setMinimumHeight(self._column.totalHeightForWidth(self.width()))
        return super().event(event)

    # -- building ---------------------------------------------------------------------------------

    def _build(self) -> None:
        self._column = column = QVBoxLayout(self)
        column.setSpacing(self._theme.space_8)
        about = self.tr(
            "A plugin is a program by somebody else that shows a page of its own in the right pane."
        )
        self._label("pluginsAbout", about, column).setProperty("muted", True)
        self._where = self._label("pluginsWhere", "", column)
        self._add = act_button(
            self, self.tr("Install from folder…"), "installPlugin", self._install
        )
        self._add.setProperty("primary", True)
        self._stop = act_button(
            self, self.tr("Cancel"), "stopExamining", self._plugins.stop_examining
        )
        self._stop.hide()
        row = QHBoxLayout()
        row.setSpacing(self._theme.space_8)
        row.addWidget(self._add)
        row.addWidget(self._stop)
        row.addStretch(1)
        column.addLayout(row)
        self._answer = self._label("pluginsAnswer", "", column)
        self._answer.hide()
        self._list = QVBoxLayout()
        self._list.setSpacing(self._theme.space_8)
        column.addLayout(self._list)
        column.addStretch(1)

    def _label(self, name: str, text: str, column: QVBoxLayout) -> QLabel:
        label = text_label(self, name, text)
        column.addWidget(label)
        return label

    # -- what is ----------------------------------------------------------------------------------

    def _moved(self) -> None:
        if isValid(self) and not self._soon.isActive():
            self._soon.start()

    def _show(self) -> None:
        is_sandboxed = self._plugins.is_sandboxed
        _say(self._where, plugin_words.where(is_sandboxed))
        self._where.setProperty("danger" if is_sandboxed is False else "muted", True)
        self._where.style().polish(self._where)
        views = self._plugins.view()
        ids = [one.id for one in views]
        for id_ in [one for one in self._cards if one not in ids]:
            self._drop(id_)
        for one in views:
            known = self._cards.get(one.id)
            if known is None:
                self._cards[one.id] = self._card(one)
            elif known.view != one:
                known.show_plugin(one, is_sandboxed=is_sandboxed)
        self._put_in_order(ids)

    def _card(self, view: PluginView) -> PluginCard:
        sandboxed = self._plugins.is_sandboxed
        card = PluginCard(self._theme, view, is_sandboxed=sandboxed, parent=self)
        card.turn_on_wanted.connect(lambda one: self._do(self._turn_on(one), "enable a plugin"))
        card.turn_off_wanted.connect(
            lambda one: self._do(self._plugins.turn_off(one.id), "disable a plugin")
        )
        card.reload_wanted.connect(
            lambda one: self._do(self._plugins.reload(one.id), "reload a plugin")
        )
        card.take_back_wanted.connect(
            lambda one: self._do(self._plugins.take_back(one.id), "take back what a plugin may")
        )
        card.uninstall_wanted.connect(
            lambda one: self._do(self._uninstall(one), "uninstall a plugin")
        )
        return card

    def _put_in_order(self, ids: list[str]) -> None:
        if ids == self._order:
            return
        self._order = ids
        before: QWidget = self._stop
        for at, card in enumerate(self._cards[id_] for id_ in ids):
            self._list.removeWidget(card)
            self._list.insertWidget(at, card)
            for button in card.buttons():
                QWidget.setTabOrder(before, button)
                before = button

    def _drop(self, id_: str) -> None:
        card = self._cards.pop(id_)
        if any(button.hasFocus() for button in card.buttons()):
            self._add.setFocus()
        self._list.removeWidget(card)
        card.hide()
        card.deleteLater()

    # -- what the person does ---------------------------------------------------------------------

    def _do(self, work: Coroutine[Any, Any, object], name: str) -> None:
        self._tasks.start(self._done(work), name)

    async def _done(self, work: Coroutine[Any, Any, object]) -> None:
        """Carries it out; what went wrong stands on the page until the next thing is done."""
        self._tell("")
        try:
            await work
        except NacreError as error:
            if isValid(self):
                self._tell(str(error), danger=True)
        if isValid(self):
            self._show()

    def _tell(self, text: str, *, danger: bool = False) -> None:
        self._answer.setProperty("danger", danger)
        self._answer.style().polish(self._answer)
        _say(self._answer, text)

    def _install(self) -> None:
        if not self._is_busy:
            self._do(self._ask_folder(), "install a plugin")

    async def _ask_folder(self) -> None:
        self._is_busy = True
        try:
            folder = await asking.choose_folder(self, self.tr("Choose the folder of a plugin"))
            if folder is None or not isValid(self):
                return
            offer = await self._examine(folder)
            if offer is None:
                return
            if not await self._agrees(offer, is_new=True):
                await self._plugins.discard(offer)
                return
            await self._plugins.install(offer)
            if isValid(self):
                self._tell(
                    self.tr("{plugin} is installed.").format(plugin=plugin_words.titled(offer))
                )
        finally:
            self._is_busy = False

    async def _examine(self, folder: Path) -> PluginOffer | None:
        self._tell(self.tr("Copying and checking…"))
        self._stop.show()
        try:
            return await self._plugins.examine(folder)
        finally:
            if isValid(self):
                self._stop.hide()
                self._tell("")

    async def _turn_on(self, view: PluginView) -> None:
        offer = await self._plugins.offer(view.id)
        if await self._agrees(offer, is_new=False):
            await self._plugins.turn_on(offer)

    async def _agrees(self, offer: PluginOffer, *, is_new: bool) -> bool:
        """Asked once: not for what the person agreed to before, word for word."""
        if not isValid(self):
            return False
        if offer.is_known:
            return True
        box = PluginOfferBox(
            self._theme,
            offer,
            is_sandboxed=self._plugins.is_sandboxed,
            is_new=is_new,
            parent=self,
        )
        return bool(await asking.finished(box))

    async def _uninstall(self, view: PluginView) -> None:
        answer = await asking.choose(
            self,
            self.tr("Uninstall a plugin"),
            self.tr(
                "Uninstall {name}? What it has kept in its own folder can stay for another time,"
                " or be deleted with it."
            ).format(name=plugin_words.name(view.name)),
            (
                ("keep data", self.tr("Uninstall, keep its data")),
                ("with data", self.tr("Uninstall and delete its data")),
                ("keep", self.tr("Cancel")),
            ),
            escape="keep",
        )
        if answer != "keep":
            await self._plugins.uninstall(view.id, with_data=answer == "with data")


def _say(label: QLabel, text: str) -> None:
    """A long word breaks anywhere; a screen reader hears it whole."""
    label.setText(breakable(text))
    label.setAccessibleName(text)
    label.setVisible(bool(text))
