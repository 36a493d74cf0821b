"""Why a request failed, as plain sentences with a way out: the one table of the wire.

It knows statuses, error types, error codes and bodies (API §1.12, §3.8), and no exception of a
library: `wire.sdk` says which of these an exception is. Nothing here repeats a key, a password or
markup; the provider's own words go to `detail` only.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from desktop.core.events import Failure, FailureKind

DETAIL_LIMIT = 600
LONGEST_WAIT = 60.0
_SECRET = re.compile(r"sk-[A-Za-z0-9_\-]{4,}|(?<=//)[^/@\s]+@|(?i:bearer\s+)\S+")
_TAG = re.compile(r"<(script|style)\b.*?</\1\s*>|<[^>]*>", re.S | re.I)
_TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.S | re.I)

CHECK_KEY = "Check the key in the settings."
CHECK_URL = "Check the address of the server in the settings."
CHECK_NETWORK = "Check the network, then try again."
TRY_AGAIN = "Try again in a moment."


class RequestFailed(Exception):
    """A request got no answer that can be used; `failure` is what to tell the person."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.sentence)
        self.failure = failure


@dataclass(frozen=True, slots=True)
class Refused:
    """An answer that says no. `type` and `code` are the provider's, '' where it gave none; `paths`
    are the places in the request that it names beside its words."""

    status: int
    type: str = ""
    message: str = ""
    code: str = ""
    is_html: bool = False
    request_id: str | None = None
    retry_after: float | None = None
    should_retry: bool | None = None
    server: str = "the server"
    paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Row:
    kind: FailureKind
    sentence: str
    way_out: str = ""
    retryable: bool = False


_INVALID_KEY = _Row("authentication", "{server} does not accept the key.", CHECK_KEY)
_BILLING = _Row(
    "billing",
    "The account has no credit left, or its billing needs attention.",
    "Look at the billing page of the account, then try again.",
)
_SPEND_LIMIT = _Row(
    "billing",
    "The account's spending limit is reached.",
    "Raise the limit in the account, or wait until it starts anew.",
)
_NO_MODEL = _Row(
    "not_found",
    "{server} does not know what was asked for, most likely the model.",
    "Choose another model, or check the address of the server in the settings.",
)
_TOO_LONG = _Row(
    "too_large",
    "The conversation is longer than the model can read.",
    "Compact the conversation, or begin a new one.",
)
_TOO_LARGE = _Row(
    "too_large",
    "The request is larger than the server takes.",
    "Begin a new conversation, or leave large files out.",
)
_MEDIA = _Row(
    "media",
    "{server} refused a picture or document of this conversation.",
    "Take it out of your message, or go on without it.",
)
_THINKING = _Row(
    "thinking",
    "{server} refused the thinking of an earlier answer.",
    "Send the message again.",
)
_OVERLOADED = _Row("overloaded", "{server} is overloaded.", TRY_AGAIN, retryable=True)
_BROKEN = _Row("server", "{server} had an error of its own.", TRY_AGAIN, retryable=True)
_LATE = _Row("timeout", "{server} took too long.", TRY_AGAIN, retryable=True)
_RATE_LIMIT = _Row(
    "rate_limit", "The account's limit of requests is reached for now.", TRY_AGAIN, retryable=True
)
_BAD_REQUEST = _Row(
    "bad_request",
    "{server} refused the request.",
    "The details say what it objects to.",
)
_FORBIDDEN = _Row(
    "permission",
    "The key may not do this.",
    "Use another key, or ask who manages the account.",
)
_NO_PROXY_PASSWORD = _Row(
    "configuration",
    "The proxy asks for a name and a password.",
    "Put them into the proxy address of the environment, then start Nacre again.",
)

_BY_CODE: Mapping[str, _Row] = {
    "enforced_spend_limit_reached": _SPEND_LIMIT,
    "contract_spend_limit_reached": _SPEND_LIMIT,
    "linked_organization_spend_limit_reached": _SPEND_LIMIT,
    "organization_on_hold": _BILLING,
    "exceed_context_size_error": _TOO_LONG,
    "image_dimensions_too_large": _MEDIA,
}
# What a refused request is about, by words at the place that it names or in its sentence
# (API V16, V17, V31 to V34); settings of the request are named otherwise.
_ABOUT: tuple[tuple[re.Pattern[str], _Row], ...] = (
    (
        re.compile(
            r"redacted_thinking|[Ii]nvalid `?signature|`thinking` block|\.thinking\.signature"
        ),
        _THINKING,
    ),
    (
        re.compile(
            r"messages[.\[]\d+\S*(\.image\b|\.document\b|\.base64\b)"
            r"|\bimages?\b[^.]*\b(exceeds?|too|process|match|support|valid|dimensions|limit)"
            r"|\b([Pp]rocess|[Uu]nsupported|[Ii]nvalid|[Tt]oo many) (the )?(image|PDF|document)"
            r"|\bPDF\b|\bdocuments?\b[^.]*\b(exceeds?|too|process|encrypted|valid)",
        ),
        _MEDIA,
    ),
)
_NO_PICTURES = "image input is not supported"
_BY_TYPE: Mapping[str, _Row] = {
    "authentication_error": _INVALID_KEY,
    "billing_error": _BILLING,
    "permission_error": _FORBIDDEN,
    "not_found_error": _NO_MODEL,
    "request_too_large": _TOO_LARGE,
    "rate_limit_error": _RATE_LIMIT,
    "timeout_error": _LATE,
    "api_error": _BROKEN,
    "overloaded_error": _OVERLOADED,
    "unavailable_error": _OVERLOADED,
    "exceed_context_size_error": _TOO_LONG,
    "invalid_request_error": _BAD_REQUEST,
}
_BY_STATUS: Mapping[int, _Row] = {
    400: _BAD_REQUEST,
    401: _INVALID_KEY,
    402: _BILLING,
    403: _FORBIDDEN,
    404: _NO_MODEL,
    407: _NO_PROXY_PASSWORD,
    408: _LATE,
    409: _BROKEN,
    413: _TOO_LARGE,
    429: _RATE_LIMIT,
    503: _OVERLOADED,
    504: _LATE,
    529: _OVERLOADED,
}


def of_answer(refused: Refused) -> Failure:
    """The failure of an error answer: by code, then type, then status (F-W03)."""
    row = _row_of(refused)
    after = refused.retry_after
    retryable = row.retryable if refused.should_retry is None else refused.should_retry
    failure = _failure(
        row,
        detail=_detail(refused),
        server=refused.server,
        status_code=refused.status or None,
        retryable=retryable,
        retry_after=after,
        request_id=refused.request_id,
    )
    return too_long_a_wait(failure) if retryable and (after or 0) > LONGEST_WAIT else failure


def of_error_event(event: Mapping[str, Any], *, server: str = "The server") -> Failure:
    """The failure that an `error` event in a stream is; its HTTP status was 200 (API §1.3 F5)."""
    error: Any = event.get("error")
    told = cast("Mapping[str, Any]", error) if isinstance(error, Mapping) else {}
    row = _BY_TYPE.get(str(told.get("type")), _BROKEN)
    message = str(told.get("message"))
    if "prompt is too long" in message:
        row = _TOO_LONG
    elif row is _BAD_REQUEST:
        row = _about(message) or _BAD_REQUEST
    return _failure(
        row,
        detail=clean_detail(f"{told.get('type', 'error')}: {told.get('message', '')}"),
        server=server,
        retryable=row.retryable,
        request_id=_text_or_none(event.get("request_id")),
    )


def truncated(detail: str = "the stream ended before the end of the message") -> Failure:
    """The answer stopped in the middle (API §1.3 F1, F3)."""
    return Failure(
        "truncated",
        "The connection ended before the answer was complete.",
        CHECK_NETWORK,
        clean_detail(detail),
        retryable=True,
    )


def half_read(detail: str) -> Failure:
    """The server answers to less than it was sent, or than it was to hold."""
    return Failure(
        "server",
        "The server did not read the whole conversation.",
        TRY_AGAIN,
        clean_detail(detail),
        retryable=True,
    )


def stalled(detail: str = "") -> Failure:
    """Nothing came for the whole read timeout (API §1.3 F4)."""
    return Failure(
        "timeout", "The server stopped sending.", TRY_AGAIN, clean_detail(detail), retryable=True
    )


def slept() -> Failure:
    """The machine slept in the middle of a request, and nothing came any more (SPEC U29)."""
    return Failure(
        "network",
        "The computer slept, and the connection was lost meanwhile.",
        TRY_AGAIN,
        "nothing came after the machine woke",
        retryable=True,
    )


def not_a_server(detail: str, *, server: str = "") -> Failure:
    """Something answered, but not a server of the Messages API."""
    who = f"The address {server}" if server else "The address"
    return Failure(
        "not_a_server",
        f"{who} answers, but not as a server of the Messages API.",
        CHECK_URL,
        clean_detail(detail),
    )


def unreachable(server: str, detail: str, *, reason: str = "") -> Failure:
    """No connection: `reason` is `refused`, `dns` or ''."""
    sentence, way_out = {
        "refused": (
            f"Nothing listens at {server}.",
            "Start the server, or check its address in the settings.",
        ),
        "dns": (
            f"The name of {server} can't be found.",
            "Check the network and the address of the server.",
        ),
    }.get(reason, (f"Nacre could not reach {server}.", CHECK_NETWORK))
    return Failure("network", sentence, way_out, clean_detail(detail), retryable=True)


def no_answer(server: str, detail: str) -> Failure:
    """Connected, or tried to, and nothing came before the timeout."""
    sentence = f"{capitalised(server)} did not answer in time."
    return Failure("timeout", sentence, CHECK_NETWORK, clean_detail(detail), retryable=True)


def untrusted(server: str, detail: str) -> Failure:
    """The certificate can't be verified; verification is never switched off."""
    return Failure(
        "tls",
        f"The certificate of {server} can't be verified.",
        "If your network uses an authority of its own, name its file in SSL_CERT_FILE.",
        clean_detail(detail),
    )


def bad_authority_file(variable: str, detail: str) -> Failure:
    """SSL_CERT_FILE or SSL_CERT_DIR names something that can't be used."""
    return Failure(
        "tls",
        f"The certificates that the variable {variable} names can't be read.",
        f"Correct {variable} or take it away, then start Nacre again.",
        clean_detail(detail),
    )


def bad_proxy(variable: str, reason: str) -> Failure:
    """A proxy variable can't be used; its value is not repeated, it may hold a password."""
    return Failure(
        "configuration",
        f"The proxy in the variable {variable} can't be used: {reason}.",
        f"Correct {variable} or take it away, then start Nacre again.",
    )


def proxy_refused(detail: str) -> Failure:
    """The proxy did not let the connection through."""
    if "407" in detail:
        row = _NO_PROXY_PASSWORD
        return Failure(row.kind, row.sentence, row.way_out, clean_detail(detail))
    return Failure(
        "network",
        "The proxy did not let the connection through.",
        "Check the proxy of your network.",
        clean_detail(detail),
        retryable=True,
    )


def bad_address(detail: str) -> Failure:
    """The base URL is no web address."""
    return Failure(
        "configuration",
        "The address of the server is not a web address.",
        "Give it in the form https://host or http://host:port.",
        clean_detail(detail),
    )


def bad_key() -> Failure:
    """The key holds characters that can't be sent."""
    return Failure(
        "authentication", "The key holds characters that no key has.", "Enter the key again."
    )


def unexpected(detail: str) -> Failure:
    """Something of our own broke on the way; the person is told so, the details name it."""
    return Failure(
        "server", "The request could not be made.", "Please report this.", clean_detail(detail)
    )


def too_long_a_wait(failure: Failure) -> Failure:
    """The server asks for a longer wait than Nacre waits by itself."""
    wait = in_words(failure.retry_after or 0)
    return Failure(
        failure.kind,
        failure.sentence,
        f"The server asks to wait about {wait}. Try again then.",
        failure.detail,
        failure.status_code,
        retryable=False,
        retry_after=failure.retry_after,
        request_id=failure.request_id,
    )


def in_words(seconds: float) -> str:
    """A long time, roughly: `a minute`, `5 minutes`, `24 hours`, `3 days`."""
    minutes, hours = max(1, round(seconds / 60)), round(seconds / 3_600)
    if minutes == 1:
        return "a minute"
    if minutes < 90:
        return f"{minutes} minutes"
    return f"{hours} hours" if hours < 48 else f"{round(seconds / 86_400):,} days"


def capitalised(name: str) -> str:
    """A server's name at the start of a sentence."""
    return name[:1].upper() + name[1:] if name.startswith("the ") else name


def clean_detail(text: str) -> str:
    """A technical text without keys, passwords and markup, and not too long."""
    plain = " ".join(_TAG.sub(" ", text).split())
    return _SECRET.sub("…", plain)[:DETAIL_LIMIT]


def page_title(html: str) -> str:
    """What a page of a gateway or proxy says it is."""
    found = _TITLE.search(html)
    return clean_detail(found.group(1)) if found else ""


def _row_of(refused: Refused) -> _Row:
    found = _BY_CODE.get(refused.code)
    if found is not None:
        return found
    if "prompt is too long" in refused.message:
        return _TOO_LONG
    if refused.status == 429 and refused.retry_after is None and "spend" in refused.message.lower():
        return _SPEND_LIMIT
    if "credit balance" in refused.message:
        return _BILLING
    if _NO_PICTURES in refused.message:
        return _MEDIA
    row = _BY_TYPE.get(refused.type) or _BY_STATUS.get(refused.status)
    if row is _BAD_REQUEST:
        return _about(refused.message) or _BAD_REQUEST
    if row is not None:
        return row
    return _BROKEN if refused.status >= 500 else _BAD_REQUEST


def _about(message: str) -> _Row | None:
    """The row of a bad request that is about thinking or a picture."""
    return next((row for words, row in _ABOUT if words.search(message)), None)


def _detail(refused: Refused) -> str:
    words = page_title(refused.message) if refused.is_html else refused.message
    parts = [f"HTTP {refused.status}", refused.type, refused.code, *refused.paths, words]
    return clean_detail(" · ".join(part for part in parts if part))


def _failure(row: _Row, *, server: str, **rest: Any) -> Failure:
    return Failure(row.kind, row.sentence.format(server=capitalised(server)), row.way_out, **rest)


def _text_or_none(value: object) -> str | None:
    return value if isinstance(value, str) else None
