"""Where the requests go: a server's address, and the name that rows and sentences give it."""

import hashlib
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

PROVIDER_URL = "https://api.anthropic.com"
PROVIDER = "anthropic"
_VERSION = re.compile(r"/v1/?$")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One server. Seconds are the limits of silence: pings count as a sign of life."""

    base_url: str = PROVIDER_URL
    connect_seconds: float = 5.0
    read_seconds: float = 120.0

    @classmethod
    def at(cls, address: str, *, read_seconds: float = 120.0) -> "Endpoint":
        """The endpoint of an address as people write it: with or without `/v1` and a slash."""
        text = address.strip() or PROVIDER_URL
        return cls(_VERSION.sub("", text.rstrip("/")), read_seconds=read_seconds)

    @property
    def name(self) -> str:
        """Host and port, as a sentence may name them: no password, no path."""
        parts = urlsplit(self.base_url)
        try:
            port = f":{parts.port}" if parts.port else ""
        except ValueError:
            port = ""
        return f"{parts.hostname or 'the server'}{port}"

    @property
    def is_provider(self) -> bool:
        return self.base_url == PROVIDER_URL

    def account(self, key: str) -> str:
        """The provider part of a row's stamp: `name:fingerprint` of server and key."""
        seed = f"{self.base_url}\n{key}".encode("utf-8", "surrogatepass")
        name = PROVIDER if self.is_provider else self.name.replace(":", "_")
        return f"{name}:{hashlib.sha256(seed).hexdigest()[:8]}"
