"""Completion in one message field: what is typed asks, the list answers, a key puts it in.

Names of files come in their own time and are sorted on a thread; while a new letter comes, the
last answer stands. An input method that composes has all keys for itself.
"""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QInputMethodEvent, QKeyEvent, QTextCursor

from desktop.ui.completion.asked import LOOKED_AT, Asked, asked, written
from desktop.ui.completion.commanding import Commanding
from desktop.ui.completion.commands import Command
from desktop.ui.completion.folder import Folder, ReadNames
from desktop.ui.completion.popup import Choice, Popup
from desktop.ui.composer import Composer
from desktop.ui.tasks import Tasks

MOST = 50


class Completing(QObject):
    """`names` reads the files of the folder that the message is about."""

    def __init__(
        self,
        composer: Composer,
        *,
        tasks: Tasks,
        names: ReadNames,
        commanding: Commanding,
    ) -> None:
        super().__init__(composer)
        self._composer = composer
        self._field = composer.field
        self._tasks = tasks
        self._folder = Folder(names)
        self._commanding = commanding
        self._popup: Popup | None = None
        self._asked: Asked | None = None
        self._answered: Asked | None = None  # what the list that is shown answers
        self._is_typing = False
        self._is_finding = False
        self._left = -1  # where the person closed the list: it stays closed for that word
        valued = [one.name for one in commanding.commands if one.takes == "value"]
        self._valued = frozenset(valued)
        self._field.installEventFilter(self)
        self._field.textChanged.connect(self._text_changed)
        self._field.cursorPositionChanged.connect(self._moved)
        composer.choices_changed.connect(self._choices_changed)

    @property
    def is_open(self) -> bool:
        return self._popup is not None and self._popup.isVisible()

    def close(self) -> None:
        if self._popup is not None:
            self._popup.hide()
        self._asked = None

    def forget(self) -> None:
        """The message is about another folder now."""
        self._folder.forget()

    # -- what is heard of the field -----------------------------------------------------------

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        match event:
            case QKeyEvent() if event.type() == QEvent.Type.KeyPress:
                if self.is_open and self._key(event):
                    return True
                self._is_typing = bool(event.text())
            case QInputMethodEvent():
                # A list that is closed has no keys, so that the method has them all (SPEC U38).
                self._is_typing = bool(event.commitString())
                if event.preeditString():
                    self.close()
            case _:
                if event.type() in (QEvent.Type.FocusOut, QEvent.Type.Hide, QEvent.Type.Resize):
                    self.close()
        return False

    def _key(self, event: QKeyEvent) -> bool:
        """Whether the key was the list's."""
        popup = self._popup
        if popup is None or popup.current is None or event.modifiers() & _OTHERS:
            return False
        if event.key() in _TAKING and self._answered != self._asked:
            return True  # a moment later the list answers what has been typed
        match event.key():
            case Qt.Key.Key_Up:
                popup.step(-1)
            case Qt.Key.Key_Down:
                popup.step(1)
            case Qt.Key.Key_Escape:
                self._left = self._start()
                self.close()
            case Qt.Key.Key_Tab:
                self._put(popup.current)
            case Qt.Key.Key_Return | Qt.Key.Key_Enter:
                return self._enter(popup.current)
            case _:
                return False
        return True

    def _enter(self, choice: Choice) -> bool:
        """Enter takes what is on; a command or value that then is whole is carried out."""
        now = self._asked
        assert now is not None
        self._put(choice)
        command = self._command(choice.value if now.kind == "command" else now.command)
        is_whole = now.kind == "value" or (command is not None and command.takes == "nothing")
        is_typed = now.kind == "command" and now.query == choice.value
        if command is not None and (is_whole or (is_typed and command.takes != "value")):
            self._commanding.interpret(self._composer.text())
        return True

    def _text_changed(self) -> None:
        is_typing, self._is_typing = self._is_typing, False
        if is_typing or self.is_open:
            self._look()

    def _moved(self) -> None:
        """The caret left what was asked for; with a letter it moves before the text has changed."""
        if self.is_open and not self._is_typing and self._ask() != self._asked:
            self.close()

    def _choices_changed(self) -> None:
        """There are other values than those that are shown, or that nothing was found among."""
        now = self._ask() if self._field.hasFocus() else None
        if now is not None and now.kind == "value":
            self._look()

    # -- asking and answering -----------------------------------------------------------------

    def _ask(self) -> Asked | None:
        cursor = self._field.textCursor()
        if cursor.hasSelection() or self._field.is_composing:
            return None
        block = cursor.block()
        begin = max(block.position(), cursor.position() - LOOKED_AT)
        is_beginning = begin == 0
        before = QTextCursor(cursor)
        before.setPosition(begin, QTextCursor.MoveMode.KeepAnchor)
        return asked(before.selectedText(), is_beginning=is_beginning, valued=self._valued)

    def _look(self) -> None:
        now = self._asked = self._ask()
        if now is None or self._start() == self._left:
            if now is None:
                self._left = -1
            self.close()
        elif now.kind == "file":
            if not self._is_finding:
                self._is_finding = True
                self._tasks.start(self._find(), "complete a file")
        else:
            self._show(self._listed(now))

    def _listed(self, now: Asked) -> list[Choice]:
        if now.kind == "command":
            commands = self._commanding.commands
            named = [Choice(one.name, f"/{one.name}", self.tr(one.words)) for one in commands]
            return [one for one in named if one.value.startswith(now.query)]
        wanted = now.query.casefold()
        found = self._composer.choices(now.command)
        return [
            Choice(label, label, value if value != label else "")
            for value, label in found
            if wanted in label.casefold() or wanted in value.casefold()
        ]

    async def _find(self) -> None:
        """Answers until what was asked last is answered."""
        try:
            await self._folder.refresh()
            answered: Asked | None = None
            while (now := self._asked) is not None and now.kind == "file" and now != answered:
                found = await self._folder.best(now.query, MOST)
                answered = now
                if self._asked == now:
                    self._show([Choice(written(one), one) for one in found])
        finally:
            self._is_finding = False

    def _show(self, choices: Sequence[Choice]) -> None:
        self._answered = self._asked
        if not choices:
            if self._popup is not None:
                self._popup.hide()
            return
        if self._popup is None:
            self._popup = Popup(self._composer.theme, self._field.window())
            self._popup.chosen.connect(self._put)
            # It stands in the window, and goes with the field.
            self._field.destroyed.connect(self._popup.deleteLater)
        self._popup.set_theme(self._composer.theme)
        is_files = self._asked is not None and self._asked.kind == "file"
        name = self.tr("Files") if is_files else self.tr("Commands")
        self._popup.show_choices(name, choices, self._composer)

    def _put(self, choice: Choice) -> None:
        """Puts it in the place of what was typed, as one step that can be undone."""
        now = self._asked
        if now is None:
            return
        cursor = self._field.textCursor()
        cursor.setPosition(self._start(), QTextCursor.MoveMode.KeepAnchor)
        self.close()
        cursor.insertText(self._text_of(now, choice))
        self._field.setTextCursor(cursor)
        if now.kind == "command":
            self._look()

    def _text_of(self, now: Asked, choice: Choice) -> str:
        if now.kind != "command":
            return f"{choice.value} " if now.kind == "file" else choice.value
        command = self._command(choice.value)
        takes_more = command is not None and command.takes != "nothing"
        return f"/{choice.value} " if takes_more else f"/{choice.value}"

    def _command(self, name: str) -> Command | None:
        return next((one for one in self._commanding.commands if one.name == name), None)

    def _start(self) -> int:
        """Where what was asked for begins."""
        length = self._asked.length if self._asked is not None else 0
        return self._field.textCursor().position() - length


_TAKING = frozenset((Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Tab))
_OTHERS = (
    Qt.KeyboardModifier.ShiftModifier
    | Qt.KeyboardModifier.ControlModifier
    | Qt.KeyboardModifier.AltModifier
    | Qt.KeyboardModifier.MetaModifier
)
