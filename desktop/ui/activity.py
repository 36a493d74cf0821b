"""One line that says what the agent does right now: working for 12 s, trying again in 5 s.

A steady elapsed time at one tick a second, only while something runs (LOOK.md "Motion").
"""

from collections.abc import Callable

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QLabel, QWidget

from desktop.core.status import Compacting, TabStatus
from desktop.ui import words


class ActivityLine(QLabel):
    """`now_ms` is the clock that the statuses were made with (ms UTC)."""

    def __init__(self, now_ms: Callable[[], int], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("activityLine")
        self.setProperty("muted", True)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(True)
        self._now_ms = now_ms
        self._status: TabStatus | None = None
        self._tick = QTimer(self, interval=1000)
        self._tick.timeout.connect(self._refresh)
        self.hide()

    def show_status(self, status: TabStatus) -> None:
        self._status = status
        ticking = status.phase == "running" or status.retry is not None
        if ticking and not self._tick.isActive():
            self._tick.start()
        elif not ticking:
            self._tick.stop()
        self._refresh()

    def _refresh(self) -> None:
        text = self._text(self._status) if self._status else ""
        if text != self.text():
            self.setText(text)
        self.setVisible(bool(text))

    def _text(self, status: TabStatus) -> str:
        now = self._now_ms()
        if status.phase == "elsewhere":
            return self._elsewhere(status, now)
        if status.stopping:
            return self.tr("Stopping…")
        if status.retry is not None:
            left = status.retry.until - now
            if left <= 0:
                return self.tr("Asking again (attempt {attempt})").format(
                    attempt=status.retry.attempt + 1
                )
            return self.tr("{reason} Trying again in {time} (attempt {attempt}).").format(
                reason=status.retry.reason,
                time=words.seconds(left + 999),
                attempt=status.retry.attempt + 1,
            )
        if status.compacting is not None:
            return self._compacting(status.compacting, words.seconds(now - status.since))
        if status.phase == "running":
            if status.questions:
                return self.tr("Waiting for your answer")
            if status.asking:
                return self.tr("A subagent needs your answer")
            return self.tr("Working · {time}").format(time=words.seconds(now - status.since))
        return ""

    def _elsewhere(self, status: TabStatus, now: int) -> str:
        """`Nacre runs this conversation in another process (number 4711, since today 12:03).`"""
        known: list[str] = []
        number = status.holder.partition("-")[0]
        if number.isdecimal():
            known.append(self.tr("number {number}").format(number=number))
        if status.since:
            time = words.day_and_time(status.since, now)
            known.append(self.tr("since {time}").format(time=time))
        if not known:
            return self.tr("Nacre runs this conversation in another process.")
        said = self.tr("Nacre runs this conversation in another process ({known}).")
        return said.format(known=", ".join(known))

    def _compacting(self, now: Compacting, time: str) -> str:
        """`Compacting · part 2 of 3 · 150 words · 12 s`"""
        said = [self.tr("Compacting")]
        if now.parts > 1:
            said.append(self.tr("part {part} of {parts}").format(part=now.part, parts=now.parts))
        if now.words:
            said.append(self.tr("{count} words").format(count=f"{now.words:,}"))
        return " · ".join([*said, time])
