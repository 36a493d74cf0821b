"""The notice of a newer version: it stands until it is closed, and opens nothing by itself."""

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QPushButton, QWidget
from shiboken6 import isValid

from desktop.core.releases import Releases
from desktop.ui import release_words
from desktop.ui.notice_bar import NoticeBar
from desktop.ui.tasks import Tasks
from desktop.ui.theme import Theme
from desktop.ui.transcript.links import offer_link


class ReleaseBar(NoticeBar):
    """Follows `releases` as long as it lives. Closed, it comes back with the next version only."""

    def __init__(self, theme: Theme, releases: Releases, tasks: Tasks, parent: QWidget) -> None:
        super().__init__(theme, name="releaseBar", act="", closable=True, parent=parent)
        self.button.setText(self.tr("Release page…"))
        self._releases = releases
        self.acted.connect(lambda: offer_page(releases, self.button))
        self.dismissed.connect(
            lambda: tasks.start(releases.close_notice(), "put the notice of a version away")
        )
        self.destroyed.connect(releases.hear(self._show))
        self._show()

    def _show(self) -> None:
        if isValid(self):
            self.say(release_words.notice(self._releases.news()))


def offer_page(releases: Releases, button: QPushButton) -> None:
    """Shows under a button where the page of the newer version is, before anything is opened."""
    newer = releases.news().newer
    if newer is not None:
        offer_link(button, newer.link, button.mapToGlobal(QPoint(0, button.height())))
