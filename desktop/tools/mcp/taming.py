"""What a server sends, put into a shape that the library takes whole.

The library refuses a whole list for one tool with an odd schema, and a whole answer for one block
it does not know. Here each tool keeps its own schema aside, and an answer becomes its text and
what it shows.
"""

from collections.abc import Mapping
from typing import Any, cast

from desktop.tools.mcp.contents import reply_of

SCHEMA = "nacre/schema"


def tame(result: Mapping[str, Any]) -> dict[str, Any]:
    """The result of any request; only lists of tools and answers of tools are changed."""
    if isinstance(result.get("tools"), list):
        return _listing(result)
    is_answer = isinstance(result.get("content"), list) or isinstance(result.get("isError"), bool)
    if is_answer and result.get("resultType", "complete") == "complete":
        return _answer(result)
    return dict(result)


def _listing(result: Mapping[str, Any]) -> dict[str, Any]:
    tools = [
        _tool(cast("dict[str, Any]", tool))
        for tool in result["tools"]
        if isinstance(tool, dict) and isinstance(tool.get("name"), str) and tool["name"]
    ]
    kept = {key: value for key, value in result.items() if key != "nextCursor"} | {"tools": tools}
    if isinstance(result.get("nextCursor"), str):
        kept["nextCursor"] = result["nextCursor"]
    return kept


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    schema, description = tool.get("inputSchema"), tool.get("description")
    return {
        "name": tool["name"],
        "description": description if isinstance(description, str) else "",
        "inputSchema": schema if _is_plain(schema) else {"type": "object"},
        "_meta": {SCHEMA: schema},
    }


def _is_plain(schema: object) -> bool:
    """Whether the library will take it as the schema of a tool."""
    if not isinstance(schema, dict) or schema.get("type") != "object":
        return False
    properties, required = schema.get("properties"), schema.get("required")
    marked = schema.get("$schema")
    return (
        (properties is None or _are_schemas(properties))
        and (required is None or _are_names(required))
        and (marked is None or isinstance(marked, str))
    )


def _are_schemas(properties: object) -> bool:
    if not isinstance(properties, dict):
        return False
    return all(isinstance(one, dict | bool) for one in properties.values())


def _are_names(required: object) -> bool:
    return isinstance(required, list) and all(isinstance(one, str) for one in required)


def _answer(result: Mapping[str, Any]) -> dict[str, Any]:
    reply = reply_of(result)
    kept = {key: value for key, value in result.items() if key != "structuredContent"}
    text = {"type": "text", "text": reply.text}
    shown = [{"type": "image", "data": one.data, "mimeType": one.kind} for one in reply.shown]
    return kept | {"content": [text, *shown], "isError": reply.is_error}
