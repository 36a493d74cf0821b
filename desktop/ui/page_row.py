"""The buttons of some named pages, on one line that gives way.

Where there is too little room the longest names are cut first, alike; where that is not enough
the last pages go into a menu. The page that is seen always has its button.
"""

from collections.abc import Sequence
from functools import partial
from math import ceil

from PySide6.QtCore import QEvent, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QResizeEvent
from PySide6.QtWidgets import QMenu, QStyle, QStyleOptionToolButton, QToolButton, QWidget

from desktop.ui.theme import Theme
from desktop.ui.visible import apart


class PageRow(QWidget):
    """`chosen(number)`: a page is wanted. The button of `name` is the object `prefix.name`."""

    chosen = Signal(int)

    def __init__(self, theme: Theme, *, prefix: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._prefix = prefix
        self._gap = theme.space_4
        self._widest = theme.measures.right_pane * 2 // 5
        self._least = theme.px(theme.space_24 * 3)
        self._titles: dict[QToolButton, str] = {}
        self._menu = QMenu(self)
        self._more = self._button("more", "…")
        self._more.setAccessibleName(self.tr("More pages"))
        self._more.setToolTip(self.tr("More pages"))
        self._more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._more.setMenu(self._menu)
        self._more.hide()
        self._menu.aboutToShow.connect(self._fill)

    @property
    def buttons(self) -> list[QToolButton]:
        """In the order of the pages."""
        return list(self._titles)

    @property
    def last(self) -> QWidget:
        """Behind which the keyboard goes on."""
        return self._more

    def add(self, name: str, title: str) -> QToolButton:
        button = self._button(name, title)
        # No group of buttons: Tab would come to one of them only.
        button.setCheckable(True)
        button.setAccessibleName(title)
        button.clicked.connect(lambda: self.chosen.emit(self.buttons.index(button)))
        before = self.buttons[-1] if self._titles else None
        self._titles[button] = title
        if before is not None:
            self.setTabOrder(before, button)
        self.setTabOrder(button, self._more)
        button.show()
        self._changed()
        return button

    def take(self, button: QToolButton) -> None:
        del self._titles[button]
        button.hide()
        button.deleteLater()
        self._changed()

    def check(self, number: int) -> None:
        """This page is seen."""
        for at, button in enumerate(self.buttons):
            button.setChecked(at == number)
        self._arrange()

    def sizeHint(self) -> QSize:
        wide = sum(map(self._wanted, self._titles)) + self._gap * max(0, len(self._titles) - 1)
        return QSize(wide, self._height())

    def minimumSizeHint(self) -> QSize:
        return QSize(self._least + self._gap + self._more.sizeHint().width(), self._height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def event(self, event: QEvent) -> bool:
        # A button wants another size: its font or its style is another.
        if event.type() == QEvent.Type.LayoutRequest:
            self._changed()
        return super().event(event)

    def _changed(self) -> None:
        self.updateGeometry()
        self._arrange()

    def _arrange(self) -> None:
        """Each button in its place, the others away."""
        seen, widths = self._fitting()
        left = 0
        for button in self.buttons:
            button.setVisible(button in seen)
        for button, width in zip(seen, widths, strict=True):
            self._entitle(button, width)
            self._put(button, left, width)
            left += width + self._gap
        self._more.setVisible(len(seen) < len(self._titles))
        self._put(self._more, left, self._more.sizeHint().width())

    def _fitting(self) -> tuple[list[QToolButton], list[int]]:
        """The buttons that there is room for, and how wide they are."""
        shown = self.buttons
        widths = shares([self._wanted(one) for one in shown], self._room(len(shown)))
        if all(width >= self._least_of(one) for one, width in zip(shown, widths, strict=True)):
            return shown, widths
        room = self.width() - self._more.sizeHint().width() - self._gap
        count = max(1, (room + self._gap) // (self._least + self._gap))
        checked = next((one for one in shown if one.isChecked()), None)
        shown = shown[: min(count, len(shown) - 1)]
        if checked is not None and checked not in shown:
            shown = [*shown[:-1], checked]
        room -= self._gap * (len(shown) - 1)
        return shown, shares([self._wanted(one) for one in shown], room)

    def _room(self, count: int) -> int:
        return self.width() - self._gap * (count - 1)

    def _put(self, button: QToolButton, left: int, width: int) -> None:
        place = QRect(left, 0, width, self.height())
        if self.isRightToLeft():
            place.moveRight(self.width() - 1 - left)
        button.setGeometry(place)

    def _entitle(self, button: QToolButton, width: int) -> None:
        title, metrics = self._titles[button], button.fontMetrics()
        room = width - self._around()
        short = metrics.elidedText(title, Qt.TextElideMode.ElideRight, room)
        words = (title if short == title else apart(short)).replace("&", "&&")
        if button.text() != words:
            button.setText(words)
        button.setToolTip("" if short == title else title)

    def _wanted(self, button: QToolButton) -> int:
        """Its whole name, as far as one may reach."""
        # Rounded up, or it would be cut for a part of a pixel.
        name = ceil(QFontMetricsF(button.font()).horizontalAdvance(self._titles[button]))
        return min(name, self._widest) + self._around()

    def _least_of(self, button: QToolButton) -> int:
        return min(self._least, self._wanted(button))

    def _around(self) -> int:
        """What of a button's width is not its words."""
        option = QStyleOptionToolButton()
        self._more.initStyleOption(option)
        kind, none = QStyle.ContentsType.CT_ToolButton, QSize(0, 0)
        return self.style().sizeFromContents(kind, option, none, self._more).width()

    def _height(self) -> int:
        return max(one.sizeHint().height() for one in (self._more, *self._titles))

    def _fill(self) -> None:
        self._menu.clear()
        for number, (button, title) in enumerate(self._titles.items()):
            if button.isHidden():
                act = self._menu.addAction(apart(title).replace("&", "&&"))
                act.triggered.connect(partial(self.chosen.emit, number))

    def _button(self, name: str, words: str) -> QToolButton:
        button = QToolButton(self)
        button.setObjectName(f"{self._prefix}.{name}")
        button.setText(words)
        button.setAutoRaise(True)
        return button


def shares(wanted: Sequence[int], room: int) -> list[int]:
    """What each gets of the room: all it wants if there is enough, else the widest alike."""
    given: dict[int, int] = {}
    left = max(room, 0)
    for nth, at in enumerate(sorted(range(len(wanted)), key=lambda one: wanted[one])):
        given[at] = min(wanted[at], left // (len(wanted) - nth))
        left -= given[at]
    return [given[at] for at in range(len(wanted))]
