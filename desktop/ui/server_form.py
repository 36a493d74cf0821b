"""Adding or changing a tool server: what is typed, exactly what it means, and a try of it.

Nothing is kept before Save, and nothing is lost by an error: what was typed stays.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace

from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)
from shiboken6 import isValid

from desktop.core.errors import NacreError
from desktop.core.tool_servers import ServerEntry, ServerView, ToolServerList, Tried
from desktop.ui import command_line, server_words
from desktop.ui.controls import act_button, text_label
from desktop.ui.framed import FramedCombo
from desktop.ui.pairs_field import PairsField
from desktop.ui.server_words import breakable
from desktop.ui.tasks import Tasks
from desktop.ui.theme import Theme
from desktop.ui.visible import visible

TICK_MS = 1_000
MOST_NAMED = 12


class ServerForm(QDialog):
    """Opened with `open()`. With `before` that entry is changed, else a new one is added."""

    def __init__(
        self,
        theme: Theme,
        servers: ToolServerList,
        tasks: Tasks,
        *,
        before: ServerView | None = None,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("serverForm")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Edit a tool server") if before else self.tr("Add a server"))
        self._theme = theme
        self._servers = servers
        self._tasks = tasks
        self._before = before
        self._testing: asyncio.Task[object] | None = None
        self._is_stopped = False
        self._seconds = 0
        self._build(before.entry if before else ServerEntry(""))
        self._ticks = QTimer(self, interval=TICK_MS)
        self._ticks.timeout.connect(self._tick)
        self.finished.connect(lambda _: self._end_test())
        self._refresh()
        side = theme.px(theme.measures.dialog)
        self.resize(QSize(side, side * 9 // 8).boundedTo(self.screen().availableSize() * 0.9))

    # -- building ---------------------------------------------------------------------------------

    def _build(self, entry: ServerEntry) -> None:
        theme = self._theme
        outer = QVBoxLayout(self)
        outer.setContentsMargins(*[theme.space_16] * 4)
        outer.setSpacing(theme.space_12)
        page = QWidget(self)
        self._column = column = QVBoxLayout(page)
        column.setContentsMargins(*[theme.space_8] * 4)
        column.setSpacing(theme.space_12)
        scroll = QScrollArea(self)
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QScrollArea.Shape.NoFrame)
        scroll.setAccessibleName(self.tr("The server"))
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(page)
        outer.addWidget(scroll, 1)
        self._name = self._line("serverFormName", self.tr("Name"), entry.name)
        self._kind = self._kinds(is_web=bool(entry.url))
        column.addLayout(
            self._form((self.tr("Name"), self._name), (self.tr("What it is"), self._kind))
        )
        self._local = self._local_fields(entry)
        self._web = self._web_fields(entry)
        column.addWidget(self._local)
        column.addWidget(self._web)
        head = QLabel(self.tr("What will be done"), self)
        head.setProperty("heading", True)
        column.addWidget(head)
        self._meaning = self._note("serverFormMeaning", column)
        self._meaning.setProperty("monospace", True)
        column.addStretch(1)
        outer.addLayout(self._test_row())
        self._outcome = self._note("serverFormOutcome", outer)
        self._outcome.hide()
        outer.addWidget(self._buttons())

    def _kinds(self, *, is_web: bool) -> QComboBox:
        combo = FramedCombo(self._theme, self)
        combo.setObjectName("serverFormKind")
        combo.setAccessibleName(self.tr("Kind"))
        combo.addItem(self.tr("A program on this computer"), "local")
        combo.addItem(self.tr("An address (HTTP)"), "web")
        combo.setCurrentIndex(1 if is_web else 0)
        combo.currentIndexChanged.connect(lambda _: self._refresh())
        return combo

    @property
    def _is_web(self) -> bool:
        return self._kind.currentData() == "web"

    def _local_fields(self, entry: ServerEntry) -> QWidget:
        line = command_line.join((entry.command, *entry.args)) if entry.command else ""
        self._command = QPlainTextEdit(line, self)
        self._command.setObjectName("serverFormCommand")
        self._command.setAccessibleName(self.tr("Command with its arguments"))
        self._command.setPlaceholderText("npx -y @modelcontextprotocol/server-filesystem /folder")
        self._command.setTabChangesFocus(True)
        self._command.setProperty("monospace", True)
        self._command.setFixedHeight(self._command.fontMetrics().lineSpacing() * 4)
        self._command.textChanged.connect(self._refresh)
        self._cwd = self._line("serverFormFolder", self.tr("Folder"), entry.cwd)
        self._env = self._pairs("serverFormEnv", self.tr("Add a variable"), entry.env)
        return self._holder(
            (self.tr("Command with its arguments (no shell reads it)"), self._command),
            (self.tr("Folder it runs in (empty: where Nacre runs)"), self._cwd),
            (self.tr("Environment beside a few plain variables such as PATH"), self._env),
        )

    def _web_fields(self, entry: ServerEntry) -> QWidget:
        self._url = self._line("serverFormUrl", self.tr("Address"), entry.url)
        self._url.setPlaceholderText("https://example.com/mcp")
        self._headers = self._pairs("serverFormHeaders", self.tr("Add a header"), entry.headers)
        return self._holder(
            (self.tr("Address"), self._url),
            (self.tr("Headers, such as Authorization"), self._headers),
        )

    def _test_row(self) -> QHBoxLayout:
        self._test = self._button(self.tr("Test"), "serverFormTest", self._begin_test)
        self._cancel = self._button(self.tr("Cancel"), "serverFormStopTest", self._end_test)
        self._cancel.setAccessibleName(self.tr("Cancel the test"))
        self._cancel.hide()
        self._progress = QLabel(self)
        self._progress.setProperty("muted", True)
        row = QHBoxLayout()
        row.setSpacing(self._theme.space_8)
        for part in (self._test, self._cancel, self._progress):
            row.addWidget(part)
        row.addStretch(1)
        return row

    def _buttons(self) -> QDialogButtonBox:
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, self)
        buttons.button(QDialogButtonBox.StandardButton.Cancel).setAutoDefault(False)
        self._save = self._button(
            self.tr("Save"),
            "serverFormSave",
            lambda: self._tasks.start(self._keep(), "keep a tool server"),
        )
        self._save.setProperty("primary", True)
        buttons.addButton(self._save, QDialogButtonBox.ButtonRole.AcceptRole)
        buttons.rejected.connect(self.reject)
        return buttons

    def _form(self, *rows: tuple[str, QWidget]) -> QVBoxLayout:
        """Each field under its words."""
        form = QVBoxLayout()
        form.setSpacing(self._theme.space_4)
        for at, (words, field) in enumerate(rows):
            if at:
                form.addSpacing(self._theme.space_4)
            label = QLabel(words, self)
            label.setWordWrap(True)
            label.setBuddy(field)
            form.addWidget(label)
            form.addWidget(field)
        return form

    def _holder(self, *rows: tuple[str, QWidget]) -> QWidget:
        holder = QWidget(self)
        form = self._form(*rows)
        form.setContentsMargins(0, 0, 0, 0)
        holder.setLayout(form)
        return holder

    def _line(self, name: str, words: str, text: str) -> QLineEdit:
        line = QLineEdit(text, self)
        line.setObjectName(name)
        line.setAccessibleName(words)
        line.textChanged.connect(self._refresh)
        return line

    def _pairs(self, name: str, add: str, pairs: Mapping[str, str]) -> PairsField:
        field = PairsField(self._theme, name=name, add=add, pairs=pairs, parent=self)
        field.changed.connect(self._refresh)
        return field

    def _note(self, name: str, column: QVBoxLayout) -> QLabel:
        label = text_label(self, name)
        column.addWidget(label)
        return label

    def _button(self, text: str, name: str, act: Callable[[], object]) -> QPushButton:
        return act_button(self, text, name, act)

    # -- what is typed ----------------------------------------------------------------------------

    def _entry(self) -> ServerEntry:
        """Raises ValueError with words where the command can't be taken apart."""
        before = self._before.entry if self._before else ServerEntry("")
        name, is_enabled = self._name.text().strip(), before.is_enabled
        if self._is_web:
            url, headers = self._url.text().strip(), self._headers.pairs()
            return ServerEntry(name, url=url, headers=headers, is_enabled=is_enabled)
        parts = command_line.split(self._command.toPlainText())
        return ServerEntry(
            name,
            command=parts[0] if parts else "",
            args=parts[1:],
            env=self._env.pairs(),
            cwd=self._cwd.text().strip(),
            is_enabled=is_enabled,
            sandbox=before.sandbox,
        )

    def _refresh(self) -> None:
        self._web.setVisible(self._is_web)
        self._local.setVisible(not self._is_web)
        try:
            entry = self._entry()
            problem, is_whole = "", bool(entry.command or entry.url)
            meaning = server_words.runs(entry) if is_whole else self.tr("Nothing yet.")
        except ValueError as error:
            problem, is_whole = str(error), False
            meaning = self.tr("The command can't be understood: {why}.").format(why=problem)
        self._meaning.setText(breakable(meaning))
        self._meaning.setAccessibleName(meaning)
        self._test.setEnabled(is_whole and self._testing is None)
        self._save.setEnabled(is_whole and bool(self._name.text().strip()))

    # -- trying and keeping -----------------------------------------------------------------------

    def _begin_test(self) -> None:
        self._tasks.start(self._try(), "test a tool server")

    async def _try(self) -> None:
        self._testing = asyncio.current_task()
        self._is_stopped = False
        self._seconds = -1
        self._tick()
        self._ticks.start()
        self._show_testing()
        self._say("")
        try:
            entry = self._entry()
            name = entry.name or self.tr("new server")
            tried = await self._servers.test(replace(entry, name=name))
        except (NacreError, ValueError) as error:
            self._say(str(error), tone="danger")
        except asyncio.CancelledError:
            if not self._is_stopped:
                raise
            self._say(self.tr("The test was stopped."))
        else:
            self._show_tried(tried)
        finally:
            self._testing = None
            if isValid(self):
                self._ticks.stop()
                self._show_testing()

    def _end_test(self) -> None:
        if self._testing is not None:
            self._is_stopped = True
            self._testing.cancel()

    def _tick(self) -> None:
        self._seconds += 1
        self._progress.setText(
            self.tr("Connecting… {seconds} s, 30 s at most").format(seconds=self._seconds)
        )

    def _show_testing(self) -> None:
        is_testing = self._testing is not None
        self._cancel.setVisible(is_testing)
        self._progress.setVisible(is_testing)
        self._refresh()

    def _show_tried(self, tried: Tried) -> None:
        if tried.problem:
            lines = [self.tr("It failed: {why}.").format(why=tried.problem), *tried.said]
            self._say("\n".join(lines), tone="danger")
            return
        names = ", ".join(one.name for one in tried.tools[:MOST_NAMED])
        more = "…" if len(tried.tools) > MOST_NAMED else ""
        found = self.tr("It works, and offers {tools}: {names}").format(
            tools=server_words.tools(len(tried.tools)), names=f"{names}{more}"
        )
        nothing = self.tr("It works, and offers no tools.")
        self._say("\n".join([found if tried.tools else nothing, *tried.left_out]), tone="success")

    def _say(self, text: str, *, tone: str = "muted") -> None:
        if not isValid(self):
            return
        for one in ("muted", "success", "danger"):
            self._outcome.setProperty(one, one == tone)
        self._outcome.style().polish(self._outcome)
        self._outcome.setText(breakable(visible(text)))
        self._outcome.setAccessibleName(text)
        self._outcome.setVisible(bool(text))

    async def _keep(self) -> None:
        self._save.setEnabled(False)
        try:
            entry = self._entry()
            if self._before is None:
                await self._servers.add(entry)
            else:
                await self._servers.change(self._before, entry)
        except (NacreError, ValueError) as error:
            self._say(str(error), tone="danger")
            if isValid(self):
                self._refresh()
            return
        if isValid(self):
            self.accept()
