"""The scroll bar counts rows of the whole log, never pixels, so it can't wobble (TRANSCRIPT §6)."""

from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QAbstractSlider, QScrollBar

from desktop.ui.transcript.position import Extent

UNITS = 1_000

_STEPS = {
    QAbstractSlider.SliderAction.SliderSingleStepAdd.value: (1, 0),
    QAbstractSlider.SliderAction.SliderSingleStepSub.value: (-1, 0),
    QAbstractSlider.SliderAction.SliderPageStepAdd.value: (0, 1),
    QAbstractSlider.SliderAction.SliderPageStepSub.value: (0, -1),
}


@dataclass(frozen=True, slots=True)
class Target:
    """Where the bar was dragged: the row of `seq`, a share of it above the screen."""

    seq: int
    share: float
    at_end: bool


class RowBar(QObject):
    """Shows an extent on a scroll bar. `dragged`: a target waits to be taken; `stepped(lines,
    pages)`: arrows and the groove move by pixels, like wheel and keys."""

    dragged = Signal()
    stepped = Signal(int, int)

    def __init__(self, bar: QScrollBar) -> None:
        super().__init__(bar)
        self._bar = bar
        self._is_set = False
        self._target: int | None = None
        bar.setSingleStep(UNITS)
        bar.valueChanged.connect(self._moved)
        bar.actionTriggered.connect(self._acted)

    def show(self, extent: Extent | None) -> None:
        """The bar of this extent; without one, a bar that has nowhere to go."""
        self._is_set = True
        try:
            self._set(extent)
        finally:
            self._is_set = False

    def take_target(self) -> Target | None:
        """Where the bar was dragged last. A long drag is followed once a frame."""
        unit, self._target = self._target, None
        if unit is None:
            return None
        return Target(unit // UNITS + 1, unit % UNITS / UNITS, unit >= self._bar.maximum())

    def _set(self, extent: Extent | None) -> None:
        bar = self._bar
        bar.setEnabled(extent is not None)
        if extent is None:
            bar.setRange(0, 0)
            return
        total = extent.total * UNITS
        top = round(extent.top * UNITS)
        bottom = total if extent.bottom is None else round(extent.bottom * UNITS)
        bar.setPageStep(max(1, bottom - top))
        bar.setRange(0, max(0, total - (bottom - top)))
        if not bar.isSliderDown():
            bar.setValue(top)

    def _moved(self, value: int) -> None:
        if not self._is_set:
            self._target = value
            self.dragged.emit()

    def _acted(self, action: int) -> None:
        if action in _STEPS:
            self._bar.setSliderPosition(self._bar.value())
            self.stepped.emit(*_STEPS[action])
