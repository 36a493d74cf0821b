"""Whether a PDF is one that a model can be shown: whole, not encrypted, not too long (API V17).

Only what stands on the document's surface is looked at, in one pass and bounded: its end, whether
it is encrypted, and its own count of pages (which may lie in compressed objects). A document that
lies about it is refused by the provider, and that costs a placeholder. Blocking.
"""

import re
import zlib
from collections.abc import Iterator

from desktop.core.errors import ToolFailed

LARGEST = 20_000_000
MOST_PAGES = 100
# Bytes at the end in which the last table must be named, and what is unpacked of objects.
_END = 65_536
_MOST_UNPACKED = 64_000_000

_ENCRYPTED = re.compile(rb"/Encrypt\s*(\d+\s+\d+\s+R|<<)")
_PACKED = re.compile(rb"/Type\s*/ObjStm\b[^>]*>>\s*stream\r?\n")
_MARKS = re.compile(
    rb"(?P<open><<)|(?P<close>>>)|(?P<border>\bobj\b|\bendobj\b)"
    rb"|(?P<tree>/Type\s*/Pages\b)|(?P<page>/Type\s*/Page\b)|/Count\s+(?P<count>\d{1,9})"
)


def is_paper(start: bytes) -> bool:
    """Whether bytes that start so are a PDF."""
    return start.lstrip()[:5] == b"%PDF-"


def pages_of(content: bytes, name: str) -> int:
    """The number of pages; raises ToolFailed naming the document and the reason."""
    if len(content) > LARGEST:
        raise ToolFailed(f"{name} is larger than {LARGEST // 1_000_000} MB, too large to be shown.")
    if b"startxref" not in content[-_END:]:
        raise ToolFailed(f"{name} is damaged or not complete.")
    if _ENCRYPTED.search(content):
        raise ToolFailed(f"{name} is encrypted.", way_out="Save it without a password first.")
    pages = max((_counted(part) for part in (content, *_unpacked(content))), default=0)
    if not pages:
        raise ToolFailed(f"{name} is damaged, or has no pages.")
    if pages > MOST_PAGES:
        raise ToolFailed(
            f"{name} has {pages:,} pages; at most {MOST_PAGES} can be shown.",
            way_out="Save the pages that matter as a document of their own.",
        )
    return pages


def _counted(data: bytes) -> int:
    """The largest count that a tree of pages gives; where there is none, the pages themselves."""
    best = single = 0
    inside: list[list[int]] = []  # of each open dictionary: whether it is a tree, and its count
    for mark in _MARKS.finditer(data):
        match mark.lastgroup:
            case "open":
                inside.append([0, 0])
            case "close" if inside:
                is_tree, count = inside.pop()
                best = max(best, count if is_tree else 0)
            case "border":
                inside.clear()
            case "tree" if inside:
                inside[-1][0] = 1
            case "count" if inside:
                inside[-1][1] = int(mark["count"])
            case "page":
                single += 1
            case _:
                pass
    return best or single


def _unpacked(content: bytes) -> Iterator[bytes]:
    """The compressed objects, as far as they are unpacked."""
    room = _MOST_UNPACKED
    for packed in _PACKED.finditer(content):
        if room <= 0:
            return
        end = content.find(b"endstream", packed.end())
        try:
            part = zlib.decompressobj().decompress(content[packed.end() : end], room)
        except zlib.error:
            continue
        room -= len(part)
        yield part
