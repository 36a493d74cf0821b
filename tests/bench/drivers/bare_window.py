"""The least a Qt program can be: an empty main window."""

import sys

from PySide6.QtWidgets import QApplication, QMainWindow

from tests.bench.drivers.report import FirstPaint

application = QApplication(sys.argv)
window = QMainWindow()
window.resize(1200, 800)
first_paint = FirstPaint()
window.installEventFilter(first_paint)
window.show()
sys.exit(application.exec())
