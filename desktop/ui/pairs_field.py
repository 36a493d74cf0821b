"""Names with values, a line each: an environment, the headers of a request.

Values that look like keys are dots until the person asks to see them.
"""

from collections.abc import Mapping

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QGridLayout,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from desktop.ui.flow import FlowLayout
from desktop.ui.masking import looks_like_key
from desktop.ui.theme import Theme
from desktop.ui.wrapping_box import WrappingBox


class PairsField(QWidget):
    """`changed` with every letter. A pair without a name is none."""

    changed = Signal()

    def __init__(
        self, theme: Theme, *, name: str, add: str, pairs: Mapping[str, str], parent: QWidget
    ) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self._lines: list[_PairLine] = []
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.space_4)
        self._grid = QGridLayout()
        self._grid.setSpacing(theme.space_4)
        self._grid.setColumnStretch(0, 1)
        self._grid.setColumnStretch(1, 2)
        column.addLayout(self._grid)
        self._add = QPushButton(add, self)
        self._add.setObjectName(f"{name}Add")
        self._add.setAutoDefault(False)
        self._add.clicked.connect(lambda _: self._begin_one())
        self._shown = WrappingBox(self.tr("Show values that look like keys"), self)
        self._shown.toggled.connect(lambda _: self._cover())
        row = FlowLayout(theme.space_8)
        row.addWidget(self._add)
        row.addWidget(self._shown)
        column.addLayout(row)
        for key, value in pairs.items():
            self._append(key, value)
        self._cover()

    def pairs(self) -> dict[str, str]:
        """The last one of each name."""
        return {
            line.name.text().strip(): line.value.text()
            for line in self._lines
            if line.name.text().strip()
        }

    def _begin_one(self) -> None:
        self._append("", "").name.setFocus()

    def _append(self, key: str, value: str) -> "_PairLine":
        line = _PairLine(key, value, self)
        self._lines.append(line)
        at = self._grid.rowCount()
        for column, part in enumerate((line.name, line.value, line.remove)):
            self._grid.addWidget(part, at, column)
        for field in (line.name, line.value):
            field.textChanged.connect(self._moved)
        line.remove.clicked.connect(lambda: self._take_out(line))
        QWidget.setTabOrder(line.name, line.value)
        QWidget.setTabOrder(line.value, line.remove)
        QWidget.setTabOrder(line.remove, self._add)
        return line

    def _take_out(self, line: "_PairLine") -> None:
        self._lines.remove(line)
        self._add.setFocus()
        for part in (line.name, line.value, line.remove):
            self._grid.removeWidget(part)
            part.deleteLater()
        self._moved()

    def _moved(self) -> None:
        self._cover()
        self.changed.emit()

    def _cover(self) -> None:
        covered = [line for line in self._lines if line.is_key]
        self._shown.setVisible(bool(covered))
        for line in self._lines:
            is_dots = line.is_key and not self._shown.isChecked()
            mode = QLineEdit.EchoMode.Password if is_dots else QLineEdit.EchoMode.Normal
            line.value.setEchoMode(mode)
            name = line.name.text()
            line.value.setAccessibleName(self.tr("Value of {name}").format(name=name))
            line.remove.setAccessibleName(self.tr("Remove {name}").format(name=name))


class _PairLine:
    """The parts of one pair."""

    def __init__(self, key: str, value: str, parent: PairsField) -> None:
        self.name = QLineEdit(key, parent)
        self.name.setObjectName("pairName")
        self.name.setPlaceholderText(parent.tr("Name"))
        self.name.setAccessibleName(parent.tr("Name"))
        self.value = QLineEdit(value, parent)
        self.value.setObjectName("pairValue")
        self.value.setPlaceholderText(parent.tr("Value"))
        self.remove = QPushButton(parent.tr("Remove"), parent)
        self.remove.setAutoDefault(False)

    @property
    def is_key(self) -> bool:
        return looks_like_key(self.name.text(), self.value.text())
