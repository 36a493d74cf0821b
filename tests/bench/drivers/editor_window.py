"""A plain program of Nacre's shape: a menu, a splitter and an editor, on a qasync loop."""

import asyncio
import sys

import qasync
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QListWidget, QMainWindow, QPlainTextEdit, QSplitter

from tests.bench.drivers.report import FirstPaint


async def show() -> None:
    window = QMainWindow()
    window.resize(1200, 800)
    menu = window.menuBar().addMenu("File")
    menu.addAction("New")
    menu.addAction("Quit")
    splitter = QSplitter(Qt.Orientation.Horizontal)
    splitter.addWidget(QListWidget())
    splitter.addWidget(QPlainTextEdit())
    window.setCentralWidget(splitter)
    first_paint = FirstPaint()
    window.installEventFilter(first_paint)
    window.show()
    await asyncio.Event().wait()


application = QApplication(sys.argv)
loop = qasync.QEventLoop(application)
with loop:
    loop.run_until_complete(show())
