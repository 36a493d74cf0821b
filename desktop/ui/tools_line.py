"""New tools for a conversation that began without them: said once, quietly, with their price.

They join by themselves at the next compaction; closed, the line stays away until others are there.
"""

from PySide6.QtWidgets import QWidget

from desktop.core.status import NewTools
from desktop.ui import words
from desktop.ui.notice_bar import NoticeBar
from desktop.ui.theme import Theme
from desktop.ui.visible import visible

MOST_NAMED = 3
LONGEST_NAME = 40


class ToolsLine(NoticeBar):
    """`acted` when the person wants them now."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        act = self.tr("Use them now")
        super().__init__(theme, name="toolsLine", act=act, closable=True, parent=parent)
        self._shown: NewTools | None = None
        self._closed: tuple[tuple[str, int], ...] = ()
        self.dismissed.connect(self._close)

    def show_tools(self, tools: NewTools | None, *, is_idle: bool) -> None:
        self._shown = tools
        if tools is None:
            self._closed = ()
        if tools is None or tools.servers == self._closed:
            self.say("")
            return
        # While a turn runs its requests stay as they are.
        self.button.setEnabled(is_idle)
        self.say(
            self.tr(
                "New tools are there ({servers}). They join at the next compaction or in a new"
                " conversation; to use them now {price}."
            ).format(servers=self._servers(tools), price=self._price(tools))
        )

    def _close(self) -> None:
        if self._shown is not None:
            self._closed = self._shown.servers

    def _servers(self, tools: NewTools) -> str:
        named = [self._counted(name, count) for name, count in tools.servers[:MOST_NAMED]]
        rest = len(tools.servers) - len(named)
        if rest == 1:
            named.append(self.tr("1 more server"))
        elif rest:
            named.append(self.tr("{count} more servers").format(count=rest))
        return "; ".join(named)

    def _counted(self, server: str, count: int) -> str:
        name = visible(server)
        shown = name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"
        text = self.tr("{server}: 1 tool") if count == 1 else self.tr("{server}: {count} tools")
        return text.format(server=shown, count=count)

    def _price(self, tools: NewTools) -> str:
        tokens = words.tokens(tools.tokens)
        if tools.dollars is None:
            return self.tr("re-sends {tokens} tokens").format(tokens=tokens)
        text = self.tr("re-sends {tokens} tokens, about {price}")
        return text.format(tokens=tokens, price=words.dollars(tools.dollars))
