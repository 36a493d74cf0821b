"""Which key goes to which server, and that a bad one is refused without showing a letter (K01)."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.core.errors import SettingError
from desktop.credentials import api_key, status
from desktop.credentials.api_key import Credential, Endpoint
from desktop.credentials.key_file import KeyFile
from desktop.credentials.keys import Keys
from desktop.credentials.secret import Secret
from desktop.credentials.status import KeyRefused
from desktop.credentials.store import SecretStore
from desktop.diagnostics import Redaction
from tests.unit.credentials.keyrings import MemoryKeyring

KEY = "sk-ant-api03-Zq9_xYw-77aaBB"
PROVIDER = Endpoint(api_key.PROVIDER_URL, "provider")
LOCAL = Endpoint("http://localhost:11434", "settings")


@pytest.fixture
def keyring() -> MemoryKeyring:
    return MemoryKeyring()


@pytest.fixture
def redaction() -> Redaction:
    return Redaction()


@pytest.fixture
def keys(keyring: MemoryKeyring, redaction: Redaction, tmp_path: Path) -> Iterator[Keys]:
    store = SecretStore(open_backend=lambda: keyring, forget=redaction.forget)
    keys = Keys(store, KeyFile(tmp_path / "keys.encrypted"), forget=redaction.forget)
    yield keys
    keys.close()


class TestValidate:
    @pytest.mark.parametrize("text", [KEY, "ollama", "x", "a/b+c==", "abcd=", "a" * 4096])
    def test_a_key_is_taken_as_it_is(self, text: str) -> None:
        assert api_key.validate(text).reveal() == text

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("", "empty"),
            (" \n\t", "empty"),
            (f" {KEY}", "spaces"),
            (f"{KEY} ", "spaces"),
            ("sk-ant Zq9", "spaces"),
            ("sk-ant\u00a0Zq9", "spaces"),
            ("sk-ant\tZq9", "spaces"),
            (f"{KEY}\n", "line break"),
            ("sk-\r\nZq9", "line break"),
            ("sk-ant-😀", "character"),
            ("sk-ant-é", "character"),
            ("sk-ant\u200bZq9", "character"),
            ("\ufeffsk-ant", "character"),
            ("sk\0ant", "character"),
            ("sk\x7fant", "character"),
            ("sk\ud800ant", "character"),
            ("sk\u202eant", "character"),
            (f"ANTHROPIC_API_KEY={KEY}", "name"),
            ("ANTHROPIC_API_KEY=", "name"),
            (f"ANTHROPIC_API_KEY = '{KEY}'", "name"),
            (f"export ANTHROPIC_API_KEY={KEY}", "name"),
            (f"api_key={KEY}", "name"),
            (f'"{KEY}"', "quotation"),
            (f"'{KEY}", "quotation"),
            (f"“{KEY}”", "quotation"),
            ("https://example.org", "address"),
            ("a" * 4097, "too long"),
        ],
    )
    def test_what_can_not_be_a_key_is_refused_with_the_reason(self, text: str, words: str) -> None:
        with pytest.raises(KeyRefused) as caught:
            api_key.validate(text)
        assert words in caught.value.sentence
        assert caught.value.way_out

    @given(st.text(st.characters(codec=None), max_size=80))
    def test_whatever_is_typed_is_a_clean_key_or_refused_in_fixed_words(self, text: str) -> None:
        try:
            secret = api_key.validate(text)
        except KeyRefused as error:
            assert str(error) in refusals()
            assert error.detail == ""
            assert error.__context__ is None
        else:
            assert secret.reveal() == text
            assert text.isascii() and text.isprintable() and " " not in text


def refusals() -> set[str]:
    """Every sentence that refuses a key, from one sample of each."""
    found: set[str] = set()
    for text in ("", "a" * 5000, "A=b", "http://", '"', "a\nb", "a b", "é"):
        with pytest.raises(KeyRefused) as caught:
            api_key.validate(text)
        found.add(str(caught.value))
    return found


class TestEndpoint:
    def test_without_anything_it_is_the_providers(self) -> None:
        endpoint = api_key.choose_endpoint({}, "")
        assert endpoint == PROVIDER
        assert endpoint.account == "anthropic@api.anthropic.com"
        assert endpoint.needs_key

    def test_the_setting_names_another_server(self) -> None:
        endpoint = api_key.choose_endpoint({}, " http://LocalHost:11434/v1/ ")
        assert endpoint == Endpoint("http://localhost:11434/v1", "settings")
        assert endpoint.account == "anthropic@localhost:11434"
        assert not endpoint.needs_key

    def test_the_variable_wins_and_is_named_as_the_source(self) -> None:
        environment = {"ANTHROPIC_BASE_URL": "https://example.org/"}
        endpoint = api_key.choose_endpoint(environment, "http://localhost:1")
        assert endpoint == Endpoint("https://example.org", "environment")

    def test_a_blank_variable_is_not_there(self) -> None:
        assert api_key.choose_endpoint({"ANTHROPIC_BASE_URL": " "}, "") == PROVIDER

    def test_an_address_of_numbers_in_brackets_is_taken(self) -> None:
        assert api_key.choose_endpoint({}, "http://[::1]:8080").account == "anthropic@[::1]:8080"

    @pytest.mark.parametrize(
        "text",
        [
            "localhost:11434",
            "example.org",
            "ftp://example.org",
            "http://",
            "http://:80",
            "http://exa mple.org",
            "http://example.org:99999",
            "http://example.org:x",
            "http://example.org/?a=b",
            "http://example.org/#x",
            "http://[::1",
            "http://exämple.org",
            "http://a\\b",
            "http://example.org\n",
            "javascript:alert(1)",
            "\ud800",
        ],
    )
    def test_what_is_no_address_of_a_server_is_refused_by_name(self, text: str) -> None:
        if text.strip() == "http://example.org":  # blanks around it are a slip
            assert api_key.choose_endpoint({}, text).url == "http://example.org"
            return
        with pytest.raises(SettingError) as caught:
            api_key.choose_endpoint({"ANTHROPIC_BASE_URL": text}, "")
        assert "ANTHROPIC_BASE_URL" in caught.value.sentence
        with pytest.raises(SettingError) as caught:
            api_key.choose_endpoint({}, text)
        assert "Server address" in caught.value.sentence

    def test_a_password_in_the_address_is_refused_and_not_repeated(self) -> None:
        with pytest.raises(SettingError) as caught:
            api_key.choose_endpoint({}, "https://me:Zq9@example.org")
        assert "Zq9" not in str(caught.value)
        assert "password" in caught.value.sentence


class TestResolve:
    def test_the_environments_key_is_used_and_named_and_the_keyring_left_alone(
        self, keys: Keys, keyring: MemoryKeyring
    ) -> None:
        found = resolve(keys, {"ANTHROPIC_API_KEY": KEY})
        assert (found.source, found.secret) == ("environment", Secret(KEY))
        assert keyring.actions == []

    def test_else_the_key_of_this_run_is_used(self, keys: Keys, keyring: MemoryKeyring) -> None:
        hold(keys, KEY)
        found = resolve(keys, {"ANTHROPIC_API_KEY": ""})
        assert (found.source, found.secret) == ("session", Secret(KEY))
        assert keyring.actions == []

    def test_else_the_keyrings(self, keys: Keys, keyring: MemoryKeyring) -> None:
        keyring.entries = [(PROVIDER.account, KEY)]
        found = resolve(keys, {})
        assert (found.source, found.secret) == ("keyring", Secret(KEY))

    def test_without_any_key_there_is_none_and_no_problem(self, keys: Keys) -> None:
        assert resolve(keys, {}) == Credential(PROVIDER, "none")

    @pytest.mark.parametrize("told", [status.locked(), status.absent(), status.broken("x")])
    def test_a_keyring_that_fails_is_a_problem_and_not_an_error(
        self, keys: Keys, keyring: MemoryKeyring, told: status.Status
    ) -> None:
        """U34"""
        keyring.state = told
        assert resolve(keys, {}) == Credential(PROVIDER, "none", problem=told)

    def test_a_variable_that_can_not_be_a_key_is_refused_by_name(self, keys: Keys) -> None:
        with pytest.raises(KeyRefused) as caught:
            resolve(keys, {"ANTHROPIC_API_KEY": f"{KEY}\n"})
        assert "ANTHROPIC_API_KEY" in caught.value.sentence
        assert "Zq9" not in str(caught.value)

    def test_a_key_goes_only_to_its_own_server(self, keys: Keys, keyring: MemoryKeyring) -> None:
        keyring.entries = [(PROVIDER.account, KEY)]
        hold(keys, KEY)
        found = resolve(keys, {"ANTHROPIC_API_KEY": KEY}, LOCAL)
        assert (found.source, found.secret) == ("none", None)

    def test_the_environments_key_goes_to_the_environments_server(self, keys: Keys) -> None:
        environment = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": "http://localhost:1"}
        endpoint = api_key.choose_endpoint(environment, "http://localhost:2")
        assert resolve(keys, environment, endpoint).source == "environment"

    @pytest.mark.parametrize("source", ["environment", "session", "keyring"])
    def test_whatever_its_source_the_key_is_seen_nowhere(
        self, keys: Keys, keyring: MemoryKeyring, redaction: Redaction, source: str
    ) -> None:
        if source == "session":
            hold(keys, "Zq9-odd")
        if source == "keyring":
            keyring.entries = [(PROVIDER.account, "Zq9-odd")]
        found = resolve(keys, {"ANTHROPIC_API_KEY": "Zq9-odd"} if source == "environment" else {})
        assert found.source == source
        assert "Zq9" not in repr(found)
        assert "Zq9" not in redaction.clean("a line with Zq9-odd in it")


def resolve(keys: Keys, environment: dict[str, str], endpoint: Endpoint = PROVIDER) -> Credential:
    return asyncio.run(api_key.resolve(environment, keys, endpoint=endpoint))


def hold(keys: Keys, key: str) -> None:
    """Keeps a key for this run."""
    asyncio.run(keys.keep(PROVIDER.account, Secret(key), place="session"))
