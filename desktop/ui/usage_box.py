"""What a conversation's requests used and cost, one by one, and why something was sent again."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QModelIndex, QSize, Qt
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QHeaderView,
    QLabel,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from desktop.core.caching import RequestUsage
from desktop.feed.usage import FollowedUsage, Usage
from desktop.ui import usage_words, words
from desktop.ui.controls import text_label
from desktop.ui.tables import plain_table
from desktop.ui.theme import Theme
from desktop.ui.usage_model import ANEW, COLUMNS, MODEL, WHEN, UsageModel

ROWS = 14
_WIDEST = {WHEN: "yesterday 00:00 PM ", MODEL: "claude-sonnet-5-5", ANEW: "x" * 28}
_NUMBER = "10,000,000"


class UsageBox(QDialog):
    """Opened with `open()`. It follows `usage` until it is closed, and reads only while it is
    seen."""

    def __init__(
        self,
        theme: Theme,
        *,
        usage: FollowedUsage,
        now_ms: Callable[[], int],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("usageBox")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Usage of this conversation"))
        self._usage = usage
        self.finished.connect(usage.close)
        # Wherever a window goes without being closed, its line goes too.
        self.destroyed.connect(usage.close)
        self._model = UsageModel(now_ms, self)
        self._totals = self._label("usageTotals", self.tr("Adding up…"))
        self._table = self._make_table(theme)
        self._why = self._label("usageWhy", "")
        self._why.setMinimumHeight(self._why.fontMetrics().lineSpacing() * 2)
        self._build(theme)
        self._table.selectionModel().currentRowChanged.connect(self._explain)
        usage.follow(self._show)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._usage.show(True)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._usage.show(False)

    def _show(self, usage: Usage) -> None:
        said = "" if usage.problem and not usage.own else self._summary(usage.own)
        said += self._summary_below(usage.below)
        self._totals.setText("\n".join(filter(None, (usage.problem, said))))
        is_first = not self._model.rowCount()
        self._model.show(usage.own)
        if is_first and usage.own:
            self._table.setCurrentIndex(self._model.index(0, 0))
        self._explain(self._table.currentIndex())

    def _explain(self, current: QModelIndex) -> None:
        row = self._model.row(current.row()) if current.isValid() else None
        self._why.setText(usage_words.explained(row) if row else "")

    def _summary(self, usage: Sequence[RequestUsage]) -> str:
        if not usage:
            return self.tr("Nothing has been asked in this conversation yet.")
        total = _cost(usage)
        missed = [row.miss for row in usage if row.miss is not None]
        text = self.tr("Requests: {count} · Cost: {cost}").format(
            count=words.tokens(len(usage)), cost=words.dollars(total)
        )
        if missed:
            again = self.tr("Tokens sent again: {tokens}").format(
                tokens=words.tokens(sum(miss.tokens for miss in missed))
            )
            text = f"{text} · {again}"
        sent = usage_words.sent(usage)
        return f"{text} · {sent}" if sent else text

    def _summary_below(self, below: Sequence[RequestUsage]) -> str:
        if not below:
            return ""
        text = self.tr(" · Requests of subagents: {count} · Cost: {cost}")
        return text.format(count=words.tokens(len(below)), cost=words.dollars(_cost(below)))

    def _build(self, theme: Theme) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(*[theme.space_16] * 4)
        column.setSpacing(theme.space_12)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        buttons.rejected.connect(self.reject)
        column.addWidget(self._totals)
        column.addWidget(self._table, 1)
        column.addWidget(self._why)
        column.addWidget(buttons)
        # All columns beside each other, however narrow the window below is.
        table, sides = self._table, column.contentsMargins()
        width = table.header().length() + 2 * table.frameWidth() + sides.left() + sides.right()
        width += table.verticalScrollBar().sizeHint().width()
        wanted = QSize(width, self.sizeHint().height())
        self.resize(wanted.boundedTo(self.screen().availableSize() * 0.9))

    def _label(self, name: str, text: str) -> QLabel:
        label = text_label(self, name, text, narrows=False)
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        return label

    def _make_table(self, theme: Theme) -> QTreeView:
        told = self.tr("Requests, the newest first")
        table = plain_table(self, "usageTable", self._model, told=told, lines=ROWS)
        header = table.header()
        metrics = table.fontMetrics()
        header.ensurePolished()
        for column in range(COLUMNS):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Interactive)
            widest = metrics.horizontalAdvance(_WIDEST.get(column, _NUMBER)) + theme.space_16
            header.resizeSection(column, max(widest, header.sectionSizeHint(column)))
        return table


def _cost(usage: Sequence[RequestUsage]) -> float | None:
    """None as soon as one price is unknown: half a sum would be a lie."""
    costs = [row.dollars for row in usage]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None
