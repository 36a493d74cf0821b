"""Settings → Tool servers: each server of the file, how it is doing, and what can be done with it.

It follows the servers as they tell of themselves, and looks at the file once a second while it is
seen. What it shows is compared with the file before anything is written.
"""

from collections.abc import Callable

from PySide6.QtCore import Qt, QTimer, QUrl
from PySide6.QtGui import QDesktopServices, QHideEvent, QShowEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QVBoxLayout,
    QWidget,
)
from shiboken6 import isValid

from desktop.core.tool_servers import ServersView, ServerView, ToolServerList
from desktop.ui import asking, server_words
from desktop.ui.cards import Cards, Deeds, say
from desktop.ui.controls import act_button, text_label
from desktop.ui.server_card import ServerCard
from desktop.ui.server_form import ServerForm
from desktop.ui.tall_page import TallPage
from desktop.ui.tasks import Tasks
from desktop.ui.text_box import TextBox
from desktop.ui.theme import Theme
from desktop.ui.visible import visible

LOOK_MS = 1_000
SHOW_MS = 100


class ToolServersPage(TallPage):
    """One page of the settings; a change counts at once."""

    def __init__(
        self, theme: Theme, servers: ToolServerList, tasks: Tasks, parent: QWidget | None = None
    ) -> None:
        super().__init__(theme, "toolServersPage", parent)
        self._servers = servers
        self._tasks = tasks
        self._is_looking = False
        self._has_looked = False
        self._build()
        # Many changes in a moment are shown at once.
        self._soon = QTimer(self, singleShot=True, interval=SHOW_MS)
        self._soon.timeout.connect(self._show)
        self._looks = QTimer(self, interval=LOOK_MS)
        self._looks.timeout.connect(self._look)
        self.destroyed.connect(servers.on_change(self._moved))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._show()
        self._look()
        self._looks.start()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._looks.stop()

    # -- building ---------------------------------------------------------------------------------

    def _build(self) -> None:
        column = self._column
        self._label(
            "toolServersAbout",
            self.tr(
                "A tool server gives the agent more tools. It runs with your rights, and each use"
                " of a tool is asked for unless you allow it."
            ),
            column,
        ).setProperty("muted", True)
        self._problem = self._build_problem()
        column.addWidget(self._problem)
        self._empty = self._label("noToolServers", self.tr("There is no tool server yet."), column)
        self._add = self._button(self.tr("Add a server…"), "addToolServer", self._ask_new)
        self._add.setProperty("primary", True)
        row = QHBoxLayout()
        row.addWidget(self._add)
        row.addStretch(1)
        column.addLayout(row)
        answer = self._label("toolServersAnswer", "", column)
        self._deeds = Deeds(self, answer, self._tasks, self._show)
        self._cards = Cards(self._theme, self._card, after=self._add, back=self._add)
        column.addLayout(self._cards.column)
        self._path = self._label("toolServersPath", "", column)
        self._path.setProperty("muted", True)
        column.addStretch(1)

    def _build_problem(self) -> QFrame:
        theme = self._theme
        box = QFrame(self)
        box.setProperty("surface", "card")
        column = QVBoxLayout(box)
        column.setContentsMargins(theme.space_16, theme.space_12, theme.space_16, theme.space_12)
        column.setSpacing(theme.space_8)
        self._wrong = self._label("toolServersProblem", "", column)
        self._wrong.setProperty("danger", True)
        self._label(
            "toolServersProblemHelp",
            self.tr("Nothing is written into it while it is like this. What runs goes on."),
            column,
        ).setProperty("muted", True)
        row = QHBoxLayout()
        row.setSpacing(theme.space_8)
        row.addWidget(self._button(self.tr("Open the file"), "openToolServers", self._open_file))
        row.addWidget(
            self._button(
                self.tr("Set it aside"),
                "setToolServersAside",
                lambda: self._deeds.do(self._set_aside(), "set the list of tool servers aside"),
            )
        )
        row.addStretch(1)
        column.addLayout(row)
        return box

    def _label(self, name: str, text: str, column: QVBoxLayout) -> QLabel:
        label = text_label(self, name, text)
        column.addWidget(label)
        return label

    def _button(self, text: str, name: str, act: Callable[[], object]) -> QPushButton:
        return act_button(self, text, name, act)

    # -- what is ----------------------------------------------------------------------------------

    def _moved(self) -> None:
        if isValid(self) and not self._soon.isActive():
            self._soon.start()

    def _look(self) -> None:
        if not self._is_looking:
            self._is_looking = True
            self._tasks.start(self._look_now(), "look at the tool servers")

    async def _look_now(self) -> None:
        try:
            await self._servers.look()
        finally:
            self._is_looking = False
        if isValid(self):
            self._has_looked = True
            self._moved()

    def _show(self) -> None:
        view = self._servers.view()
        self._show_problem(view)
        say(self._path, self.tr("Kept in {path}").format(path=visible(view.path)))
        self._cards.show({one.entry.name: one for one in view.servers})
        self._empty.setVisible(self._has_looked and not view.servers and not view.problem)

    def _show_problem(self, view: ServersView) -> None:
        say(self._wrong, visible(view.problem))
        self._problem.setVisible(bool(view.problem))
        self._add.setEnabled(not view.problem)

    def _card(self, view: ServerView) -> ServerCard:
        do = self._deeds.do
        card = ServerCard(self._theme, view, self)
        card.edit_wanted.connect(self._ask_changed)
        card.turn_wanted.connect(
            lambda one: do(
                self._servers.turn(one, on=one.phase == "off"), "turn a tool server on or off"
            )
        )
        card.restart_wanted.connect(
            lambda one: do(self._servers.restart(one.entry.name), "restart a tool server")
        )
        card.tools_wanted.connect(self._show_tools)
        card.log_wanted.connect(
            lambda one: do(self._show_log(one), "show the log of a tool server")
        )
        card.remove_wanted.connect(lambda one: do(self._ask_removed(one), "remove a tool server"))
        return card

    # -- what the person does ---------------------------------------------------------------------

    def _ask_new(self) -> None:
        ServerForm(self._theme, self._servers, self._tasks, parent=self).open()

    def _ask_changed(self, view: ServerView) -> None:
        ServerForm(self._theme, self._servers, self._tasks, before=view, parent=self).open()

    async def _ask_removed(self, view: ServerView) -> None:
        name = visible(view.entry.name)
        answer = await asking.choose(
            self,
            self.tr("Remove a tool server"),
            self.tr(
                "Remove “{name}” from the list? Its tools are no longer offered, and a"
                " conversation that has them is told that they are gone."
            ).format(name=name),
            (("remove", self.tr("Remove")), ("keep", self.tr("Keep"))),
            escape="keep",
        )
        if answer == "remove":
            await self._servers.remove(view)

    async def _set_aside(self) -> None:
        aside = await self._servers.set_aside()
        if isValid(self):
            self._deeds.tell(self.tr("The file is now {path}.").format(path=aside))

    def _show_tools(self, view: ServerView) -> None:
        self._read(
            self.tr("Tools of {name}").format(name=visible(view.entry.name)),
            server_words.listed(view.tools),
            note=self.tr("In the server's own words. Nacre vouches for none of it."),
        )

    async def _show_log(self, view: ServerView) -> None:
        path, text = await self._servers.log(view.entry.name)
        if isValid(self):
            self._read(
                self.tr("Log of {name}").format(name=visible(view.entry.name)),
                visible(text) or self.tr("It has written nothing yet."),
                note=self.tr("The newest of {path}").format(path=visible(path)),
                at_end=True,
            )

    def _read(self, title: str, text: str, *, note: str, at_end: bool = False) -> None:
        box = TextBox(self._theme, title=title, text=text, note=note, at_end=at_end, parent=self)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.open()

    def _open_file(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(self._servers.view().path))
