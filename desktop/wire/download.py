"""A small public file from an address: no key, no cookie, nothing of the person's goes along.

Imported and run on the transport's thread.
"""

import asyncio
from collections.abc import Callable
from urllib.parse import urljoin, urlsplit

import httpx2

from desktop.wire import failures, reaching
from desktop.wire.endpoint import Endpoint
from desktop.wire.failures import RequestFailed

CONNECT_SECONDS = 5.0
SILENT_SECONDS = 10.0
WHOLE_SECONDS = 30.0
MOST_BYTES = 512 * 1024
MOST_HOPS = 3


class NotGiven(Exception):
    """The server answered, and not with the file; the text says how, in words of our own."""


async def download(
    address: str,
    *,
    accept: str,
    may_ask: Callable[[str], bool],
    seconds: float = WHOLE_SECONDS,
) -> tuple[str, bytes]:
    """The address that gave it after all redirects, and its bytes: at most MOST_BYTES.

    Each address on the way must be one that `may_ask` lets pass. Raises NotGiven and RequestFailed.
    """
    try:
        async with asyncio.timeout(seconds):
            for _ in range(MOST_HOPS + 1):
                if not may_ask(address):
                    raise NotGiven("it leads to an address that is not asked")
                found = await _ask(address, accept)
                if isinstance(found, bytes):
                    return address, found
                address = found
    except TimeoutError as error:
        raise RequestFailed(failures.no_answer(Endpoint.at(address).name, "too slow")) from error
    raise NotGiven("it leads from one address to the next without an end")


async def _ask(address: str, accept: str) -> bytes | str:
    """The bytes, or the address to ask instead."""
    # As it is: what unfolds while it is read may be larger than what was sent.
    headers = {"Accept": accept, "Accept-Encoding": "identity", "User-Agent": "Nacre"}
    timeout = httpx2.Timeout(SILENT_SECONDS, connect=CONNECT_SECONDS)
    try:
        async with (
            httpx2.AsyncClient(
                transport=reaching.transport_to(address), timeout=timeout, trust_env=False
            ) as client,
            client.stream("GET", address, headers=headers) as response,
        ):
            if response.is_redirect:
                return urljoin(address, response.headers.get("location", ""))
            if response.status_code != 200:
                raise NotGiven(f"it answered with HTTP {response.status_code}")
            if response.headers.get("content-encoding", "identity") != "identity":
                raise NotGiven("it answered in an encoding that was not asked for")
            return await _read(response)
    except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, OSError, ValueError) as error:
        server = Endpoint.at(f"{urlsplit(address).scheme}://{urlsplit(address).netloc}").name
        failure = reaching.failure_of(error, server=server, clean=failures.clean_detail)
        raise RequestFailed(failure) from error


async def _read(response: httpx2.Response) -> bytes:
    found = bytearray()
    async for piece in response.aiter_raw():
        found += piece
        if len(found) > MOST_BYTES:
            raise NotGiven(f"it answered with more than {MOST_BYTES // 1024} kB")
    return bytes(found)
