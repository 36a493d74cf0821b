"""How a server is reached and asked what it has: proxies, certificates, models, the check."""

import asyncio
import re
import socket
import ssl
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from desktop.core.events import Failure
from desktop.core.model import ModelInfo
from desktop.wire.failures import RequestFailed
from desktop.wire.proxies import is_bypassed, proxy_for
from tests.fakes.messages_api import MessagesServer, reply
from tests.unit.wire.asking import Asking, asking, failure_of, finished
from tests.unit.wire.rows_of import MODELS, Log

HTML = b"HTTP/1.1 %s\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n<title>Gateway</title>"
VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR")


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


def hello() -> Log:
    log = Log()
    log.user("Hello")
    return log


@contextmanager
def listener(answer: bytes | Callable[[bytes], bytes]) -> Generator[tuple[str, list[bytes]]]:
    """Something that reads a request's head, answers with these bytes and closes."""
    heads: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0.1)
        over = threading.Event()

        def serve() -> None:
            while not over.is_set():
                try:
                    peer, _ = listening.accept()
                except TimeoutError:
                    continue
                with peer:
                    peer.settimeout(5)
                    head = _received(peer)
                    heads.append(head)
                    path = head.split()[1] if head else b""
                    peer.sendall(answer if isinstance(answer, bytes) else answer(path))

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"127.0.0.1:{listening.getsockname()[1]}", heads
        finally:
            over.set()
            thread.join()


def _received(peer: socket.socket) -> bytes:
    """A request's head and, where it says how long it is, its body."""
    data = peer.recv(65536)
    head, _, body = data.partition(b"\r\n\r\n")
    wanted = re.search(rb"(?i)content-length: (\d+)", head)
    while wanted and len(body) < int(wanted[1]):
        piece = peer.recv(65536)
        data, body = data + piece, body + piece
    return data


def check(one: Asking) -> Failure | None:
    return asyncio.run(one.model.check())


def models(one: Asking) -> tuple[ModelInfo, ...]:
    return asyncio.run(one.model.models())


@pytest.mark.parametrize(
    ("pattern", "address", "covered"),
    [
        ("localhost,127.0.0.1,::1,[::1]", "http://127.0.0.1:8080", True),
        ("localhost,127.0.0.1,::1,[::1]", "http://[::1]:8080", True),
        ("*.corp", "https://api.corp", True),
        (".corp", "https://api.corp", True),
        ("corp", "https://a.corp", True),
        ("corp", "https://acorp", False),
        ("10.0.0.0/8", "http://10.2.3.4", True),
        ("10.0.0.0/8", "http://11.2.3.4", False),
        ("host:8080", "http://host:8080", True),
        ("host:8080", "http://host:9090", False),
        ("*", "https://anything", True),
        ("", "https://anything", False),
        (" , ,", "https://anything", False),
    ],
)
def test_f_c03_no_proxy_is_understood(pattern: str, address: str, covered: bool):
    assert is_bypassed(urlsplit(address), pattern) is covered


@pytest.mark.parametrize(
    ("proxies", "url"),
    [
        ({"https": "127.0.0.1:7890"}, "http://127.0.0.1:7890"),
        ({"all": "http://p:1"}, "http://p:1"),
        ({"https": "", "all": "http://p:1"}, "http://p:1"),
        ({"https": "http://user:p%40ss@p:1", "all": "socks://x"}, "http://user:p%40ss@p:1"),
        ({"http": "http://p:1"}, None),
        ({"https": "http://p:1", "no": "api.anthropic.com"}, None),
        ({}, None),
    ],
)
def test_f_c03_the_variable_that_counts_is_used(proxies: dict[str, str], url: str | None):
    proxy = proxy_for("https://api.anthropic.com", proxies, {})
    assert (proxy.url if proxy else None) == url
    assert "ss@" not in repr(proxy)


@pytest.mark.parametrize(
    "value",
    ["socks://127.0.0.1:9", "socks5h://u:secret@h:9", "http://", "gopher://h", "http://h:x"],
)
def test_f_c03_a_proxy_that_can_not_be_used_is_named_by_its_variable(
    value: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("ALL_PROXY", value)
    with asking("https://api.invalid") as one:
        failure = failure_of(one.ask(hello().rows))
    assert failure.kind == "configuration"
    assert "ALL_PROXY" in failure.sentence
    assert "secret" not in f"{failure}"


def test_f_c03_a_bad_proxy_does_no_harm_to_a_server_that_needs_none(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv("ALL_PROXY", "socks://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "localhost,127.0.0.1,::1,[::1],*.corp,10.0.0.0/8")
    with MessagesServer([reply("Ahoi")]) as server, asking(server.base_url) as one:
        assert finished(one.ask(hello().rows))


def test_f_c03_a_good_proxy_is_really_used(monkeypatch: pytest.MonkeyPatch):
    with listener(HTML % b"502 Bad Gateway") as (address, heads):
        monkeypatch.setenv("HTTPS_PROXY", f"http://me:p%40ss@{address}")
        with asking("https://api.invalid") as one:
            failure = failure_of(one.ask(hello().rows))
    assert heads[0].startswith(b"CONNECT api.invalid:443 ")
    assert failure.kind == "network"
    assert "proxy" in failure.sentence
    assert "ss@" not in f"{failure}"
    assert "<" not in f"{failure}"


def test_f_c03_a_proxy_that_wants_a_password_says_so(monkeypatch: pytest.MonkeyPatch):
    with listener(HTML % b"407 Proxy Authentication Required") as (address, _):
        monkeypatch.setenv("https_proxy", address)
        with asking("https://api.invalid") as one:
            failure = failure_of(one.ask(hello().rows))
    assert failure.kind == "configuration"
    assert "password" in failure.sentence


def test_f_c03_a_missing_file_of_authorities_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "missing.pem"))
    with asking("https://api.invalid") as one:
        failure = failure_of(one.ask(hello().rows))
    assert failure.kind == "tls"
    assert "SSL_CERT_FILE" in failure.sentence


def test_a_server_without_tls_behind_an_https_address_is_not_trusted():
    with listener(b"not tls at all\r\n") as (address, _), asking(f"https://{address}") as one:
        failure = failure_of(one.ask(hello().rows))
    assert failure.kind in ("network", "tls")
    assert ssl.create_default_context().verify_mode is ssl.CERT_REQUIRED


def test_the_models_are_those_of_the_server_with_what_they_take():
    with MessagesServer() as server, asking(server.base_url) as one:
        listed = models(one)
    by_id = {info.id: info for info in listed}
    assert by_id["claude-opus-5-5"] == MODELS.find("claude-opus-5-5").info  # type: ignore[union-attr]
    for info in listed:
        known = MODELS.find(info.id)
        assert known is not None
        assert (info.efforts, info.thinking, info.window) == (
            known.efforts,
            known.info.thinking,
            known.window,
        ), info.id


def test_the_list_of_a_local_server_works_and_its_models_get_plain_requests():
    body = b'{"object":"list","data":[{"id":"qwen3:8b","object":"model"},{"odd":1},3]}'
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
    with listener(head + body) as (address, _), asking(f"http://{address}", key="") as one:
        assert [info.id for info in models(one)] == ["qwen3:8b"]


@pytest.mark.parametrize("answer", [HTML % b"404 Not Found", HTML % b"200 OK", b""])
def test_without_a_list_the_shipped_models_are_offered(answer: bytes):
    with listener(answer) as (address, _), asking(f"http://{address}") as one:
        assert models(one) == MODELS.infos()


def test_the_check_is_one_cheap_call():
    with MessagesServer() as server, asking(server.base_url) as one:
        assert check(one) is None
        assert [(r.method, r.path) for r in server.log] == [("GET", "/v1/models")]


def test_the_check_tells_a_bad_key():
    with (
        MessagesServer(invalid_keys=["sk-bad"]) as server,
        asking(server.base_url, key="sk-bad") as one,
    ):
        failure = check(one)
    assert failure is not None
    assert failure.kind == "authentication"


def test_the_check_tells_a_page_from_a_server():
    with listener(HTML % b"200 OK") as (address, heads), asking(f"http://{address}") as one:
        failure = check(one)
    assert failure is not None
    assert failure.kind == "not_a_server"
    assert address in failure.sentence
    assert [head.split()[1] for head in heads] == [
        b"/v1/models?limit=1",
        b"/v1/messages/count_tokens",
        b"/v1/messages",
    ]


def test_the_check_takes_a_server_that_only_lacks_the_probed_model():
    body = b'{"type":"error","error":{"type":"not_found_error","message":"model: claude"}}'
    head = b"HTTP/1.1 404 Not Found\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
    with listener(head + body) as (address, _), asking(f"http://{address}") as one:
        assert check(one) is None


def test_the_check_is_not_content_with_the_list_of_another_api():
    """Servers of other APIs list their models at the same place and know no messages."""

    def answers(path: bytes) -> bytes:
        if path.startswith(b"/v1/models"):
            return _json(b"200 OK", b'{"object":"list","data":[{"id":"qwen3:8b"}]}')
        return _json(b"404 Not Found", b'{"detail":"Not Found"}')

    with listener(answers) as (address, heads), asking(f"http://{address}") as one:
        failure = check(one)
    assert failure is not None
    assert failure.kind == "not_a_server"
    assert b'"qwen3:8b"' in heads[-1]


def _json(status: bytes, body: bytes) -> bytes:
    head = b"HTTP/1.1 %s\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
    return head % status + body


def test_a_proxy_value_is_judged_without_the_environment():
    with pytest.raises(RequestFailed) as caught:
        proxy_for("http://host", {"http": "socks4://h:1"}, {"http_proxy": "socks4://h:1"})
    assert "http_proxy" in caught.value.failure.sentence
