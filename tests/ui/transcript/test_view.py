"""The transcript under wheel, keys, bar, touch and streams (SPEC Q01–Q03, C20, C21, A10, U37)."""

import gc
import itertools
import random
import weakref
from collections.abc import Callable

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QAccessible, QGuiApplication, QImage, QKeySequence, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractSlider, QApplication, QFrame, QPushButton

from desktop.core.chunks import ErrorNote, System, Text, Thinking, ToolCall, ToolResult
from desktop.core.reducer import Dropped
from desktop.core.status import TabStatus
from desktop.ui.theme import theme_for
from desktop.ui.transcript.shelf import DOCUMENTS
from desktop.ui.transcript.view import TranscriptView
from tests.ui.transcript.desk import Desk, texts


def top_of(view: TranscriptView) -> tuple[str, int]:
    """The row at the top of the screen, and where it stands."""
    model = view.model()
    first = view.layout_now.placed[0]
    return model.row(first.row).id, first.y  # type: ignore[attr-defined]


def place_of(view: TranscriptView, id_: str) -> int | None:
    model = view.model()
    for one in view.layout_now.placed:
        if model.row(one.row).id == id_:  # type: ignore[attr-defined]
            return one.y
    return None


def wheel(view: TranscriptView, notches: int) -> None:
    middle = QPointF(view.viewport().rect().center())
    QApplication.sendEvent(
        view.viewport(),
        QWheelEvent(
            middle,
            view.viewport().mapToGlobal(middle),
            QPoint(),
            QPoint(0, 120 * notches),
            Qt.MouseButton.NoButton,
            Qt.KeyboardModifier.NoModifier,
            Qt.ScrollPhase.NoScrollPhase,
            False,
        ),
    )


def by_wheel(view: TranscriptView) -> None:
    wheel(view, 1)


def by_page_key(view: TranscriptView) -> None:
    QTest.keyClick(view, Qt.Key.Key_PageUp)


def by_arrow_key(view: TranscriptView) -> None:
    QTest.keyClick(view, Qt.Key.Key_Up)


def by_bar_arrow(view: TranscriptView) -> None:
    view.verticalScrollBar().triggerAction(QAbstractSlider.SliderAction.SliderSingleStepSub)


def by_bar_drag(view: TranscriptView) -> None:
    bar = view.verticalScrollBar()
    bar.setSliderDown(True)
    bar.setSliderPosition(bar.value() - 700)
    bar.setSliderDown(False)


def by_touch(view: TranscriptView) -> None:
    device = QTest.createTouchDevice()
    QTest.touchEvent(view.viewport(), device).press(0, QPoint(300, 200)).commit()
    QTest.touchEvent(view.viewport(), device).move(0, QPoint(300, 240)).commit()
    QTest.touchEvent(view.viewport(), device).release(0, QPoint(300, 240)).commit()


UPWARD = [by_wheel, by_page_key, by_arrow_key, by_bar_arrow, by_bar_drag, by_touch]


def test_opening_shows_the_end_and_builds_only_what_is_seen(desk: Desk) -> None:
    """U01"""
    desk.say(*texts(400))
    view = desk.show()
    placed = view.layout_now.placed
    assert desk.seq_at(placed[-1].row) == 400
    assert view.layout_now.at_end and view.following
    assert view.documents_built <= len(placed) + 2


def test_it_follows_the_end_while_rows_and_text_come(desk: Desk) -> None:
    desk.say(*texts(30))
    view = desk.show()
    desk.open_block("b")
    for _ in range(40):
        desk.grow("b", "more words come in here. ")
    desk.settle()
    assert view.layout_now.at_end
    assert desk.model.row(view.layout_now.placed[-1].row).id == "b"
    desk.say("the next")
    desk.settle()
    assert view.layout_now.at_end


@pytest.mark.parametrize("upward", UPWARD, ids=lambda one: one.__name__)
def test_the_smallest_move_up_ends_following_and_the_place_stays(
    desk: Desk, upward: Callable[[TranscriptView], None]
) -> None:
    """Q01, U37, F-R01"""
    desk.say(*texts(40))
    view = desk.show()
    desk.open_block("b")
    desk.grow("b", "streaming ")
    desk.settle()
    upward(view)
    desk.settle()
    assert not view.following
    before = top_of(view)
    for _ in range(50):
        desk.grow("b", "more and more text that makes the row taller. ")
    desk.say("sealed elsewhere", "and another")
    desk.settle()
    assert top_of(view) == before
    assert not view.following


def test_the_end_is_followed_again_once_it_is_reached(desk: Desk) -> None:
    """F-R01"""
    desk.say(*texts(40))
    view = desk.show()
    wheel(view, 2)
    desk.settle()
    assert not view.following
    wheel(view, -3)
    desk.settle()
    assert view.following
    QTest.keyClick(view, Qt.Key.Key_Home)
    desk.settle()
    assert not view.following
    QTest.keyClick(view, Qt.Key.Key_End)
    desk.settle()
    assert view.following and view.layout_now.at_end


def test_a_move_in_the_frame_in_which_a_row_comes_is_not_lost(desk: Desk) -> None:
    """F-R01"""
    desk.say(*texts(40))
    view = desk.show()
    desk.open_block("b")
    wheel(view, 1)
    assert not view.following
    before = top_of(view)
    desk.settle()
    assert not view.following
    assert top_of(view) == before


def test_without_a_move_following_never_lets_go(desk: Desk) -> None:
    """F-R01"""
    desk.say(*texts(20))
    view = desk.show()
    for width in (500, 900, 640):
        view.resize(width, 500)
        desk.settle()
    desk.open_block("b")
    desk.grow("b", "x " * 4_000)
    desk.settle()
    desk.hub.live(desk.tab, Dropped("b"))
    desk.settle()
    view.set_zoom(150)
    desk.settle()
    assert view.following and view.layout_now.at_end


def test_what_is_read_does_not_move_when_older_rows_come_or_newest_go(small_desk: Desk) -> None:
    """Q01, C21, F-R08: prepend and evict, many times."""
    desk = small_desk
    desk.say(*texts(300))
    view = desk.show()
    moved = 0
    for _ in range(60):
        view.scroll_by(-400)
        before = top_of(view)
        desk.settle()
        moved = max(moved, abs((place_of(view, before[0]) or 0) - before[1]))
        assert place_of(view, before[0]) is not None
        assert len(desk.scope.window.rows) <= 32
    assert moved == 0
    assert desk.scope.window.first_seq is not None and desk.scope.window.first_seq < 200


def test_f_r08_one_page_is_read_for_one_move_and_nothing_moves_while_the_end_grows(
    small_desk: Desk,
) -> None:
    """Rows of very unlike heights, other widths and fonts in the middle, a stream at the end."""
    desk = small_desk
    desk.say(*(f"row {n} " + "words " * (n * n % 300) for n in range(200)))
    view = desk.show()
    desk.open_block("b")
    for step in range(24):
        view.scroll_by(-500)
        before, loaded = top_of(view), len(desk.tasks)
        desk.grow("b", "more words at the end. ")
        assert len(desk.tasks) - loaded <= 1
        desk.settle()
        assert place_of(view, before[0]) == before[1]
        if step % 8 == 7:
            view.resize(700 if view.width() < 700 else 500, view.height())
            view.set_zoom(100 + step)
            desk.settle()
            assert top_of(view)[0] == before[0]


def test_what_is_read_stays_when_something_above_the_loaded_end_is_folded(
    small_desk: Desk,
) -> None:
    """Q01: the rows that then have room below are loaded into it."""
    desk = small_desk
    desk.say(*texts(30))
    for number in range(3):
        call = f"k{number}"
        desk.say(ToolCall(call, "shell", {"command": "x"}), ToolResult(call, "shell", "a\n" * 30))
    desk.say(*texts(60))
    view = desk.show()
    view.jump(26)
    desk.settle()
    cards = [row.id for row in desk.model.rows() if getattr(row, "type", "") == "tool_call"]
    for id_ in cards:
        view.set_fold(id_, "all")
    desk.settle()
    view.jump(31)
    desk.settle()
    desk.scope.fetch_older()
    desk.settle()
    before = top_of(view)
    for id_ in cards:
        view.set_fold(id_, "folded")
        assert top_of(view) == before
    desk.settle()
    assert top_of(view) == before
    assert view.layout_now.filled


def test_at_the_end_a_card_that_is_folded_stays_under_the_mouse(desk: Desk) -> None:
    """Q01"""
    desk.say(*texts(20), ToolCall("k", "shell", {"command": "x"}))
    desk.say(ToolResult("k", "shell", "a\n" * 12))
    view = desk.show()
    card = desk.model.row(20).id
    view.set_fold(card, "all")
    desk.settle()
    view.scroll_by(-1)
    desk.settle()
    place = place_of(view, card)
    view.set_fold(card, "folded")
    desk.settle()
    assert place_of(view, card) == place
    view.scroll_by(1)
    desk.settle()
    assert view.following


def test_rows_that_come_or_go_off_the_screen_paint_nothing(desk: Desk) -> None:
    """U05: what is seen did not change."""
    desk.say(*texts(400))
    view = desk.show()
    view.jump(300)
    desk.settle()
    paints: list[int] = []
    view.painted_rows.connect(lambda: paints.append(1))
    rows = desk.model.rowCount()
    assert desk.model.fetch_older()
    desk.settle()
    assert desk.model.rowCount() > rows and paints == []
    view.set_fold(desk.model.row(view.layout_now.placed[0].row).id, "all")
    desk.settle()
    assert paints


def test_scrolling_to_the_top_and_back_reaches_both_ends(small_desk: Desk) -> None:
    desk = small_desk
    desk.say(*texts(90))
    view = desk.show()
    for _ in range(300):
        view.scroll_by(-600)
        desk.settle()
        if desk.seq_at(view.layout_now.placed[0].row) == 1:
            break
    view.scroll_by(-10_000)
    desk.settle()
    assert top_of(view) == ("n1", 0)
    seen: set[int] = set()
    for _ in range(300):
        seen.update(desk.seq_at(one.row) for one in view.layout_now.placed)
        if view.following:
            break
        view.scroll_by(400)
        desk.settle()
    assert seen == set(range(1, 91))


def test_rows_that_come_while_one_reads_are_counted_on_the_button(desk: Desk) -> None:
    """C21, U37"""
    desk.say(*texts(40))
    view = desk.show()
    button = view.findChild(QPushButton, "toEnd")
    assert button is not None and not button.isVisible()
    wheel(view, 3)
    desk.settle()
    assert button.isVisible() and button.text() == "↓ To the end"
    rows = desk.model.rowCount()
    desk.say("one", "two", System("fact", "silent"))
    desk.settle()
    assert (button.text(), desk.model.rowCount()) == ("↓ 2 new", rows)
    button.click()
    desk.settle()
    assert view.following and not button.isVisible()
    assert desk.seq_at(desk.model.rowCount() - 1) == 43


def test_a_short_first_page_loads_more_until_the_screen_is_filled(small_desk: Desk) -> None:
    """Q03"""
    desk = small_desk
    desk.say(*["short"] * 10, *[System("fact", "nothing to see")] * 22)
    view = desk.show()
    assert desk.scope.window.first_seq is not None and desk.scope.window.first_seq <= 3
    assert view.layout_now.placed


def test_thinking_stands_open_where_the_person_wants_it_and_can_still_be_folded(
    desk: Desk,
) -> None:
    desk.say(Thinking("A long thought.\n\nAnd another."), "Answer.")
    view = desk.show()
    row = desk.model.row(0)

    def height() -> int:
        desk.settle()
        box = view.box_of(row.id)
        assert box is not None
        return box.height

    folded = height()
    view.set_thinking_open(True)
    assert height() > folded
    view.set_fold(row.id, "folded")
    assert height() == folded


def test_unfolding_leaves_the_card_where_it_is(desk: Desk) -> None:
    desk.say(*texts(20))
    desk.say(ToolCall("k", "shell", {"command": "ls"}), ToolResult("k", "shell", "a\n" * 60))
    desk.say(*["after"] * 4)
    view = desk.show()
    card = next(row for row in desk.model.rows() if getattr(row, "type", "") == "tool_call")
    before = place_of(view, card.id)
    assert before is not None
    at = QPoint(view.viewport().width() // 2, before + 20)
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=at)
    desk.settle()
    assert place_of(view, card.id) == before
    box = view.box_of(card.id)
    assert box is not None and box.height > 300


def test_ten_thousand_deltas_make_a_bounded_number_of_updates(desk: Desk) -> None:
    """A10"""
    desk.say("hello")
    view = desk.show()
    changes = desk.changes()
    desk.open_block("b")
    words = [f"word{number} " for number in range(10_000)]
    for number, word in enumerate(words):
        desk.grow("b", word)
        if number % 1_000 == 0:
            desk.settle()
    desk.settle()
    assert 1 <= len(changes) <= 30
    desk.write([desk.chunk("".join(words), id_="b")])
    desk.settle()
    changes.clear()
    desk.grow("b", "late")
    desk.settle()
    assert changes == []
    row = desk.model.row(desk.model.rowCount() - 1)
    assert row.data == Text("".join(words))  # type: ignore[union-attr]
    assert view.following


def test_a_stream_off_the_screen_is_only_buffered(desk: Desk) -> None:
    desk.say(*texts(40))
    view = desk.show()
    desk.open_block("b")
    desk.grow("b", "begin ")
    desk.settle()
    QTest.keyClick(view, Qt.Key.Key_PageUp)
    QTest.keyClick(view, Qt.Key.Key_PageUp)
    desk.settle()
    box = view.box_of("b")
    before = box.height if box is not None else None
    for _ in range(200):
        desk.grow("b", "a lot of text that is not on the screen. ")
    desk.settle()
    box = view.box_of("b")
    assert box is None or box.height == before


def test_the_documents_alive_are_bounded(desk: Desk) -> None:
    desk.say(*texts(250))
    view = desk.show()
    for _ in range(80):
        view.scroll_by(-700)
        desk.settle()
    assert view.documents_alive <= DOCUMENTS


def test_the_bar_moves_one_way_while_one_scrolls_one_way(small_desk: Desk) -> None:
    """TRANSCRIPT §6.4"""
    desk = small_desk
    desk.say(*texts(200))
    view = desk.show()
    values = [view.verticalScrollBar().value()]
    for _ in range(60):
        view.scroll_by(-150)
        desk.settle()
        values.append(view.verticalScrollBar().value())
    assert values == sorted(values, reverse=True)
    assert values[-1] < values[0]


def test_dragging_the_bar_to_a_place_that_is_not_loaded_goes_there(small_desk: Desk) -> None:
    desk = small_desk
    desk.say(*texts(300))
    view = desk.show()
    bar = view.verticalScrollBar()
    bar.setSliderDown(True)
    bar.setSliderPosition(bar.maximum() // 2)
    bar.setSliderDown(False)
    desk.settle()
    seq = desk.seq_at(view.layout_now.placed[0].row)
    assert 100 < seq < 200
    bar.setSliderPosition(0)
    desk.settle()
    assert desk.seq_at(view.layout_now.placed[0].row) == 1


def drag(view: TranscriptView, start: QPoint, end: QPoint) -> None:
    port = view.viewport()
    QTest.mousePress(port, Qt.MouseButton.LeftButton, pos=start)
    for at in (start + QPoint(8, 8), end):
        event = QPointF(at)
        from PySide6.QtGui import QMouseEvent

        QApplication.sendEvent(
            port,
            QMouseEvent(
                QEvent.Type.MouseMove,
                event,
                port.mapToGlobal(event),
                Qt.MouseButton.NoButton,
                Qt.MouseButton.LeftButton,
                Qt.KeyboardModifier.NoModifier,
            ),
        )
    QTest.mouseRelease(port, Qt.MouseButton.LeftButton, pos=end)


def test_marked_text_spans_rows_survives_streaming_and_is_copied_plain(desk: Desk) -> None:
    """U37"""
    desk.say("First **row** here", "Second row", "Third row")
    view = desk.show()
    placed = view.layout_now.placed
    start = QPoint(view.visualRect(desk.model.index(0)).left() + 1, placed[0].y + 10)
    end = QPoint(view.viewport().width() - 20, placed[2].y + 15)
    drag(view, start, end)
    desk.open_block("b")
    desk.grow("b", "streaming meanwhile")
    desk.settle()
    QTest.keySequence(view, QKeySequence(QKeySequence.StandardKey.Copy))
    assert QGuiApplication.clipboard().text() == "First row here\n\nSecond row\n\nThird row"


def test_select_all_takes_the_texts_as_they_were_said(desk: Desk) -> None:
    desk.say("First **row**", Thinking("hm"), "Last")
    view = desk.show()
    QTest.keySequence(view, QKeySequence(QKeySequence.StandardKey.SelectAll))
    QTest.keySequence(view, QKeySequence(QKeySequence.StandardKey.Copy))
    assert QGuiApplication.clipboard().text() == "First **row**\n\nhm\n\nLast"


def test_a_click_does_not_copy(desk: Desk) -> None:
    """U37: no copy on select."""
    QGuiApplication.clipboard().setText("mine")
    desk.say("some words")
    view = desk.show()
    one = view.layout_now.placed[0]
    drag(view, QPoint(30, one.y + 10), QPoint(200, one.y + 10))
    assert view.selected_text()
    assert QGuiApplication.clipboard().text() == "mine"


def find_link(view: TranscriptView, target: str) -> QPoint:
    for y, x in itertools.product(range(0, 120, 4), range(0, view.viewport().width(), 4)):
        hit = view.hit_at(QPointF(x, y))
        if hit is not None and hit.kind == "link" and hit.value == target:
            return QPoint(x, y)
    raise AssertionError("no such link")


def test_a_link_is_told_and_not_opened_and_its_target_is_shown(desk: Desk) -> None:
    desk.say("See [here](https://example.org/a) and [there](file:///etc/passwd).")
    view = desk.show()
    told: list[str] = []
    view.link_activated.connect(told.append)
    shown: list[str] = []
    view.link_hovered.connect(shown.append)
    at = find_link(view, "https://example.org/a")
    QTest.mouseMove(view.viewport(), at)
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert told == ["https://example.org/a"]
    assert shown == ["https://example.org/a"]
    with pytest.raises(AssertionError):
        find_link(view, "file:///etc/passwd")


def test_the_position_is_kept_while_another_conversation_is_shown(small_desk: Desk) -> None:
    desk = small_desk
    desk.say(*texts(200))
    view = desk.show()
    view.jump(50)
    desk.settle()
    view.scroll_by(17)
    desk.settle()
    before = top_of(view)
    state = view.view_state()
    view.show_model(None)
    desk.model.detach()
    desk.scope.close()
    view.close()
    again = desk.show(state=state)
    assert top_of(again) == before
    assert not again.following


def test_documents_of_a_conversation_out_of_sight_go_at_once(desk: Desk) -> None:
    """U09: without waiting for the collector, which may run in any thread."""
    desk.say(*texts(20))
    view = desk.show()
    desk.qtbot.mouseMove(view.viewport(), view.viewport().rect().center())
    desk.settle()
    acts = view.findChild(QFrame, "rowActs")
    assert acts is not None
    assert acts.isVisible()
    boxes = [view.box_of(row.id) for row in desk.model.rows()]
    documents = [
        weakref.ref(piece.document)
        for box in boxes
        if box is not None
        for piece in box.pieces
        if piece.document is not None
    ]
    del boxes
    assert documents
    gc.disable()
    try:
        view.show_model(None)
        left = [one for one in documents if one() is not None]
    finally:
        gc.enable()
    assert left == []


def test_before_the_libraries_are_loaded_rows_are_plain_text_and_then_become_rich(
    desk: Desk,
) -> None:
    from desktop.ui.transcript.highlight import Highlighter
    from desktop.ui.transcript.markdown.renderer import MarkdownRenderer

    desk.say("# Title\n\nand *text*")
    view = desk.show(markdown=False)
    assert shown_text(view, "n1") == "# Title\n\nand *text*"
    view.set_renderer(MarkdownRenderer(Highlighter(desk.start)))
    desk.settle()
    assert shown_text(view, "n1") == "Title\nand text"


def shown_text(view: TranscriptView, id_: str) -> str:
    box = view.box_of(id_)
    assert box is not None
    return box.text_between((0, 0), box.end)


def test_a_running_tool_shows_its_last_three_lines_and_then_its_outcome(desk: Desk) -> None:
    desk.say(ToolCall("k", "shell", {"command": "make"}))
    desk.hub.status(TabStatus(desk.tab, phase="running", turn_id="t1"))
    view = desk.show()
    from desktop.core.reducer import Opened

    desk.hub.live(desk.tab, Opened("r", "t1", 0, "tool", "tool_result", "shell", "k"))
    desk.grow("r", "one\ntwo\nthree\nfour\n")
    desk.settle()
    assert shown_text(view, "n1") == "two\nthree\nfour"
    spoken = desk.model.data(desk.model.index(0), Qt.ItemDataRole.AccessibleTextRole)
    assert spoken.startswith("Tool: Running `make` · running")
    result = ToolResult("k", "shell", "ok", shell_output={"exitCode": 0, "durationMs": 1_200})
    desk.write([desk.chunk(result, id_="r")])
    desk.hub.status(TabStatus(desk.tab))
    desk.settle()
    spoken = desk.model.data(desk.model.index(0), Qt.ItemDataRole.AccessibleTextRole)
    assert spoken == "Tool: Ran `make` · 1.2 s\nok"
    assert shown_text(view, "n1") == ""
    assert view.isIndexHidden(desk.model.index(1))


def test_each_row_has_words_and_a_place_for_a_screen_reader(desk: Desk) -> None:
    """U38"""
    desk.write([desk.chunk("the question", role="user")])
    desk.say("the answer")
    view = desk.show()
    tree = QAccessible.queryAccessibleInterface(view)
    assert tree.role() == QAccessible.Role.List
    names = [tree.child(number).text(QAccessible.Text.Name) for number in range(tree.childCount())]
    assert names == ["You: the question", "Answer: the answer"]
    assert not tree.child(1).rect().isEmpty()


@pytest.mark.parametrize("zoom", [100, 125, 150, 200])
def test_text_scales_and_stays_inside_the_column(desk: Desk, zoom: int) -> None:
    """U38"""
    desk.say("A heading line of text that is rather long. " * 6)
    view = desk.show(width=900)
    before = view.layout_now.placed[0].height
    view.set_zoom(zoom)
    desk.settle()
    rect = view.visualRect(desk.model.index(0))
    assert rect.width() <= max(760, 760 * zoom // 100)
    assert rect.left() >= 0 and rect.right() < view.viewport().width()
    assert (rect.height() > before) is (zoom > 100)


def test_the_column_is_at_most_760_pixels_and_centred(desk: Desk) -> None:
    desk.say("text")
    view = desk.show(width=1_400)
    rect = view.visualRect(desk.model.index(0))
    assert rect.width() == 760
    assert abs(rect.left() - (view.viewport().width() - rect.right())) <= 1


def test_a_theme_changes_the_colours_of_what_is_shown(desk: Desk) -> None:
    desk.say("text")
    view = desk.show()
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    dark = theme_for("dark", app.palette())
    view.set_theme(dark)
    desk.settle()
    image: QImage = view.viewport().grab().toImage()
    assert image.pixelColor(2, 2) == dark.color("bg")


HOSTILE = [
    Text("\ud800 lone \udfff and \0 NUL"),
    Text("| a |" + " b |" * 63 + "\n|" + "-|" * 64 + "\n" + ("|" + " c |" * 64 + "\n") * 100),
    Text("x" * 200_000),
    Text("[" * 10_000),
    Text(">" * 5_000),
    Text("- " * 2_000),
    Text("```\n" + "line\n" * 5_000 + "```"),
    Text("\u202ereversed\u2066\u200b"),
    ToolCall("k", "edit_file", {"path": 3, "old": "a\n" * 3_000, "new": "b\n" * 3_000}),
    ToolCall("k2", "\ud800", {"\0": {"a": [1, 2]}}),
    ToolResult("nobody", "shell", "\x1b[31m" + "y" * 100_000, is_error=True),
    ErrorNote("", 500, {"detail": "\ud800"}),
    System("unknown kind", "something"),
    System("turn_end", "", {"outcome": 7, "durationMs": "x"}),
    Thinking("\udcff" * 50),
]


def test_whatever_a_row_holds_it_is_drawn_in_bounded_time(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    """U03, U39"""
    desk.say(*HOSTILE)
    view = desk.show()
    for row in list(desk.model.rows()):
        view.set_fold(row.id, "all")
    for _ in range(40):
        view.scroll_by(-900)
        view.viewport().grab()
    desk.settle()
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []


def test_random_moves_and_growth_never_move_what_is_read(small_desk: Desk) -> None:
    """Q01, Q02"""
    desk = small_desk
    desk.say(*texts(80))
    view = desk.show()
    view.jump(40)
    desk.settle()
    dice = random.Random(7)
    numbers = itertools.count()
    for _ in range(60):
        before = top_of(view)
        match dice.randrange(5):
            case 0:
                desk.say(f"new {next(numbers)}")
            case 1:
                desk.open_block(f"o{next(numbers)}")
            case 2:
                desk.scope.fetch_older()
            case 3:
                desk.scope.fetch_newer()
            case _:
                desk.hub.status(TabStatus(desk.tab))
        desk.settle()
        assert top_of(view) == before
        view.scroll_by(dice.choice([-90, -20, 20, 60]))
        desk.settle()
        assert len(desk.scope.window.rows) <= 32
