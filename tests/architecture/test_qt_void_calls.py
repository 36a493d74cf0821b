"""Qt calls that return nothing must not eat `None` (decisions/0002-pyside-pin.md)."""

import subprocess
import sys

CALLS = """
from PySide6.QtWidgets import QApplication, QLabel
application = QApplication([])
label = QLabel()
for number in range(20_000):
    label.setText("a" if number % 2 else "b")
print("alive")
"""


def test_twenty_thousand_void_calls_leave_the_process_alive() -> None:
    result = subprocess.run(
        [sys.executable, "-c", CALLS], capture_output=True, encoding="utf-8", check=False
    )
    assert (result.returncode, result.stdout.strip()) == (0, "alive"), result.stderr
