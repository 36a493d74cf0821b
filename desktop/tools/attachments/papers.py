"""Whether a PDF is one that a model can be shown: readable, not encrypted, not too long (API V17).

The one door to pypdf. Only the document's own count of its pages is read: it is cheap however large
the document is, and one that lies is refused by the provider, which costs a placeholder. Blocking.
"""

import io
import logging
from typing import cast

from pypdf import PdfReader
from pypdf.generic import DictionaryObject

from desktop.core.errors import ToolFailed

LARGEST = 20_000_000
MOST_PAGES = 100

# What it finds odd in a document is nothing that the person could do anything about.
logging.getLogger("pypdf").setLevel(logging.CRITICAL)


def is_paper(start: bytes) -> bool:
    """Whether bytes that start so are a PDF."""
    return start.lstrip()[:5] == b"%PDF-"


def pages_of(content: bytes, name: str) -> int:
    """The number of pages; raises ToolFailed naming the document and the reason."""
    if len(content) > LARGEST:
        raise ToolFailed(f"{name} is larger than {LARGEST // 1_000_000} MB, too large to be shown.")
    try:
        reader = PdfReader(io.BytesIO(content))
        encrypted = reader.is_encrypted
        pages = 0 if encrypted else _count(reader)
    except Exception as error:  # whatever the reader makes of hostile bytes
        raise ToolFailed(
            f"{name} is damaged or not complete.", detail=f"{type(error).__name__}: {error}"
        ) from error
    if encrypted:
        raise ToolFailed(f"{name} is encrypted.", way_out="Save it without a password first.")
    if pages < 1:
        raise ToolFailed(f"{name} has no pages.")
    if pages > MOST_PAGES:
        raise ToolFailed(
            f"{name} has {pages:,} pages; at most {MOST_PAGES} can be shown.",
            way_out="Save the pages that matter as a document of their own.",
        )
    return pages


def _count(reader: PdfReader) -> int:
    pages = cast("DictionaryObject", reader.root_object["/Pages"].get_object())
    return int(cast("int", pages["/Count"].get_object()))
