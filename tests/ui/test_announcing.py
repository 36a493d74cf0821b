"""What a screen reader is told by itself: each thing once, when it is whole (SPEC U38)."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from desktop.core.chunks import ErrorNote, LogChunk, Payload, Role, System, Text, ToolCall
from desktop.core.model import Retry
from desktop.core.permissions import Act, Circle, Question
from desktop.core.records import Receipt
from desktop.core.reducer import Grew, Opened
from desktop.core.status import TabStatus
from desktop.feed.hub import Hub
from desktop.ui.announcer import LISTENED, Announcer
from desktop.ui.banner import Banner
from desktop.ui.notice_bar import NoticeBar
from desktop.ui.theme import LIGHT, Theme
from tests.ui.screen_reader import ScreenReader, listening

THEME = Theme("light", LIGHT)
TITLES = {"a": "Pearls", "b": "Nets\u202e"}


class Window:
    """A hub, its announcer, and which conversation is looked at."""

    def __init__(self, part: QWidget) -> None:
        self.hub = Hub()
        self.in_view = "a"
        self.announcer = Announcer(
            part, self.hub, in_view=lambda: self.in_view, title_of=lambda tab: TITLES[tab]
        )
        self.hub.subscribe(self.announcer)
        self.published: dict[str, list[Receipt]] = {"a": [], "b": []}

    def look_at(self, tab_id: str) -> None:
        self.in_view = tab_id
        self.announcer.shown(tab_id)

    def seal(self, tab_id: str, data: Payload, role: Role = "assistant") -> None:
        seq = len(self.published[tab_id]) + 1
        row = LogChunk(f"{tab_id}{seq}", tab_id, seq, "t1", 0, role, data, 0)
        receipt = Receipt(tab_id, seq - 1, seq, (row,))
        self.published[tab_id].append(receipt)
        self.hub.receipt(receipt)

    def stream(self, tab_id: str, text: str) -> None:
        self.hub.live(tab_id, Opened("open", "t1", 0, "assistant", "text"))
        self.hub.live(tab_id, Grew("open", text))

    def tell(self, status: TabStatus) -> None:
        self.hub.status(status)


@pytest.fixture
def reader() -> Iterator[ScreenReader]:
    with listening() as made:
        yield made


@pytest.fixture
def window(qtbot: QtBot) -> Window:
    part = QWidget()
    qtbot.addWidget(part)
    return Window(part)


def asking(tab_id: str, *names: str) -> TabStatus:
    return TabStatus(
        tab_id, "running", "t1", questions=tuple(question(tab_id, name) for name in names)
    )


def question(tab_id: str, name: str) -> Question:
    act = Act("shell", "execute", "Run a command", f"echo {name}\u202e", "command")
    return Question(f"{tab_id}-{name}", tab_id, name, act, 0)


def asked(name: str) -> str:
    return f"The agent asks for permission. Run a command: echo {name}‹U+202E›"


def ended(outcome: str) -> System:
    return System("turn_end", fields={"outcome": outcome, "durationMs": 12_000})


def test_an_answer_is_said_when_it_is_whole_and_its_letters_are_not(
    window: Window, reader: ScreenReader
) -> None:
    window.stream("a", "Layer on")
    assert reader.heard == []
    window.seal("a", Text("Layer on layer."))
    window.seal("a", ended("done"), "system")
    assert reader.heard == ["Answer: Layer on layer."]
    assert reader.pressing == []


def test_what_the_person_wrote_and_the_steps_on_the_way_are_not_said(
    window: Window, reader: ScreenReader
) -> None:
    window.seal("a", Text("How?"), "user")
    window.seal("a", ToolCall("c1", "shell", {"command": "ls"}))
    window.seal("a", System("prompt", "You are …"), "system")
    assert reader.heard == []


def test_a_long_answer_is_cut_at_a_word_and_it_is_said_that_there_is_more(
    window: Window, reader: ScreenReader
) -> None:
    window.seal("a", Text("pearl " * LISTENED))
    (said,) = reader.heard
    assert said.endswith("pearl … There is more to read.")
    assert len(said) < LISTENED + 60


def test_a_turn_that_failed_or_was_stopped_says_so_with_its_reason_and_once(
    window: Window, reader: ScreenReader
) -> None:
    window.seal("a", ErrorNote("No network.", extra={"wayOut": "Retry once you are online."}))
    window.seal("a", ended("failed"), "system")
    window.seal("a", Text("Half an ans", interrupted=True))
    window.seal("a", ended("stopped"), "system")
    assert reader.heard == ["Failed: No network. Retry once you are online.", "Stopped after 12 s"]


def test_a_question_is_said_at_once_with_its_act_and_the_next_when_it_is_asked(
    window: Window, reader: ScreenReader
) -> None:
    for names in (("1",), ("1", "2"), ("2",), ("2",), ()):
        window.tell(asking("a", *names))
    assert reader.heard == reader.pressing == [asked("1"), asked("2")]


def test_a_circle_is_said_in_its_own_words(window: Window, reader: ScreenReader) -> None:
    circle = Question("q", "a", "c", Circle("The agent did this five times.", "ls"), 0)
    window.tell(TabStatus("a", "running", questions=(circle,)))
    assert reader.heard == ["The agent did this five times."]


def test_of_a_conversation_that_is_not_in_view_only_that_it_needs_the_person(
    window: Window, reader: ScreenReader
) -> None:
    window.seal("b", Text("Elsewhere."))
    window.tell(asking("b", "1"))
    window.tell(asking("b", "1", "2"))
    assert reader.heard == ["Nets‹U+202E› needs you"]
    window.look_at("b")
    assert reader.heard[1:] == [asked("1")]
    window.look_at("a")
    window.tell(asking("b", "1", "2"))
    assert len(reader.heard) == 2


def test_a_countdown_is_said_once(window: Window, reader: ScreenReader) -> None:
    for attempt in range(1, 4):
        waiting = Retry("The server is busy.", attempt, 5_000, 5.0)
        for _ in range(3):
            window.tell(TabStatus("a", "running", "t1", retry=waiting))
        window.tell(TabStatus("a", "running", "t1"))
    assert reader.heard == ["The server is busy. Trying again in 5 s."]
    window.tell(TabStatus("a", "running", "t2", retry=Retry("Busy.", 1, 5_000, 9.0)))
    assert reader.heard[1:] == ["Busy. Trying again in 9 s."]


def test_a_notice_that_stands_is_said_once_and_a_message_each_time(
    qtbot: QtBot, reader: ScreenReader
) -> None:
    banner = Banner(THEME)
    qtbot.addWidget(banner)
    for _ in range(3):
        banner.stand("disk", "The disk is full.")
    banner.say("It could not be sent.")
    banner.say("It could not be sent.")
    banner.close_newest()
    assert reader.heard == [
        "The disk is full.",
        "It could not be sent.",
        "It could not be sent.",
    ]


def test_a_line_on_a_page_that_is_not_in_view_is_said_when_it_comes_into_view(
    qtbot: QtBot, reader: ScreenReader
) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    bar = NoticeBar(THEME, name="bar", act="Undo", closable=True, parent=page)
    bar.say("It is archived.")
    assert reader.heard == []
    for _ in range(2):
        page.show()
        bar.say("It is archived.")
        page.hide()
    assert reader.heard == ["It is archived."]


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("seal"), st.sampled_from("ab")),
        st.tuples(st.just("stream"), st.sampled_from("ab")),
        st.tuples(st.just("again"), st.sampled_from("ab")),
        st.tuples(st.just("look"), st.sampled_from(["a", "b", ""])),
        st.tuples(st.just("ask"), st.sampled_from("ab")),
        st.tuples(st.just("answered"), st.sampled_from("ab")),
        st.tuples(st.just("retold"), st.sampled_from("ab")),
    ),
    max_size=30,
)


@given(steps=STEPS)
def test_u38_in_any_order_each_answer_and_question_is_said_exactly_once(
    qapp: object, steps: list[tuple[str, str]]
) -> None:
    """Deltas, seals, rows published anew, statuses told anew, looking elsewhere and back."""
    del qapp
    part = QWidget()
    window = Window(part)
    statuses = {tab: TabStatus(tab) for tab in "ab"}
    answers: list[str] = []
    questions: set[str] = set()
    numbers = iter(range(1000))

    with listening() as reader:
        for act, tab in steps:
            match act:
                case "seal":
                    words = f"answer {next(numbers)} of {tab}"
                    window.seal(tab, Text(words))
                    if tab == window.in_view:
                        answers.append(f"Answer: {words}")
                case "stream":
                    window.stream(tab, "x")
                case "again":
                    for receipt in window.published[tab]:
                        window.hub.receipt(receipt)
                case "look" if tab:
                    window.look_at(tab)
                case "look":
                    window.in_view = ""
                case "ask":
                    more = question(tab, str(next(numbers)))
                    now = statuses[tab]
                    statuses[tab] = replace(now, questions=(*now.questions, more))
                    window.tell(statuses[tab])
                case "answered":
                    now = statuses[tab]
                    statuses[tab] = replace(now, questions=now.questions[1:])
                    window.tell(statuses[tab])
                case _:
                    window.tell(statuses[tab])
            known = statuses.get(window.in_view)
            is_told = known is not None and window.hub.last_status(window.in_view) == known
            if known is not None and is_told and known.questions:
                questions.add(asked(known.questions[0].call_id))
        said = [one for one in reader.heard if one.startswith("Answer")]
        assert said == answers
        assert sorted(reader.pressing) == sorted(questions)
    part.deleteLater()
