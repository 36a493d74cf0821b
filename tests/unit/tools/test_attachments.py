"""Pictures and documents on their way into a conversation (API V16, V17; SPEC U23; FIELD F-W12)."""

import asyncio
import hashlib
import io
import os
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from desktop.core.errors import ToolFailed
from desktop.core.media import media_of
from desktop.tools.attachments import images
from desktop.tools.attachments.checking import checked
from desktop.tools.attachments.reading import attachment_of, picture_of
from tests.unit.tools.pictures import drawn, noise, paper

ORIENTATION, MAKER = 0x0112, 0x010F


def entry_of(content: bytes, name: str = "x.png") -> dict[str, Any]:
    found = checked(content, name)
    assert found is not None
    assert media_of(found) is not None
    assert found["sha256"] == hashlib.sha256(found["content"]).hexdigest()
    assert found["size"] == len(found["content"]) <= images.LARGEST
    with Image.open(io.BytesIO(found["content"])) as image:
        image.load()
        assert image.size == (found["width"], found["height"])
        assert max(image.size) <= images.LONGEST_SIDE
        assert not image.getexif()
    return found


def refusal(content: bytes, name: str) -> str:
    with pytest.raises(ToolFailed) as caught:
        checked(content, name)
    assert name in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("format_", ["PNG", "JPEG", "GIF", "WEBP"])
def test_a_small_picture_is_sent_as_it_is_whatever_its_name_says(format_: str):
    content = drawn((80, 60), format_)
    found = entry_of(content, "picture.bin")
    assert found["content"] == content
    assert found["mediaType"] == f"image/{format_.lower()}"
    assert "original" not in found


@pytest.mark.parametrize("format_", ["BMP", "TIFF"])
def test_other_formats_become_one_that_the_provider_takes(format_: str):
    content = drawn((80, 60), format_)
    found = entry_of(content)
    assert found["mediaType"] == "image/png"
    assert found["original"]["content"] == content
    assert found["original"]["mediaType"] == f"image/{format_.lower()}"


def test_f_w12_a_wide_picture_is_scaled_and_its_original_kept():
    content = drawn((9000, 400))
    found = entry_of(content)
    assert (found["width"], found["height"]) == (2000, 89)
    assert found["original"]["sha256"] == hashlib.sha256(content).hexdigest()


def test_f_w12_a_heavy_png_becomes_small_enough():
    content = noise(1900)
    assert len(content) > 10_000_000
    found = entry_of(content)
    assert found["mediaType"] == "image/jpeg"


@pytest.mark.parametrize(
    "mode", ["1", "L", "LA", "P", "RGB", "RGBA", "I;16", "I", "F", "CMYK", "YCbCr", "LAB"]
)
def test_every_kind_of_colour_becomes_one_that_can_be_sent(mode: str):
    format_ = "PNG" if mode in ("LA", "RGBA", "P") else "TIFF"
    entry_of(drawn((2400, 30), format_, mode))


def test_transparency_is_kept_where_it_fits_and_is_white_where_not():
    assert entry_of(drawn((2400, 30), mode="RGBA"))["mediaType"] == "image/png"
    found = entry_of(noise(1500, mode="RGBA"))
    assert found["mediaType"] == "image/jpeg"


def test_a_photo_is_turned_upright_and_does_not_tell_of_its_maker():
    exif = Image.Exif()
    exif[ORIENTATION], exif[MAKER] = 6, "Camera of Ada"
    content = drawn((80, 60), "JPEG", exif=exif)
    found = entry_of(content)
    assert (found["width"], found["height"]) == (60, 80)
    assert b"Ada" not in found["content"]
    assert b"Ada" in found["original"]["content"]


def test_words_in_a_picture_are_not_sent():
    words = PngInfo()
    words.add_text("Author", "Ada")
    found = entry_of(drawn((80, 60), pnginfo=words))
    assert b"Ada" not in found["content"]


def test_a_small_animation_stays_one_and_of_a_large_one_the_first_frame_is_shown():
    frames = [Image.new("P", (80, 60), colour) for colour in (1, 2, 3)]
    content = io.BytesIO()
    frames[0].save(content, "GIF", save_all=True, append_images=frames[1:])
    assert entry_of(content.getvalue())["content"] == content.getvalue()
    large = [frame.resize((2400, 60)) for frame in frames]
    content = io.BytesIO()
    large[0].save(content, "GIF", save_all=True, append_images=large[1:])
    assert entry_of(content.getvalue())["mediaType"] == "image/png"


def test_the_same_bytes_give_the_same_bytes():
    content = noise(1500)
    assert entry_of(content) == entry_of(content)


@pytest.mark.parametrize(
    ("content", "name", "reason"),
    [
        (b"", "empty.png", "is empty"),
        (b"just words", "words.png", "is no picture"),
        (b"just words", "words.pdf", "is no picture or document"),
        (noise(64)[:2000], "half.png", "damaged or not complete"),
        (noise(64, "JPEG")[:900], "half.jpg", "damaged or not complete"),
        (b"\0\0\0\x18ftypheic" + b"\0" * 40, "phone.heic", "format that can't be read"),
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 40, "nothing.png", "is no picture"),
        (paper(101), "long.pdf", "101 pages"),
        (paper(password="x"), "secret.pdf", "is encrypted"),
        (paper()[:200], "half.pdf", "damaged or not complete"),
        (b"%PDF-1.7\nnothing", "none.pdf", "damaged or not complete"),
        (b"%PDF-1.7\nnothing\nstartxref\n0\n%%EOF", "bare.pdf", "has no pages"),
    ],
)
def test_f_w12_what_can_not_be_shown_is_refused_by_name_with_the_reason(
    content: bytes, name: str, reason: str
):
    assert reason in refusal(content, name)


def test_a_decompression_bomb_is_refused_before_it_is_decoded():
    content = drawn((30_000, 30_000), mode="1")
    assert len(content) < 200_000
    assert "too large to be read" in refusal(content, "bomb.png")


def test_a_document_says_how_many_pages_it_has():
    found = checked(paper(3), "x")
    assert found is not None
    assert (found["kind"], found["mediaType"], found["pages"]) == ("document", "application/pdf", 3)


def test_pages_in_compressed_objects_are_counted():
    """PDF 1.5 and later: the tree of pages lies in an object stream."""
    objects = b"1 0 2 60 <</Type/Catalog/Pages 2 0 R>> <</Kids[3 0 R]/Count 7/Type /Pages>>"
    packed = zlib.compress(objects)
    head = b"%%PDF-1.7\n4 0 obj\n<</Type /ObjStm /N 2 /Length %d>>\nstream\n" % len(packed)
    content = head + packed + b"\nendstream\nendobj\nstartxref\n0\n%%EOF"
    found = checked(content, "x.pdf")
    assert found is not None
    assert found["pages"] == 7


def test_a_bomb_in_a_document_is_not_unpacked_whole():
    packed = zlib.compress(b"\0" * 200_000_000)
    head = b"%PDF-1.7\n4 0 obj\n<</Type /ObjStm>>\nstream\n"
    content = head + packed + b"\nendstream\nendobj\nstartxref\n0\n%%EOF"
    assert "has no pages" in refusal(content, "bomb.pdf")


def test_what_is_neither_is_left_to_others():
    assert checked(b"just words", "notes.md") is None


def test_a_name_can_be_shown():
    found = checked(drawn((8, 8)), "a\nb\u202e\udcff" + "x" * 400 + ".png")
    assert found is not None
    assert found["name"].isprintable()
    assert found["name"].endswith("x.png")
    assert len(found["name"]) <= 120


STARTS = st.sampled_from([drawn((40, 30), one) for one in ("PNG", "JPEG", "GIF", "WEBP", "TIFF")])


@settings(max_examples=150, deadline=None)
@given(STARTS | st.just(paper()), st.data())
def test_hostile_bytes_are_shown_or_refused_and_nothing_else(content: bytes, data: st.DataObject):
    raw = bytearray(content)
    for _ in range(data.draw(st.integers(1, 6))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    raw = raw[: data.draw(st.integers(0, len(raw)))]
    try:
        checked(bytes(raw), "x")
    except ToolFailed:
        pass


# Files


def attached(path: Path) -> dict[str, Any]:
    return asyncio.run(attachment_of(path))


def test_a_text_is_attached_as_text_byte_for_byte(tmp_path: Path):
    path = tmp_path / "notes.md"
    path.write_bytes("one\r\ntwo – ü".encode())
    found = attached(path)
    assert found["text"].encode() == path.read_bytes()
    assert found["mediaType"] == "text/plain"


def test_a_picture_file_is_attached_as_a_picture(tmp_path: Path):
    path = tmp_path / "x.dat"
    path.write_bytes(drawn((8, 8)))
    assert attached(path)["kind"] == "image"


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\0\0\xd8", b"a\0b"])
def test_a_file_that_is_no_text_and_no_picture_is_refused(tmp_path: Path, content: bytes):
    path = tmp_path / "x.bin"
    path.write_bytes(content)
    with pytest.raises(ToolFailed, match=r"x\.bin"):
        attached(path)


@pytest.mark.skipif(os.name != "posix", reason="named pipes are POSIX")
def test_a_pipe_or_folder_is_refused_at_once(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, tmp_path / "missing"):
        with pytest.raises(ToolFailed, match=path.name):
            attached(path)


def test_a_picture_of_the_clipboard_is_checked_alike():
    assert asyncio.run(picture_of(drawn((8, 8)), "Pasted"))["name"] == "Pasted"
    with pytest.raises(ToolFailed, match="no picture"):
        asyncio.run(picture_of(b"words", "Pasted"))
