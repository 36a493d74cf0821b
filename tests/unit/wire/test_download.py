"""A small file from a server: bounded in bytes, time and hops, and nothing of the person's goes."""

import asyncio
import gzip
import socket
from collections.abc import Callable

import pytest

from desktop.core.addresses import is_feed_address, is_page_address
from desktop.wire import download as downloads
from desktop.wire.download import MOST_BYTES, NotGiven, download
from desktop.wire.failures import RequestFailed
from tests.unit.wire.test_reaching import VARIABLES, listener

OK = b"HTTP/1.1 200 OK\r\nConnection: close\r\n%s\r\n"


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


def got(
    address: str, *, may_ask: Callable[[str], bool] = is_feed_address, seconds: float = 30.0
) -> tuple[str, bytes]:
    return asyncio.run(download(address, accept="text/xml", may_ask=may_ask, seconds=seconds))


def test_u35_the_file_comes_and_the_request_names_neither_key_nor_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test-key")
    with listener(OK % b"" + b"<feed/>") as (place, heads):
        assert got(f"http://{place}/feed?x=1") == (f"http://{place}/feed?x=1", b"<feed/>")
    (head,) = heads
    lines = head.decode().strip().splitlines()
    assert lines[0] == "GET /feed?x=1 HTTP/1.1"
    names = {line.partition(":")[0].lower() for line in lines[1:]}
    assert names == {"host", "accept", "accept-encoding", "user-agent", "connection"}
    assert "User-Agent: Nacre\n" in head.decode().replace("\r", "")


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (b"HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n<html>", "HTTP 404"),
        (b"HTTP/1.1 500 Oh\r\nConnection: close\r\n\r\n", "HTTP 500"),
        (OK % b"" + b"x" * (MOST_BYTES + 1), "more than 512 kB"),
        (OK % b"Content-Encoding: gzip\r\n" + gzip.compress(b"x" * 10_000_000), "encoding"),
        (b"HTTP/1.1 302 Found\r\nLocation: /again\r\nConnection: close\r\n\r\n", "without an end"),
        (
            b"HTTP/1.1 302 Found\r\nLocation: http://host.invalid/\r\nConnection: close\r\n\r\n",
            "not asked",
        ),
        (
            b"HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nConnection: close\r\n\r\n",
            "not asked",
        ),
        (b"HTTP/1.1 302 Found\r\nConnection: close\r\n\r\n", "without an end"),
    ],
)
def test_u35_what_is_not_the_file_is_refused(answer: bytes, why: str) -> None:
    with listener(answer) as (place, _), pytest.raises(NotGiven, match=why):
        got(f"http://{place}/feed")


def test_u35_a_redirect_is_followed_to_where_the_file_is() -> None:
    def answer(path: bytes) -> bytes:
        if path == b"/there":
            return OK % b"" + b"<feed/>"
        return b"HTTP/1.1 301 Moved\r\nLocation: there\r\nConnection: close\r\n\r\n"

    with listener(answer) as (place, heads):
        assert got(f"http://{place}/feed") == (f"http://{place}/there", b"<feed/>")
    assert len(heads) == 2


def test_u35_a_feed_of_the_web_never_leads_to_this_computer() -> None:
    with listener(OK % b"") as (place, heads):
        with pytest.raises(NotGiven):
            got(f"http://{place}/feed", may_ask=is_page_address)
        assert heads == []


def test_u35_a_server_that_says_nothing_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/feed"
        with pytest.raises(RequestFailed) as caught:
            got(address, seconds=0.2)
    assert "127.0.0.1" in caught.value.failure.sentence


def test_u35_a_server_that_is_not_there_and_a_cut_answer_are_told_apart() -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        address = f"http://127.0.0.1:{gone.getsockname()[1]}/feed"
    with pytest.raises(RequestFailed) as caught:
        got(address)
    assert caught.value.failure.kind == "network"
    with (
        listener(OK % b"Content-Length: 99\r\n" + b"<fe") as (place, _),
        pytest.raises(RequestFailed),
    ):
        got(f"http://{place}/feed")


def test_u35_the_proxy_of_the_environment_is_used_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with listener(OK % b"" + b"<feed/>") as (place, heads):
        monkeypatch.setenv("HTTP_PROXY", f"http://{place}")
        assert got("http://nacre.invalid/feed", may_ask=lambda _: True)[1] == b"<feed/>"
    assert heads[0].startswith(b"GET http://nacre.invalid/feed ")


def test_u35_the_whole_takes_no_longer_than_half_a_minute() -> None:
    assert downloads.CONNECT_SECONDS < downloads.SILENT_SECONDS < downloads.WHOLE_SECONDS <= 30
