"""A picture in the window: given to a message, seen in the transcript, opened (SPEC U23)."""

from pathlib import Path

from PySide6.QtCore import QMimeData, QObject, QPoint, QPointF, Qt, QUrl, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtTest import QTest

from desktop.ui.attachments import AttachmentChip
from tests.e2e.nacre import Home
from tests.fakes.messages_api import MessagesServer, assert_extends, fails, reply
from tests.ui.conftest import Enter
from tests.ui.program import Person
from tests.unit.tools.pictures import drawn


class Viewer(QObject):
    """What the system would open."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[Path] = []

    @Slot(QUrl)
    def see(self, url: QUrl) -> None:
        self.opened.append(Path(url.toLocalFile()))


def give(person: Person, path: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    person.now(lambda: person.composer.insertFromMimeData(data))
    person.wait(lambda: person.parts(AttachmentChip, ""))


def place_of_open(person: Person) -> QPoint:
    """Where a click opens a picture."""
    view = person.pane.view
    for y in range(view.viewport().height()):
        for x in range(0, view.viewport().width(), 20):
            hit = view.hit_at(QPointF(x, y))
            if hit is not None and hit.kind == "open":
                return QPoint(x, y)
    raise AssertionError("nothing can be opened")


def test_u23_a_picture_goes_out_scaled_is_seen_and_opens_as_it_was(
    home: Home, enter: Enter, tmp_path: Path
) -> None:
    picture = tmp_path / "wide.png"
    picture.write_bytes(drawn((3000, 400)))
    viewer = Viewer()
    # The stubs want bytes, the function a text.
    QDesktopServices.setUrlHandler("file", viewer, "see")  # pyright: ignore[reportArgumentType]
    try:
        with MessagesServer([reply("Wide."), reply("Still.")]) as server:
            person = enter(server)
            give(person, picture)
            person.begin("look")
            person.wait(lambda: person.reads("Wide.") and person.idle())
            assert person.reads("wide.png · 2000 × 267")
            at = place_of_open(person)
            left, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
            person.now(lambda: QTest.mouseClick(person.pane.view.viewport(), left, none, at))
            person.wait(lambda: viewer.opened)
            person.say("and now?")
            person.wait(lambda: person.reads("Still.") and person.idle())
            assert person.leave() == 0
    finally:
        QDesktopServices.unsetUrlHandler("file")
    assert server.rejected == []
    assert_extends(server.requests[0].json, server.requests[1].json)
    (opened,) = viewer.opened
    assert opened.suffix == ".png"
    assert opened.read_bytes() == picture.read_bytes()


def test_f_w12_a_refused_picture_is_told_and_the_turn_goes_on(
    home: Home, enter: Enter, tmp_path: Path
) -> None:
    picture = tmp_path / "cat.png"
    picture.write_bytes(drawn((40, 30)))
    script = [fails(400, message="Could not process image"), reply("Without it.")]
    with MessagesServer(script) as server:
        person = enter(server)
        give(person, picture)
        person.begin("look")
        person.wait(lambda: person.reads("Without it.") and person.idle())
        assert person.reads("The provider refused this, so it is not shown to the model")
        assert person.reads("cat.png.")
        assert person.leave() == 0
