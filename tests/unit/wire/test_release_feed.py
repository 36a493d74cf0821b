"""What is read out of a feed of releases, whoever wrote it."""

from xml.sax.saxutils import escape, quoteattr

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.core.addresses import is_page_address
from desktop.core.releases import Release
from desktop.wire.release_feed import NoReleases, newest

ADDRESS = "https://host.example/o/nacre/releases.atom"
PAGES = "https://host.example/o/nacre/releases/tag"


def entry(title: str = "", link: str = "", *, rel: str = "alternate") -> str:
    return (
        "<entry><id>x</id><updated>2026-11-30T00:00:00Z</updated>"
        f'<link rel="{rel}" type="text/html" href={quoteattr(link)}/>'
        f"<title>{escape(title)}</title>"
        "<content type='html'>&lt;script&gt;alert(1)&lt;/script&gt; 9.9.9</content></entry>"
    )


def feed(*entries: str) -> bytes:
    return (
        "<?xml version='1.0' encoding='UTF-8'?><feed xmlns='http://www.w3.org/2005/Atom'>"
        f"<title>Release notes from nacre 7.7.7</title>{''.join(entries)}</feed>"
    ).encode()


def test_u35_the_newest_finished_version_is_found_wherever_it_stands() -> None:
    """A host lists by date: a fix for an old version may stand first."""
    found = newest(
        feed(
            entry("Nacre 0.9.4", f"{PAGES}/v0.9.4"),
            entry("Nacre 1.10.0", f"{PAGES}/v1.10.0"),
            entry("Nacre 2.0.0 beta", f"{PAGES}/v2.0.0-beta.1"),
            entry("Nacre 1.9.0", f"{PAGES}/v1.9.0"),
        ),
        address=ADDRESS,
    )
    assert found == Release("1.10.0", f"{PAGES}/v1.10.0")


@pytest.mark.parametrize(
    ("title", "link", "version"),
    [
        ("The pearl", f"{PAGES}/v1.2.0", "1.2.0"),
        ("The pearl", f"{PAGES}/1.2", "1.2.0"),
        ("The pearl", f"{PAGES}/nacre-1.2.3", "1.2.3"),
        ("The pearl", f"{PAGES}/nacre%2Fv1.2.3", "1.2.3"),
        ("The pearl", f"{PAGES}/v1.2.3.4/", "1.2.3.4"),
        ("The pearl", "/o/nacre/releases/tag/v1.2.0", "1.2.0"),
        ("Nacre 1.2.0", f"{PAGES}/nightly", "1.2.0"),
    ],
)
def test_u35_the_version_is_that_of_the_link_or_of_the_title(
    title: str, link: str, version: str
) -> None:
    assert newest(feed(entry(title, link)), address=ADDRESS).version == version


@pytest.mark.parametrize(
    "one",
    [
        entry("1.2.0", "http://host.example/v1.2.0"),
        entry("1.2.0", "javascript:alert(1)//v1.2.0"),
        entry("1.2.0", "file:///v1.2.0"),
        entry("1.2.0", "https://person:password@host.example/v1.2.0"),
        entry("1.2.0", "https://[bad/v1.2.0"),
        entry("1.2.0", "https://host.example/\u202ev1.2.0"),
        entry("1.2.0", f"{PAGES}/v1.2.0", rel="enclosure"),
        entry("1.2.0", ""),
        entry("Nightly 2026", f"{PAGES}/nightly"),
        entry("1.2.0rc1", f"{PAGES}/v1.2.0rc1"),
    ],
)
def test_u35_what_has_no_finished_version_and_no_https_page_is_left_out(one: str) -> None:
    with pytest.raises(NoReleases):
        newest(feed(one), address=ADDRESS)


LAUGHS = "".join(f'<!ENTITY l{n + 1} "{f"&l{n};" * 10}">' for n in range(9))


@pytest.mark.parametrize(
    ("bytes_", "why"),
    [
        (b"", "no XML"),
        (b"<html><body>Not found</body></html>", "no Atom feed"),
        (b"<rss version='2.0'><channel/></rss>", "no Atom feed"),
        (b"<feed><entry/></feed>", "no Atom feed"),
        (feed(), "no finished version"),
        (feed(entry("1.2.0", PAGES))[:-20], "no XML"),
        (b"\x00\xff\xfe", "no XML"),
        (b"<?xml version='1.0' encoding='of-tomorrow'?><feed/>", "no XML"),
        (f"<!DOCTYPE x [<!ENTITY l0 'ha'>{LAUGHS}]><x>&l9;</x>".encode(), "document type"),
        (b"<!DOCTYPE x [<!ENTITY f SYSTEM 'file:///etc/passwd'>]><x>&f;</x>", "document type"),
        (feed("<a>" * 100_000), "nested too deep"),
    ],
)
def test_u35_hostile_and_broken_feeds_are_refused_in_our_own_words(bytes_: bytes, why: str) -> None:
    with pytest.raises(NoReleases, match=why):
        newest(bytes_, address=ADDRESS)


def test_u35_a_feed_of_very_many_entries_is_read_to_a_bound() -> None:
    many = [entry("", f"{PAGES}/v1.0.{n}") for n in range(1_000)]
    assert newest(feed(*many), address=ADDRESS).version == "1.0.199"


@given(st.lists(st.tuples(st.text(max_size=40), st.text(max_size=40)), max_size=4))
def test_u35_any_titles_and_links_give_a_release_that_can_be_shown_or_none(
    entries: list[tuple[str, str]],
) -> None:
    source = feed(*(entry(*one) for one in entries))
    try:
        found = newest(source, address=ADDRESS)
    except NoReleases:
        return
    assert is_page_address(found.link)
    assert set(found.version) <= set("0123456789.")
