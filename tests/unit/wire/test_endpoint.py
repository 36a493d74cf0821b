"""Where requests go, and the stamp that the rows carry for it."""

import pytest

from desktop.wire.endpoint import Endpoint


def test_the_account_stamp_never_changes_between_versions() -> None:
    """The log holds it for ever: thinking goes back only to the account it came from."""
    assert Endpoint.at("").account("a-key") == "anthropic:4b7aae5c"


def test_another_key_or_server_is_another_account() -> None:
    stamps = {
        Endpoint.at(address).account(key)
        for address in ("", "http://localhost:11434")
        for key in ("a-key", "a-keyx")
    }
    assert len(stamps) == 4


def test_nothing_of_the_key_stands_in_the_stamp() -> None:
    assert "secret" not in Endpoint.at("").account("secret-key-0123456789")


@pytest.mark.parametrize(
    "address", ["http://h:1", "http://h:1/", "http://h:1/v1", "http://h:1/v1/"]
)
def test_an_address_is_taken_as_people_write_it(address: str) -> None:
    assert Endpoint.at(address).base_url == "http://h:1"
