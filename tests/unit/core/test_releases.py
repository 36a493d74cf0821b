"""Which version comes after which, and which addresses may be asked and opened."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.core.addresses import LONGEST_ADDRESS, is_feed_address, is_page_address
from desktop.core.releases import Version

NUMBERS = st.lists(st.integers(0, 999_999), min_size=2, max_size=4)


def version(text: str) -> Version:
    found = Version.of(text)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("later", "earlier"),
    [
        ("0.2.0", "0.1.0"),
        ("v0.10", "0.9.9"),
        ("1.0.1", "1.0"),
        ("1.0", "1.0rc2"),
        ("1.0.0.1", "1.0.0"),
        ("2.0.0-beta.1", "1.9"),
        ("1.1", "1.1.dev3"),
    ],
)
def test_u35_versions_come_in_the_order_of_their_numbers(later: str, earlier: str) -> None:
    assert version(later).is_after(version(earlier))
    assert not version(earlier).is_after(version(later))


@pytest.mark.parametrize(
    ("one", "other"), [("1.0", "1.0.0"), ("v1.2", "1.2"), ("1.0+abc", "1.0"), ("1.0a1", "1.0b2")]
)
def test_u35_spellings_of_one_version_come_after_each_other_in_no_order(
    one: str, other: str
) -> None:
    assert not version(one).is_after(version(other))
    assert not version(other).is_after(version(one))


@pytest.mark.parametrize("text", ["", "7", "latest", "v", "1.", "x1.2", "1.2345678", "٣.٤", "-1.2"])
def test_u35_what_is_no_version_is_none(text: str) -> None:
    found = Version.of(text)
    assert found is None or not found.is_final


@given(NUMBERS, NUMBERS)
def test_u35_the_order_is_that_of_the_numbers(one: list[int], other: list[int]) -> None:
    ours, theirs = (version(".".join(map(str, each))) for each in (one, other))
    padded = [(*each, 0, 0)[:4] for each in (one, other)]
    assert ours.is_after(theirs) is (padded[0] > padded[1])


@pytest.mark.parametrize(
    ("address", "asked", "opened"),
    [
        ("https://host.example/o/nacre/releases.atom", True, True),
        ("https://host.example:8443/x?y=1", True, True),
        ("http://127.0.0.1:8000/x", True, False),
        ("http://localhost/x", True, False),
        ("http://[::1]:8000/x", True, False),
        ("http://127.0.0.1.evil.example/x", False, False),
        ("http://localhost.evil.example/x", False, False),
        ("http://host.example/x", False, False),
        ("https://person:password@host.example/x", False, False),
        ("https://token@host.example/x", False, False),
        ("https://", False, False),
        ("https:///x", False, False),
        ("https://host.example:port/x", False, False),
        ("https://host.example\\@evil.example/", False, False),
        ("https://host.example/a b", False, False),
        ("https://host.example/\u202e", False, False),
        ("https://host.example/\n", False, False),
        ("javascript:alert(1)", False, False),
        ("file:///etc/passwd", False, False),
        ("ftp://host.example/x", False, False),
        ("host.example", False, False),
        ("", False, False),
        ("https://host.example/" + "x" * LONGEST_ADDRESS, False, False),
    ],
)
def test_u35_only_plain_addresses_of_the_web_are_asked_and_only_https_is_opened(
    address: str, asked: bool, opened: bool
) -> None:
    assert is_feed_address(address) is asked
    assert is_page_address(address) is opened
