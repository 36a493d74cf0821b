"""Which addresses of the web are asked and opened. Pure, and light: the settings need it."""

import re
from urllib.parse import SplitResult, urlsplit

LONGEST_ADDRESS = 2_000
_THIS_COMPUTER = re.compile(r"localhost|127(?:\.[0-9]{1,3}){3}|::1")


def is_feed_address(text: str) -> bool:
    """Whether it may be asked: https with a host and without a name or password in it, or http to
    this computer itself."""
    parts = _split(text)
    if parts is None:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and is_this_computer(parts))


def is_page_address(text: str) -> bool:
    """Whether it may be shown as the page of a release: https only."""
    parts = _split(text)
    return parts is not None and parts.scheme == "https"


def is_this_computer(parts: SplitResult) -> bool:
    return _THIS_COMPUTER.fullmatch(parts.hostname or "") is not None


def _split(text: str) -> SplitResult | None:
    """The parts of a plain address; None for what a browser and this module might read apart."""
    if len(text) > LONGEST_ADDRESS or not text.isascii() or not text.isprintable():
        return None
    if any(one in text for one in ' \\"<>^`{|}'):
        return None
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        return None
    return parts if parts.hostname and "@" not in parts.netloc else None
