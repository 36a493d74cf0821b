"""Which key is sent to which server, and where it came from.

A key belongs to one server: it is kept under the server's host, and the environment's key goes
only to the environment's server or to the provider. No sentence of this module holds a character
of a key (SPEC K01).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from desktop.core.errors import SettingError
from desktop.credentials.keys import Keys
from desktop.credentials.secret import Secret
from desktop.credentials.status import KeyRefused, Status

Source = Literal["keyring", "file", "environment", "session", "none"]
EndpointSource = Literal["environment", "settings", "provider"]

KEY_VARIABLE = "ANTHROPIC_API_KEY"
URL_VARIABLE = "ANTHROPIC_BASE_URL"
PROVIDER = "anthropic"
PROVIDER_URL = "https://api.anthropic.com"
KEY_LIMIT = 4096

_NAME = re.compile(r"(?:export\s+)?(?:[A-Z_][A-Z0-9_]*\s*=|[A-Za-z_][A-Za-z0-9_]*=[^=])")
_ADDRESS = re.compile(r"(?i)https?://")
_QUOTES = "\"'`“”„‘’«»"
_HOST = re.compile(r"[a-z0-9.\-:]+")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The server that is spoken to: `url` without a trailing slash, and who named it."""

    url: str
    source: EndpointSource

    @property
    def account(self) -> str:
        """The name under which its key is kept: provider and host, nothing else of the address."""
        parts = urlsplit(self.url)
        # Never with a name or a password: an address that has them is refused when it is chosen.
        return f"{PROVIDER}@{parts.netloc}"

    @property
    def needs_key(self) -> bool:
        """The provider always does; another server may, and says so itself."""
        return urlsplit(self.url).hostname == urlsplit(PROVIDER_URL).hostname


PROVIDERS_OWN = Endpoint(PROVIDER_URL, "provider")


@dataclass(frozen=True, slots=True)
class Credential:
    """A key for one endpoint. `secret` is None exactly when `source` is `none`.

    `problem` is the state of the place of keys that is why there is none.
    """

    endpoint: Endpoint
    source: Source
    secret: Secret | None = None
    problem: Status | None = None


def validate(text: str) -> Secret:
    """A typed or pasted key, if it can be one. Raises KeyRefused with a sentence of fixed words."""
    if not text.strip():
        raise KeyRefused("The key is empty.", way_out="Paste your key into the field.")
    sentence = _objection(text)
    if sentence is not None:
        raise KeyRefused(sentence, way_out="Copy the key again, without anything around it.")
    return Secret(text)


def choose_endpoint(environment: Mapping[str, str], setting: str) -> Endpoint:
    """The server of ANTHROPIC_BASE_URL, else of the setting, else the provider's.

    Raises SettingError, which names the variable or the setting, for what is not a web address.
    """
    named = environment.get(URL_VARIABLE, "")
    if named.strip():
        return Endpoint(_address(named, f"The variable {URL_VARIABLE}"), "environment")
    if setting.strip():
        return Endpoint(_address(setting, "The setting “Server address”"), "settings")
    return Endpoint(PROVIDER_URL, "provider")


async def resolve(environment: Mapping[str, str], keys: Keys, *, endpoint: Endpoint) -> Credential:
    """The key for `endpoint`: the environment's, else where `keys` has it.

    With a key in the environment no place is touched. A place that fails is no error here but the
    credential's `problem`. Raises KeyRefused, naming the variable, when the environment holds
    something that can't be a key.
    """
    given = environment.get(KEY_VARIABLE, "")
    if given.strip() and endpoint.source != "settings":
        secret = _from_environment(given)
        keys.forget(secret)
        return Credential(endpoint, "environment", secret)
    found = await keys.find(endpoint.account)
    if found.place is None:
        return Credential(endpoint, "none", problem=found.problem)
    return Credential(endpoint, found.place, found.secret)


def _from_environment(text: str) -> Secret:
    sentence = _objection(text)
    if sentence is None:
        return Secret(text)
    raise KeyRefused(
        f"The variable {KEY_VARIABLE} holds something that can't be a key. {sentence}",
        way_out="Set it to the key alone, or take it away to use the key in the keyring.",
    )


def _objection(text: str) -> str | None:
    """What is wrong with a key, in fixed words; the most telling reason first."""
    if len(text) > KEY_LIMIT:
        return "This is too long for a key."
    if _NAME.match(text.strip()):
        return (
            "This is a line with a name in it; the key is only what stands after the equals sign."
        )
    if _ADDRESS.match(text.strip()):
        return "This is an address, not a key."
    if any(letter in _QUOTES for letter in text):
        return "There are quotation marks in it; a key has none."
    if any(letter in "\r\n\v\f\x85\u2028\u2029" for letter in text):
        return "There is a line break in it; a key is one line."
    if any(letter.isspace() for letter in text):
        return "There are spaces in it; a key has none."
    if not all("!" <= letter <= "~" for letter in text):
        return "There is a character in it that no key has; it may be one that can't be seen."
    return None


def _address(text: str, who: str) -> str:
    """A checked base URL without a trailing slash; `who` begins the sentence of a refusal."""
    url = text.strip()
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise _bad_address(who) from None
    plain = all("!" <= letter <= "~" for letter in url) and "\\" not in url
    if not plain or parts.scheme not in ("http", "https") or not _HOST.fullmatch(host):
        raise _bad_address(who)
    if parts.username is not None or parts.password is not None:
        raise SettingError(
            f"{who} has a name or a password in it.",
            way_out="Leave them out; enter the key in its own field.",
        )
    if parts.query or parts.fragment or port == 0:
        raise _bad_address(who)
    return f"{parts.scheme}://{parts.netloc.lower()}{parts.path.rstrip('/')}"


def _bad_address(who: str) -> SettingError:
    return SettingError(
        f"{who} is not an address of a server.",
        way_out="It looks like http://localhost:11434 or https://example.org.",
    )
