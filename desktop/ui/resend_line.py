"""What the next message costs once the provider's cache has let the conversation go.

Nothing to see while the cache holds it or a turn runs; the line comes by itself when the time is
over, for a person reads it before the message is sent.
"""

from collections.abc import Callable

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QLabel, QWidget

from desktop.core.model import Spent
from desktop.ui import words

LONGEST_MS = 24 * 3_600_000


class ResendLine(QLabel):
    """`now_ms` is the clock, UTC."""

    def __init__(self, now_ms: Callable[[], int], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("resendLine")
        self.setProperty("muted", True)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(True)
        self._now_ms = now_ms
        self._spent = Spent()
        self._is_running = False
        self._over = QTimer(self, singleShot=True)
        self._over.timeout.connect(self._refresh)
        self.hide()

    def show_spent(self, spent: Spent, *, is_running: bool) -> None:
        self._spent = spent
        self._is_running = is_running
        self._refresh()

    def _refresh(self) -> None:
        self._over.stop()
        until = self._spent.cached_until
        left = 0 if until is None else until - self._now_ms()
        if left > 0:
            self._over.start(min(left, LONGEST_MS))
        if until is None or left > 0 or self._is_running:
            self.hide()
            return
        self.setText(self._sentence())
        self.show()

    def _sentence(self) -> str:
        tokens = words.tokens(self._spent.context)
        if self._spent.resend_dollars is None:
            return self.tr(
                "The next message re-sends {tokens} tokens, at an unknown price: the provider's"
                " cache no longer has them for this model."
            ).format(tokens=tokens)
        return self.tr(
            "The next message re-sends {tokens} tokens, about {price}: the provider's cache no"
            " longer has them for this model."
        ).format(tokens=tokens, price=words.dollars(self._spent.resend_dollars))
