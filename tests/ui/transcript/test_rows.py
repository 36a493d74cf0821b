"""Pictures in rows, and the times of running tools, in a real view (SPEC U05, U06, U23)."""

import asyncio
import gc
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest
import qasync
from PySide6.QtCore import QCoreApplication, QEvent, QObject, QPoint, QPointF, QSize, Qt
from PySide6.QtGui import QColor, QContextMenuEvent, QGuiApplication, QImage, QPaintEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from desktop.core.chunks import Text, ToolCall, ToolResult
from desktop.core.conversation import started_mark
from desktop.core.media import Media, media_of
from desktop.core.protocols import LogReader
from desktop.core.status import TabStatus
from desktop.ui.theme import theme_for
from desktop.ui.transcript import pictures, ticking
from desktop.ui.transcript.pictures import KeptGallery, decode
from desktop.ui.transcript.view import TranscriptView
from tests.ui.conftest import until
from tests.ui.transcript.desk import Desk

SHA = "ab" * 32


@pytest.fixture
def desk(loop: qasync.QEventLoop, qtbot: QtBot) -> Iterator[Desk]:
    made = Desk(loop, qtbot)
    yield made
    made.close()


def entry(sha256: str = SHA, **more: object) -> dict[str, object]:
    kept = {"kind": "image", "sha256": sha256, "mediaType": "image/png", "name": "red.png"}
    return {**kept, "width": 60, "height": 40, "size": 100, **more}


def drawn(path: Path, width: int, height: int, colour: str = "#ff0000") -> Path:
    image = QImage(width, height, QImage.Format.Format_RGB32)
    image.fill(QColor(colour))
    # The stubs want bytes, the function a text.
    assert image.save(str(path), "PNG")  # pyright: ignore[reportCallIssue, reportArgumentType]
    return path


def gallery(desk: Desk, folder: Path) -> KeptGallery:
    """Of the pictures in a folder, by their hashes."""

    class Reader:
        async def blob_path(self, sha256: str) -> Path | None:
            await asyncio.sleep(0)
            path = folder / sha256
            return path if path.exists() else None

    reader: LogReader = Reader()  # pyright: ignore[reportAssignmentType]
    assert desk.view is not None
    return KeptGallery(reader, desk.start, desk.view.viewport().update)


def test_u23_a_picture_comes_into_its_room_and_moves_nothing(desk: Desk, tmp_path: Path) -> None:
    drawn(tmp_path / SHA, 60, 40)
    prompt = Text("look", attachments=(entry(),))
    desk.write([desk.chunk(prompt, role="user"), desk.chunk("An answer.")])
    view = desk.show()
    before = view.layout_now
    view.set_gallery(gallery(desk, tmp_path))
    view.set_zoom(100)  # everything is drawn anew
    view.grab()
    desk.settle()
    assert view.layout_now == before
    seen = view.viewport().grab().toImage()
    reds = [
        (x, y)
        for x in range(0, seen.width(), 4)
        for y in range(0, seen.height(), 4)
        if seen.pixelColor(x, y) == QColor("#ff0000")
    ]
    assert 100 < len(reds) <= 60 * 40 / 16 + 30
    hit = view.hit_at(QPointF(*reds[len(reds) // 2]))
    assert hit is not None
    assert hit.value == f"{SHA}.png"


@pytest.mark.usefixtures("qapp")
def test_what_is_no_picture_is_none(tmp_path: Path) -> None:
    path = tmp_path / "x"
    room = QSize(30, 30)
    for content in (b"", b"\x89PNG\r\n\x1a\nrubbish", b"<svg xmlns='http://www.w3.org/2000/svg'/>"):
        path.write_bytes(content)
        assert decode(path, "image/png", room) is None
        assert decode(path, "image/svg+xml", room) is None
    assert decode(tmp_path / "gone", "image/png", room) is None
    # Bytes are read as what they were kept as: a PNG is no GIF.
    assert decode(drawn(path, 60, 40), "image/gif", room) is None
    found = decode(path, "image/png", room)
    assert found is not None
    assert found.size() == QSize(30, 20)


def test_a_picture_of_too_many_pixels_is_not_decoded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(pictures, "MOST_PIXELS", 2_399)
    assert decode(drawn(tmp_path / "x", 60, 40), "image/png", QSize(30, 30)) is None


def test_u04_only_so_many_pictures_are_kept(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pictures, "KEPT_BYTES", 3 * 60 * 40 * 4)
    desk.show()
    found = gallery(desk, tmp_path)
    shown: list[Media] = []
    for number in range(6):
        sha256 = f"{number:064x}"
        drawn(tmp_path / sha256, 60, 40)
        media = media_of(entry(sha256))
        assert media is not None
        shown.append(media)
        assert found.picture(media, QSize(60, 40)) is None
        desk.settle()
    kept = [one for one in shown if found.picture(one, QSize(60, 40)) is not None]
    desk.settle()
    assert kept == shown[3:]


class Painted(QObject):
    """Notes what of a widget is painted."""

    def __init__(self) -> None:
        super().__init__()
        self.heights: list[int] = []

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QPaintEvent):
            self.heights.append(event.rect().height())
        return super().eventFilter(watched, event)


def test_u05_a_second_costs_the_paint_of_one_line_and_only_while_it_is_seen(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ticking, "SECOND", 20)
    desk.hub.status(TabStatus(desk.tab, phase="running", turn_id="t1"))
    desk.say("An answer.", ToolCall("c", "shell", {"command": "make"}), started_mark(["c"]))
    view = desk.show()
    documents = view.documents_built
    painted = Painted()
    view.viewport().installEventFilter(painted)
    desk.run(until(lambda: len(painted.heights) >= 3))
    assert max(painted.heights) < 60
    assert view.documents_built == documents
    ticker = view.findChild(ticking.Ticker)
    assert ticker is not None
    view.hide()
    assert not ticker.running
    view.show()
    assert ticker.running
    desk.say(ToolResult("c", "shell", "done"))
    desk.settle()
    assert not ticker.running


def test_the_menu_of_a_row_opens_what_a_click_opens(desk: Desk) -> None:
    """U37: nothing needs a mouse."""
    full = {"sha256": SHA, "size": 5_000_000}
    desk.say(
        "**Bold** words.",
        ToolCall("c", "shell", {"command": "x"}),
        ToolResult("c", "shell", "a\n" * 90, extra={"full": full}),
        ToolCall("d", "shell", {"command": "y"}),
        ToolResult("d", "shell", "b\n" * 90),
    )
    view = desk.show()
    opened: list[str] = []
    view.open_requested.connect(opened.append)
    rows = [desk.model.row(at).id for at in (0, 1, 3)]
    for row in rows[1:]:
        view.set_fold(row, "open")
    view.setFocus()

    def choose(words: str) -> None:
        """In the menu of the next row that the keyboard goes to."""
        QTest.keyClick(view, Qt.Key.Key_Down, Qt.KeyboardModifier.ControlModifier)
        asked = QContextMenuEvent(
            QContextMenuEvent.Reason.Keyboard, QPoint(1, 1), view.mapToGlobal(QPoint(1, 1))
        )
        QCoreApplication.sendEvent(view, asked)
        menu = view.findChild(QMenu, "rowMenu")
        assert menu is not None
        (act,) = (one for one in menu.actions() if words in one.text())
        act.trigger()
        menu.close()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)

    view.jump(1)
    choose("Copy as plain text")
    assert QGuiApplication.clipboard().text() == "Bold words."
    choose("in all · open all")
    assert opened == [f"{SHA}.txt"]
    before = view.documents_built
    choose("50 lines between · open all")
    desk.settle()
    box = view.box_of(rows[2])
    assert box is not None
    assert box.text_between((0, 0), box.end).count("b") == 90
    assert view.documents_built > before


def test_u04_a_view_that_is_dropped_is_freed_without_the_collector(qapp: QApplication) -> None:
    """Which runs on any thread, and a timer may be stopped on its own alone."""
    view = TranscriptView(theme_for("light", qapp.palette()))
    freed = weakref.ref(view)
    gc.disable()
    try:
        del view
        assert freed() is None
    finally:
        gc.enable()
