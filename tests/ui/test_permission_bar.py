"""The question before an act (SPEC U30, U31; LOOK.md "Asking for permission")."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import QLabel, QLineEdit, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from desktop.core.permissions import Act, Answer, Circle, Question
from desktop.ui.giving_way import GivingWay
from desktop.ui.permission_bar import PermissionBar
from desktop.ui.theme import LIGHT, Theme


@pytest.fixture
def bar(qtbot: QtBot) -> PermissionBar:
    made = PermissionBar(Theme("light", LIGHT), lambda tool, match: f"{tool}: {match}")
    qtbot.addWidget(made)
    made.resize(700, 300)
    return made


def question(id_: str = "q1", *, detail: str = "git status", offer: str = "git status") -> Question:
    act = Act("shell", "execute", "Run a command", detail, "command", where="/w", offer=offer)
    return Question(id_, "tab", "call", act, 0)


def answers_of(bar: PermissionBar) -> list[tuple[str, Answer]]:
    given: list[tuple[str, Answer]] = []
    bar.answered.connect(lambda id_, answer: given.append((id_, answer)))
    return given


def press(bar: PermissionBar, name: str) -> None:
    button = bar.findChild(QPushButton, name)
    assert isinstance(button, QPushButton)
    button.click()


def ready(bar: PermissionBar, qtbot: QtBot) -> None:
    with qtbot.waitSignal(bar.guard_over, timeout=2000):
        pass


def test_u31_nothing_is_approved_in_the_first_half_second(bar: PermissionBar, qtbot: QtBot) -> None:
    given = answers_of(bar)
    bar.show_questions([question()])
    assert bar.guarded
    bar.setFocus()
    for key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space, Qt.Key.Key_1):
        qtbot.keyClick(bar, key)
    press(bar, "allowOnce")
    assert given == []
    ready(bar, qtbot)
    qtbot.keyClick(bar, Qt.Key.Key_Return)
    assert given == []
    qtbot.keyClick(bar, Qt.Key.Key_1)
    assert given == [("q1", Answer("once"))]


def test_no_button_is_a_default(bar: PermissionBar) -> None:
    bar.show_questions([question()])
    assert not [
        one for one in bar.findChildren(QPushButton) if one.isDefault() or one.autoDefault()
    ]


def test_u31_what_is_written_goes_on_and_allows_nothing(bar: PermissionBar, qtbot: QtBot) -> None:
    given, typed = answers_of(bar), list[str]()
    bar.typed.connect(typed.append)
    bar.show_questions([question()])
    ready(bar, qtbot)
    bar.setFocus()
    qtbot.keyClicks(bar, "pe")
    assert typed == ["p", "e"]
    qtbot.keyClick(bar, Qt.Key.Key_Space)
    for with_key in ("ControlModifier", "AltModifier", "MetaModifier"):
        qtbot.keyClick(bar, Qt.Key.Key_1, Qt.KeyboardModifier[with_key])
    assert given == []
    assert typed == ["p", "e"]


def test_u31_a_click_that_brings_the_window_to_the_front_answers_nothing(
    bar: PermissionBar, qtbot: QtBot
) -> None:
    given, focused = answers_of(bar), list[bool]()
    bar.guard_over.connect(lambda: focused.append(True))
    other = QWidget()
    qtbot.addWidget(other)
    bar.show_questions([question()])
    ready(bar, qtbot)
    other.show()
    other.activateWindow()
    qtbot.waitUntil(other.isActiveWindow)
    bar.activateWindow()
    qtbot.waitUntil(bar.isActiveWindow)
    press(bar, "allowOnce")
    qtbot.keyClick(bar, Qt.Key.Key_1)
    press(bar, "allowAlways")
    press(bar, "keepRule")
    assert given == []
    qtbot.waitUntil(lambda: not bar.guarded)
    assert focused == [True], "the keyboard is offered once"
    press(bar, "allowOnce")
    assert given == [("q1", Answer("once"))]


def test_u31_the_whole_command_is_shown_with_invisible_characters_visible(
    bar: PermissionBar, qtbot: QtBot
) -> None:
    bar.show_questions([question(detail="ls\u00a0-l \u202e")])
    detail = bar.findChild(QPlainTextEdit, "permissionDetail")
    assert isinstance(detail, QPlainTextEdit)
    assert detail.toPlainText() == "ls‹NBSP›-l ‹U+202E›"


def test_u31_always_waits_until_all_of_a_long_command_was_seen(
    bar: PermissionBar, qtbot: QtBot
) -> None:
    bar.show_questions([question(detail="\n".join(f"echo {n}" for n in range(200)))])
    bar.show()
    ready(bar, qtbot)
    always = bar.findChild(QPushButton, "allowAlways")
    assert isinstance(always, QPushButton)
    assert not always.isEnabled()
    detail = bar.findChild(QPlainTextEdit, "permissionDetail")
    assert isinstance(detail, QPlainTextEdit)
    detail.verticalScrollBar().setValue(detail.verticalScrollBar().maximum())
    assert always.isEnabled()


def test_u30_always_shows_its_rule_before_it_is_kept(bar: PermissionBar, qtbot: QtBot) -> None:
    given = answers_of(bar)
    bar.show_questions([question()])
    ready(bar, qtbot)
    qtbot.keyClick(bar, Qt.Key.Key_2)
    assert given == []
    press(bar, "keepRule")
    assert given == [("q1", Answer("always"))]


def test_a_denial_can_say_why(bar: PermissionBar, qtbot: QtBot) -> None:
    given = answers_of(bar)
    bar.show_questions([question()])
    ready(bar, qtbot)
    qtbot.keyClick(bar, Qt.Key.Key_3)
    reason = bar.focusWidget()
    assert reason is not None
    qtbot.keyClicks(reason, "use make")
    qtbot.keyClick(reason, Qt.Key.Key_Return)
    assert given == [("q1", Answer("deny", "use make"))]


def test_the_next_question_gets_a_half_second_of_its_own(bar: PermissionBar, qtbot: QtBot) -> None:
    given = answers_of(bar)
    bar.show_questions([question("q1"), question("q2")])
    ready(bar, qtbot)
    qtbot.keyClick(bar, Qt.Key.Key_1)
    bar.show_questions([question("q2")])
    qtbot.keyClick(bar, Qt.Key.Key_1)
    assert [id_ for id_, _ in given] == ["q1"]


def circle(id_: str = "q1") -> Question:
    about = Circle("The agent has done the same thing 5 times in a row.", 'shell {"command": "ls"}')
    return Question(id_, "tab", "call", about, 0)


def shown(bar: PermissionBar, name: str) -> bool:
    return not bar.findChildren(QWidget, name)[0].isHidden()


def test_u27_a_circle_is_let_go_on_or_stopped(bar: PermissionBar, qtbot: QtBot) -> None:
    given = answers_of(bar)
    bar.show_questions([circle()])
    press(bar, "allowOnce")
    press(bar, "deny")
    assert given == [], "not in the first half second"
    ready(bar, qtbot)
    assert not shown(bar, "allowAlways")
    qtbot.keyClick(bar, Qt.Key.Key_2)
    qtbot.keyClick(bar, Qt.Key.Key_Return)
    assert given == []
    qtbot.keyClick(bar, Qt.Key.Key_1)
    bar.show_questions([circle("q2")])
    ready(bar, qtbot)
    qtbot.keyClick(bar, Qt.Key.Key_3)
    assert given == [("q1", Answer("once")), ("q2", Answer("deny"))]


def test_u27_a_circle_can_be_told_something(bar: PermissionBar, qtbot: QtBot) -> None:
    given = answers_of(bar)
    bar.show_questions([circle()])
    ready(bar, qtbot)
    field = bar.findChild(QLineEdit, "denyReason")
    assert isinstance(field, QLineEdit)
    press(bar, "denyNow")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert given == [], "nothing was written"
    qtbot.keyClicks(field, "Read it instead")
    press(bar, "denyNow")
    assert given == [("q1", Answer("deny", "Read it instead"))]


def test_after_a_circle_an_act_is_asked_for_as_ever(bar: PermissionBar, qtbot: QtBot) -> None:
    bar.show_questions([circle()])
    bar.show_questions([question("q2")])
    ready(bar, qtbot)
    assert shown(bar, "allowAlways")
    button = bar.findChild(QPushButton, "allowOnce")
    assert isinstance(button, QPushButton)
    assert button.text().startswith("Allow once")
    press(bar, "deny")
    assert shown(bar, "denyReason")
    given = answers_of(bar)
    press(bar, "denyNow")
    assert given == [("q2", Answer("deny"))], "a denial needs no words"


def test_it_says_where_a_command_would_run_and_what_it_could_do(bar: PermissionBar) -> None:
    """PLATFORM.md §4.3.6"""
    act = Act("shell", "execute", "Run a command", "ls", "command", where="/w", writes=("/w",))
    cases = [
        (replace(act, confined=True), "in /w · in a sandbox · may write /w · no network"),
        (
            replace(act, confined=True, network=True),
            "in /w · in a sandbox · may write /w"
            " · may use the network and what listens on this computer",
        ),
        (
            replace(act, writes=("",), network=True, caution="There is none."),
            "in /w · without a sandbox · may write anywhere you can · may use the network",
        ),
    ]
    for number, (one, said) in enumerate(cases):
        bar.show_questions([Question(f"q{number}", "tab", "call", one, 0)])
        (label,) = [each for each in bar.findChildren(QLabel) if each.text() == said]
        assert label.toolTip() == one.caution


def long_question() -> Question:
    act = question(detail="echo a\n" * 40).about
    assert isinstance(act, Act)
    act = replace(act, where="/a/long/name/of/a/folder" * 4, confined=True)
    return Question("q1", "tab", "call", act, 0)


@pytest.fixture
def narrow(qtbot: QtBot) -> Iterator[PermissionBar]:
    """In a window of 260 pixels; `window()` is that."""
    window = QWidget()
    qtbot.addWidget(window)
    column = QVBoxLayout(window)
    bar = PermissionBar(Theme("light", LIGHT), lambda tool, match: f"{tool}: {match}", window)
    column.addWidget(bar)
    window.resize(260, 340)
    window.show()
    bar.show_questions([long_question()])
    yield bar


def in_bar(bar: PermissionBar, part: QWidget) -> QRect:
    return QRect(part.mapTo(bar, QPoint()), part.size())


def test_u31_in_a_narrow_low_window_the_command_gives_way_and_what_is_said_of_it_stays_whole(
    narrow: PermissionBar, qtbot: QtBot
) -> None:
    bar = narrow
    (where,) = [one for one in bar.findChildren(QLabel) if one.text().endswith("no network")]
    detail = bar.findChild(QPlainTextEdit, "permissionDetail")
    deny = bar.findChild(QPushButton, "deny")
    assert detail is not None and deny is not None
    qtbot.waitUntil(lambda: where.height() >= where.heightForWidth(where.width()) > 50)
    line = detail.fontMetrics().lineSpacing()
    assert 2 * line <= detail.height() < 12 * line
    places = [in_bar(bar, one) for one in (detail, where, deny)]
    assert places[0].bottom() < places[1].top() < places[1].bottom() < places[2].top()
    assert places[2].bottom() < bar.height()


def test_u31_in_a_very_low_window_the_words_scroll_and_the_buttons_stand(
    narrow: PermissionBar, qtbot: QtBot
) -> None:
    """It is kept for good only once all that is said was seen, which the keyboard can do too."""
    bar, window = narrow, narrow.window()
    ready(bar, qtbot)
    window.resize(260, 1)
    words = bar.findChild(GivingWay, "permissionWords")
    buttons = [bar.findChild(QPushButton, name) for name in ("allowOnce", "allowAlways", "deny")]
    assert words is not None
    qtbot.waitUntil(lambda: words.verticalScrollBar().maximum() > 0)
    assert window.height() < 240
    for button in buttons:
        assert button is not None
        assert bar.rect().contains(in_bar(bar, button))
    assert words.focusPolicy() & Qt.FocusPolicy.TabFocus
    detail = bar.findChild(QPlainTextEdit, "permissionDetail")
    assert detail is not None
    detail.verticalScrollBar().setValue(detail.verticalScrollBar().maximum())
    always = buttons[1]
    assert always is not None
    assert not always.isEnabled()
    qtbot.keyClick(words, Qt.Key.Key_PageDown)
    for _ in range(20):
        qtbot.keyClick(words, Qt.Key.Key_Down)
    assert words.is_at_end
    assert always.isEnabled()
    always.click()
    rule = bar.findChild(QLabel, "permissionRule")
    keep = bar.findChild(QPushButton, "keepRule")
    assert rule is not None and keep is not None
    qtbot.waitUntil(lambda: words.is_at_end and rule.isVisible())
    assert in_bar(bar, rule).bottom() < in_bar(bar, keep).top()
    qtbot.waitUntil(lambda: bar.rect().contains(in_bar(bar, keep)))


def test_u31_no_part_of_what_is_asked_about_a_long_path_is_cut(
    bar: PermissionBar, qtbot: QtBot
) -> None:
    """SPEC U38: a name without a place to break it, in a narrow window."""
    path = "n" * 190
    act = Act("write_file", "write", f"Create {path}", "+x", "diff", where=f"/{path}", offer="")
    bar.resize(320, 700)
    bar.show()
    qtbot.waitExposed(bar)
    bar.show_questions([Question("q", "tab", "call", act, 0)])
    said = [one for one in bar.findChildren(QLabel) if path in one.accessibleName()]
    assert len(said) == 2
    qtbot.waitUntil(lambda: all(one.width() <= bar.width() for one in said))
    for one in said:
        assert one.minimumSizeHint().width() <= one.width()
        assert one.heightForWidth(one.width()) <= one.height()
