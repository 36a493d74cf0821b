"""The real window with hands and eyes that a test moves over standard input and output.

    python -m tests.e2e.hands DATA_FOLDER [REVISION]

What is started is `desktop.app.run_window`, as `nacre` does it. Each line of input is a JSON list,
`["type", TEXT]`, `["press", KEYS]`, `["click", NAME]` or `["look"]`; each is answered by a line of
JSON with what a person then sees (`look`). `REVISION` is the file of a migration that the program
does not have: with it this is the next version, whose schema is one higher.
"""

import json
import os
import shutil
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any, TypeVar

from PySide6.QtCore import QSocketNotifier
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QLabel,
    QListView,
    QPlainTextEdit,
    QTabBar,
    QWidget,
)

from desktop.app import run_window
from desktop.store import schema
from desktop.ui.main_window import MainWindow
from desktop.ui.transcript.pane import TranscriptPane

# A title is of its own direction wherever it is drawn.
APART = "\u2068\u2069"
NEXT_SCHEMA = schema.SCHEMA + 1
W = TypeVar("W", bound=QWidget)


def be_the_next_version(revision: Path, place: Path) -> None:
    """From here on the program is one schema further."""
    migrations = place / "migrations"
    shutil.copytree(schema.MIGRATIONS, migrations, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copyfile(revision, migrations / "versions" / f"{NEXT_SCHEMA:04}_next.py")
    schema.MIGRATIONS, schema.SCHEMA = migrations, NEXT_SCHEMA


def look() -> dict[str, Any]:
    """What a person sees: the open conversations and the one in view, their words, all messages."""
    (strip,) = _all(QTabBar, "tabStrip")
    fields = _seen(QPlainTextEdit, "composer")
    views = [one.parentWidget() for one in _seen(QListView, "transcript")]
    return {
        "isOpen": any(one.desk is not None for one in _windows()),
        "tabs": [strip.tabText(at).strip(APART) for at in range(strip.count())],
        "current": strip.tabText(strip.currentIndex()).strip(APART),
        "rows": [
            row for one in views if isinstance(one, TranscriptPane) for row in one.visible_texts()
        ],
        "written": fields[0].toPlainText() if fields else None,
        "waiting": [one.text() for one in _seen(QLabel, "queuedText")],
        "isHeld": bool(_seen(QAbstractButton, "releaseQueue")),
        "isRunning": bool(_seen(QLabel, "activityLine")),
        "canSend": any(one.isEnabled() for one in _seen(QAbstractButton, "sendButton")),
        "told": [one.text() for one in _seen(QLabel, "bannerText")],
    }


def _windows() -> list[MainWindow]:
    return [one for one in QApplication.topLevelWidgets() if isinstance(one, MainWindow)]


def act(words: list[str]) -> None:
    if words[0] == "type":
        (field,) = _seen(QPlainTextEdit, "composer")
        field.setFocus()
        QTest.keyClicks(field, words[1])
    if words[0] == "press":
        (window,) = _windows()
        window.activateWindow()
        QTest.keySequence(window.focusWidget() or window, QKeySequence(words[1]))
    if words[0] == "click":
        (button,) = _seen(QAbstractButton, words[1])
        button.click()


def _seen(kind: type[W], name: str) -> list[W]:
    return [one for one in _all(kind, name) if one.isVisible()]


def _all(kind: type[W], name: str) -> list[W]:
    windows = QApplication.topLevelWidgets()
    return [one for window in windows for one in window.findChildren(kind, name)]


def _obey() -> None:
    # Unbuffered: Qt tells only of what is still in the pipe.
    line = sys.stdin.buffer.raw.readline()  # pyright: ignore
    if not line:
        obeying[0].setEnabled(False)
        return
    try:
        act(json.loads(line))
        print(json.dumps(look()), flush=True)
    except Exception:  # Qt would go on, and the test wait for an answer
        traceback.print_exc()
        os._exit(70)


obeying: list[QSocketNotifier] = []


def sit_down() -> None:
    obeying.append(QSocketNotifier(sys.stdin.fileno(), QSocketNotifier.Type.Read))
    obeying[0].activated.connect(_obey)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        if len(sys.argv) > 2:
            be_the_next_version(Path(sys.argv[2]), Path(place))
        code = run_window(sys.argv[1], on_first_paint=sit_down)
    raise SystemExit(code)
