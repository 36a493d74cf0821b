"""The tools a request offers and the choice it leaves (V23 to V26)."""

from __future__ import annotations

import re
from typing import Any

from tests.fakes.sim.models import Model
from tests.fakes.sim.problems import Json, Refusal
from tests.fakes.sim.rules import blocks
from tests.fakes.sim.rules.shapes import (
    boolean,
    fields,
    listing,
    mapping,
    matching,
    nullable,
    string,
)

NAME = r"[a-zA-Z0-9_-]{1,64}"
TYPES = ("object", "array", "string", "number", "integer", "boolean", "null")
STRICT_LIMIT = 20
PROVIDED = re.compile(r"[a-z_]+_20\d{6}|mcp_toolset")

_custom = fields(
    {"name": matching(NAME), "input_schema": mapping},
    {
        "type": nullable(string),
        "description": string,
        "strict": boolean,
        "eager_input_streaming": nullable(boolean),
        "defer_loading": boolean,
        "cache_control": blocks.cache_control,
        "input_examples": listing,
        "allowed_callers": listing,
    },
)
_provided = fields({"type": string}, {"cache_control": blocks.cache_control}, more=True)


def check(body: Json, model: Model) -> None:
    """All tools, then `tool_choice` against them."""
    tools: list[Json] = body.get("tools") or []
    for index, tool in enumerate(tools):
        _check_tool(tool, f"tools.{index}")
    names = [tool["name"] for tool in tools if "name" in tool]
    if len(names) != len(set(names)):
        raise Refusal("tools: Tool names must be unique.", code="tool_name_conflict")
    if tools and all(tool.get("defer_loading") for tool in tools):
        raise Refusal("tools: At least one tool must have defer_loading=false")
    if sum(1 for tool in tools if tool.get("strict")) > STRICT_LIMIT:
        raise Refusal("tools: Schema is too complex for compilation.")
    _check_choice(body, names, model)


def _check_tool(tool: Any, path: str) -> None:
    mapping(tool, path)
    kind = tool.get("type")
    if kind not in (None, "custom"):
        if not PROVIDED.fullmatch(str(kind)):
            raise Refusal(f"{path}: Input tag '{kind}' found using 'type' does not match any")
        _provided(tool, f"{path}.{kind}")
        return
    path = f"{path}.custom"
    _custom(tool, path)
    if tool.get("defer_loading") and tool.get("cache_control"):
        raise Refusal(f"{path}.cache_control: cannot be set on a tool with defer_loading")
    _check_schema(tool["input_schema"], f"{path}.input_schema")
    if tool.get("strict"):
        _check_closed(tool["input_schema"], path)


def _check_schema(schema: Json, path: str) -> None:
    if "type" not in schema:
        raise Refusal(f"{path}.type: Field required")
    if schema["type"] != "object":
        raise Refusal(f"{path}.type: Input should be 'object'")
    if any(word in schema for word in ("oneOf", "anyOf", "allOf")):
        raise Refusal(
            f"{path}: input_schema does not support oneOf, allOf, or anyOf at the top level"
        )
    if not _is_schema(schema):
        raise Refusal(f"{path}: JSON schema is invalid. It must match JSON Schema draft 2020-12")


def _is_schema(schema: Any) -> bool:
    """Whether the words this check knows are used as the draft says."""
    if isinstance(schema, bool):
        return True
    if not isinstance(schema, dict):
        return False
    kinds = schema.get("type", [])
    kinds = kinds if isinstance(kinds, list) else [kinds]
    if any(kind not in TYPES for kind in kinds):
        return False
    required = schema.get("required", [])
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        return False
    properties = schema.get("properties", {})
    if not isinstance(properties, dict) or not all(map(_is_schema, properties.values())):
        return False
    if "enum" in schema and not isinstance(schema["enum"], list):
        return False
    inner = [schema[word] for word in ("items", "additionalProperties", "not") if word in schema]
    return all(map(_is_schema, inner))


def _check_closed(schema: Any, path: str) -> None:
    """Strict tools say `additionalProperties: false` on every object (V24)."""
    if not isinstance(schema, dict):
        return
    if schema.get("type") == "object" and schema.get("additionalProperties") is not False:
        raise Refusal(
            f"{path}: For 'object' type, 'additionalProperties' must be explicitly set to false"
        )
    for part in [*schema.get("properties", {}).values(), schema.get("items")]:
        _check_closed(part, path)


def _check_choice(body: Json, names: list[str], model: Model) -> None:
    choice = body.get("tool_choice")
    if choice is None:
        return
    if not body.get("tools"):
        raise Refusal("tool_choice: may only be specified while providing `tools`")
    if choice["type"] not in ("any", "tool"):
        return
    if not model.forced_tool_choice:
        raise Refusal('tool_choice: type "tool" and "any" are not supported for this model.')
    if (body.get("thinking") or {}).get("type") == "enabled":
        raise Refusal("Thinking may not be enabled when tool_choice forces tool use.")
    if choice["type"] == "tool" and choice["name"] not in names:
        raise Refusal(f"tool_choice: Tool '{choice['name']}' not found in provided tools")
