"""Pictures and documents as files have them, made on the spot."""

import io
import random
from typing import Any

from PIL import Image
from pypdf import PdfWriter


def drawn(size: tuple[int, int], format_: str = "PNG", mode: str = "RGB", **how: Any) -> bytes:
    content = io.BytesIO()
    Image.new(mode, size, how.pop("colour", 0)).save(content, format_, **how)
    return content.getvalue()


def noise(side: int, format_: str = "PNG", mode: str = "RGB", **how: Any) -> bytes:
    """A picture that no encoder makes small."""
    bands = len(Image.new(mode, (1, 1)).getbands())
    data = random.Random(side).randbytes(side * side * bands)
    content = io.BytesIO()
    Image.frombytes(mode, (side, side), data).save(content, format_, **how)
    return content.getvalue()


def paper(pages: int = 1, password: str = "") -> bytes:
    writer, content = PdfWriter(), io.BytesIO()
    for _ in range(pages):
        writer.add_blank_page(100, 100)
    if password:
        writer.encrypt(password, algorithm="RC4-128")
    writer.write(content)
    return content.getvalue()
