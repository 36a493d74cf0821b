"""Writing and sending: Enter, Shift+Enter, input methods, big pastes (SPEC U07, U38, LOOK.md)."""

from typing import Any

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QMimeData, QRect, QRectF, Qt
from PySide6.QtGui import QAccessible, QInputMethodEvent, QKeyEvent
from PySide6.QtWidgets import QLabel, QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from desktop.core.model import ModelInfo, Spent
from desktop.ui.composer import Composer
from desktop.ui.message_field import LONG_PASTE
from desktop.ui.quiet_combo import QuietCombo
from desktop.ui.theme import LIGHT, Theme

THEME = Theme("light", LIGHT)


@pytest.fixture
def composer(qtbot: QtBot) -> Composer:
    made = Composer(THEME)
    qtbot.addWidget(made)
    made.resize(700, 200)
    made.show_ready(True)
    made.show_choice("some-model", "", "ask")
    made.show()
    return made


def sent_by(composer: Composer) -> list[tuple[str, list[dict[str, Any]]]]:
    sent: list[tuple[str, list[dict[str, Any]]]] = []
    composer.send_wanted.connect(lambda text, attachments: sent.append((text, attachments)))
    return sent


def test_enter_sends_and_shift_enter_breaks_the_line(composer: Composer, qtbot: QtBot) -> None:
    sent = sent_by(composer)
    qtbot.keyClicks(composer.field, "one")
    qtbot.keyClick(composer.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClicks(composer.field, "two")
    qtbot.keyClick(composer.field, Qt.Key.Key_Return)
    assert sent == [("one\ntwo", [])]


@pytest.mark.parametrize("sent", ["one", "o\U0001f41an\n e", ""])
def test_what_was_written_while_a_message_went_out_is_all_that_stays(
    composer: Composer, qtbot: QtBot, sent: str
) -> None:
    first, second = {"name": "a", "text": "A"}, {"name": "b", "text": "B"}
    composer.refill(sent, [first])
    gone = (composer.text(), composer.attachments())
    qtbot.keyClicks(composer.field, " two")
    composer.add(second)
    composer.drop_sent(*gone)
    assert (composer.text(), composer.attachments()) == (" two", [second])
    qtbot.keyClicks(composer.field, "!")
    assert composer.text() == " two!", "the caret stays where it was"


def test_a_message_that_was_changed_while_it_went_out_stays_whole(composer: Composer) -> None:
    composer.set_text("one")
    composer.set_text("another one")
    composer.drop_sent("one", [])
    assert composer.text() == "another one"


def test_with_the_other_setting_ctrl_enter_sends(composer: Composer, qtbot: QtBot) -> None:
    composer.field.send_with_ctrl = True
    sent = sent_by(composer)
    qtbot.keyClicks(composer.field, "one")
    qtbot.keyClick(composer.field, Qt.Key.Key_Return)
    assert sent == []
    qtbot.keyClick(composer.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert sent == [("one\n", [])]


def test_u38_enter_never_sends_while_an_input_method_composes(
    composer: Composer, qtbot: QtBot
) -> None:
    """F-R07"""
    sent = sent_by(composer)
    stopped: list[bool] = []
    composer.stop_wanted.connect(lambda: stopped.append(True))
    QCoreApplication.sendEvent(composer.field, QInputMethodEvent("にほ", []))
    qtbot.keyClick(composer.field, Qt.Key.Key_Return)
    qtbot.keyClick(composer.field, Qt.Key.Key_Escape)
    assert sent == []
    assert stopped == []
    done = QInputMethodEvent("", [])
    done.setCommitString("日本")
    QCoreApplication.sendEvent(composer.field, done)
    qtbot.keyClick(composer.field, Qt.Key.Key_Return)
    assert sent == [("日本", [])]


def test_f_r07_a_commit_and_the_key_after_it_send_once_what_was_committed(
    composer: Composer, qtbot: QtBot
) -> None:
    """The commit may come first, in the same turn of the loop; so a dead key and its letter."""
    sent = sent_by(composer)
    QCoreApplication.sendEvent(composer.field, QInputMethodEvent("´", []))
    for letters in ("é", "日本"):
        done = QInputMethodEvent("", [])
        done.setCommitString(letters)
        QCoreApplication.postEvent(composer.field, done)
    key = QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_Return, Qt.KeyboardModifier.NoModifier)
    QCoreApplication.postEvent(composer.field, key)
    QCoreApplication.sendPostedEvents(composer.field)
    assert sent == [("é日本", [])]


def test_f_r07_what_is_composed_is_not_lost_when_the_field_loses_the_keyboard(
    composer: Composer, qtbot: QtBot
) -> None:
    composer.set_text("one")
    QCoreApplication.sendEvent(composer.field, QInputMethodEvent("にほ", []))
    composer.field.clearFocus()
    done = QInputMethodEvent("", [])
    done.setCommitString("日本")
    QCoreApplication.sendEvent(composer.field, done)
    composer.field.setFocus()
    assert composer.text() == "one日本"


def test_nothing_is_sent_while_not_ready_or_blank(composer: Composer, qtbot: QtBot) -> None:
    sent = sent_by(composer)
    qtbot.keyClicks(composer.field, "  ")
    qtbot.keyClick(composer.field, Qt.Key.Key_Return)
    composer.show_ready(False, "No key is set")
    qtbot.keyClicks(composer.field, "hello")
    qtbot.keyClick(composer.field, Qt.Key.Key_Return)
    assert sent == []
    assert composer.text() == "  hello"


def test_u07_a_long_paste_becomes_an_attachment_sent_byte_exact(
    composer: Composer, qtbot: QtBot
) -> None:
    text = "0123456789\n\u00a0end " * (LONG_PASTE // 10)
    data = QMimeData()
    data.setText(text)
    composer.field.insertFromMimeData(data)
    sent = sent_by(composer)
    assert composer.text() == ""
    qtbot.keyClick(composer.field, Qt.Key.Key_Return)
    assert [one["text"] for one in sent[0][1]] == [text]


def test_the_button_stops_an_idle_field_and_queues_a_written_one(
    composer: Composer, qtbot: QtBot
) -> None:
    composer.show_running(True, False)
    assert composer.findChild(QPushButton, "stopButton").isVisible()  # pyright: ignore[reportOptionalMemberAccess]
    qtbot.keyClicks(composer.field, "and then")
    send = composer.findChild(QPushButton, "sendButton")
    assert isinstance(send, QPushButton)
    assert send.isVisible()
    assert send.text() == "Queue"


def test_shift_tab_goes_through_the_permission_modes(composer: Composer, qtbot: QtBot) -> None:
    chosen: list[str] = []
    composer.mode_chosen.connect(chosen.append)
    qtbot.keyClick(composer.field, Qt.Key.Key_Backtab)
    assert chosen == ["accept-edits"]


def test_c27_an_unknown_model_of_a_conversation_can_still_be_shown(composer: Composer) -> None:
    composer.show_models((ModelInfo("m-1", "Model One", efforts=("low", "high")),))
    composer.show_choice("m-1", "high", "auto")
    assert composer.choice() == ("m-1", "high", "auto")
    composer.show_choice("gone-model", "", "ask")
    assert composer.choice() == ("gone-model", "", "ask")


def test_an_unknown_price_is_never_shown_as_nothing(composer: Composer) -> None:
    composer.show_spent(Spent(dollars=None))
    assert composer.findChild(QLabel, "costLabel").text() == "$ ?"  # pyright: ignore[reportOptionalMemberAccess]


def test_u38_a_screen_reader_hears_what_the_amount_is_and_how_much(composer: Composer) -> None:
    composer.show_spent(Spent(dollars=1.25))
    label = composer.findChild(QLabel, "costLabel")
    assert label is not None
    assert QAccessible.queryAccessibleInterface(label).text(QAccessible.Text.Name) == (
        "Cost of this conversation: $1.25"
    )


@pytest.mark.parametrize("width", [260, 420, 700])
def test_u38_the_words_of_a_choice_are_never_cut_it_goes_on_in_the_next_line(
    qtbot: QtBot, width: int
) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    composer = Composer(THEME, window)
    QVBoxLayout(window).addWidget(composer)
    composer.show_models((ModelInfo("m-1", "Model One", efforts=("low", "high")),))
    composer.show_choice("m-1", "", "accept-edits")
    composer.show_spent(Spent(dollars=1.25))
    window.resize(width, 60)
    window.show()
    choices = [one for one in composer.findChildren(QuietCombo) if one.isVisible()]
    assert len(choices) == 3
    qtbot.waitUntil(lambda: composer.height() >= composer.minimumSizeHint().height())
    for one in choices:
        assert one.width() >= one.sizeHint().width()
        assert composer.rect().contains(one.geometry())
    send = composer.findChild(QPushButton, "sendButton")
    assert send is not None
    end = send.mapTo(composer, send.rect().bottomRight())
    assert composer.rect().contains(end) and end.x() > width // 2


def test_a_name_that_is_longer_than_a_line_gives_way(composer: Composer) -> None:
    composer.show_choice("m" * 400, "", "ask")
    composer.resize(300, 200)
    model = composer.findChild(QuietCombo, "modelChoice")
    assert model is not None and composer.minimumSizeHint().width() < 300
    assert model.geometry().right() < composer.width()


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Escape, Qt.Key.Key_Up])
def test_u38_keys_that_a_method_lets_through_change_nothing(
    composer: Composer, qtbot: QtBot, key: Qt.Key
) -> None:
    composer.set_text("one")
    QCoreApplication.sendEvent(composer.field, QInputMethodEvent("にほ", []))
    qtbot.keyClick(composer.field, key)
    done = QInputMethodEvent("", [])
    done.setCommitString("日本")
    QCoreApplication.sendEvent(composer.field, done)
    assert composer.text() == "one日本"


def test_u38_an_input_method_is_told_where_the_caret_is(composer: Composer) -> None:
    """Its window stands beside the text, not in a corner."""

    def caret() -> QRect:
        found = composer.field.inputMethodQuery(Qt.InputMethodQuery.ImCursorRectangle)
        return QRectF(found).toRect()

    assert composer.field.testAttribute(Qt.WidgetAttribute.WA_InputMethodEnabled)
    composer.set_text("")
    begin = caret()
    composer.set_text("some words\nand more")
    composer.set_caret(len("some words"))
    first = caret()
    composer.set_caret(len("some words\nand"))
    second = caret()
    assert first.left() > begin.left()
    assert second.top() >= first.top() + first.height() // 2
    assert composer.field.rect().contains(second)


def test_what_an_input_method_is_told_of_the_text_is_the_text(composer: Composer) -> None:
    composer.set_text("日本 text")
    ask = composer.field.inputMethodQuery
    assert ask(Qt.InputMethodQuery.ImSurroundingText) == "日本 text"
    assert ask(Qt.InputMethodQuery.ImCursorPosition) == len("日本 text")


def test_u31_choices_that_are_not_known_are_not_shown_and_a_low_page_hides_them(
    composer: Composer,
) -> None:
    def shown() -> list[str]:
        found = composer.findChildren(QuietCombo)
        return [one.objectName() for one in found if one.isVisible()]

    assert shown() == ["modelChoice", "modeChoice"]
    composer.show_choice("", "", "ask")
    assert shown() == []
    composer.show_low(True)
    composer.show_choice("another-model", "", "auto")
    assert shown() == []
    composer.show_low(False)
    assert shown() == ["modelChoice", "modeChoice"]
