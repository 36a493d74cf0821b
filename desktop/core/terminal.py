"""What stands on a terminal once a text is printed to it: lines of text with their colours.

The parser takes its input in any pieces and gives the same lines. It keeps the line that is being
written and nothing before it, follows what a line of output needs (colours, carriage returns,
erasing) and drops every other sequence: nothing of an output is ever carried out (FIELD F-R11).
"""

import re
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Literal

from desktop.core.colouring import PLAIN, Style, styled
from desktop.core.printed import Line, Printed, Span

WIDTH = 1 << 20
SCREEN_LEFT_OUT = "[full-screen output left out]"

_MOST_ARGUMENTS = 256
_MOST_TARGET = 2_048
_MOST_LABEL = 2_000

_WRITTEN = re.compile("[^\\x00-\\x08\\x0a-\\x1f\\x7f-\\x9f\ud800-\udfff]+")
_IN_STRING = re.compile("[^\\x07\\x0a\\x18\\x1a\\x1b\\x9c]+")
_UNUSUAL = re.compile("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\ud800-\udfff]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_ALTERNATE = frozenset({"?1049", "?1047", "?47"})

_State = Literal["text", "escape", "sequence", "string"]


class Terminal:
    """`feed` gives the lines that are finished, `line` is the one being written.

    A line longer than `width` characters goes on in the next.
    """

    def __init__(self, *, width: int = WIDTH) -> None:
        self._width = width
        self._letters: list[str] = []
        self._styles: list[Style] = []
        self._column = 0
        self._style = PLAIN
        self._done: list[Line] = []
        self._state: _State = "text"
        self._arguments = ""
        self._is_link = False
        self._is_alternate = False
        self._target = ""
        self._label: list[str] | None = None

    @property
    def line(self) -> Line:
        """The last line, as far as it came."""
        return Line("".join(self._letters), _spans(self._styles))

    def feed(self, text: str) -> Sequence[Line]:
        """Prints more; the lines that ended with it."""
        at = 0
        while at < len(text):
            at = self._steps[self._state](self, text, at)
        done, self._done = self._done, []
        return done

    # Letters

    def _text(self, text: str, at: int) -> int:
        written = _WRITTEN.match(text, at)
        if written is not None:
            self._write(written.group())
            return written.end()
        self._control(text[at])
        return at + 1

    def _control(self, letter: str) -> None:
        match letter:
            case "\n":
                self._end_line()
            case "\r":
                self._column = 0
            case "\b":
                self._column = max(0, self._column - 1)
            case "\x1b":
                self._begin("escape")
            # Also the byte 0x9B where it is no UTF-8: a terminal takes it for ESC [.
            case "\x9b" | "\udc9b":
                self._begin("sequence")
            case "\x90" | "\x98" | "\x9d" | "\x9e" | "\x9f":
                self._begin_string(letter == "\x9d")
            case _:
                self._write(_visible(letter))

    def _write(self, text: str) -> None:
        if self._is_alternate:
            return
        if self._label is not None and len(self._label) < _MOST_LABEL:
            self._label.extend(text)
        while text:
            if self._column == self._width:
                self._end_line()
            part, text = text[: self._width - self._column], text[self._width - self._column :]
            end = self._column + len(part)
            self._letters[self._column : end] = part
            self._styles[self._column : end] = [self._style] * len(part)
            self._column = end

    def _end_line(self) -> None:
        if self._is_alternate:
            return
        self._done.append(self.line)
        self._letters, self._styles, self._column = [], [], 0
        if self._label is not None and len(self._label) < _MOST_LABEL:
            self._label.append("\n")

    # Sequences

    def _begin(self, state: _State) -> None:
        self._state, self._arguments = state, ""

    def _begin_string(self, may_link: bool) -> None:
        self._begin("string")
        self._is_link = may_link

    def _escape(self, text: str, at: int) -> int:
        letter = text[at]
        if not self._arguments and letter in "[]PX^_":
            if letter == "[":
                self._begin("sequence")
            else:
                self._begin_string(letter == "]")
            return at + 1
        if " " <= letter <= "/":
            self._arguments = letter
            return at + 1
        self._state = "text"
        # What can't end it ends it too, and is looked at as it stands.
        return at + 1 if "0" <= letter <= "~" else at

    def _sequence(self, text: str, at: int) -> int:
        letter = text[at]
        if " " <= letter <= "?":
            if len(self._arguments) <= _MOST_ARGUMENTS:
                self._arguments += letter
            return at + 1
        self._state = "text"
        if not "@" <= letter <= "~":
            return at
        if len(self._arguments) <= _MOST_ARGUMENTS:
            self._obey(letter, self._arguments)
        return at + 1

    def _obey(self, letter: str, arguments: str) -> None:
        match letter, arguments:
            case "m", _:
                self._style = styled(self._style, arguments)
            case "K", "" | "0":
                self._erase(self._column)
            case "K", "2":
                self._erase(0)
            case (("H" | "f" | "E"), _):
                self._end_line()
            case "G", "" | "1":
                self._column = 0
            case "h", _ if arguments in _ALTERNATE and not self._is_alternate:
                self._leave_out_screen()
            case "l", _ if arguments in _ALTERNATE:
                self._is_alternate = False
            case _:
                pass

    def _erase(self, column: int) -> None:
        if not self._is_alternate:
            del self._letters[column:], self._styles[column:]
            self._column = column

    def _leave_out_screen(self) -> None:
        self._end_line()
        self._write(SCREEN_LEFT_OUT)
        self._end_line()
        self._is_alternate = True

    # Strings: titles, links and whatever else a terminal may be told

    def _string(self, text: str, at: int) -> int:
        inside = _IN_STRING.match(text, at)
        if inside is not None:
            room = _MOST_TARGET + 1 - len(self._arguments) if self._is_link else 0
            self._arguments += inside.group()[:room]
            return inside.end()
        self._state = "text"
        letter = text[at]
        if self._is_link and letter in "\x07\x1b\x9c":
            self._link(self._arguments)
        # An escape ends it and begins the next; a line's end is one whatever it stands in.
        return at if letter in "\x1b\n\x18\x1a" else at + 1

    def _link(self, told: str) -> None:
        """A link's target stands behind its words: `docs (https://…)`."""
        number, _, rest = told.partition(";")
        if number != "8" or ";" not in rest:
            return
        target = rest.partition(";")[2]
        if target:
            self._target = target if len(told) <= _MOST_TARGET else ""
            self._label = []
            return
        label, self._label = self._label, None
        is_whole = label is not None and len(label) < _MOST_LABEL
        if label is not None and is_whole and self._target and self._target != "".join(label):
            self._write(f" ({_CONTROL.sub(lambda one: _visible(one.group()), self._target)})")

    _steps: dict[_State, Callable[["Terminal", str, int], int]] = {
        "text": _text,
        "escape": _escape,
        "sequence": _sequence,
        "string": _string,
    }


def lines_of(text: str, *, width: int = WIDTH) -> list[Line]:
    """A whole text as lines; the last one is empty where the text ends with a line's end."""
    terminal = Terminal(width=width)
    return [*terminal.feed(text), terminal.line]


def decoded(data: bytes) -> str:
    """Bytes as `Terminal` takes them: what is no UTF-8 is seen as U+FFFD."""
    return data.decode("utf-8", "surrogateescape")


def printed(data: bytes) -> Printed:
    """What stands on the screen once these bytes are printed."""
    told = decoded(data).replace("\r\n", "\n")
    if _UNUSUAL.search(told) is None:
        return Printed(told)
    text: list[str] = []
    spans: list[Span] = []
    at = 0
    for line in lines_of(told):
        text.append(line.text)
        spans.extend(Span(at + one.start, one.length, one.style) for one in line.spans)
        at += len(line.text) + 1
    return Printed("\n".join(text), tuple(spans))


def _spans(styles: Sequence[Style]) -> tuple[Span, ...]:
    spans: list[Span] = []
    at = 0
    for style, run in groupby(styles):
        length = sum(1 for _ in run)
        if style != PLAIN:
            spans.append(Span(at, length, style))
        at += length
    return tuple(spans)


def _visible(letter: str) -> str:
    """What stands for a letter that can't be written."""
    code = ord(letter)
    if code == 0x07 or 0x80 <= code <= 0x9F:
        return ""
    if code == 0x7F:
        return "␡"
    return chr(0x2400 + code) if code < 0x20 else "\ufffd"
