"""What pictures and documents a request may show (V16, V17)."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import pypdf
from PIL import Image, UnidentifiedImageError
from pypdf.errors import PyPdfError

from tests.fakes.sim.models import Model
from tests.fakes.sim.problems import Json, Refusal

MOST_SIDE, MANY, MANY_SIDE = 8000, 20, 2000
SMALL_WINDOW = 200_000


def check(body: Json, model: Model) -> None:
    """Each picture can be read, and all together are not too many or too large."""
    found = list(_shown(body))
    images = [(path, block) for path, block in found if block["type"] == "image"]
    most = 100 if model.window <= SMALL_WINDOW else 600
    if len(images) > most:
        raise Refusal(f"messages: too many images in the request: {len(images)} > {most}")
    side = MANY_SIDE if len(images) > MANY else MOST_SIDE
    large: list[str] = []
    for path, block in images:
        data = _data(block)
        size = (0, 0) if data is None else _size(data)
        if size is None:
            raise Refusal(f"{path}.image.source.base64: Could not process image")
        if max(size) > side:
            large.append(path)
    if large:
        raise Refusal(
            f"At least one of the image dimensions exceed max allowed size: {side} pixels",
            code="image_dimensions_too_large",
            paths=tuple(large),
        )
    _check_documents(found, most)


def _check_documents(found: list[tuple[str, Json]], most: int) -> None:
    pages = 0
    for path, block in found:
        data = _data(block) if block["type"] == "document" else None
        if data is None:
            continue
        count = _pages(data)
        if count is None:
            raise Refusal(f"{path}.document.source.base64.data: The PDF specified was not valid.")
        pages += count
    if pages > most:
        raise Refusal(f"messages: A maximum of {most} PDF pages may be provided.")


def _shown(body: Json) -> Iterator[tuple[str, Json]]:
    for at, message in enumerate(body["messages"]):
        yield from _inside(message.get("content"), f"messages.{at}.content")


def _inside(content: Any, path: str) -> Iterator[tuple[str, Json]]:
    for at, block in enumerate(content if isinstance(content, list) else []):
        place = f"{path}.{at}"
        if block["type"] in ("image", "document"):
            yield place, block
        if block["type"] == "tool_result":
            inside = list(_inside(block.get("content"), f"{place}.tool_result.content"))
            if block.get("is_error") and inside:
                raise Refusal(f"{place}: all content must be type `text` if `is_error` is true")
            yield from inside


def _data(block: Json) -> str | None:
    source = block["source"]
    return source["data"] if source["type"] == "base64" else None


@lru_cache(maxsize=256)
def _size(data: str) -> tuple[int, int] | None:
    """Width and height; None where the whole picture can't be read."""
    try:
        with Image.open(io.BytesIO(base64.b64decode(data))) as image:
            image.load()
            return image.size
    except (UnidentifiedImageError, OSError, ValueError):
        return None


@lru_cache(maxsize=64)
def _pages(data: str) -> int | None:
    try:
        reader = pypdf.PdfReader(io.BytesIO(base64.b64decode(data)))
        return None if reader.is_encrypted else len(reader.pages)
    except (PyPdfError, ValueError):
        return None
