"""The request's outer shape: version, betas, known fields and plain limits (V1 to V8)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.fakes.sim.models import Model
from tests.fakes.sim.problems import Json, Refusal
from tests.fakes.sim.rules import blocks
from tests.fakes.sim.rules.shapes import (
    Check,
    anything,
    boolean,
    fields,
    integer,
    items,
    listing,
    mapping,
    nullable,
    one_of,
    string,
    tagged,
)

VERSIONS = ("2023-06-01", "2026-10-21")
SAMPLING = ("temperature", "top_p", "top_k")
MESSAGE_LIMIT = 100_000
BETAS = frozenset(
    [
        "context-management-2025-06-27",
        "compact-2026-01-12",
        "compact-2026-09-04",
        "context-1m-2025-08-07",
        "interleaved-thinking-2025-05-14",
        "cache-diagnosis-2026-04-07",
        "fast-mode-2026-02-01",
        "mid-conversation-tool-changes-2026-07-01",
        "mid-conversation-output-config-2026-07-01",
        "mid-conversation-system-clear-at-2026-08-21",
        "inline-tools-2026-09-15",
        "thinking-binding-controls-2026-08-01",
        "thinking-display-updates-2026-08-18",
        "thinking-token-count-2026-05-13",
        "message-threads-2026-08-12",
        "task-budgets-2026-03-13",
        "server-side-fallback-2026-06-01",
        "server-side-fallback-2026-07-01",
        "files-api-2025-04-14",
        "mcp-client-2025-11-20",
        "mcp-client-2026-09-15",
        "structured-outputs-2025-11-13",
        "extended-cache-ttl-2025-04-11",
        "output-300k-2026-03-24",
        "prompt-caching-2024-07-31",
        "model-context-window-exceeded-2025-08-26",
        "token-efficient-tools-2025-02-19",
    ]
)
BETA_FIELDS = {
    "context_management": "context-management-",
    "compaction": "compact-2026-09-04",
    "fallbacks": "server-side-fallback-",
    "mcp_servers": "mcp-client-",
    "thread": "message-threads-",
}

_type: dict[str, Check] = {"type": string}
_parallel: dict[str, Check] = {"disable_parallel_tool_use": boolean}
_tool_choice = tagged(
    {
        "auto": fields(_type, _parallel),
        "any": fields(_type, _parallel),
        "tool": fields(_type | {"name": string}, _parallel),
        "none": fields(_type),
    }
)
_thinking = tagged(
    {
        "enabled": fields(
            _type | {"budget_tokens": integer},
            {"display": nullable(one_of("summarized", "omitted"))},
        ),
        "adaptive": fields(
            _type,
            {
                "display": nullable(one_of("summarized", "omitted", "updates")),
                "block_binding": fields(
                    {}, {"prefix_mismatch_behavior": one_of("error", "drop_block")}
                ),
            },
        ),
        "disabled": fields(_type),
        "between_tools": fields(_type),
    }
)
_message = fields(
    {"role": one_of("user", "assistant", "system"), "content": anything},
    {"clear_at": one_of("next_user_message", "never"), "output_config": mapping},
)


def _system(value: Any, path: str) -> None:
    if not isinstance(value, str):
        items(tagged({"text": blocks.text}))(value, path)


_PROMPT: dict[str, Check] = {"model": string, "messages": listing}
_PROMPT_OPTIONS: dict[str, Check] = {
    "system": _system,
    "tools": listing,
    "tool_choice": _tool_choice,
    "thinking": _thinking,
    "output_config": fields(
        {},
        {
            "effort": nullable(one_of("low", "medium", "high", "xhigh", "max")),
            "format": nullable(mapping),
            "task_budget": mapping,
        },
    ),
    "cache_control": blocks.cache_control,
}
_SAMPLING_OPTIONS: dict[str, Check] = {
    "stream": boolean,
    "metadata": fields({}, {"user_id": nullable(string)}),
    "stop_sequences": items(string),
    "service_tier": one_of("auto", "standard_only"),
    "speed": nullable(one_of("standard", "fast")),
    "inference_geo": nullable(one_of("us", "global")),
    "container": anything,
    "diagnostics": nullable(fields({}, {"previous_message_id": nullable(string)})),
    "user_profile_id": string,
    "workspace_id": string,
}


@dataclass(frozen=True, slots=True)
class Terms:
    """What the headers say about a request: the API version and the active betas."""

    version: str
    betas: frozenset[str]

    def beta(self, start: str) -> bool:
        """Whether a beta whose name starts so is active."""
        return any(name.startswith(start) for name in self.betas)


def read_terms(headers: Mapping[str, str]) -> Terms:
    """Version and betas from the headers, known ones only (V1)."""
    version = headers.get("anthropic-version", "")
    if not version:
        raise Refusal("anthropic-version: header is required")
    if version not in VERSIONS:
        raise Refusal(f'anthropic-version: "{version}" is not a valid version')
    betas = [name.strip() for name in headers.get("anthropic-beta", "").split(",") if name.strip()]
    unknown = [name for name in betas if name not in BETAS]
    if unknown:
        said = ", ".join(f"`{name}`" for name in unknown)
        raise Refusal(f"Unexpected value(s) {said} for the `anthropic-beta` header")
    return Terms(version, frozenset(betas))


def check_shape(body: Json, terms: Terms, *, counting: bool) -> None:
    """Known fields with the right types; a count needs no `max_tokens` (V2, V3, V8)."""
    betas: dict[str, Check] = {
        name: anything for name, beta in BETA_FIELDS.items() if terms.beta(beta)
    }
    old: dict[str, Check] = (
        dict.fromkeys(SAMPLING, anything) if terms.version == "2023-06-01" else {}
    )
    if counting:
        fields(_PROMPT, _PROMPT_OPTIONS | betas)(body, "")
    else:
        required = _PROMPT | {"max_tokens": integer}
        fields(required, _PROMPT_OPTIONS | _SAMPLING_OPTIONS | betas | old)(body, "")
    for index, message in enumerate(body["messages"]):
        path = f"messages.{index}"
        _message(message, path)
        blocks.check_content(message["content"], message["role"], f"{path}.content")


def check_limits(body: Json, model: Model) -> None:
    """Numbers and strings that are out of bounds (V4, V6, V8)."""
    messages = body["messages"]
    if not messages:
        raise Refusal("messages: at least one message is required")
    if len(messages) > MESSAGE_LIMIT:
        raise Refusal(f"messages: too many messages: {len(messages)} > {MESSAGE_LIMIT}")
    for sequence in body.get("stop_sequences", []):
        if not sequence.strip():
            raise Refusal("stop_sequences: each stop sequence must contain non-whitespace")
    for name in SAMPLING:
        if name in body and "adaptive" in model.thinking:
            raise Refusal(f"{name}: Extra inputs are not permitted")
    wanted = body.get("max_tokens", 1)
    if wanted < 0:
        raise Refusal("max_tokens: Input should be greater than or equal to 0")
    if wanted > model.output:
        raise Refusal(
            f"max_tokens: {wanted} > {model.output}, which is the maximum allowed number of "
            f"output tokens for {body['model']}"
        )
    if wanted == 0:
        _check_prewarm(body, model)


def _check_prewarm(body: Json, model: Model) -> None:
    """`max_tokens: 0` only fills the cache (C17)."""
    output = body.get("output_config") or {}
    forced = (body.get("tool_choice") or {}).get("type") in ("any", "tool")
    thinks = (body.get("thinking") or {}).get("type") == "enabled"
    if body.get("stream") or output.get("format") or forced or thinks:
        raise Refusal(
            "max_tokens: 0 is only supported without stream, thinking, output_config.format and "
            "forced tool_choice"
        )
