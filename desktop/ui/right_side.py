"""Opens and closes the right pane beside the conversations, and tells it what is in view."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QSplitter, QWidget

from desktop.core.panels import PluginPanel
from desktop.ui.conversation_area import ConversationArea
from desktop.ui.outline.page import OutlinePage
from desktop.ui.plugin_page import PluginPage
from desktop.ui.right_pane import RightPane
from desktop.ui.theme import Theme
from desktop.ui.visible import visible


class RightSide(QObject):
    """Made with the pane closed; `width` is what it gets when it opens."""

    def __init__(
        self,
        theme: Callable[[], Theme],
        *,
        splitter: QSplitter,
        area: ConversationArea,
        outline: OutlinePage,
    ) -> None:
        super().__init__(splitter)
        self._splitter = splitter
        self._area = area
        self._width = theme().measures.right_pane
        self._outline = outline
        self._plugins: dict[PluginPanel, PluginPage] = {}
        self.pane = RightPane(theme)
        self.pane.hide()
        self.pane.add_page("outline", self.tr("Outline"), outline)
        self.pane.close_wanted.connect(self.close)
        outline.left.connect(self._give_back)
        splitter.addWidget(self.pane)
        splitter.setStretchFactor(splitter.indexOf(self.pane), 0)
        area.shown.connect(self._show)
        self._show()

    @property
    def width(self) -> int:
        """For the next start: 0 while it is closed."""
        return 0 if self.pane.isHidden() else self.pane.width()

    @property
    def regions(self) -> Sequence[QWidget]:
        """What F6 leads to."""
        return [self.pane.page] if self.pane.page is not None else []

    def show_plugins(
        self, panels: Sequence[PluginPanel], make_page: Callable[[PluginPanel], PluginPage]
    ) -> None:
        """A page for each of them, behind those that are there; those of panels that are gone go.
        One that comes in the place of another of its id is seen if that was."""
        seen = self.pane.name
        for panel in [one for one in self._plugins if one not in panels]:
            page = self._plugins.pop(panel)
            self.pane.take_page(page, _name_of(panel))
            page.deleteLater()
        for panel in [one for one in panels if one not in self._plugins]:
            page = self._plugins[panel] = make_page(panel)
            self.pane.add_page(_name_of(panel), visible(panel.name), page)
            page.left.connect(self._give_back)
            page.show_conversation(self._tab_id)
        if self.pane.name != seen:
            self.pane.show_named(seen)

    def toggle(self) -> None:
        if self.pane.isHidden():
            self.open()
            self._outline.setFocus()
        else:
            self.close()

    def open(self, width: int = 0) -> None:
        """As wide as it was last, at the cost of the conversations alone."""
        sizes = self._splitter.sizes()
        wide = width or self._width
        at = self._splitter.indexOf(self._area)
        self.pane.show()
        sizes[-1], sizes[at] = wide, max(sizes[at] - wide, 1)
        self._splitter.setSizes(sizes)

    def close(self) -> None:
        self._width = self.pane.width()
        has_focus = self.pane.isAncestorOf(self.pane.window().focusWidget() or self.pane)
        self.pane.hide()
        if has_focus:
            self._give_back()

    def _show(self) -> None:
        self._outline.show_conversation(self._area.current)
        for page in self._plugins.values():
            page.show_conversation(self._tab_id)

    @property
    def _tab_id(self) -> str | None:
        return self._area.current.tab_id if self._area.current is not None else None

    def _give_back(self) -> None:
        """The focus goes back to where one writes."""
        if self._area.composer is not None:
            self._area.composer.field.setFocus()


def _name_of(panel: PluginPanel) -> str:
    return f"plugin.{panel.id}"
