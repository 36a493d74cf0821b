"""Which proxy a server is reached through, from the variables of the environment (F-C03).

One server, one proxy: only the variable that counts for its address is looked at, so that a bad
value elsewhere does no harm. Values may hold passwords and appear in no text.
"""

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import SplitResult, urlsplit

from desktop.wire import failures
from desktop.wire.failures import RequestFailed

DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy to go through; `variable` is where it was named."""

    url: str = field(repr=False)
    variable: str = ""


def proxy_for(
    base_url: str, proxies: Mapping[str, str], environment: Mapping[str, str]
) -> Proxy | None:
    """The proxy for a server, or None to go straight.

    `proxies` is what the system says (`urllib.request.getproxies`), by scheme; `environment` is
    only asked which variable a value came from. Raises RequestFailed for a value that is no proxy.
    """
    target = urlsplit(base_url)
    scheme = target.scheme if (proxies.get(target.scheme) or "").strip() else "all"
    value = (proxies.get(scheme) or "").strip()
    if not value or is_bypassed(target, proxies.get("no", "")):
        return None
    variable = _variable(scheme, environment)
    url = value if "://" in value else f"http://{value}"
    reason = _objection(url)
    if reason:
        raise RequestFailed(failures.bad_proxy(variable, reason))
    return Proxy(url, variable)


def is_bypassed(target: SplitResult, exceptions: str) -> bool:
    """Whether NO_PROXY names this server: hosts, domains, addresses, networks, `*`, ports."""
    host = (target.hostname or "").lower()
    port = target.port or DEFAULT_PORTS.get(target.scheme, 0)
    return any(_covers(one.strip().lower(), host, port) for one in exceptions.split(","))


def _covers(pattern: str, host: str, port: int) -> bool:
    if not pattern:
        return False
    if pattern == "*":
        return True
    pattern = pattern.partition("://")[2] or pattern
    network = _network(pattern.strip("[]"))
    if network is not None:
        address = _address(host)
        return address is not None and address in network
    name, colon, wanted = pattern.rpartition(":")
    if colon and wanted.isdigit():
        if int(wanted) != port:
            return False
        pattern = name.strip("[]")
    pattern = pattern.removeprefix("*").removeprefix(".")
    return host == pattern or host.endswith(f".{pattern}")


def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def _objection(url: str) -> str:
    """Why a proxy address can't be used; '' where it can."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return "it is no address"
    if parts.scheme.startswith("socks"):
        return "it is a SOCKS proxy, and only HTTP proxies are supported"
    if parts.scheme not in ("http", "https"):
        return "its kind is not known, only http:// and https:// are"
    return "" if host else "it names no host"


def _variable(scheme: str, environment: Mapping[str, str]) -> str:
    name = f"{scheme}_proxy"
    return name if environment.get(name) else name.upper()
