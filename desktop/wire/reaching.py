"""How any server is reached: the right proxy, verified TLS, and what its failures are called.

The door of the HTTP library beside `wire.sdk`; imported on the transport's thread.
"""

import os
import socket
import ssl
from collections.abc import Callable
from typing import cast
from urllib.parse import urlsplit
from urllib.request import getproxies

import httpx2

from desktop.core.events import Failure
from desktop.wire import failures
from desktop.wire.failures import RequestFailed
from desktop.wire.proxies import proxy_for

KEEPALIVE: tuple[tuple[int, int, int], ...] = ((socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),)


def transport_to(address: str) -> httpx2.AsyncHTTPTransport:
    """Connections to the server of an address. Raises RequestFailed where address, proxy or
    certificates can't be used."""
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise RequestFailed(failures.bad_address("the address has no scheme or no host"))
    proxy = proxy_for(address, getproxies(), os.environ)
    try:
        return httpx2.AsyncHTTPTransport(
            verify=verified(),
            proxy=httpx2.Proxy(proxy.url) if proxy else None,
            socket_options=None if proxy else KEEPALIVE,
        )
    except (ValueError, TypeError, httpx2.InvalidURL) as error:
        if proxy is None:
            raise
        raise RequestFailed(failures.bad_proxy(proxy.variable, "it is no address")) from error


def failure_of(
    error: BaseException, *, server: str, clean: Callable[[str], str], receiving: bool = False
) -> Failure:
    """A connection that failed: by its deepest reason. `clean` makes its words fit to be shown."""
    reasons = _reasons(error)
    detail = clean(" / ".join(f"{type(one).__name__}: {one}" for one in reasons))
    if isinstance(error, httpx2.ConnectTimeout | httpx2.PoolTimeout):
        return failures.no_answer(server, detail)
    if isinstance(error, httpx2.TimeoutException):
        no_answer = failures.no_answer(server, detail)
        return failures.stalled(detail) if receiving else no_answer
    if isinstance(error, httpx2.UnsupportedProtocol | httpx2.InvalidURL):
        return failures.bad_address(detail)
    if isinstance(error, httpx2.ProxyError):
        return failures.proxy_refused(detail)
    if any(isinstance(one, ssl.SSLCertVerificationError) for one in reasons):
        return failures.untrusted(server, detail)
    if receiving:
        return failures.truncated(detail)
    if any(isinstance(one, ssl.SSLError) for one in reasons):
        return failures.unreachable(server, detail)
    if any(isinstance(one, ConnectionRefusedError) for one in reasons):
        return failures.unreachable(server, detail, reason="refused")
    if any(isinstance(one, socket.gaierror) for one in reasons):
        return failures.unreachable(server, detail, reason="dns")
    return failures.unreachable(server, detail)


def verified() -> ssl.SSLContext:
    """The certificates to trust; verification is on, always."""
    try:
        return httpx2.create_ssl_context()
    except OSError as error:  # ssl.SSLError is one
        for variable in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
            if os.environ.get(variable):
                told = failures.bad_authority_file(variable, f"{type(error).__name__}: {error}")
                raise RequestFailed(told) from error
        raise


def _reasons(error: BaseException) -> list[BaseException]:
    """The error and what caused it, groups unwrapped, each once."""
    found: list[BaseException] = []
    waiting = [error]
    while waiting:
        one = waiting.pop(0)
        if one in found:
            continue
        found.append(one)
        if isinstance(one, BaseExceptionGroup):
            waiting.extend(cast("BaseExceptionGroup[BaseException]", one).exceptions)
        waiting.extend(cause for cause in (one.__cause__, one.__context__) if cause is not None)
    return found
