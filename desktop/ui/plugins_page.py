"""Settings → Plugins: each plugin there is, how it is doing, and what can be done with it.

It follows the plugins as they tell of themselves. Nothing of a folder is kept or run before the
person has seen what would be started and agreed.
"""

from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget
from shiboken6 import isValid

from desktop.core.plugins import PluginList, PluginOffer, PluginView
from desktop.ui import asking, plugin_words
from desktop.ui.cards import Cards, Deeds, say, tell_tone
from desktop.ui.controls import act_button, text_label
from desktop.ui.plugin_card import PluginCard
from desktop.ui.plugin_offer import PluginOfferBox
from desktop.ui.tall_page import TallPage
from desktop.ui.tasks import Tasks
from desktop.ui.theme import Theme

SHOW_MS = 100


class PluginsPage(TallPage):
    """One page of the settings; a change counts at once."""

    def __init__(
        self, theme: Theme, plugins: PluginList, tasks: Tasks, parent: QWidget | None = None
    ) -> None:
        super().__init__(theme, "pluginsPage", parent)
        self._plugins = plugins
        self._tasks = tasks
        self._is_busy = False
        self._build()
        # Many changes in a moment are shown at once.
        self._soon = QTimer(self, singleShot=True, interval=SHOW_MS)
        self._soon.timeout.connect(self._show)
        self.destroyed.connect(plugins.on_change(self._moved))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._show()
        self._deeds.do(self._plugins.look(), "look at the plugins")

    # -- building ---------------------------------------------------------------------------------

    def _build(self) -> None:
        column = self._column
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
        answer = self._label("pluginsAnswer", "", column)
        self._deeds = Deeds(self, answer, self._tasks, self._show)
        self._cards = Cards(self._theme, self._card, after=self._stop, back=self._add)
        column.addLayout(self._cards.column)
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
        say(self._where, plugin_words.where(is_sandboxed))
        tell_tone(self._where, "danger" if is_sandboxed is False else "muted")
        self._cards.show({one.id: one for one in self._plugins.view()})

    def _card(self, view: PluginView) -> PluginCard:
        do = self._deeds.do
        card = PluginCard(
            self._theme, view, is_sandboxed=lambda: self._plugins.is_sandboxed, parent=self
        )
        card.turn_on_wanted.connect(lambda one: do(self._turn_on(one), "enable a plugin"))
        card.turn_off_wanted.connect(
            lambda one: do(self._plugins.turn_off(one.id), "disable a plugin")
        )
        card.reload_wanted.connect(lambda one: do(self._plugins.reload(one.id), "reload a plugin"))
        card.take_back_wanted.connect(
            lambda one: do(self._plugins.take_back(one.id), "take back what a plugin may")
        )
        card.uninstall_wanted.connect(lambda one: do(self._uninstall(one), "uninstall a plugin"))
        return card

    # -- what the person does ---------------------------------------------------------------------

    def _install(self) -> None:
        if not self._is_busy:
            self._deeds.do(self._ask_folder(), "install a plugin")

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
                self._deeds.tell(
                    self.tr("{plugin} is installed.").format(plugin=plugin_words.titled(offer))
                )
        finally:
            self._is_busy = False

    async def _examine(self, folder: Path) -> PluginOffer | None:
        self._deeds.tell(self.tr("Copying and checking…"))
        self._stop.show()
        try:
            return await self._plugins.examine(folder)
        finally:
            if isValid(self):
                self._stop.hide()
                self._deeds.tell("")

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
