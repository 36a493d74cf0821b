"""Makes a picture one that a model can be shown, whatever it was: checked as a whole, turned
upright, without what it tells of its maker, of at most 2000 pixels and 3.5 MB (API V16).

The one door to Pillow. The bytes are hostile: their format is what they are, never what their name
says, only the named decoder reads them, and what would take too much memory is not decoded. The
same bytes give the same picture. Blocking; off the loop.
"""

import io
from dataclasses import dataclass

from PIL import Image, ImageOps, UnidentifiedImageError

from desktop.core.errors import ToolFailed
from desktop.tools.attachments.formats import TYPES, format_of

LONGEST_SIDE = 2000
LARGEST = 3_500_000
# Pixels that are decoded at most; a JPEG is read smaller than it is.
MOST_PIXELS = 50_000_000
MOST_JPEG_PIXELS = 200_000_000
QUALITIES = (90, 80, 65)
SHRINK = 0.7

# What a picture may tell of the person: where and with what it was taken, and any words.
_TELLING = frozenset({"exif", "xmp", "photoshop", "comment", "Comment", "XML:com.adobe.xmp"})
_ALPHA = frozenset({"RGBA", "LA", "PA", "La", "RGBa"})

# The sizes are judged here, before anything is decoded; Pillow would only warn.
Image.MAX_IMAGE_PIXELS = None


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture as it is sent."""

    content: bytes
    media_type: str
    width: int
    height: int


def picture_of(content: bytes, name: str) -> Picture:
    """The picture of these bytes; raises ToolFailed naming it and the reason."""
    try:
        with Image.open(io.BytesIO(content), formats=_decoders(format_of(content))) as image:
            return _fitted(image, content, name)
    except ToolFailed:
        raise
    except UnidentifiedImageError as error:
        raise ToolFailed(f"{name} is no picture that can be read.") from error
    except MemoryError as error:
        raise ToolFailed(f"{name} takes more memory than there is.") from error
    except Exception as error:  # whatever a decoder makes of hostile bytes
        raise ToolFailed(
            f"{name} is damaged or not complete.", detail=f"{type(error).__name__}: {error}"
        ) from error


def _decoders(format_: str) -> tuple[str, ...]:
    return ("JPEG", "MPO") if format_ == "JPEG" else (format_,)


def _fitted(image: Image.Image, content: bytes, name: str) -> Picture:
    is_jpeg = image.format in ("JPEG", "MPO")
    if image.width * image.height > (MOST_JPEG_PIXELS if is_jpeg else MOST_PIXELS):
        raise ToolFailed(
            f"{name} has {image.width:,} × {image.height:,} pixels, which is too large to be read.",
            way_out="Make it smaller first.",
        )
    fits = max(image.size) <= LONGEST_SIDE and len(content) <= LARGEST
    if not fits and is_jpeg:
        image.draft("RGB", (2 * LONGEST_SIDE, 2 * LONGEST_SIDE))
    image.load()
    if fits and image.format in TYPES and not _tells(image):
        return Picture(content, TYPES[image.format], image.width, image.height)
    upright = _simple(_upright(image))
    upright.thumbnail((LONGEST_SIDE, LONGEST_SIDE), Image.Resampling.LANCZOS)
    return _encoded(upright, lossy=is_jpeg)


def _upright(image: Image.Image) -> Image.Image:
    """Turned as its maker noted; a note that can't be read is no reason to refuse a picture."""
    try:
        return ImageOps.exif_transpose(image)
    except Exception:
        return image


def _tells(image: Image.Image) -> bool:
    """Whether the picture holds more than a picture."""
    return bool(_TELLING & image.info.keys() or getattr(image, "text", None))


def _simple(image: Image.Image) -> Image.Image:
    """The first frame in grey, colour, or colour with transparency."""
    if image.mode.startswith("I;16"):
        image = image.convert("I")
    if image.mode in ("I", "F"):
        return image.point(lambda value: value * (1 / 256)).convert("L")
    if image.mode in _ALPHA or "transparency" in image.info:
        return image.convert("RGBA")
    return image.convert("L" if image.mode in ("1", "L") else "RGB")


def _encoded(image: Image.Image, *, lossy: bool) -> Picture:
    """The picture in the first form that is small enough: as it is, with losses, smaller."""
    while True:
        if not lossy:
            content = _saved(image, "PNG", optimize=True)
            if len(content) <= LARGEST:
                return Picture(content, TYPES["PNG"], *image.size)
        flat = _flat(image)
        for quality in QUALITIES:
            content = _saved(flat, "JPEG", quality=quality)
            if len(content) <= LARGEST:
                return Picture(content, TYPES["JPEG"], *image.size)
        image = image.resize(
            (max(1, round(image.width * SHRINK)), max(1, round(image.height * SHRINK)))
        )


def _flat(image: Image.Image) -> Image.Image:
    """Without transparency: on white."""
    if image.mode != "RGBA":
        return image
    ground = Image.new("RGB", image.size, "white")
    ground.paste(image, mask=image.getchannel("A"))
    return ground


def _saved(image: Image.Image, format_: str, **how: object) -> bytes:
    """Bytes without anything but the picture: what it was read with is not written."""
    bare = Image.frombytes(image.mode, image.size, image.tobytes())
    content = io.BytesIO()
    bare.save(content, format_, **how)
    return content.getvalue()
