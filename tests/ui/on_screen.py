"""A page on the screen, and the loop that it lives on."""

from collections.abc import Callable, Coroutine
from typing import Any

import qasync
from PySide6.QtWidgets import QWidget

from tests.ui.conftest import until


class OnScreen:
    """What tests of a page share. All stands still between two deeds."""

    page: Any
    loop: qasync.QEventLoop

    def run(self, coroutine: Coroutine[Any, Any, None]) -> None:
        """As `run_until_complete`, which lets Qt's events through once more when no loop runs."""
        task = self.loop.create_task(coroutine)
        task.add_done_callback(lambda _: self.loop.stop())
        self.loop.run_forever()
        task.result()

    def wait(self, predicate: Callable[[], object]) -> None:
        self.run(until(predicate))

    def now(self, act: Callable[[], object]) -> None:
        async def acting() -> None:
            act()

        self.run(acting())

    def parts(self, name: str) -> list[Any]:
        """Those of this name that can be seen."""
        return [one for one in self.page.findChildren(QWidget, name) if one.isVisible()]

    def part(self, name: str) -> Any:
        (part,) = self.parts(name)
        return part
