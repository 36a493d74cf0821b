"""Parts that give way in a low window: whole where there is room, else they scroll."""

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

_LEAST_LINES = 2
# Of a page's height: beside what is asked there are rows to be read and a field to write in.
_SHARE = 0.45


class GivingWay(QScrollArea):
    """`part` holds what is shown, in `column`. Down to its least height the part itself gets lower.

    The keyboard halts here only while there is something to scroll.
    """

    def __init__(self, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAccessibleName(name)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._sought: QWidget | None = None
        self._most = 0
        self.part = QWidget(self)
        self.column = QVBoxLayout(self.part)
        self.column.setContentsMargins(0, 0, 0, 0)
        self.setWidget(self.part)
        # The ground is that of what it stands on.
        for one in (self, self.viewport(), self.part):
            one.setAutoFillBackground(False)
        self.part.installEventFilter(self)

    @property
    def is_at_end(self) -> bool:
        bar = self.verticalScrollBar()
        return bar.value() >= bar.maximum()

    def show_part(self, part: QWidget) -> None:
        """Scrolls to one of the parts in the column, once all have their places."""
        self._sought = part
        self._fit()

    def show_room(self, height: int) -> None:
        """How high the page is that this stands on; 0 where nobody says."""
        self._most = round(height * _SHARE)
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        hint = self.column.totalSizeHint()
        if self.column.hasHeightForWidth():
            hint.setHeight(self.column.totalHeightForWidth(max(self.width(), 1)))
        return QSize(hint.width(), min(hint.height(), self._most) if self._most else hint.height())

    def minimumSizeHint(self) -> QSize:
        lines = _LEAST_LINES * self.fontMetrics().lineSpacing()
        width = self.column.totalMinimumSize().width()
        return QSize(width, min(lines, self._least(max(self.width(), width))))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()
        if event.size().width() != event.oldSize().width():
            self.updateGeometry()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.part and event.type() == QEvent.Type.LayoutRequest:
            self._fit()
            self.updateGeometry()
        return super().eventFilter(watched, event)

    def _fit(self) -> None:
        least = self._least(self.width())
        scrolls = least > self.height()
        policy = Qt.ScrollBarPolicy
        self.setVerticalScrollBarPolicy(
            policy.ScrollBarAlwaysOn if scrolls else policy.ScrollBarAlwaysOff
        )
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus if scrolls else Qt.FocusPolicy.NoFocus)
        width = self.width()
        if scrolls:
            width -= self.verticalScrollBar().sizeHint().width()
            least = self._least(width)
        self.part.resize(width, max(least, self.height()))
        sought, self._sought = self._sought, None
        if sought is not None:
            self.column.activate()
            self.ensureWidgetVisible(sought, 0, 0)

    def _least(self, width: int) -> int:
        least = self.column.totalMinimumSize()
        if not self.column.hasHeightForWidth():
            return least.height()
        return self.column.totalMinimumHeightForWidth(max(width, least.width()))
