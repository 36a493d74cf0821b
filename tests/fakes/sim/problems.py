"""How the provider says no: a refusal with its HTTP status, error type and known wording."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]

STATUS_OF_TYPE = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "unsupported_media_type": 415,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}


class Refusal(Exception):
    """The request is not answered; the client gets this error instead (API V45)."""

    def __init__(
        self,
        message: str,
        kind: str = "invalid_request_error",
        *,
        code: str | None = None,
        paths: tuple[str, ...] = (),
    ) -> None:
        super().__init__(message)
        self.message = message
        self.kind = kind
        self.code = code
        self.paths = paths

    @property
    def status(self) -> int:
        """The HTTP status that goes with the error type."""
        return STATUS_OF_TYPE.get(self.kind, 500)


def error_body(
    message: str,
    kind: str,
    request_id: str,
    *,
    code: str | None = None,
    paths: tuple[str, ...] = (),
) -> dict[str, Any]:
    """The JSON of an error, alike as an HTTP body and as the data of an `error` event (V45)."""
    error: Json = {"type": kind, "message": message}
    if code is not None:
        error["details"] = {"error_code": code} | ({"paths": list(paths)} if paths else {})
    return {"type": "error", "error": error, "request_id": request_id}
