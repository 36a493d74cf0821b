"""What format a picture's bytes are in, by how they begin and never by their name."""

TYPES = {"PNG": "image/png", "JPEG": "image/jpeg", "GIF": "image/gif", "WEBP": "image/webp"}
_STARTS = (
    (b"\x89PNG\r\n\x1a\n", "PNG"),
    (b"\xff\xd8\xff", "JPEG"),
    (b"GIF87a", "GIF"),
    (b"GIF89a", "GIF"),
    (b"II*\0", "TIFF"),
    (b"MM\0*", "TIFF"),
)


def format_of(start: bytes) -> str:
    """The format of bytes that start so, in Pillow's word; '' for what is none that is read."""
    if start[:4] == b"RIFF" and start[8:12] == b"WEBP":
        return "WEBP"
    if start[:2] == b"BM" and start[6:10] == b"\0\0\0\0":
        return "BMP"
    return next((name for begin, name in _STARTS if start.startswith(begin)), "")


def media_type_of(format_: str) -> str:
    return TYPES.get(format_, f"image/{format_.lower()}")
