"""What goes with a message beside its text: a chip each, those that are still being read, and the
sentence that says what could not come along. Knows nothing of files: it shows what it is given."""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QMimeData, QSize, Qt, Signal, SignalInstance
from PySide6.QtGui import QImage, QPixmap
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from desktop.core.media import is_media, media_of
from desktop.ui import words
from desktop.ui.attached_entry import can_be_opened
from desktop.ui.estimate import tokens_of
from desktop.ui.flow import FlowLayout
from desktop.ui.theme import Theme
from desktop.ui.visible import visible

if TYPE_CHECKING:
    from desktop.ui.attached_text import AttachedText

NAME_WIDTH = 220
PICTURE_HEIGHT = 28


def given_by(source: QMimeData) -> list[Path] | QImage | None:
    """The files or the picture of a paste or drop; None where it is text.

    A picture that comes with a text beside it (cells of a table) is a text.
    """
    if source.hasUrls():
        files = [Path(url.toLocalFile()) for url in source.urls() if url.isLocalFile()]
        return files or None
    if source.hasImage() and not source.hasText():
        image = source.imageData()
        return image if isinstance(image, QImage) and not image.isNull() else None
    return None


class AttachmentChip(QFrame):
    """A thing that goes with the message without filling the field."""

    removed = Signal()
    opened = Signal()

    def __init__(
        self,
        attachment: dict[str, Any],
        theme: Theme,
        parent: QWidget,
        picture: QImage | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._row = row = QHBoxLayout(self)
        row.setContentsMargins(theme.space_8, 0, 0, 0)
        row.setSpacing(theme.space_4)
        name = visible(str(attachment.get("name", "")))
        if picture is not None:
            row.addWidget(_shown(picture, theme, self))
        self._label = QLabel(self)
        self._label.setTextFormat(Qt.TextFormat.PlainText)
        row.addWidget(self._label)
        if "text" in attachment:
            self._button("✎", self.tr("Read or change {name}"), name, self.opened)
        self._button("✕", self.tr("Remove {name}"), name, self.removed)
        self.say(attachment)

    def say(self, attachment: dict[str, Any]) -> None:
        """What the chip stands for now."""
        self.attachment = attachment
        name = str(attachment.get("name", ""))
        short = _elided(self._label, name, self._theme)
        self._label.setText(f"{short} · {self._facts(attachment)}")
        self._label.setAccessibleName(f"{name} · {self._facts(attachment)}")
        self.setToolTip(name if short != name else "")

    def _button(self, sign: str, words: str, name: str, pressed: SignalInstance) -> None:
        button = QToolButton(self)
        button.setText(sign)
        button.setAccessibleName(words.format(name=name))
        button.setToolTip(words.format(name=name))
        button.clicked.connect(pressed)
        self._row.addWidget(button)

    def _facts(self, attachment: Mapping[str, Any]) -> str:
        size = words.size(int(attachment.get("size", 0)))
        if is_media(attachment):
            media = media_of(attachment)
            if media is not None and media.pages:
                pages = self.tr("{pages} pages") if media.pages > 1 else self.tr("{pages} page")
                return f"{pages.format(pages=media.pages)} · {size}"
            measures = f"{media.width} × {media.height} · " if media and media.width else ""
            return f"{measures}{size}"
        return self.tr("{size} · about {tokens} tokens").format(
            size=size, tokens=words.tokens(tokens_of(attachment))
        )


class Attachments(QWidget):
    """The chips of one message. `changed` when there are others, or one begins or ends to be read.

    It takes no room while there is nothing to show.
    """

    changed = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._chips: list[AttachmentChip] = []
        self._reading: dict[int, QLabel] = {}
        self._begun = 0
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.space_4)
        holder = QWidget(self)
        self._flow = FlowLayout(theme.space_8)
        holder.setLayout(self._flow)
        self._complaint = QLabel(self)
        self._complaint.setObjectName("attachComplaint")
        self._complaint.setTextFormat(Qt.TextFormat.PlainText)
        # A long word may not widen the window.
        self._complaint.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._complaint.setWordWrap(True)
        self._complaint.hide()
        column.addWidget(holder)
        column.addWidget(self._complaint)
        self.hide()

    @property
    def entries(self) -> list[dict[str, Any]]:
        return [chip.attachment for chip in self._chips]

    @property
    def is_reading(self) -> bool:
        """Whether something is on its way that belongs to the message."""
        return bool(self._reading)

    @property
    def complaint(self) -> str:
        return self._complaint.text()

    def add(self, attachment: dict[str, Any], picture: QImage | None = None) -> None:
        chip = AttachmentChip(attachment, self._theme, self, picture)
        chip.removed.connect(lambda: self._remove(chip))
        chip.opened.connect(lambda: self._open(chip))
        self._chips.append(chip)
        self._flow.addWidget(chip)
        self._refresh()

    def free_name(self, name: str) -> str:
        """The name, with a number where something has it already."""
        taken = {str(chip.attachment.get("name")) for chip in self._chips}
        numbered = (f"{name} {number}" for number in itertools.count(2))
        return name if name not in taken else next(one for one in numbered if one not in taken)

    def begin(self, name: str) -> int:
        """Something is being read; `end` takes what is returned."""
        self._begun += 1
        label = QLabel(self)
        label.setTextFormat(Qt.TextFormat.PlainText)
        short = _elided(label, name, self._theme)
        label.setText(self.tr("Reading {name}…").format(name=short))
        label.setProperty("muted", True)
        self._reading[self._begun] = label
        self._flow.addWidget(label)
        self._refresh()
        return self._begun

    def end(self, place: int) -> None:
        label = self._reading.pop(place, None)
        if label is not None:
            self._flow.removeWidget(label)
            label.deleteLater()
        self._refresh()

    def complain(self, sentence: str) -> None:
        """Says what could not come along; another sentence stands beside the first, '' ends it."""
        before = self._complaint.text()
        self._complaint.setText(f"{before}\n{sentence}".strip() if sentence else "")
        self._refresh()

    def drop(self, attachments: Iterable[Mapping[str, Any]]) -> None:
        """Takes these away, each once, as far as they are there."""
        for one in attachments:
            chip = next((chip for chip in self._chips if chip.attachment == one), None)
            if chip is not None:
                self._remove(chip)

    def clear(self) -> None:
        for chip in list(self._chips):
            self._remove(chip)
        self.complain("")

    def _open(self, chip: AttachmentChip) -> None:
        if not can_be_opened(chip.attachment):
            name = str(chip.attachment.get("name", ""))
            sentence = self.tr("{name} has lines that are too long to be shown; it is sent whole.")
            self.complain("")
            self.complain(sentence.format(name=name))
            return
        # Loaded when one is opened: the window's first picture needs no box.
        attached_text = importlib.import_module("desktop.ui.attached_text")
        box: AttachedText = attached_text.AttachedText(self._theme, chip.attachment, self.window())
        box.changed.connect(lambda changed: self._put(chip, changed))
        box.open()

    def _put(self, chip: AttachmentChip, attachment: dict[str, Any]) -> None:
        """Another text in the place of one, whose chip may be gone meanwhile."""
        if chip not in self._chips:
            return
        if attachment["text"]:
            chip.say(attachment)
            self._refresh()
        else:
            self._remove(chip)

    def _remove(self, chip: AttachmentChip) -> None:
        self._chips.remove(chip)
        self._flow.removeWidget(chip)
        chip.deleteLater()
        self._refresh()

    def _refresh(self) -> None:
        self._complaint.setVisible(bool(self._complaint.text()))
        self.setVisible(bool(self._chips or self._reading or self._complaint.text()))
        self.updateGeometry()
        self.changed.emit()


def _elided(label: QLabel, name: str, theme: Theme) -> str:
    width = theme.px(NAME_WIDTH)
    return label.fontMetrics().elidedText(name, Qt.TextElideMode.ElideMiddle, width)


def _shown(picture: QImage, theme: Theme, parent: QWidget) -> QLabel:
    """The small picture, in the pixels of the screen."""
    label = QLabel(parent)
    ratio = parent.devicePixelRatioF()
    height = round(theme.px(PICTURE_HEIGHT) * ratio)
    scaled = picture.scaled(
        QSize(2 * height, height),
        Qt.AspectRatioMode.KeepAspectRatio,
        Qt.TransformationMode.SmoothTransformation,
    )
    scaled.setDevicePixelRatio(ratio)
    label.setPixmap(QPixmap.fromImage(scaled))
    return label
