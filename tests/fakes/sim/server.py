"""The server itself: a thread with a loop of its own, connections, and the record tests look at."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import threading
import time
from collections.abc import Collection, Coroutine, Sequence
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from tests.fakes.histories import Excuses
from tests.fakes.sim import answers, courses, demo, http1, models, script
from tests.fakes.sim.answers import JSON_HEADERS, Stage
from tests.fakes.sim.gates import Gates
from tests.fakes.sim.http1 import Answer, Closed, Request, WatchedReader
from tests.fakes.sim.limits import response_headers
from tests.fakes.sim.prefix import compact
from tests.fakes.sim.problems import Json, Refusal, error_body
from tests.fakes.sim.provider import Accepted, Encodings, Provider
from tests.fakes.sim.received import Received
from tests.fakes.sim.replies import Reply, Responder, Script, fails, in_order, reply
from tests.fakes.sim.signatures import Binding
from tests.fakes.sim.threads import Threads

BODY_LIMIT = 32 * 1024 * 1024
PATIENCE = 60.0
Scripted = Script | Path | Sequence[Reply] | Responder | None


class MessagesServer:
    """A real HTTP server on 127.0.0.1 that speaks the Messages API, on a thread of its own.

    `script` is replies in order, a function of the request, a `Script`, or a file of JSON lines; a
    reply is used up only by a request that was accepted. `otherwise` answers when the script has
    nothing (an echo; `demo.ended` for status 500). `strict=False` checks no more than a compatible
    server does, and `plain` is one of those that says nothing of itself: no ids, no limits in the
    headers (`sim.plain` has its answers). `encodings` and `threads` say what becomes of compressed
    bodies and of threads. `binding` says what thinking after a changed prefix means. `pace` scales
    pauses. Exceptions of a script function are answered with 500 and kept in `errors`.
    """

    def __init__(
        self,
        script: Scripted = None,
        *,
        strict: bool = True,
        plain: bool = False,
        port: int = 0,
        invalid_keys: Collection[str] = (),
        binding: Binding = "enforce",
        otherwise: Responder = demo.echo,
        pace: float = 1.0,
        log: Path | None = None,
        encodings: Encodings = "taken",
        threads: Threads = "held",
    ) -> None:
        self._script = _script(script)
        self._otherwise = self._script.otherwise or otherwise
        self._port = port
        self._pace = pace
        self._plain = plain
        self._log_file = log
        self._advanced = 0.0
        self._provider = Provider(
            self.now,
            strict=strict and not plain,
            invalid_keys=invalid_keys,
            binding=binding,
            encodings=encodings,
            threads=threads,
        )
        self._announced = [("accept-encoding", "gzip")] if encodings == "announced" else []
        self.errors: list[Exception] = []
        self._excuses = Excuses()
        self._ids = itertools.count(1)
        self._numbers = itertools.count(1)
        self._news = threading.Condition()
        self._log: list[Received] = []
        self._started = threading.Event()
        self._failure: OSError | None = None
        self._thread: threading.Thread | None = None
        self._loop = asyncio.new_event_loop()
        self._gates = Gates(self._loop)
        self._stop = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self) -> Self:
        """Begin to listen; `base_url` is known afterwards. OSError when the port is taken."""
        self._thread = threading.Thread(target=self._run, name="messages-api", daemon=True)
        self._thread.start()
        self._started.wait()
        if self._failure is not None:
            self.close()
            raise self._failure
        return self

    def close(self) -> None:
        """Stop listening, end every answer, and join the thread. Twice is fine."""
        if self._thread is None:
            return
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(PATIENCE)
        if self._thread.is_alive():
            raise TimeoutError("the server did not stop")
        self._thread = None
        self._excuses.weigh(courses.rewrites(self.requests))

    def may_rewrite(self, reason: str, *, times: int = 1) -> None:
        """So many requests of this test leave the course of their conversation, for a reason
        (`histories`); every other one extends the request before it, or the test fails."""
        self._excuses.add(reason, times=times)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def port(self) -> int:
        """The port it listens on."""
        return self._port

    @property
    def base_url(self) -> str:
        """The URL a client is given."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def log(self) -> list[Received]:
        """Everything that was asked, in order of arrival."""
        with self._news:
            return list(self._log)

    @property
    def requests(self) -> list[Received]:
        """The requests for a message, refused ones too."""
        return [one for one in self.log if (one.method, one.path) == ("POST", "/v1/messages")]

    @property
    def rejected(self) -> list[Received]:
        """The requests that broke a rule of the provider."""
        return [one for one in self.log if one.refused and one.status == 400]

    def wait_for_requests(self, count: int, timeout: float = PATIENCE) -> list[Received]:
        """Wait until so many requests for a message have come. TimeoutError when they don't."""
        with self._news:
            if not self._news.wait_for(lambda: len(self.requests) >= count, timeout):
                raise TimeoutError(f"{len(self.requests)} of {count} requests came")
        return self.requests

    def wait_until_done(self, number: int, timeout: float = PATIENCE) -> Received:
        """Wait until the n-th request for a message, from 1, is answered or broken off."""
        received = self.wait_for_requests(number, timeout)[number - 1]
        if not received.done.wait(timeout):
            raise TimeoutError(f"request {number} is still being answered")
        return received

    def wait_at_gate(self, name: str, timeout: float = PATIENCE) -> None:
        """Wait until an answer stands at the gate. TimeoutError when none comes."""
        if not self._gates.reached(name, timeout):
            raise TimeoutError(f"no answer came to the gate {name!r}")

    def release(self, name: str) -> None:
        """Open a gate; it stays open."""
        self._gates.release(name)

    def now(self) -> float:
        """The server's clock, seconds since 1970."""
        return time.time() + self._advanced

    def advance_clock(self, seconds: float) -> float:
        """Let time pass for cache entries and limits; gives the new time."""
        self._advanced += seconds
        return self.now()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._serve())
        finally:
            self._loop.close()

    async def _serve(self) -> None:
        def protocol() -> asyncio.StreamReaderProtocol:
            reader = WatchedReader()
            return asyncio.StreamReaderProtocol(reader, self._connected)

        try:
            listening = await self._loop.create_server(protocol, "127.0.0.1", self._port)
        except OSError as error:
            self._failure = error
            self._started.set()
            return
        self._port = listening.sockets[0].getsockname()[1]
        self._started.set()
        await self._stop.wait()
        listening.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        assert isinstance(reader, WatchedReader)
        task = self._loop.create_task(self._converse(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _converse(self, reader: WatchedReader, writer: asyncio.StreamWriter) -> None:
        """All requests of one connection, one after the other."""
        writer.transport.set_write_buffer_limits(0)
        try:
            while request := await self._next(reader, writer):
                await self._handle(request, reader, writer)
        except (Closed, ConnectionError):
            pass
        except asyncio.CancelledError:
            writer.transport.abort()  # a client that reads no more must not hold up the end
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

    async def _next(self, reader: WatchedReader, writer: asyncio.StreamWriter) -> Request | None:
        try:
            return await http1.read_request(reader, limit=BODY_LIMIT)
        except http1.TooLarge:
            received = self._record(Request("POST", "/v1/messages", {}, b""))
            refusal = Refusal("Request exceeds the maximum size", "request_too_large")
            await self._refuse(refusal, received, Answer(writer))
            received.done.set()
            raise Closed from None

    async def _handle(
        self, request: Request, reader: WatchedReader, writer: asyncio.StreamWriter
    ) -> None:
        received = self._record(request)
        try:
            await self._while_here(self._route(request, received, writer), reader, received)
        finally:
            received.done.set()
            self._write_log(received)

    async def _while_here(
        self, work: Coroutine[Any, Any, None], reader: WatchedReader, received: Received
    ) -> None:
        """Do the work as long as the client is there."""
        working = self._loop.create_task(work)
        leaving = self._loop.create_task(reader.gone.wait())
        try:
            await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if not working.done():
                received.disconnected = True
                raise Closed
            _result(working, received)
        finally:
            working.cancel()
            leaving.cancel()
            await asyncio.gather(working, leaving, return_exceptions=True)

    async def _route(
        self, request: Request, received: Received, writer: asyncio.StreamWriter
    ) -> None:
        answer = Answer(writer)
        try:
            match request.method, request.path.strip("/").split("/"):
                case "POST", ["v1", "messages"]:
                    await self._message(received, writer)
                case "POST", ["v1", "messages", "count_tokens"]:
                    await self._say(self._count(received), received, answer)
                case "GET", ["v1", "models", *name]:
                    await self._say(self._models(request, received, name), received, answer)
                case "POST", ["__sim", "clock"]:
                    seconds = float(json.loads(request.body).get("advance", 0))
                    await self._say({"now": self.advance_clock(seconds)}, received, answer)
                case "GET", ["__sim", "log"]:
                    log = [one.summary() for one in self.log if one is not received]
                    await self._say({"requests": log}, received, answer)
                case _:
                    raise Refusal("Not Found", "not_found_error")
        except Refusal as refusal:
            await self._refuse(refusal, received, answer)

    async def _message(self, received: Received, writer: asyncio.StreamWriter) -> None:
        accepted = self._provider.accept(received)
        received.account, received.dropped = accepted.account, accepted.dropped
        chosen = self._choose(received)
        answer = Answer(writer, cut_at=chosen.cut_at, split=chosen.split, compress=chosen.gzip)
        stage = Stage(
            answer,
            self._gates,
            [*self._headers(received), *self._announced],
            self._pace,
            lambda: self._begun(accepted),
        )
        filling = self._provider.filling(accepted, received)
        whole: Json = {}
        self._provider.threads.begin(received.json, account=accepted.key)
        try:
            await answers.play(chosen, received, filling, stage)
            whole = received.message if received.status == 200 else {}
        finally:
            self._provider.threads.keep(received.json, accepted.body, whole, account=accepted.key)

    def _choose(self, received: Received) -> Reply:
        """The reply to an accepted request. One that only fills the cache uses up none (C17)."""
        if received.json.get("max_tokens") == 0:
            return _prewarmed()
        received.number = next(self._numbers)
        scripted = self._script.by_number.get(received.number)
        if scripted is not None:
            return scripted
        try:
            return self._otherwise(received)
        except Exception as error:
            self.errors.append(error)
            return fails(500, message=f"the script failed: {error!r}")

    def _begun(self, accepted: Accepted) -> None:
        if accepted.account is not None:
            self._provider.cache.begin(accepted.account)

    def _count(self, received: Received) -> Json:
        accepted = self._provider.accept(received, counting=True)
        count = self._provider.count(accepted.body, accepted.places, accepted.model)
        return {"input_tokens": count}

    def _models(self, request: Request, received: Received, name: list[str]) -> Json:
        self._provider.authenticate(received.headers)
        if name:
            model = models.find(name[0])
            if model is None:
                raise Refusal(f"model: {name[0]}", "not_found_error")
            return models.listing(model)
        query = {
            key: values[-1] for key, values in parse_qs(urlsplit(request.target).query).items()
        }
        return models.page(
            limit=int(query.get("limit", 20)),
            after=query.get("after_id"),
            before=query.get("before_id"),
        )

    async def _say(self, body: Json, received: Received, answer: Answer) -> None:
        received.status = 200
        headers = [*JSON_HEADERS, *self._headers(received)]
        await answer.whole(200, headers, compact(body))

    async def _refuse(self, refusal: Refusal, received: Received, answer: Answer) -> None:
        received.status, received.error = refusal.status, refusal.message
        received.refused = True
        body = error_body(
            refusal.message,
            refusal.kind,
            received.request_id,
            code=refusal.code,
            paths=refusal.paths,
        )
        headers = [*JSON_HEADERS, *self._headers(received)]
        await answer.whole(refusal.status, headers, compact(body))

    def _headers(self, received: Received) -> list[tuple[str, str]]:
        return [] if self._plain else response_headers(received.request_id, self.now())

    def _record(self, request: Request) -> Received:
        received = Received(
            request.method,
            request.path,
            request.headers,
            request.body,
            request_id=f"req_{next(self._ids):016d}",
            sent_bytes=len(request.body),
        )
        with self._news:
            self._log.append(received)
            self._news.notify_all()
        return received

    def _write_log(self, received: Received) -> None:
        if self._log_file is None:
            return
        with self._log_file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(received.summary()) + "\n")


def _result(working: asyncio.Task[None], received: Received) -> None:
    """What the finished work came to; a write that failed means that the client went."""
    try:
        working.result()
    except http1.Cutoff:
        raise
    except Closed:
        received.disconnected = True
        raise


def _script(given: Scripted) -> Script:
    if isinstance(given, Script):
        return given
    if isinstance(given, Path):
        return script.load(given)
    if callable(given):
        return Script(otherwise=given)
    return in_order(given or ())


def _prewarmed() -> Reply:
    """The answer to a request that only fills the cache: no content at all."""
    return reply(stop_reason="max_tokens", usage_at_end={"output_tokens": 0}, ping=False)
