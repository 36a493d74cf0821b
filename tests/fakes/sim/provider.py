"""The provider without the network: who may ask, whether the request holds, and what it costs.

`accept` raises `Refusal` where the provider would answer with an error; what passes gets its cache
account and everything an answer needs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

from tests.fakes.sim import cache, http1, models, prefix, rules, signatures
from tests.fakes.sim.cache import Account, PromptCache
from tests.fakes.sim.filling import Facts, Filling
from tests.fakes.sim.models import Model
from tests.fakes.sim.prefix import Position
from tests.fakes.sim.problems import Json, Refusal
from tests.fakes.sim.received import Received
from tests.fakes.sim.rules import envelope, thinking
from tests.fakes.sim.rules.envelope import Terms
from tests.fakes.sim.signatures import Binding, Digest, Dropped, Signer
from tests.fakes.sim.threads import BETA, Held, Threads

Encodings = Literal["taken", "announced", "refused", "unsupported", "unread", "broken"]
"""What a server does with a compressed body: takes it (and says so in its answers), refuses it by
the provider's code or with 415, reads it as it is, or falls over it."""
NO_TERMS = Terms("", frozenset())


@dataclass(frozen=True, slots=True)
class Accepted:
    """A request that gets an answer."""

    body: Json
    model: Model
    places: list[Position]
    account: Account | None
    dropped: list[Dropped]
    key: str = ""


class Provider:
    """Keys, rules, cache and signatures of one server."""

    def __init__(
        self,
        now: Callable[[], float],
        *,
        strict: bool,
        invalid_keys: Collection[str],
        binding: Binding,
        encodings: Encodings,
        threads: Threads,
    ) -> None:
        self.threads = Held(now, threads)
        self.cache = PromptCache(now)
        self.signer = Signer()
        self._strict = strict
        self._invalid_keys = frozenset(invalid_keys)
        self._binding: Binding = binding
        self._encodings: Encodings = encodings
        self._messages: dict[str, Account] = {}

    def authenticate(self, headers: dict[str, str]) -> str:
        """The key of a request; 401 without one and for one that is known to be bad."""
        key = headers.get("x-api-key") or _bearer(headers.get("authorization", ""))
        if not key:
            raise Refusal("x-api-key header is required", "authentication_error")
        if "invalid" in key or key in self._invalid_keys:
            raise Refusal("invalid x-api-key", "authentication_error")
        return key

    def accept(self, received: Received, *, counting: bool = False) -> Accepted:
        """Check a request by every rule and open its account. Sets `received.json`."""
        key = self.authenticate(received.headers)
        terms = self._terms(received.headers) if self._strict else NO_TERMS
        received.body = _decoded(received, self._encodings)
        body = _parsed(received.body)
        received.json = body
        if not self._strict:
            return self._accept_loosely(body)
        envelope.check_shape(body, terms, counting=counting)
        body = self.threads.whole(body, account=key)
        model = models.find(body["model"])
        if model is None:
            raise Refusal(f"model: {body['model']}", "not_found_error")
        places = prefix.positions(body)
        rules.check(body, model, terms, places)
        rules.check_window(self.count(body, places, model), model)
        dropped = self._check_thinking(body, places, model)
        account = None
        if not counting:
            workspace = f"{body.get('workspace_id', '')}/{key}"
            account = self.cache.look_up(body, places, model, terms=terms, workspace=workspace)
        return Accepted(body, model, places, account, dropped, key)

    def _terms(self, headers: dict[str, str]) -> Terms:
        terms = envelope.read_terms(headers)
        if BETA in terms.betas and self.threads.manner == "unknown":
            raise Refusal(f"Unexpected value(s) `{BETA}` for the `anthropic-beta` header")
        return terms

    def count(self, body: Json, places: list[Position], model: Model) -> int:
        """All input tokens of a request, the same number that the usage adds up to."""
        sums = cache.cumulative(body, cache.visible(places, model), model)
        return sums[-1] if sums else 0

    def filling(self, accepted: Accepted, received: Received) -> Filling:
        """What fills the events of the answer to this request."""
        body, model = accepted.body, accepted.model
        message_id = f"msg_{received.number:08d}{received.request_id[-8:]}"
        facts = Facts(
            model=model,
            model_name=str(body.get("model", model.id)),
            request_id=received.request_id,
            message_id=message_id,
            usage=self._usage(accepted),
            extras=self._extras(accepted),
            shows_thinking=thinking.display_of(body, model) != "omitted" or not self._strict,
        )
        if accepted.account is not None:
            self._messages[message_id] = accepted.account
        return Filling(facts, Digest(accepted.places), self.signer, received.number)

    def _usage(self, accepted: Accepted) -> Json:
        if accepted.account is not None:
            return accepted.account.usage()
        return {"input_tokens": self.count(accepted.body, accepted.places, accepted.model)}

    def _extras(self, accepted: Accepted) -> Json:
        """Fields of the message that only some requests get (C30, V36)."""
        extras: Json = {}
        diagnostics = accepted.body.get("diagnostics")
        if isinstance(diagnostics, dict) and accepted.account is not None:
            extras["diagnostics"] = self._diagnosis(diagnostics, accepted)
        if accepted.dropped and _drops(accepted.body):
            extras["input_transformations"] = [
                {"type": "thinking_dropped", "reason": dropped.reason}
                for dropped in accepted.dropped
            ]
        return extras

    def _diagnosis(self, wanted: Json, accepted: Accepted) -> Json | None:
        """Why the cache missed, against the message the client names."""
        name, account = wanted.get("previous_message_id"), accepted.account
        if name is None or account is None:
            return None
        before = self._messages.get(name)
        if before is None:
            return {"cache_miss_reason": {"type": "previous_message_not_found"}}
        if account.keys[: len(before.keys)] == before.keys:
            return None
        part = (account.first_difference or "messages").split(".")[0]
        kind = {"tools": "tools_changed", "system": "system_changed"}.get(part, "messages_changed")
        missed = account.total - account.read
        return {"cache_miss_reason": {"type": kind, "cache_missed_input_tokens": missed}}

    def _check_thinking(self, body: Json, places: list[Position], model: Model) -> list[Dropped]:
        return signatures.check(
            places, model, self.signer, binding=self._binding, drops=_drops(body)
        )

    def _accept_loosely(self, body: Json) -> Accepted:
        """As a compatible server does that checks next to nothing."""
        model = models.find(str(body.get("model"))) or models.MODELS[0]
        return Accepted(body, model, prefix.positions(body), None, [])


def _bearer(value: str) -> str:
    scheme, _, key = value.partition(" ")
    return key.strip() if scheme.lower() == "bearer" else ""


def _drops(body: Json) -> bool:
    binding = (body.get("thinking") or {}).get("block_binding") or {}
    return binding.get("prefix_mismatch_behavior") == "drop_block"


def _decoded(received: Received, encodings: Encodings) -> bytes:
    """The body without its encoding, as far as the server takes any."""
    encoding = received.headers.get("content-encoding", "")
    match encodings if encoding else "taken":
        case "refused":
            raise Refusal(
                f"unsupported content-encoding: {encoding}",
                code="request_body_encoding_unsupported",
            )
        case "unsupported":
            raise Refusal("Unsupported Media Type", "unsupported_media_type")
        case "broken":
            raise Refusal("Internal server error", "api_error")
        case "unread":
            return received.body
        case _:
            pass
    try:
        return http1.decoded(received.body, encoding)
    except LookupError as error:
        raise Refusal(
            f"unsupported content-encoding: {error.args[0]}",
            code="request_body_encoding_unsupported",
        ) from error
    except ValueError as error:
        raise Refusal(str(error), code="request_body_encoding_invalid") from error


def _parsed(source: bytes) -> Json:
    """The body as JSON; lone surrogates and invalid UTF-8 are refused as the provider does."""
    try:
        body: Any = json.loads(source.decode("utf-8"), parse_constant=_no_constant)
        json.dumps(body, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        raise Refusal(
            f"The request body is not valid JSON: no low surrogate in string: {error.reason}"
        ) from error
    except (ValueError, RecursionError) as error:
        raise Refusal(f"The request body is not valid JSON: {error}") from error
    if not isinstance(body, dict):
        raise Refusal("Input should be a valid dictionary")
    return body


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"unexpected value {name}")
