"""Files and pictures that go with a message: pasted, dropped, chosen (SPEC U23, FIELD F-W12)."""

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest
import qasync
from PySide6.QtCore import QMimeData, QUrl
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from desktop.tools.attachments.reading import attachment_of, picture_of
from desktop.ui.attaching import MOST, Reading, attach
from desktop.ui.attachments import AttachmentChip, given_by
from desktop.ui.composer import Composer
from desktop.ui.theme import DARK, LIGHT, Theme
from tests.unit.tools.pictures import drawn, noise, paper

READING = Reading(file=attachment_of, picture=picture_of)


@pytest.fixture
def composer(qtbot: QtBot) -> Composer:
    made = Composer(Theme("light", LIGHT))
    qtbot.addWidget(made)
    made.resize(700, 200)
    made.show_ready(True)
    made.show()
    return made


def run(loop: qasync.QEventLoop, work: Coroutine[Any, Any, None]) -> None:
    loop.run_until_complete(asyncio.wait_for(work, 60))


def chips(composer: Composer) -> list[str]:
    """What a screen reader is told of the chips."""
    return [
        label.accessibleName()
        for chip in composer.attached.findChildren(AttachmentChip)
        for label in chip.findChildren(QLabel)
        if label.accessibleName()
    ]


def sends(composer: Composer) -> bool:
    button = composer.findChild(QPushButton, "sendButton")
    assert button is not None
    return button.isEnabled()


def files(tmp_path: Path, **content: bytes) -> list[Path]:
    paths: list[Path] = []
    for name, data in content.items():
        path = tmp_path / name.replace("_", ".")
        path.write_bytes(data)
        paths.append(path)
    return paths


def test_files_become_chips_and_go_with_the_message(
    composer: Composer, loop: qasync.QEventLoop, tmp_path: Path
) -> None:
    given = files(tmp_path, cat_png=drawn((160, 90)), paper_pdf=paper(3), notes_txt=b"plain words")
    run(loop, attach(composer, given, READING))
    assert [line.split(" · ")[:2] for line in chips(composer)] == [
        ["cat.png", "160 × 90"],
        ["paper.pdf", "3 pages"],
        ["notes.txt", "11 bytes"],
    ]
    sent: list[list[dict[str, Any]]] = []
    composer.send_wanted.connect(lambda _, attachments: sent.append(attachments))
    assert sends(composer)
    composer.field.submitted.emit()
    assert [one["name"] for one in sent[0]] == ["cat.png", "paper.pdf", "notes.txt"]
    assert sent[0][0]["content"] == given[0].read_bytes()


def test_what_can_not_come_along_is_said_and_the_rest_comes(
    composer: Composer, loop: qasync.QEventLoop, tmp_path: Path
) -> None:
    given = files(tmp_path, empty_png=b"", half_jpg=noise(64, "JPEG")[:900], cat_png=drawn((8, 8)))
    run(loop, attach(composer, given, READING))
    assert "empty.png is empty." in composer.attached.complaint
    assert "half.jpg is damaged or not complete." in composer.attached.complaint
    assert len(chips(composer)) == 1
    run(loop, attach(composer, [], READING))
    assert composer.attached.complaint == ""


def test_nothing_is_sent_while_a_file_is_being_read(
    composer: Composer, loop: qasync.QEventLoop, tmp_path: Path
) -> None:
    seen: list[tuple[bool, bool]] = []

    async def slow(path: Path) -> dict[str, Any]:
        seen.append((composer.attached.is_reading, sends(composer)))
        return await attachment_of(path)

    composer.field.setPlainText("hello")
    assert sends(composer)
    given = files(tmp_path, cat_png=drawn((8, 8)))
    run(loop, attach(composer, given, Reading(file=slow, picture=picture_of)))
    assert seen == [(True, False)]
    assert sends(composer)


def test_a_chip_can_be_taken_away_again(
    composer: Composer, loop: qasync.QEventLoop, tmp_path: Path
) -> None:
    run(loop, attach(composer, files(tmp_path, cat_png=drawn((8, 8))), READING))
    composer.attached.findChildren(AttachmentChip)[0].removed.emit()
    assert composer.attachments() == []
    assert not composer.attached.isVisible()
    assert not sends(composer)


def test_a_pasted_picture_is_attached_and_a_table_with_its_picture_stays_text(
    composer: Composer, loop: qasync.QEventLoop
) -> None:
    picture = QImage(60, 40, QImage.Format.Format_RGB32)
    picture.fill(QColor("teal"))
    data = QMimeData()
    data.setImageData(picture)
    wanted: list[Any] = []
    composer.attach_wanted.connect(wanted.append)
    assert composer.field.canInsertFromMimeData(data)
    composer.field.insertFromMimeData(data)
    run(loop, attach(composer, wanted[0], READING))
    (found,) = composer.attachments()
    assert (found["mediaType"], found["width"], found["height"]) == ("image/png", 60, 40)
    data.setText("1\t2")
    assert given_by(data) is None


def test_dropped_files_are_attached_and_addresses_stay_text(composer: Composer) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile("/a/cat.png"), QUrl.fromLocalFile("/a/b.txt")])
    wanted: list[Any] = []
    composer.attach_wanted.connect(wanted.append)
    composer.field.insertFromMimeData(data)
    assert wanted == [[Path("/a/cat.png"), Path("/a/b.txt")]]
    data.setUrls([QUrl("https://example.com/cat.png")])
    assert given_by(data) is None


def test_f_w12_more_than_a_message_can_show_is_refused_with_a_reason(
    composer: Composer, loop: qasync.QEventLoop, tmp_path: Path
) -> None:
    def entry(number: int) -> dict[str, Any]:
        return {
            "kind": "image",
            "name": f"{number}.png",
            "sha256": f"{number:064x}",
            "mediaType": "image/png",
            "size": 3_400_000,
        }

    for number in range(5):
        composer.add(entry(number))

    async def large(path: Path) -> dict[str, Any]:
        return entry(99) | {"name": path.name}

    run(loop, attach(composer, [tmp_path / "sixth.png"], Reading(large, picture_of)))
    assert "sixth.png was not attached" in composer.attached.complaint
    assert len(composer.attachments()) == 5


def test_no_more_files_than_can_be_looked_at_go_with_a_message(
    composer: Composer, loop: qasync.QEventLoop, tmp_path: Path
) -> None:
    for number in range(MOST):
        composer.attach(f"{number}.txt", "words")
    run(loop, attach(composer, files(tmp_path, cat_png=drawn((8, 8))), READING))
    assert f"at most {MOST} files" in composer.attached.complaint


def test_a_message_that_is_brought_back_has_its_pictures(composer: Composer) -> None:
    entry = {
        "kind": "image",
        "name": "cat.png",
        "sha256": "0" * 64,
        "mediaType": "image/png",
        "width": 160,
        "height": 90,
        "size": 2_000,
    }
    composer.refill("look", [entry])
    assert composer.attachments() == [entry]


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_very_long_names_do_not_widen_the_window(qtbot: QtBot, scale: float) -> None:
    theme = Theme("dark", DARK, scale=scale)
    made = Composer(theme)
    qtbot.addWidget(made)
    made.resize(500, 200)
    made.add({"name": "x" * 300 + ".txt", "mediaType": "text/plain", "text": "a", "size": 1})
    made.attached.complain("y" * 50 + " " + "z" * 300)
    assert made.attached.minimumSizeHint().width() <= 500 * scale
