"""Cards of tools: their colours, their changes, their time (SPEC U05, U06, U31, U39, LOOK.md)."""

import sys
from dataclasses import replace
from typing import Any

import pytest
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPalette, QTextCursor
from PySide6.QtWidgets import QApplication

from desktop.core.chunks import LogChunk, Payload, Role, System, Text, ToolCall, ToolResult
from desktop.core.colouring import Style
from desktop.core.conversation import started_mark
from desktop.core.groups import relations
from desktop.core.printed import as_json
from desktop.core.records import Fold
from desktop.core.status import TabStatus
from desktop.core.terminal import printed
from desktop.ui.theme import theme_for
from desktop.ui.transcript.box import Box
from desktop.ui.transcript.boxes import Maker
from desktop.ui.transcript.calls import Headline
from desktop.ui.transcript.diff import Diff, Line, changes, read
from desktop.ui.transcript.diff_piece import DiffPiece
from desktop.ui.transcript.line_piece import LinePiece
from desktop.ui.transcript.phrases import Context
from desktop.ui.transcript.pictures import PicturePiece
from desktop.ui.transcript.pieces import Paper, TextPiece
from desktop.ui.transcript.tints import LEAST_CONTRAST, contrast, tints
from desktop.ui.transcript.writing import PlainRenderer

COLOURS = (None, *range(256), (0, 0, 0), (255, 255, 255), (250, 250, 250), (119, 119, 119))


class Clock:
    """The time as the cards see it."""

    def __init__(self) -> None:
        self.now = 0

    def __call__(self) -> int:
        return self.now


class Bench:
    """Makes boxes of rows that stand together."""

    def __init__(self, *payloads: Payload) -> None:
        roles: dict[type, Role] = {ToolResult: "tool", System: "system"}
        self.rows = [
            LogChunk(
                id=f"r{seq}",
                tab_id="tab",
                seq=seq,
                turn_id="t1",
                step=1,
                role=roles.get(type(one), "assistant"),
                data=one,
                created_at=seq * 1_000,
            )
            for seq, one in enumerate(payloads, 1)
        ]
        self.clock = Clock()
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        self.theme = theme_for("light", app.palette())

    def box(self, at: int, fold: Fold = "open", *, running: bool = False) -> Box:
        phase = "running" if running else "idle"
        status = TabStatus("tab", phase, turn_id="t1" if running else "")
        maker = Maker(self.theme, PlainRenderer(), lambda: None, now_ms=self.clock)
        box = maker.make(self.rows[at], Context(relations(self.rows), status), fold)
        box.lay_out(700)
        return box


def texts(box: Box) -> list[str]:
    return [one.document.toPlainText() for one in box.pieces if one.document is not None]


def card(result: ToolResult, **arguments: Any) -> Box:
    call = ToolCall(result.call_id, result.name, arguments)
    return Bench(call, result).box(0)


@pytest.mark.usefixtures("qapp")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("ground", ["surface", "bg"])
def test_u06_no_colour_of_an_output_hides_its_text(scheme: Any, ground: str) -> None:
    theme = theme_for(scheme, QPalette())
    for fore in COLOURS:
        for back in (None, 0, 1, 7, 15, 244, (0, 0, 0), fore):
            for extra in ({}, {"dim": True}, {"inverse": True}):
                style = Style(fore=fore, back=back, **extra)
                letters, under = tints(style, theme, ink="text", ground=ground)
                seen_on = under or theme.color(ground).name()
                assert contrast(letters, seen_on) >= LEAST_CONTRAST - 0.02, style


@pytest.mark.usefixtures("qapp")
def test_high_contrast_uses_the_system_s_colours_alone() -> None:
    palette = QPalette()
    theme = theme_for("dark", palette, high_contrast=True)
    own = {theme.colours.text, theme.colours.bg}
    letters, under = tints(Style(fore=1, back=2), theme, ink="text", ground="surface")
    assert letters in own
    assert under is None


@pytest.mark.usefixtures("qapp")
def test_colours_lie_over_the_letters_that_the_model_read() -> None:
    shown = printed(b"ok \x1b[31mred\x1b[0m \xf0\x9f\x98\x80 \x1b[1mbold\x1b[0m")
    result = ToolResult("c", "shell", shown.text, extra={"colours": as_json(shown.spans)})
    piece = card(result, command="x").pieces[-2]
    assert isinstance(piece, TextPiece)
    text = piece.document.toPlainText()
    assert text == shown.text
    cursor = QTextCursor(piece.document)
    cursor.setPosition(text.index("red") + 1)
    red = cursor.charFormat().foreground().color()
    assert red.red() > 2 * red.green()
    # Letters outside of the first plane count for two with Qt.
    cursor.setPosition(len(text[: text.index("bold")].encode("utf-16-le")) // 2 + 1)
    assert cursor.charFormat().fontWeight() > 600


@pytest.mark.usefixtures("qapp")
@pytest.mark.parametrize(
    "kept", [None, "x", [[0, 99, "31"]], [["0", 1, "31"]], [[2, 1, "31"], [0, 1, "31"]], [[]]]
)
def test_damaged_colours_cost_no_text(kept: object) -> None:
    box = card(ToolResult("c", "shell", "plain", extra={"colours": kept}), command="x")
    assert "plain" in texts(box)


@pytest.mark.usefixtures("qapp")
def test_u31_what_a_model_reads_unseen_is_seen() -> None:
    hostile = "safe\rrm -rf\x1b[8m \u202egnp.exe \u2029 \ud800"
    shown = texts(card(ToolResult("c", "read_file", hostile), path="a"))[-1]
    assert shown == "safe‹U+000D›rm -rf‹U+001B›[8m ‹U+202E›gnp.exe ‹U+2029› ‹U+D800›"


@pytest.mark.usefixtures("qapp")
def test_u05_a_running_tool_shows_its_time_and_lays_nothing_out_for_it() -> None:
    bench = Bench(ToolCall("c", "shell", {"command": "make"}), started_mark(["c"]))
    bench.clock.now = 2_500
    line = bench.box(0, "folded", running=True).pieces[0]
    assert isinstance(line, LinePiece)
    assert line.ticking is not None
    assert line.ticking() == "running"
    bench.clock.now = 14_000
    assert line.ticking() == "running · 12 s"
    ended = Bench(*[row.data for row in bench.rows], ToolResult("c", "shell", "ok"))
    line = ended.box(0, "folded").pieces[0]
    assert isinstance(line, LinePiece)
    assert line.ticking is None


@pytest.mark.usefixtures("qapp")
def test_what_was_cut_is_opened_from_its_file() -> None:
    full = {"sha256": "ab" * 32, "size": 5_000_000_000}
    text = "\n".join(f"line {number}" for number in range(500))
    box = card(ToolResult("c", "shell", text, extra={"full": full}), command="x")
    hits = [one.hit(0, 1) for one in box.pieces if isinstance(one, LinePiece)]
    assert [hit.value for hit in hits if hit and hit.kind == "open"] == [f"{'ab' * 32}.txt"]
    assert len("\n".join(texts(box)).splitlines()) < 60


# Changes


UNIFIED = """\
--- a.py
+++ a.py
@@ -9,4 +9,4 @@
 keep
-total = a + b
+total = a + b + c
 keep
@@ -50 +50,2 @@
 last
+-- more
\\ No newline at end of file
"""


def test_a_diff_is_read_with_its_numbers_and_its_words() -> None:
    diff = read(UNIFIED)
    assert (diff.added, diff.removed) == (2, 1)
    assert diff.lines == (
        Line(" ", "keep", 9, 9),
        Line("-", "total = a + b", old=10),
        Line("+", "total = a + b + c", new=10, marks=((13, 4),)),
        Line(" ", "keep", 11, 11),
        Line("@", ""),
        Line(" ", "last", 50, 50),
        Line("+", "-- more", new=51),
        Line("!", "No newline at end of file"),
    )


def test_u39_what_is_no_text_is_a_remark() -> None:
    diff = read("--- a.png\n+++ a.png\nBinary content: 3 KB -> 4 KB.\n")
    assert diff == Diff((Line("!", "Binary content: 3 KB -> 4 KB."),), 0, 0)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("x\n" * 900, "y\nx\n" * 450),
        ("a\nb\n" * 400, "b\na\n" * 400),
        ("\n".join(map(str, range(900))), "\n".join(map(str, range(899, -1, -1)))),
        ("( " * 2_000, ") " * 2_000),
        ("\n".join(["a b " * 14] * 90), "\n".join(["b a " * 14] * 90)),
    ],
    ids=["one line", "two lines", "turned round", "one long line", "words"],
)
def test_u39_the_work_for_a_diff_is_bounded(old: str, new: str) -> None:
    """Counted in lines of Python, difflib's among them: a million takes about a tenth of a second
    when nobody counts."""
    steps = 0

    def count(*_: object) -> Any:
        nonlocal steps
        steps += 1
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        diff = changes(old, new)
    finally:
        sys.settrace(before)
    assert diff.added == len([one for one in diff.lines if one.sign == "+"])
    assert steps < 500_000


def test_a_small_change_of_a_long_text_is_shown_as_such() -> None:
    """However often the same line stands around it."""
    before = "\n".join(["}"] * 400 + ["old"] + ["}"] * 400)
    diff = changes(before, before.replace("old", "new"))
    around = (Line(" ", "}"),) * 3
    assert diff.lines == (*around, Line("-", "old"), Line("+", "new"), *around)


@pytest.mark.usefixtures("qapp")
@pytest.mark.parametrize("content", ["x" * 5_000_000, "\n" * 5_001], ids=["long", "many lines"])
def test_u39_a_huge_file_is_a_line_of_words(content: str) -> None:
    box = card(ToolResult("c", "write_file", "Wrote a."), path="a", content=content)
    assert "Too large to show line by line: " in "\n".join(texts(box))
    assert sum(map(len, texts(box))) < 200


@pytest.mark.usefixtures("qapp")
def test_the_change_that_was_made_is_what_a_card_shows() -> None:
    result = ToolResult("c", "write_file", "Wrote a.py.", extra={"diff": UNIFIED})
    box = card(result, path="a.py", content="everything\nthat is there\n")
    (diff,) = (one for one in box.pieces if isinstance(one, DiffPiece))
    text = diff.document.toPlainText()
    assert "+ total = a + b + c" in text
    assert "everything" not in "\n".join(texts(box))
    # Numbers are drawn beside it and are not copied.
    assert "50" not in text


# Texts and pictures that go with a message


@pytest.mark.usefixtures("qapp")
@pytest.mark.parametrize("length", [90, 2_000_000])
def test_u07_a_text_that_went_with_a_message_unfolds_in_it(length: int) -> None:
    text = "a line\n" * length
    bench = Bench(Text("see", attachments=({"name": "notes.txt", "size": 9, "text": text},)))
    bench.rows[0] = replace(bench.rows[0], role="user")
    assert texts(bench.box(0, "folded")) == ["see"]
    shown = texts(bench.box(0, "open"))
    assert shown[1].startswith("a line")
    assert sum(map(len, shown)) < 1_000


@pytest.mark.usefixtures("qapp")
@pytest.mark.parametrize(
    ("width", "height", "room"),
    [(1600, 900, (320, 180)), (100, 50, (100, 50)), (0, 0, (320, 180)), (5000, 1, (320, 24))],
)
def test_u23_the_room_of_a_picture_is_known_before_its_file_is_read(
    width: int, height: int, room: tuple[int, int]
) -> None:
    entry = {
        "kind": "image",
        "sha256": "ab" * 32,
        "mediaType": "image/png",
        "name": "cat.png",
        "width": width,
        "height": height,
        "size": 9,
    }
    box = card(ToolResult("c", "shot", "seen", extra={"images": [entry]}))
    (picture,) = (one for one in box.pieces if isinstance(one, PicturePiece))
    assert picture.height == room[1] + 8
    inside, outside = picture.hit(13, 10), picture.hit(13 + room[0], 10)
    assert inside is not None
    assert inside.value.endswith(".png")
    assert outside is None


# The heads


HEADS = ("make", "x" * 900, "git log --format='%h\t%s' | head -3; echo `date` && " * 9, "אבג " * 80)


@pytest.mark.usefixtures("qapp")
@pytest.mark.parametrize("command", HEADS)
@pytest.mark.parametrize("width", [24, 120, 400, 700])
def test_u05_the_head_of_a_command_stays_in_its_card(command: str, width: int) -> None:
    box = card(ToolResult("c", "shell", "ok"), command=command)
    line = box.pieces[0]
    assert isinstance(line, LinePiece)
    line.lay_out(width)
    picture = QImage(900, line.height, QImage.Format.Format_ARGB32)
    picture.fill(Qt.GlobalColor.white)
    painter = QPainter(picture)
    line.paint(painter, QRectF(), None)
    painter.end()
    beyond = range(max(width, 60), 900)
    white = QColor(Qt.GlobalColor.white)
    assert all(picture.pixelColor(x, y) == white for x in beyond for y in range(0, line.height, 2))


@pytest.mark.usefixtures("qapp")
def test_the_head_of_a_card_has_its_command_as_code_and_no_signs_around_it() -> None:
    """LOOK.md "Rows of the transcript"."""
    line = card(ToolResult("c", "shell", "ok"), command="echo `date`").pieces[0]
    assert isinstance(line, LinePiece)
    assert line.offer[0] == "Ran echo `date`"
    assert line.fitted(600) == Headline("Ran ", "echo `date`")
    tight = line.fitted(105)
    assert tight.before == "Ran "
    assert tight.code.startswith("e")
    assert "…" in tight.code
    assert not line.fitted(30).code


@pytest.mark.usefixtures("qapp")
def test_the_command_in_a_head_is_painted_in_the_font_of_code() -> None:
    theme = theme_for("light", QPalette())
    pictures: list[QImage] = []
    for family in ("", theme.font().family()):
        own = replace(theme, mono_family=family)
        line = LinePiece(Paper(own), Headline("Ran ", "iiiiWWWW"))
        line.lay_out(300)
        picture = QImage(300, line.height, QImage.Format.Format_ARGB32)
        picture.fill(Qt.GlobalColor.white)
        painter = QPainter(picture)
        line.paint(painter, QRectF(), None)
        painter.end()
        pictures.append(picture)
    assert pictures[0] != pictures[1]
