"""Both halves of JSON-RPC 2.0 with one plugin, over whatever carries its messages.

At most a few calls are answered at a time, and nobody is waited for without end. Batches of calls
are refused: one message a line. All on the loop's thread.
"""

import asyncio
import itertools
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any

from desktop.plugins.faults import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    PARSE_ERROR,
    REFUSED,
    CallFault,
)
from desktop.plugins.limits import MOST_GARBAGE, MOST_OUTSTANDING, Abuse

_LOG = logging.getLogger(__name__)

Json = Mapping[str, Any]
Answer = Callable[[str, Json], Awaitable[Json]]
Start = Callable[[Coroutine[Any, Any, None], str], object]

_LONGEST_ID = 200


class Garbage:
    """A line that was no JSON."""


class NoAnswer(Exception):
    """The plugin did not answer in time, answered with an error, or is gone."""


class Peer:
    """`hear` takes each message; `send` carries one. `answer` raises CallFault; `patience` is how
    many seconds the plugin has for an answer."""

    def __init__(
        self, *, send: Callable[[Json], None], answer: Answer, start: Start, patience: float
    ) -> None:
        self._send = send
        self._answer = answer
        self._start = start
        self._patience = patience
        self._ids = itertools.count(1)
        self._asked: dict[int, asyncio.Future[Any]] = {}
        self._answering: set[asyncio.Task[Any]] = set()
        self._outstanding = 0
        self._garbage = 0
        self._is_closed = False

    def hear(self, message: object) -> None:
        """Raises Abuse after too much that is no message."""
        if self._is_closed:
            return
        if isinstance(message, Garbage):
            self._refuse(None, CallFault(PARSE_ERROR, "parse_error", "This line is no JSON."))
        elif not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            self._refuse(None, _INVALID)
        elif "method" in message:
            self._hear_call(message)
        else:
            self._hear_answer(message)

    async def ask(self, method: str, params: Json) -> Any:
        """What the plugin answers. Raises NoAnswer."""
        number = next(self._ids)
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        if self._is_closed:
            raise NoAnswer("it is not there any more")
        self._asked[number] = future
        self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        try:
            async with asyncio.timeout(self._patience):
                return await future
        except TimeoutError as error:
            raise NoAnswer(f"it did not answer within {self._patience:g} seconds") from error
        finally:
            self._asked.pop(number, None)

    def tell(self, method: str, params: Json) -> None:
        if not self._is_closed:
            self._send({"jsonrpc": "2.0", "method": method, "params": params})

    def close(self) -> None:
        """Nothing is answered any more, and nobody waits for an answer."""
        self._is_closed = True
        for future in self._asked.values():
            if not future.done():
                future.set_exception(NoAnswer("it is not there any more"))
        for task in self._answering:
            task.cancel()

    def _hear_call(self, message: Json) -> None:
        id_, method, params = message.get("id"), message["method"], message.get("params", {})
        is_id = isinstance(id_, str | int) and not isinstance(id_, bool)
        if "id" in message and (not is_id or len(str(id_)) > _LONGEST_ID):
            self._refuse(None, _INVALID)
        elif not isinstance(method, str) or not isinstance(params, dict):
            self._refuse(id_, _INVALID)
        elif self._outstanding >= MOST_OUTSTANDING:
            words = f"No more than {MOST_OUTSTANDING} calls at a time."
            self._reply(id_, error=CallFault(REFUSED, "too_many", words))
        else:
            self._outstanding += 1
            self._start(self._carry_out(id_, method, params), "a call of a plugin")

    async def _carry_out(self, id_: object, method: str, params: Json) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._answering.add(task)
        try:
            result = await self._answer(method, params)
        except CallFault as fault:
            self._reply(id_, error=fault)
        except Exception:  # a fault of ours must neither end the plugin nor be told to it
            _LOG.exception("a call of a plugin could not be answered")
            words = "This call could not be answered."
            self._reply(id_, error=CallFault(INTERNAL_ERROR, "internal_error", words))
        else:
            self._reply(id_, result=result)
        finally:
            self._outstanding -= 1
            self._answering.discard(task)

    def _reply(
        self, id_: object, *, result: Json | None = None, error: CallFault | None = None
    ) -> None:
        """A call without an id wants no answer."""
        if self._is_closed or id_ is None:
            return
        said = {"result": result} if error is None else {"error": error.as_json()}
        self._send({"jsonrpc": "2.0", "id": id_, **said})

    def _refuse(self, id_: object, fault: CallFault) -> None:
        self._garbage += 1
        if self._garbage > MOST_GARBAGE:
            raise Abuse("it kept printing what is no message")
        self._send({"jsonrpc": "2.0", "id": id_, "error": fault.as_json()})

    def _hear_answer(self, message: Json) -> None:
        id_ = message.get("id")
        future = self._asked.get(id_) if isinstance(id_, int) else None
        if future is None or future.done():
            return  # too late, or of nothing that was asked
        if "result" in message:
            future.set_result(message["result"])
        else:
            future.set_exception(NoAnswer("it answered with an error"))


_INVALID = CallFault(INVALID_REQUEST, "invalid_request", "This is no call and no answer.")
