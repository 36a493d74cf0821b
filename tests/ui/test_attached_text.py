"""Long texts that go with a message: opened, changed, counted (SPEC U07)."""

import asyncio
from typing import Any

import pytest
import qasync
from PySide6.QtCore import QMimeData, Qt
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QToolButton
from pytestqt.qtbot import QtBot

from desktop.ui import words
from desktop.ui.attached_entry import LONGEST_LINE, can_be_opened, with_text
from desktop.ui.attached_text import AttachedText
from desktop.ui.attachments import AttachmentChip
from desktop.ui.composer import Composer
from desktop.ui.message_field import LONG_PASTE
from desktop.ui.plain_text import PIECE, text_of
from desktop.ui.theme import LIGHT, Theme
from tests.ui.conftest import until

LINES = 200_000


@pytest.fixture
def composer(qtbot: QtBot) -> Composer:
    made = Composer(Theme("light", LIGHT))
    qtbot.addWidget(made)
    made.resize(700, 200)
    made.show_ready(True)
    made.show()
    return made


def paste(composer: Composer, text: str) -> None:
    data = QMimeData()
    data.setText(text)
    composer.field.insertFromMimeData(data)


def opened(composer: Composer, loop: qasync.QEventLoop) -> tuple[AttachedText, QPlainTextEdit]:
    """The box with the first attachment, filled."""
    chip = composer.attached.findChildren(AttachmentChip)[0]
    chip.findChildren(QToolButton)[0].click()
    box = composer.window().findChild(AttachedText)
    assert box is not None
    field = box.findChild(QPlainTextEdit)
    assert field is not None
    loop.run_until_complete(until(lambda: not field.isReadOnly()))
    return box, field


def estimate(composer: Composer) -> QLabel:
    found = composer.findChild(QLabel, "tokenEstimate")
    assert found is not None
    return found


def test_u07_a_huge_paste_is_a_chip_and_never_enters_the_field(composer: Composer) -> None:
    """The field has no block more than before, whatever comes."""
    line = "{:08} and some forty letters of a line of a log\n"
    text = "".join(map(line.format, range(LINES)))
    assert len(text.encode()) > 10_000_000
    paste(composer, text)
    assert composer.field.document().blockCount() == 1
    assert composer.attachments()[0]["text"] == text
    label = composer.attached.findChildren(AttachmentChip)[0].findChild(QLabel)
    assert label is not None
    assert "MB · about" in label.accessibleName()


def test_u07_an_attached_text_is_opened_and_changed_and_keeps_its_line_ends(
    composer: Composer, loop: qasync.QEventLoop, qtbot: QtBot
) -> None:
    # A pair of letters that end a line lies across the first piece.
    text = "x" * (PIECE - 1) + "\r\n\u00a0two\u2028parts\r\n" + "end\r\n" * (LONG_PASTE // 4)
    paste(composer, text)
    box, field = opened(composer, loop)
    qtbot.keyClicks(field, "now: ")
    box._keep()  # pyright: ignore[reportPrivateUsage]
    (found,) = composer.attachments()
    assert found["text"] == f"now: {text}"
    assert found["size"] == len(found["text"].encode())


def test_u07_what_was_only_read_stays_byte_for_byte(
    composer: Composer, loop: qasync.QEventLoop
) -> None:
    text = "mixed\rline\r\nends\n\u2029" + "z" * LONG_PASTE
    paste(composer, text)
    box, _ = opened(composer, loop)
    box._keep()  # pyright: ignore[reportPrivateUsage]
    assert composer.attachments()[0]["text"] == text


def test_a_change_is_not_dropped_by_one_key(
    composer: Composer, loop: qasync.QEventLoop, qtbot: QtBot
) -> None:
    paste(composer, "z" * LONG_PASTE)
    box, field = opened(composer, loop)
    qtbot.keyClicks(field, "a")
    qtbot.keyClick(box, Qt.Key.Key_Escape)
    assert box.isVisible()
    assert "not saved" in field.accessibleDescription()
    qtbot.keyClick(box, Qt.Key.Key_Escape)
    assert not box.isVisible()
    assert composer.attachments()[0]["text"] == "z" * LONG_PASTE


def test_an_emptied_text_goes(composer: Composer, loop: qasync.QEventLoop, qtbot: QtBot) -> None:
    paste(composer, "z" * LONG_PASTE)
    box, field = opened(composer, loop)
    field.selectAll()
    qtbot.keyClick(field, Qt.Key.Key_Delete)
    box._keep()  # pyright: ignore[reportPrivateUsage]
    assert composer.attachments() == []


def test_a_line_that_would_freeze_the_window_is_not_opened(composer: Composer) -> None:
    paste(composer, "z" * (LONGEST_LINE + 1))
    composer.attached.findChildren(AttachmentChip)[0].findChildren(QToolButton)[0].click()
    assert composer.window().findChild(AttachedText) is None
    assert "too long to be shown" in composer.attached.complaint
    assert can_be_opened({"text": "z\n" * LONGEST_LINE})
    assert not can_be_opened({"kind": "image"})
    short, long = "z" * LONGEST_LINE, "z" * (LONGEST_LINE + 1)
    for before in ("", "z\n", "z" * (LONGEST_LINE - 1) + "\n", f"{short}\n{short}\n"):
        assert can_be_opened({"text": f"{before}{short}\nz"})
        assert not can_be_opened({"text": f"{before}{long}"})
        assert not can_be_opened({"text": f"{before}{long}\nz"})


def test_two_pastes_can_be_told_apart(composer: Composer) -> None:
    for _ in range(3):
        paste(composer, "z" * LONG_PASTE)
    names = [one["name"] for one in composer.attachments()]
    assert names == ["Pasted text", "Pasted text 2", "Pasted text 3"]


def test_line_ends_of_two_kinds_are_not_made_one() -> None:
    mixed: dict[str, Any] = {"text": "a\r\nb\nc"}
    assert with_text(mixed, "x\ny")["text"] == "x\ny"


def test_the_estimate_is_shown_from_a_thousand_tokens(
    composer: Composer, loop: qasync.QEventLoop
) -> None:
    composer.set_text("a" * 3_900)
    loop.run_until_complete(
        until(lambda: estimate(composer).text() == f"≈ {words.tokens(975)} tokens")
    )
    assert not estimate(composer).isVisible()
    composer.set_text("日" * 2_000)
    loop.run_until_complete(until(lambda: estimate(composer).isVisible()))
    assert estimate(composer).accessibleName() == f"About {words.tokens(1_500)} tokens"
    least = composer.minimumSizeHint().width()
    estimate(composer).hide()
    assert composer.minimumSizeHint().width() >= least - composer.theme.space_8
    composer.attach("a.txt", "b" * 4_000)
    assert estimate(composer).text() == f"≈ {words.tokens(2_500)} tokens"
    composer.clear()
    loop.run_until_complete(until(lambda: not estimate(composer).isVisible()))


def test_a_no_break_space_is_sent_as_it_was_typed(composer: Composer) -> None:
    paste(composer, "10\u00a0km")
    assert composer.text() == "10\u00a0km"


def test_u07_the_beginning_of_a_long_text_is_read_while_the_rest_still_comes(
    composer: Composer, loop: qasync.QEventLoop
) -> None:
    """The window comes to its turn many times meanwhile, and the end is whole."""
    text = "".join(map("{:08} a line\n".format, range(40_000)))
    paste(composer, text)
    turns: list[int] = []

    async def look() -> tuple[str, bool]:
        composer.attached.findChildren(AttachmentChip)[0].opened.emit()
        box = composer.findChild(AttachedText)
        assert box is not None
        field = box.findChild(QPlainTextEdit)
        assert field is not None
        while not field.document().characterCount() > 1:  # noqa: ASYNC110
            await asyncio.sleep(0)
        first, was_open = field.document().firstBlock().text(), field.isReadOnly()
        while field.isReadOnly():
            turns.append(field.document().characterCount())
            await asyncio.sleep(0)
        assert text_of(field.document()) == text
        assert field.document().documentLayout().documentSize().height() == 40_001
        assert not field.document().isUndoAvailable()
        box.reject()
        return first, was_open

    assert loop.run_until_complete(look()) == ("00000000 a line", True)
    assert len(set(turns)) > 3
