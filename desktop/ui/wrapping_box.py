"""A check box whose words go on in the next line where the width ends; Qt's own widens the page."""

from PySide6.QtCore import QRect, QSize
from PySide6.QtGui import QPainter, QPaintEvent, QPalette, QResizeEvent
from PySide6.QtWidgets import QCheckBox, QSizePolicy, QStyle, QStyleOptionButton, QWidget

from desktop.ui.framed import draw_tick

_WIDE = 1_000  # pixels, wider than the box and its margins


class WrappingBox(QCheckBox):
    """A screen reader hears `words` in one line."""

    def __init__(self, words: str, parent: QWidget) -> None:
        super().__init__(words, parent)
        self._words = words.split()
        self.setAccessibleName(words)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, arg__1: int) -> int:
        return self._height(len(self._lines(arg__1)))

    def sizeHint(self) -> QSize:
        self.ensurePolished()
        whole = self._beside() + self.fontMetrics().horizontalAdvance(" ".join(self._words))
        return QSize(whole, self._height(1))

    def minimumSizeHint(self) -> QSize:
        self.ensurePolished()
        widest = max(map(self.fontMetrics().horizontalAdvance, self._words), default=0)
        return QSize(self._beside() + widest, self._height(1))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        text = "\n".join(self._lines(self.width()))
        if text != self.text():
            self.setText(text)

    def paintEvent(self, event: QPaintEvent) -> None:
        """The box is the style sheet's; the tick in it can't be."""
        super().paintEvent(event)
        if not self.isChecked():
            return
        option = QStyleOptionButton()
        self.initStyleOption(option)
        box = self.style().subElementRect(QStyle.SubElement.SE_CheckBoxIndicator, option, self)
        role = QPalette.ColorRole.Base if self.isEnabled() else QPalette.ColorRole.Text
        painter = QPainter(self)
        draw_tick(painter, box, self.palette().color(role))
        painter.end()

    def _lines(self, width: int) -> list[str]:
        lines: list[str] = []
        for word in self._words:
            longer = f"{lines[-1]} {word}" if lines else word
            fits = self.fontMetrics().horizontalAdvance(longer) + self._beside() <= width
            lines[-1:] = [longer] if fits or not lines else [lines[-1], word]
        return lines

    def _height(self, lines: int) -> int:
        box = self.style().pixelMetric(QStyle.PixelMetric.PM_IndicatorHeight, None, self)
        return max(box, self.fontMetrics().lineSpacing() * lines) + self._space()

    def _beside(self) -> int:
        """The box and what is between it and the words."""
        option = QStyleOptionButton()
        self.initStyleOption(option)
        option.rect = QRect(0, 0, _WIDE, _WIDE)
        words = self.style().subElementRect(QStyle.SubElement.SE_CheckBoxContents, option, self)
        return _WIDE - words.width() + self._space() // 2

    def _space(self) -> int:
        return self.style().pixelMetric(QStyle.PixelMetric.PM_CheckBoxLabelSpacing, None, self)
