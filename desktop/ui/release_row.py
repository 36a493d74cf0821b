"""Settings → Updates: what the feed of releases said last, and a way to ask it now.

What went wrong with the feed is said here and nowhere else.
"""

from collections.abc import Callable

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget
from shiboken6 import isValid

from desktop.core.releases import Releases
from desktop.ui import release_words
from desktop.ui.announcing import announce
from desktop.ui.controls import act_button, text_label
from desktop.ui.release_bar import offer_page
from desktop.ui.tasks import Tasks
from desktop.ui.theme import Theme


class ReleaseRow(QWidget):
    """Follows `releases` as long as it lives."""

    def __init__(
        self,
        theme: Theme,
        releases: Releases,
        tasks: Tasks,
        *,
        now_ms: Callable[[], int],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._releases = releases
        self._now_ms = now_ms
        self._state = text_label(self, "releaseState", narrows=False)
        self._problem = text_label(self, "releaseProblem", narrows=False)
        self._problem.setProperty("danger", True)
        self._ask = act_button(
            self,
            self.tr("Check now"),
            "releaseAsk",
            lambda: tasks.start(self._ask_now(), "ask for a newer version"),
        )
        self._where = act_button(
            self,
            self.tr("Release page…"),
            "releaseWhere",
            lambda: offer_page(releases, self._where),
        )
        buttons = QHBoxLayout()
        buttons.setSpacing(theme.space_8)
        buttons.addWidget(self._ask)
        buttons.addWidget(self._where)
        buttons.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.space_8)
        column.addWidget(self._state)
        column.addWidget(self._problem)
        column.addLayout(buttons)
        self.destroyed.connect(releases.hear(self._show))
        self._show()

    async def _ask_now(self) -> None:
        await self._releases.ask()
        if isValid(self):
            announce(self._ask, self._problem.text() or self._state.text())

    def _show(self) -> None:
        if not isValid(self):
            return
        news = self._releases.news()
        state = release_words.state(news, self._now_ms())
        self._state.setText(state)
        self._state.setVisible(bool(state))
        self._problem.setText(news.problem)
        self._problem.setToolTip(news.detail)
        self._problem.setVisible(bool(news.problem))
        # Enabled while it is asked: a button that is switched off loses the focus of the keyboard.
        self._ask.setEnabled(bool(news.address))
        self._where.setVisible(news.newer is not None)
