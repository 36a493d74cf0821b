"""An Atom feed of releases (RFC 4287), as hosts of code publish it, read for its newest version.

Bytes of anybody: read as a stream with bounds, and without a document type, so that nothing in it
can grow. An entry's version is the last part of its link's path (`…/releases/tag/v1.2.0`), or its
title; what is no finished version is left out.
"""

import re
from urllib.parse import unquote, urljoin, urlsplit
from xml.etree.ElementTree import ParseError, XMLParser

from desktop.core.addresses import is_page_address
from desktop.core.releases import Release, Version

ATOM = "{http://www.w3.org/2005/Atom}"
MOST_ENTRIES = 200
DEEPEST = 50
LONGEST = 300  # characters of a title that count
_LAST_WORD = re.compile(r"(?:.*[\s_\-])?(v?\d\S*)", re.S)


class NoReleases(Exception):
    """It is no feed of releases; the text says why, in words of our own."""


def newest(feed: bytes, *, address: str) -> Release:
    """The newest finished version in a feed that was got from `address`. Raises NoReleases."""
    entries = _Entries()
    parser = XMLParser(target=entries)
    try:
        parser.feed(feed)
        parser.close()
    except (ParseError, ValueError, LookupError) as error:  # an unknown encoding is a LookupError
        raise NoReleases("it is no XML") from error
    if not entries.is_feed:
        raise NoReleases("it is no Atom feed")
    found = [one for one in (_release(*entry, address) for entry in entries.found) if one]
    if not found:
        raise NoReleases("it names no finished version with an https address")
    _, release = max(found, key=lambda one: one[0].numbers)
    return release


def _release(title: str, link: str, address: str) -> tuple[Version, Release] | None:
    if not link.strip():
        return None
    try:
        page = urljoin(address, link.strip())
        last = unquote(urlsplit(page).path).rstrip("/").rpartition("/")[2]
    except ValueError:
        return None
    for text in (last, title):
        version = _version(text)
        if version is not None and version.is_final and is_page_address(page):
            shown = ".".join(map(str, version.numbers)).removesuffix(".0")
            return version, Release(shown, page)
    return None


def _version(text: str) -> Version | None:
    found = _LAST_WORD.fullmatch(text.strip()[:LONGEST])
    return Version.of(found[1]) if found else None


class _Entries:
    """The parser's target: keeps title and link of each entry and nothing else."""

    def __init__(self) -> None:
        self.is_feed = False
        self.found: list[tuple[str, str]] = []
        self._path: list[str] = []
        self._title: list[str] = []
        self._link = ""

    def doctype(self, name: str, pubid: str, system: str) -> None:
        raise NoReleases("it has a document type, which no feed needs")

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if not self._path:
            self.is_feed = tag == f"{ATOM}feed"
        self._path.append(tag)
        if len(self._path) > DEEPEST:
            raise NoReleases("it is nested too deep")
        if self._path == [f"{ATOM}feed", f"{ATOM}entry"]:
            self._title, self._link = [], ""
        elif self._is_at("link") and attributes.get("rel", "alternate") == "alternate":
            self._link = self._link or attributes.get("href", "")

    def data(self, text: str) -> None:
        if self._is_at("title") and len(self._title) < LONGEST:
            self._title.append(text[:LONGEST])

    def end(self, tag: str) -> None:
        is_entry = self._path == [f"{ATOM}feed", f"{ATOM}entry"]
        self._path.pop()
        if is_entry and len(self.found) < MOST_ENTRIES:
            self.found.append(("".join(self._title), self._link))

    def close(self) -> None: ...

    def _is_at(self, name: str) -> bool:
        return self._path == [f"{ATOM}feed", f"{ATOM}entry", f"{ATOM}{name}"]
