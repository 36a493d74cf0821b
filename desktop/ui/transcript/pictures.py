"""Pictures of the log as small pictures in their rows.

The room of a picture is known from its row, before its file is read: nothing moves when it comes.
Files are read and decoded on a thread, with limits, and only from the data folder. What can't be
shown stays an empty room with its name below.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Protocol

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QImage, QImageReader, QPainter, QPainterPath, QPen

from desktop.core.chunks import Json
from desktop.core.errors import NacreError
from desktop.core.media import Media, media_of
from desktop.core.protocols import LogReader
from desktop.ui.kept_files import file_of
from desktop.ui.theme import Theme
from desktop.ui.transcript.line_piece import LinePiece
from desktop.ui.transcript.phrases import attachment_line
from desktop.ui.transcript.pieces import Hit, Paper, Piece, muted_piece
from desktop.ui.transcript.saying import say
from desktop.ui.visible import visible

_log = logging.getLogger(__name__)

WIDTH = 320
HEIGHT = 180
KEPT_BYTES = 32_000_000
# Those that are kept to be shown have at most 2,000 pixels a side.
MOST_PIXELS = 16_000_000

_FORMATS = {"image/png": b"png", "image/jpeg": b"jpeg", "image/gif": b"gif", "image/webp": b"webp"}

Start = Callable[[Coroutine[Any, Any, Any], str], object]


class Gallery(Protocol):
    """Hands out small pictures."""

    def picture(self, media: Media, size: QSize) -> QImage | None:
        """In exactly this size, in pixels of the screen; None while it is on its way or can't be
        had."""
        ...


class NoGallery:
    """Has no pictures: for rows that are drawn apart from a log."""

    def picture(self, media: Media, size: QSize) -> QImage | None:
        del media, size
        return None


class KeptGallery:
    """The pictures of a data folder; `repaint` is called when another has come.

    As many are kept as fit into KEPT_BYTES; those that were not asked for longest go first.
    """

    def __init__(self, reader: LogReader, start: Start, repaint: Callable[[], None]) -> None:
        self._reader = reader
        self._start = start
        self._repaint = repaint
        self._images: OrderedDict[tuple[str, int, int], QImage | None] = OrderedDict()
        self._wanted: OrderedDict[tuple[str, int, int], Media] = OrderedDict()
        self._is_reading = False

    def picture(self, media: Media, size: QSize) -> QImage | None:
        key = (media.sha256, size.width(), size.height())
        if key in self._images:
            self._images.move_to_end(key)
            return self._images[key]
        self._wanted[key] = media
        self._wanted.move_to_end(key)
        if not self._is_reading:
            self._is_reading = True
            self._start(self._read(), "read pictures")
        return None

    async def _read(self) -> None:
        """What was asked for last comes first: that is what is seen."""
        try:
            while self._wanted:
                key, media = self._wanted.popitem()
                self._images[key] = await self._decoded(media, QSize(key[1], key[2]))
                self._let_go()
                self._repaint()
        finally:
            self._is_reading = False

    async def _decoded(self, media: Media, size: QSize) -> QImage | None:
        try:
            path = await self._reader.blob_path(media.sha256)
        except NacreError:
            _log.exception("the file of a picture could not be found")
            return None
        if path is None:
            return None
        return await asyncio.to_thread(decode, path, media.media_type, size)

    def _let_go(self) -> None:
        total = sum(one.sizeInBytes() for one in self._images.values() if one is not None)
        while total > KEPT_BYTES and len(self._images) > 1:
            _, image = self._images.popitem(last=False)
            total -= image.sizeInBytes() if image is not None else 0


def decode(path: Path, media_type: str, size: QSize) -> QImage | None:
    """The first picture of a file, scaled into a size; None where it is damaged or too large."""
    form = _FORMATS.get(media_type)
    if form is None:
        return None
    reader = QImageReader(str(path), QByteArray(form))
    # Bytes are read as what they were kept as, whatever they look like.
    reader.setDecideFormatFromContent(False)
    reader.setAutoTransform(True)
    whole = reader.size()
    if not whole.isValid() or whole.width() * whole.height() > MOST_PIXELS:
        return None
    if form == b"jpeg":
        # The only format that is cheaper to read when it is wanted small.
        reader.setScaledSize(whole.scaled(size * 2, Qt.AspectRatioMode.KeepAspectRatio))
    image = reader.read()
    if image.isNull():
        return None
    smooth = Qt.TransformationMode.SmoothTransformation
    return image.scaled(size, Qt.AspectRatioMode.KeepAspectRatio, smooth)


class PicturePiece(Piece):
    """A picture in a room that does not depend on its file. A click opens it."""

    def __init__(
        self, theme: Theme, gallery: Gallery, media: Media, *, file: str, left: int, right: int
    ) -> None:
        super().__init__(left=left, right=right)
        self._theme = theme
        self._gallery = gallery
        self._media = media
        self._file = file
        self._room = QSize()

    def lay_out(self, width: int) -> None:
        self.width = width
        most = min(self._theme.px(WIDTH), max(1, width - self.left - self.right))
        self._room = room_of(self._media, QSize(most, self._theme.px(HEIGHT)))
        self.height = self._room.height() + 2 * self._theme.space_4

    def paint(self, painter: QPainter, clip: QRectF, marked: tuple[int, int] | None) -> None:
        del clip, marked
        theme = self._theme
        area = QRectF(self.left, theme.space_4, self._room.width(), self._room.height())
        ratio = painter.device().devicePixelRatio()
        image = self._gallery.picture(self._media, (self._room.toSizeF() * ratio).toSize())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        half = theme.measures.hairline / 2
        edge = QPainterPath()
        radius = theme.measures.radius
        edge.addRoundedRect(area.adjusted(half, half, -half, -half), radius, radius)
        painter.fillPath(edge, theme.color("code"))
        if image is not None:
            painter.save()
            painter.setClipPath(edge, Qt.ClipOperation.IntersectClip)
            painter.drawImage(_within(area, image, ratio), image)
            painter.restore()
        painter.setPen(QPen(theme.color("border"), theme.measures.hairline))
        painter.drawPath(edge)

    def hit(self, x: float, y: float) -> Hit | None:
        space = self._theme.space_4
        inside = 0 <= x - self.left < self._room.width() and 0 <= y - space < self._room.height()
        return Hit("open", self._file) if inside and self._file else None


def room_of(media: Media, most: QSize) -> QSize:
    """As large as the picture, or as fits; of unknown measures, all of it. At least a line high."""
    if not media.width or not media.height:
        return most
    natural = QSize(media.width, media.height)
    fits = natural.width() <= most.width() and natural.height() <= most.height()
    room = natural if fits else natural.scaled(most, Qt.AspectRatioMode.KeepAspectRatio)
    return room.expandedTo(QSize(min(24, most.width()), min(24, most.height())))


def _within(area: QRectF, image: QImage, ratio: float) -> QRectF:
    """Where an image of another shape stands in its room: in the middle."""
    wide, high = image.width() / ratio, image.height() / ratio
    return QRectF(
        area.left() + (area.width() - wide) / 2, area.top() + (area.height() - high) / 2, wide, high
    )


def attached_pieces(theme: Theme, gallery: Gallery, entry: Json, pad: int) -> list[Piece]:
    """An attachment: its picture, where it is one, and a line that opens what can be looked at."""
    line, file = visible(attachment_line(entry)), file_of(entry)
    if not file:
        return [muted_piece(theme, line, left=pad)]
    words = say("{0} · Open").format(line)
    accent = Paper(theme, "accent")
    opening = LinePiece(accent, words, kind="open", value=file, small=True, left=pad, right=pad)
    media = media_of(entry)
    if media is None or media.kind != "image":
        return [opening]
    return [PicturePiece(theme, gallery, media, file=file, left=pad, right=pad), opening]
