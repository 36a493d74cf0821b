"""The one module that touches the provider's SDK. It is imported on the transport's thread.

It sends our own bytes through the SDK's client and gives back the bytes received: the key order of
both matters (SPEC C02), and the SDK's typed events cost more than they tell. Its exceptions, and
those of the HTTP library below it (`wire.reaching`), become `RequestFailed` here.
"""

import json
from collections.abc import AsyncIterator, Callable, Generator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, cast

import anthropic
import httpx2

from desktop.core.events import Failure
from desktop.wire import failures, reaching
from desktop.wire.endpoint import Endpoint
from desktop.wire.failures import Refused, RequestFailed
from desktop.wire.retry import asked_wait

SNIPPET = 4096
JSON_BODY = {"Content-Type": "application/json"}


class Client:
    """A client for one server and key; belongs to the loop it is used on. Close it there."""

    def __init__(
        self,
        endpoint: Endpoint,
        key: str,
        *,
        now: Callable[[], float],
        hears: Callable[[str], None],
    ) -> None:
        """`hears` is told what a server says that it accepts (`Accept-Encoding` of its answers).

        Raises RequestFailed where address, proxy, certificates or key can't be used.
        """
        if not key.isascii() or not key.isprintable():
            raise RequestFailed(failures.bad_key())
        self._server = endpoint.name
        self._secret = key
        self._now = now
        with self._told():
            self._http = _http_client(endpoint, hears)
            self._client = anthropic.AsyncAnthropic(
                api_key=key,
                base_url=endpoint.base_url,
                max_retries=0,
                http_client=self._http,
                open_telemetry=False,
            )

    async def stream(self, body: bytes, headers: Mapping[str, str]) -> AsyncIterator[bytes]:
        """The bytes that answer a streaming request. Closing the iterator ends the request."""
        with self._told():
            response = await self._client.post(
                "/v1/messages",
                cast_to=httpx2.Response,
                content=body,
                options={"headers": {**JSON_BODY, **headers}},
                stream=True,
                stream_cls=anthropic.AsyncStream[Any],
            )
        answer = cast("httpx2.Response", response)
        try:
            with self._told(receiving=True):
                await self._check_is_stream(answer)
                async for piece in answer.aiter_bytes():
                    yield piece
        finally:
            await answer.aclose()

    async def get(self, path: str, parameters: Mapping[str, object]) -> Any:
        """The JSON of a GET."""
        with self._told():
            response = await self._client.get(
                path, cast_to=httpx2.Response, options={"params": dict(parameters)}
            )
            return self._json(response)

    async def post(
        self, path: str, body: bytes, headers: Mapping[str, str] = MappingProxyType({})
    ) -> Any:
        """The JSON that answers a POST."""
        with self._told():
            response = await self._client.post(
                path,
                cast_to=httpx2.Response,
                content=body,
                options={"headers": {**JSON_BODY, **headers}},
            )
            return self._json(response)

    async def close(self) -> None:
        await self._client.close()

    async def _check_is_stream(self, response: httpx2.Response) -> None:
        kind = response.headers.get("content-type", "")
        if kind.startswith("text/event-stream") or not kind:
            return
        start = b""
        async for piece in response.aiter_bytes():
            start += piece
            if len(start) >= SNIPPET:
                break
        text = start[:SNIPPET].decode("utf-8", "replace")
        words = failures.page_title(text) or text
        raise RequestFailed(self._foreign(f"{kind}: {words}"))

    def _json(self, response: httpx2.Response) -> Any:
        try:
            return json.loads(response.content)
        except ValueError as error:
            title = failures.page_title(response.text)
            raise RequestFailed(self._foreign(f"no JSON: {title}")) from error

    def _foreign(self, detail: str) -> Failure:
        return failures.not_a_server(self._clean(detail), server=self._server)

    @contextmanager
    def _told(self, *, receiving: bool = False) -> Generator[None]:
        """Turns what the libraries raise into RequestFailed; the table of their exceptions."""
        try:
            yield
        except RequestFailed:
            raise
        except anthropic.APIStatusError as error:
            raise RequestFailed(self._of_status(error)) from error
        except anthropic.APIConnectionError as error:
            raise RequestFailed(self._of_cause(error.__cause__ or error)) from error
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, OSError) as error:
            raise RequestFailed(self._of_cause(error, receiving=receiving)) from error
        except (anthropic.AnthropicError, ValueError, TypeError, ImportError) as error:
            detail = self._clean(f"{type(error).__name__}: {error}")
            raise RequestFailed(failures.unexpected(detail)) from error

    def _of_status(self, error: anthropic.APIStatusError) -> Failure:
        headers = error.response.headers
        is_html = isinstance(error.body, str) and "<" in error.body
        message = error.api_message or (error.body if isinstance(error.body, str) else "")
        if error.status_code in (404, 405) and error.type is None:
            words = failures.page_title(message) if is_html else message
            return self._foreign(f"HTTP {error.status_code}: {words}")
        wanted = headers.get("x-should-retry")
        return failures.of_answer(
            Refused(
                status=error.status_code,
                type=str(error.type or ""),
                message=self._clean(message) if not is_html else message,
                code=str(error.error_code or ""),
                is_html=is_html,
                request_id=error.request_id,
                retry_after=asked_wait(
                    milliseconds=headers.get("retry-after-ms"),
                    after=headers.get("retry-after"),
                    now=self._now(),
                ),
                should_retry={"true": True, "false": False}.get(str(wanted)),
                server=self._server,
                paths=_paths(error.body),
            )
        )

    def _of_cause(self, error: BaseException, *, receiving: bool = False) -> Failure:
        return reaching.failure_of(
            error, server=self._server, clean=self._clean, receiving=receiving
        )

    def _clean(self, text: str) -> str:
        return failures.clean_detail(text.replace(self._secret, "…") if self._secret else text)


def _paths(body: object) -> tuple[str, ...]:
    """The places in the request that an error names apart from its words (API §1.12)."""
    for name in ("error", "details"):
        body = body.get(name) if isinstance(body, Mapping) else None
    found = body.get("paths") if isinstance(body, Mapping) else None
    return tuple(one for one in found if isinstance(one, str)) if isinstance(found, list) else ()


def _http_client(endpoint: Endpoint, hears: Callable[[str], None]) -> httpx2.AsyncClient:
    """The SDK's kind of HTTP client with our timeouts, the right proxy and verified TLS."""

    async def answered(response: httpx2.Response) -> None:
        accepted = response.headers.get("accept-encoding")
        if accepted:
            hears(accepted)

    return anthropic.DefaultAsyncHttpxClient(
        transport=reaching.transport_to(endpoint.base_url),
        event_hooks={"response": [answered]},
        base_url=endpoint.base_url,
        timeout=httpx2.Timeout(
            connect=endpoint.connect_seconds,
            read=endpoint.read_seconds,
            write=endpoint.read_seconds,
            pool=endpoint.connect_seconds,
        ),
    )


def authorities() -> int:
    """How many root certificates a connection would trust. Raises RequestFailed as one would."""
    return reaching.verified().cert_store_stats()["x509_ca"]
