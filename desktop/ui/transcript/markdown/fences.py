"""A fence that streams: what came is appended, and its end is seen as soon as its line is whole."""

import re
from dataclasses import dataclass

from desktop.ui.transcript.code_piece import Code, CodePiece
from desktop.ui.transcript.markdown.code import finish_code, grow_code
from desktop.ui.transcript.pieces import Paper

HEAD_LIMIT = 5_000

_FENCE = re.compile(r"(?:[ \t]*\n)*( {0,3})(`{3,}|~{3,})([^\n]*)\n")
_MARKS_ONLY = {one: re.compile(rf" {{0,3}}{one}*[ \t]*\Z") for one in "`~"}


@dataclass(slots=True)
class OpenFence:
    """`scanned` and `shown` are places in the text: the line that is looked at, what is drawn."""

    paper: Paper
    code: Code
    mark: str
    scanned: int
    shown: int

    def grow(self, text: str) -> int | None:
        """Appends what came; where the fence ends once it is closed."""
        while (end := text.find("\n", self.scanned)) >= 0:
            if _closes(text[self.scanned : end], self.mark):
                return end + 1
            self.scanned = end + 1
        # A line that may turn out to be the closing one is not shown before it is whole.
        if self.scanned < len(text) and not _may_close(text, self.scanned, self.mark):
            self._show(text, len(text))
        elif self.scanned > self.shown:
            self._show(text, self.scanned)
        return None

    def end(self, text: str) -> None:
        """The closing line was seen, or nothing more comes: then what was held back is code."""
        line = text[self.scanned :].split("\n", 1)[0]
        self._show(text, self.scanned if _closes(line, self.mark) else len(text))
        finish_code(self.code)

    def _show(self, text: str, end: int) -> None:
        if end > self.shown:
            grow_code(self.paper, self.code, text[self.shown : end])
            self.shown = end


def open_fence(paper: Paper, text: str, offset: int) -> OpenFence | None:
    """The fence that begins here, once its first line is whole. An indented one is not streamed."""
    found = _FENCE.match(text, offset, offset + HEAD_LIMIT)
    if found is None or found[1] or (found[2][0] == "`" and "`" in found[3]):
        return None
    code = Code(language_of(found[3]))
    code.pieces.append(CodePiece(paper, code))
    return OpenFence(paper, code, found[2], found.end(), found.end())


def language_of(info: str) -> str:
    words = info.strip().split(maxsplit=1)
    return words[0] if words else ""


def _closes(line: str, mark: str) -> bool:
    bare = line.strip(" \t")
    indent = len(line) - len(line.lstrip(" "))
    return indent < 4 and len(bare) >= len(mark) and set(bare) == {mark[0]}


def _may_close(text: str, start: int, mark: str) -> bool:
    """Whether the line that has no end yet consists of marks so far."""
    return _MARKS_ONLY[mark[0]].match(text, start) is not None
