"""The bytes of a text file and their text, so that writing back changes what was edited only.

UTF-8 with or without a byte order mark and UTF-16 with one; a byte that is no UTF-8 stays what it
is (surrogateescape). Everything else with a NUL in it is binary.
"""

import codecs
import re
from dataclasses import dataclass
from typing import Literal

from desktop.core.errors import ToolFailed

Encoding = Literal["utf-8", "utf-16-le", "utf-16-be"]

PROBE = 8192
NEWLINE = re.compile(r"\r\n|\n|\r")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class FileText:
    """A file's text without its mark. `encode` of the same body gives the same bytes."""

    body: str
    encoding: Encoding
    mark: bytes

    def encode(self, body: str) -> bytes:
        return self.mark + body.encode(self.encoding, _errors(self.encoding))


def kind_of(start: bytes) -> tuple[Encoding, bytes] | None:
    """Encoding and byte order mark of a file that starts so; None: it is binary."""
    if start.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return None
    if start.startswith(codecs.BOM_UTF16_LE):
        return "utf-16-le", codecs.BOM_UTF16_LE
    if start.startswith(codecs.BOM_UTF16_BE):
        return "utf-16-be", codecs.BOM_UTF16_BE
    if b"\0" in start[:PROBE]:
        return None
    mark = codecs.BOM_UTF8 if start.startswith(codecs.BOM_UTF8) else b""
    return "utf-8", mark


def decode(data: bytes) -> FileText | None:
    """The text of a file's bytes; None when it is binary or would not come back byte for byte."""
    kind = kind_of(data[:PROBE])
    if kind is None:
        return None
    encoding, mark = kind
    try:
        body = data[len(mark) :].decode(encoding, _errors(encoding))
    except UnicodeDecodeError:
        return None
    text = FileText(body, encoding, mark)
    return text if text.encode(body) == data else None


def _errors(encoding: Encoding) -> str:
    return "surrogateescape" if encoding == "utf-8" else "strict"


def whole_characters(text: str) -> str:
    """Text that can be sent: each half of a character (a lone surrogate) becomes U+FFFD."""
    return _LONE_SURROGATE.sub("\ufffd", text)


def check_whole(text: str, name: str) -> None:
    """Raises ToolFailed where an argument holds half a character and so has no bytes."""
    if _LONE_SURROGATE.search(text):
        raise ToolFailed(
            f"The argument {name} holds half a character (a lone surrogate); it can't be written."
        )


def with_newlines(text: str) -> str:
    """The text with every line end as `\\n`."""
    return NEWLINE.sub("\n", text)


def lines_of(text: str) -> list[str]:
    """The lines with their own ends; only CR, LF and CRLF end a line."""
    lines: list[str] = []
    start = 0
    for match in NEWLINE.finditer(text):
        lines.append(text[start : match.end()])
        start = match.end()
    if start < len(text):
        lines.append(text[start:])
    return lines
