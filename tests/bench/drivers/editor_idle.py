"""A plain program of Nacre's shape, left alone: its share of a core, as one JSON line.

python -m tests.bench.drivers.editor_idle DATA_FOLDER SECONDS
"""

import asyncio
import json
import sys
import time

import qasync
from PySide6.QtWidgets import QApplication, QListWidget, QMainWindow, QPlainTextEdit, QSplitter


async def show(seconds: float) -> None:
    window = QMainWindow()
    window.resize(1200, 800)
    splitter = QSplitter()
    splitter.addWidget(QListWidget())
    splitter.addWidget(QPlainTextEdit())
    window.setCentralWidget(splitter)
    window.show()
    await asyncio.sleep(2)
    began = time.monotonic(), time.process_time()
    await asyncio.sleep(seconds)
    share = (time.process_time() - began[1]) / (time.monotonic() - began[0])
    print(json.dumps({"share": share}), flush=True)


application = QApplication(sys.argv)
loop = qasync.QEventLoop(application)
with loop:
    loop.run_until_complete(show(float(sys.argv[2])))
