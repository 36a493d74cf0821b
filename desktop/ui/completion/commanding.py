"""Carries out what was typed as a command instead of sending it."""

from collections.abc import Callable, Mapping

from PySide6.QtCore import QObject, Signal

from desktop.ui.completion.commands import Command, read
from desktop.ui.composer import Composer

Given = Mapping[str, Callable[[str], object]]


class Commanding(QObject):
    """`action_wanted(name)`: the window's action of that name. `given` holds, by command, what is
    done where something was written behind it."""

    action_wanted = Signal(str)

    def __init__(
        self, composer: Composer, commands: tuple[Command, ...], given: Given | None = None
    ) -> None:
        super().__init__(composer)
        self.commands = commands
        self._composer = composer
        self._given: Given = given or {}
        composer.interpret = self.interpret

    def interpret(self, text: str) -> bool:
        """Whether it was a command; then it is done, or said why not, and nothing is sent."""
        found = read(text, self.commands)
        if found is None:
            return False
        command, rest = found
        self._composer.attached.complain("")
        if command.takes == "value" and not self._choose(command.name, rest):
            return True
        self._composer.set_text("")
        if command.name == "attach":
            self._composer.attach_wanted.emit(None)
        elif rest and command.name in self._given:
            self._given[command.name](rest)
        elif command.is_action:
            self.action_wanted.emit(command.name)
        return True

    def _choose(self, name: str, typed: str) -> bool:
        """Sets model, effort or mode; False with a sentence where there is no such value."""
        wanted = typed.casefold()
        choices = self._composer.choices(name)
        known = [one for one, label in choices if wanted in (one.casefold(), label.casefold())]
        if not known:
            labels = ", ".join(label for _, label in choices)
            words = self.tr("Choose one of these after /{name}: {labels}")
            self._composer.attached.complain(words.format(name=name, labels=labels))
            return False
        self._composer.choose(name, known[0])
        return True
