"""Settings → Tools: whether commands run in a sandbox, in words, and what helps where they don't.

It asks when it is first seen. The answer may have to be found out; a word stands there meanwhile.
"""

from collections.abc import Awaitable, Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QLabel, QWidget
from shiboken6 import isValid

from desktop.core.confinement import Confinement
from desktop.ui.tasks import Tasks


class SandboxNote(QLabel):
    """One paragraph that can be selected, for there may be a command in it."""

    def __init__(
        self,
        ask: Callable[[], Awaitable[Confinement]],
        tasks: Tasks,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(self.tr("Looking whether commands can run in a sandbox…"), parent)
        self.setObjectName("sandboxNote")
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setWordWrap(True)
        self._ask = ask
        self._tasks = tasks
        self._has_asked = False

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not self._has_asked:
            self._has_asked = True
            self._tasks.start(self._look(), "look for the sandbox")

    async def _look(self) -> None:
        confinement = await self._ask()
        if isValid(self):
            self.setText(self._words(confinement))

    def _words(self, confinement: Confinement) -> str:
        if confinement.is_sandboxed:
            return self.tr(
                "Commands run in a sandbox: they can write the conversation's folder and nothing"
                " else, reach no keys, and have no network unless you allow it."
            )
        words = [
            self.tr(
                "Commands run without a sandbox, so each one is asked for, unless you have chosen"
                " to run commands without asking."
            ),
            confinement.why,
            confinement.way_out,
        ]
        return " ".join(one for one in words if one)
