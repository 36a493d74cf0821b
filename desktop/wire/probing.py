"""Asking a server what it is: which models it lists, and whether it speaks the Messages API.

On the transport's thread.
"""

import json
from collections.abc import Mapping
from typing import Any, cast

from desktop.core.events import Failure
from desktop.wire import failures
from desktop.wire.connections import Connections
from desktop.wire.failures import RequestFailed

MODELS_PAGE = 1000
PAGES = 10
PROBE_MODEL = "claude-haiku-5-5"
EXPECTED = frozenset({"data", "input_tokens", "content"})
INCONCLUSIVE = frozenset({"not_found", "not_a_server", "bad_request"})


async def listed(connections: Connections) -> list[Any]:
    """The rows of the server's own list of models. Raises RequestFailed."""
    rows: list[Any] = []
    parameters: dict[str, object] = {"limit": MODELS_PAGE}
    for _ in range(PAGES):
        async with connections.client() as client:
            page = as_object(await client.get("/v1/models", parameters))
        data = page.get("data")
        rows.extend(cast("list[Any]", data) if isinstance(data, list) else [])
        if not page.get("has_more") or not page.get("last_id"):
            break
        parameters = {"limit": MODELS_PAGE, "after_id": page["last_id"]}
    return rows


async def probed(connections: Connections, *, server: str) -> Failure | None:
    """Models, else counting, else one token: the first that the server understands decides.

    A list in the shape of another API proves nothing, but names a model to ask for.
    """
    model = PROBE_MODEL
    failure: Failure | None = None
    for path in ("/v1/models", "/v1/messages/count_tokens", "/v1/messages"):
        try:
            answer = await _asked(connections, path, model)
        except RequestFailed as error:
            failure = error.failure
            if failure.kind not in INCONCLUSIVE:
                return failure
            if path != "/v1/models" and _knows_no_such_model(failure):
                return None
            continue
        if answer.get("object") != "list" and answer.keys() & EXPECTED:
            return None
        model = _first_id(answer) or model
        failure = failures.not_a_server("the JSON is not the API's", server=server)
    return failure


def as_object(value: object) -> Mapping[str, Any]:
    """The fields of an answer; none where it is no object."""
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


async def _asked(connections: Connections, path: str, model: str) -> Mapping[str, Any]:
    """The JSON object that a probe brings."""
    body: dict[str, Any] = {"model": model, "messages": [{"role": "user", "content": "Hi"}]}
    if path == "/v1/messages":
        body["max_tokens"] = 1
    async with connections.client() as client:
        if path == "/v1/models":
            return as_object(await client.get(path, {"limit": 1}))
        return as_object(await client.post(path, json.dumps(body).encode()))


def _knows_no_such_model(failure: Failure) -> bool:
    """A 404 of the API itself about the model: the server and the key are fine."""
    return failure.kind == "not_found" and "model" in failure.detail


def _first_id(answer: Mapping[str, Any]) -> str:
    data = answer.get("data")
    first = as_object(cast("list[object]", data)[0]) if isinstance(data, list) and data else {}
    return str(first.get("id") or "")
