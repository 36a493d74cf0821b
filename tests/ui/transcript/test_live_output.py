"""What a card shows of a tool while it runs: in its colours, both ends, and nothing that grows."""

from collections.abc import Iterator, Sequence

import pytest
import qasync
from PySide6.QtGui import QTextDocument
from pytestqt.qtbot import QtBot

from desktop.core.chunks import ToolCall, ToolResult
from desktop.core.growing import Telling
from desktop.core.printed import as_json
from desktop.core.reducer import Grew
from desktop.core.status import TabStatus
from desktop.core.terminal import printed
from desktop.ui.transcript.box import Box
from desktop.ui.transcript.line_piece import LinePiece
from desktop.ui.transcript.pieces import TextPiece
from tests.ui.transcript.desk import Desk

RED = b"\x1b[31mred\x1b[0m"


@pytest.fixture
def desk(loop: qasync.QEventLoop, qtbot: QtBot) -> Iterator[Desk]:
    desk = Desk(loop, qtbot)
    yield desk
    desk.close()


class Running:
    """A call that runs, and the terminal that its output goes through."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        receipt = desk.say(ToolCall("k", "shell", {"command": "make"}))
        self.card = receipt.chunks[0].id
        desk.hub.status(TabStatus(desk.tab, phase="running", turn_id="t1"))
        desk.open_block("r", "tool_result", "k")
        self.view = desk.show()
        self.view.set_fold(self.card, "open")
        self.telling = Telling()
        self.data = b""

    def prints(self, data: bytes) -> None:
        self.data += data
        self.telling.feed(data)
        growth = self.telling.take()
        if growth is not None:
            op = Grew("r", growth.text, growth.spans, growth.back, growth.lost)
            self.desk.hub.live(self.desk.tab, op)
        self.desk.settle()

    def ends(self) -> None:
        whole = printed(self.data)
        extra = {"colours": as_json(whole.spans)}
        self.desk.say(ToolResult("k", "shell", whole.text, extra=extra))
        self.desk.settle()

    @property
    def box(self) -> Box:
        box = self.view.box_of(self.card)
        assert box is not None
        return box

    @property
    def output(self) -> Sequence[QTextDocument]:
        """The documents below the arguments."""
        found = [one.document for one in self.box.pieces if isinstance(one, TextPiece)]
        return found[1:]


def letters_of(documents: Sequence[QTextDocument]) -> list[tuple[str, str]]:
    """The lines with the colour that each of their stretches is drawn in."""
    found: list[tuple[str, str]] = []
    for document in documents:
        block = document.begin()
        while block.isValid():
            line = block.text()
            for one in block.textFormats():
                look = one.format.foreground().color().name()
                found.append((line[one.start : one.start + one.length], look))
            block = block.next()
    return found


def test_u06_live_output_looks_as_its_result_will(desk: Desk) -> None:
    running = Running(desk)
    running.prints(b" 10 % \x1b[3")
    running.prints(b"2mgreen\x1b[0m\r 99")
    running.prints(b"\nand " + RED + "ö".encode()[:1])
    running.prints("ö".encode()[1:] + b" end\n")
    live = letters_of(running.output)
    assert [text for text, _ in live] == [" 99 % ", "green", "and ", "red", "ö end"]
    assert len({colour for _, colour in live}) == 3
    running.ends()
    assert letters_of(running.output) == live


def test_a_carriage_return_writes_over_its_line(desk: Desk) -> None:
    running = Running(desk)
    height = 0
    for number in range(30):
        running.prints(b"\r%3d%%" % number)
        height = height or running.box.height
        assert [one.toPlainText() for one in running.output] == [f"{number:3d}%"]
        assert running.box.height == height


def test_of_a_long_one_both_ends_are_seen_and_how_much_lies_between(desk: Desk) -> None:
    running = Running(desk)
    running.prints(b"".join(b"line %d\n" % number for number in range(1_000)))
    head, tail = (one.toPlainText() for one in running.output)
    lines = [one.offer[0] for one in running.box.pieces if isinstance(one, LinePiece)]
    assert head.split("\n") == [f"line {number}" for number in range(20)]
    assert lines[-1] == "960 lines between"
    assert tail.split("\n") == [f"line {number}" for number in range(980, 1_000)]
    height = running.box.height
    running.prints(b"one more\n")
    assert running.box.height == height
    running.ends()
    assert running.box.height == height


def test_a_folded_card_shows_its_last_lines_in_their_colours(desk: Desk) -> None:
    running = Running(desk)
    running.view.set_fold(running.card, "folded")
    running.prints(b"one\ntwo\n" + RED + b"\n" + b"x" * 1_500)
    shown = [one.document for one in running.box.pieces if isinstance(one, TextPiece)]
    texts = [text for text, _ in letters_of(shown)]
    assert texts[:2] == ["two", "red"]
    assert len(texts[2]) == 300


def test_who_opens_the_conversation_meanwhile_sees_the_same(desk: Desk) -> None:
    running = Running(desk)
    running.prints(b"before\n" + RED)
    before = letters_of(running.output)
    desk.view = None
    view = desk.show()
    view.set_fold(running.card, "open")
    running.view = view
    assert [text for text, _ in letters_of(running.output)] == [text for text, _ in before]
