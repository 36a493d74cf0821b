"""Marking and copying: across rows, by mouse and keys, loaded or not (SPEC U37, C19, C21)."""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace

import pytest
from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, Qt
from PySide6.QtGui import QClipboard, QDrag, QGuiApplication, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from desktop.core.chunks import Text, Thinking
from desktop.ui.transcript import clips
from desktop.ui.transcript.copying import Copying, TooMuchToCopy, put
from desktop.ui.transcript.view import TranscriptView
from tests.ui.transcript.desk import Desk, texts

SHIFT = Qt.KeyboardModifier.ShiftModifier
CTRL = Qt.KeyboardModifier.ControlModifier


def mouse(view: TranscriptView, kind: QEvent.Type, at: QPoint, *, held: bool) -> None:
    point, port = QPointF(at), view.viewport()
    left, none = Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton
    button = none if kind == QEvent.Type.MouseMove else left
    event = QMouseEvent(
        kind,
        point,
        port.mapToGlobal(point),
        button,
        left if held else none,
        Qt.KeyboardModifier.NoModifier,
    )
    QApplication.sendEvent(port, event)


def press(view: TranscriptView, at: QPoint) -> None:
    mouse(view, QEvent.Type.MouseButtonPress, at, held=True)


def move(view: TranscriptView, at: QPoint) -> None:
    mouse(view, QEvent.Type.MouseMove, at, held=True)


def release(view: TranscriptView, at: QPoint) -> None:
    mouse(view, QEvent.Type.MouseButtonRelease, at, held=False)


def mark(view: TranscriptView, start: QPoint, end: QPoint) -> None:
    press(view, start)
    move(view, start + QPoint(9, 9))
    move(view, end)
    release(view, end)


def corner(desk: Desk, view: TranscriptView, at: int) -> QPoint:
    """Just inside the text of a row."""
    return view.visualRect(desk.model.index(at)).topLeft() + QPoint(1, 14)


def served(desk: Desk, view: TranscriptView) -> list[str]:
    """What the view's owner does with wishes to copy; the answers, as they come."""
    texts_: list[str] = []

    async def read(copying: Copying) -> None:
        text = await copying.read(desk.log.reader)
        texts_.append(text)
        put(text, copying.target)

    view.copy_wanted.connect(lambda copying: desk.start(read(copying), "copy"))
    return texts_


@pytest.mark.parametrize(
    "text", ["a\tb", "a\u00a0b", "  two  ends  ", "line\n\n\nline", "é́ 🎉 \u200d ok"]
)
def test_what_is_copied_is_what_was_said_to_the_letter(desk: Desk, text: str) -> None:
    """U37: tabs, spaces that do not break, blank ends; and never a mark of Qt's own."""
    desk.write([desk.chunk(f"{text}\n", role="user")])
    view = desk.show()
    for _ in range(len(text) + 3):
        QTest.keyClick(view, Qt.Key.Key_Right, SHIFT)
    assert view.selected_text() == f"{text}\n"
    view.selectAll()
    view.copy()
    assert QGuiApplication.clipboard().text() == f"{text}\n"


def test_a_part_of_a_text_keeps_its_tabs_and_lines(desk: Desk) -> None:
    desk.write([desk.chunk("one\ttwo\u00a0three\n\nfour", role="user")])
    view = desk.show()
    for _ in range(17):
        QTest.keyClick(view, Qt.Key.Key_Right, SHIFT)
    assert view.selected_text() == "one\ttwo\u00a0three\n\nfo"


def test_answers_are_copied_as_seen_or_as_markdown(desk: Desk) -> None:
    desk.say("First **row** of\n\n- a list", "Second **row**", "A third **row**")
    view = desk.show()
    mark(view, corner(desk, view, 0), QPoint(790, corner(desk, view, 2).y()))
    view.copy()
    said = QGuiApplication.clipboard().text()
    assert said == "First row of\na list\n\nSecond row\n\nA third row"
    view.copy_markdown()
    said = QGuiApplication.clipboard().text()
    assert said == "First **row** of\n\n- a list\n\nSecond **row**\n\nA third **row**"


def test_a_word_of_an_answer_is_markdown_with_its_marks(desk: Desk) -> None:
    desk.say("Some **bold** word")
    view = desk.show()
    for _ in range(5):
        QTest.keyClick(view, Qt.Key.Key_Right, SHIFT)
    assert view.selected_text("markdown") == "Some"
    QTest.keyClick(view, Qt.Key.Key_Right, SHIFT | CTRL)
    assert view.selected_text().strip() == "Some bold"
    assert view.selected_text("markdown") == "Some **bold**"


def test_keys_mark_on_through_letters_words_lines_and_rows_and_back(desk: Desk) -> None:
    """U37"""
    desk.say("one two", "three four", "five")
    view = desk.show()
    QTest.keyClick(view, Qt.Key.Key_Right, SHIFT)
    assert view.selected_text() == "o"
    QTest.keyClick(view, Qt.Key.Key_End, SHIFT)
    assert view.selected_text() == "one two"
    QTest.keyClick(view, Qt.Key.Key_Right, SHIFT)
    QTest.keyClick(view, Qt.Key.Key_Right, SHIFT | CTRL)
    assert view.selected_text() == "one two\n\nthree "
    QTest.keyClick(view, Qt.Key.Key_Down, SHIFT)
    assert view.selected_text().startswith("one two\n\nthree four\n\nfiv")
    for key in (Qt.Key.Key_Up, Qt.Key.Key_Up):
        QTest.keyClick(view, key, SHIFT)
    QTest.keyClick(view, Qt.Key.Key_Home, SHIFT)
    assert view.selected_text() == ""


def test_a_page_key_with_shift_marks_a_screen_and_shows_where_it_got(desk: Desk) -> None:
    desk.say(*texts(60))
    view = desk.show()
    view.jump(1)
    desk.settle()
    for _ in range(3):
        QTest.keyClick(view, Qt.Key.Key_PageDown, SHIFT)
        desk.settle()
    here = view.layout_now.placed[0].row
    assert here > 4
    first = view.selected_text()
    assert first.startswith("Row 1.") and f"Row {desk.seq_at(here) - 1}." in first
    for _ in range(8):
        QTest.keyClick(view, Qt.Key.Key_PageUp, SHIFT)
        desk.settle()
    assert view.selected_text() == ""
    assert desk.seq_at(view.layout_now.placed[0].row) == 1


def test_a_line_key_with_shift_goes_through_every_row_to_the_end(desk: Desk) -> None:
    desk.say(*texts(14))
    view = desk.show()
    view.jump(1)
    desk.settle()
    # Whether or not the window has the focus by now, which would begin at another row.
    press(view, corner(desk, view, 0))
    release(view, corner(desk, view, 0))
    for _ in range(150):
        QTest.keyClick(view, Qt.Key.Key_Down, SHIFT)
    desk.settle()
    assert view.selected_text().startswith("Row 1.")
    assert view.layout_now.placed[-1].row == 13
    assert "Row 14." in view.selected_text()


def test_the_conversation_is_marked_to_its_ends_whatever_is_loaded(small_desk: Desk) -> None:
    desk = small_desk
    desk.say(*[f"Row {number}" for number in range(1, 201)])
    view = desk.show()
    heard = served(desk, view)
    QTest.keyClick(view, Qt.Key.Key_Right, SHIFT)
    QTest.keyClick(view, Qt.Key.Key_Home, SHIFT | CTRL)
    desk.settle()
    assert desk.seq_at(view.layout_now.placed[0].row) == 1
    view.copy()
    desk.settle()
    assert heard[-1].startswith("Row 1\n\nRow 2\n\n") and heard[-1].count("\n\n") > 180


def test_all_of_a_conversation_is_copied_though_only_a_window_of_it_is_loaded(
    small_desk: Desk,
) -> None:
    """U37, C19"""
    desk = small_desk
    said = [f"Row **{number}**" for number in range(1, 700)]
    desk.say(*said)
    view = desk.show()
    heard = served(desk, view)
    view.selectAll()
    view.copy()
    desk.say("later")
    desk.settle()
    assert heard == ["\n\n".join(said)]
    assert len(desk.scope.window.rows) <= 32


def test_what_is_marked_survives_streaming_eviction_and_coming_back(small_desk: Desk) -> None:
    """U37"""
    desk = small_desk
    desk.say(*[f"Row **{number}** is said" for number in range(1, 101)])
    view = desk.show()
    heard = served(desk, view)
    first, last = (view.layout_now.placed[at].row for at in (1, 4))
    seqs = desk.seq_at(first), desk.seq_at(last)
    mark(view, corner(desk, view, first), QPoint(790, corner(desk, view, last).y()))
    wanted = view.selected_text()
    assert wanted == "\n\n".join(f"Row {seq} is said" for seq in range(seqs[0], seqs[1] + 1))
    desk.open_block("b")
    desk.grow("b", "streams meanwhile " * 40)
    desk.settle()
    assert view.selected_text() == wanted
    view.jump(10)
    desk.settle()
    assert not desk.scope.window.holds(seqs[0])
    view.copy()
    desk.settle()
    assert heard == [wanted]
    view.jump(seqs[0])
    desk.settle()
    assert view.selected_text() == wanted


def test_with_the_end_marked_one_still_gets_to_the_top(small_desk: Desk) -> None:
    """C19, C21: a mark must not hold the window where it is."""
    desk = small_desk
    desk.say(*texts(120))
    view = desk.show()
    at = view.layout_now.placed[-1].row
    mark(view, corner(desk, view, at), corner(desk, view, at) + QPoint(60, 0))
    for _ in range(400):
        view.scroll_by(-900)
        desk.settle()
        assert len(desk.scope.window.rows) <= 32
        if desk.seq_at(view.layout_now.placed[0].row) == 1:
            break
    assert desk.seq_at(view.layout_now.placed[0].row) == 1
    assert view.selected_text() == ""


def test_rows_move_while_the_mouse_is_held_beyond_an_edge_and_stand_when_it_is_let_go(
    desk: Desk,
) -> None:
    """U37"""
    desk.say(*texts(60))
    view = desk.show()
    at = view.layout_now.placed[-2].row
    press(view, corner(desk, view, at))
    beyond = QPoint(100, -60)
    move(view, beyond)
    start = view.layout_now.placed[0].row
    desk.loop.run_until_complete(_until(lambda: view.layout_now.placed[0].row < start - 6))
    release(view, beyond)
    desk.settle()
    stands = view.layout_now
    assert not view.following
    assert f"Row {desk.seq_at(start) - 3}." in view.selected_text()
    desk.settle()
    assert view.layout_now == stands


async def _until(done: Callable[[], bool]) -> None:
    from tests.ui.conftest import until

    await until(done)


def test_marked_text_is_pulled_away_and_stays_marked(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A drag takes the text; a press in it that goes nowhere unmarks it."""
    dragged: list[QMimeData] = []

    class Dragged(QDrag):
        def exec(self, *_: object) -> Qt.DropAction:  # type: ignore[override]
            dragged.append(self.mimeData())
            self.deleteLater()
            return Qt.DropAction.CopyAction

    monkeypatch.setattr(clips, "QDrag", Dragged)
    desk.say("some words of an answer")
    view = desk.show()
    start = corner(desk, view, 0)
    mark(view, start, start + QPoint(140, 0))
    marked = view.selected_text()
    assert len(marked) > 5
    inside = start + QPoint(40, 0)
    press(view, inside)
    move(view, inside + QPoint(60, 40))
    release(view, inside + QPoint(60, 40))
    assert [data.text() for data in dragged] == [marked]
    assert view.selected_text() == marked
    press(view, inside)
    release(view, inside)
    assert view.selected_text() == ""


def test_too_much_is_refused_in_words(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("desktop.ui.transcript.copying.MOST_LETTERS", 1_000)
    desk.say(*["x" * 100] * 60)
    view = desk.show()
    wishes: list[Copying] = []
    view.copy_wanted.connect(wishes.append)
    view.selectAll()
    view.copy()
    with pytest.raises(TooMuchToCopy):
        desk.run(wishes[0].read(desk.log.reader))
    monkeypatch.setattr("desktop.ui.transcript.copying.MOST_LETTERS", 100_000)
    assert desk.run(wishes[0].read(desk.log.reader)).count("x") == 6_000
    monkeypatch.setattr("desktop.ui.transcript.copying.MOST_OFFERED", 1_000)
    with pytest.raises(TooMuchToCopy):
        desk.run(replace(wishes[0], target="primary").read(desk.log.reader))


def test_a_mark_in_what_streams_stays_when_it_seals(desk: Desk) -> None:
    desk.say("before")
    view = desk.show()
    desk.open_block("b")
    desk.grow("b", "streaming words")
    desk.settle()
    mark(view, corner(desk, view, 1), corner(desk, view, 1) + QPoint(400, 0))
    assert view.selected_text() == "streaming words"
    desk.write([desk.chunk("streaming words and more", id_="b")])
    desk.say("after")
    desk.settle()
    assert view.selected_text() == "streaming words"


def test_select_all_says_thinking_and_answers_as_they_were_said(desk: Desk) -> None:
    desk.say("First **row**", Thinking("hm"))
    desk.write([desk.chunk(Text(" indented\n"), role="user")])
    view = desk.show()
    view.selectAll()
    assert view.selected_text() == "First **row**\n\nhm\n\n indented\n"


def test_where_there_is_no_middle_click_nothing_is_offered_to_it(desk: Desk) -> None:
    """U37: and the clipboard is never touched by marking."""
    board = QGuiApplication.clipboard()
    board.setText("mine")
    desk.say("some words")
    view = desk.show()
    view.selectAll()
    assert board.text(QClipboard.Mode.Clipboard) == "mine"


@pytest.mark.xvfb
def test_what_is_marked_last_is_what_a_middle_click_pastes(xvfb: str) -> None:
    """On a real X server: the primary selection has it, the clipboard has not."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.ui.transcript.marked_on_x"],
        env={**os.environ, "QT_QPA_PLATFORM": "xcb", "DISPLAY": xvfb},
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert done.stdout.splitlines() == ["primary: one\\n\\ntwo", "clipboard: "], done.stderr
