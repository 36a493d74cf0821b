"""Schemas as servers write them, made into what the provider takes, always in the same bytes.

The provider wants an object at the top without alternatives, and refuses the whole request for one
tool that breaks its rules (API V23, M10): a schema that can't be mended costs only its own tool.
Keys are sorted, so a server that lists them in another order changes nothing (API C36).
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from desktop.tools.texts import whole_characters

MOST_BYTES = 100_000
DEEPEST = 60
_KEY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
_DROPPED = frozenset({"$schema", "$id", "$comment"})
_NAMED = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_LISTED = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
_SINGLE = frozenset(
    {
        *("items", "additionalProperties", "not", "if", "then", "else", "contains"),
        *("propertyNames", "unevaluatedItems", "unevaluatedProperties", "additionalItems"),
    }
)
_ALTERNATIVES = ("allOf", "anyOf", "oneOf")


class Unusable(ValueError):
    """The schema can't be offered; the text says why."""


def clean(schema: object) -> dict[str, Any]:
    """A schema that every request may carry. Raises Unusable."""
    if not isinstance(schema, dict):
        raise Unusable("its schema is no object")
    top = _object_at_top(schema, schema)
    cleaned = _schema(top, top, 0)
    for name in cleaned["properties"]:
        if not _KEY.fullmatch(name):
            raise Unusable(f"the name of its argument {name[:40]!r} is not allowed")
    try:
        text = json.dumps(cleaned, allow_nan=False, sort_keys=True, ensure_ascii=False)
    except ValueError as error:
        raise Unusable("its schema holds a number that is none") from error
    text = whole_characters(text)
    if len(text.encode()) > MOST_BYTES:
        raise Unusable("its schema is too large")
    return json.loads(text)


def _object_at_top(schema: Mapping[str, Any], root: Mapping[str, Any]) -> dict[str, Any]:
    """The same with `type: object`, references and alternatives at the top resolved into it."""
    top = _followed(schema, root)
    kind = top.get("type", "object")
    if kind != "object" and not (isinstance(kind, list) and "object" in kind):
        raise Unusable("its arguments are no object")
    branches = [
        (word, [_followed(one, root) for one in top[word] if isinstance(one, dict)])
        for word in _ALTERNATIVES
        if isinstance(top.get(word), list)
    ]
    properties = dict(_mapping(top.get("properties")))
    required = _names(top.get("required"))
    for word, options in branches:
        for option in options:
            for name, value in _mapping(option.get("properties")).items():
                properties.setdefault(name, value)
        wanted = [_names(option.get("required")) for option in options]
        if wanted:
            required |= set.union(*wanted) if word == "allOf" else set.intersection(*wanted)
    kept = {key: value for key, value in top.items() if key not in _ALTERNATIVES}
    kept |= {key: root[key] for key in ("$defs", "definitions") if key in root}
    kept |= {"type": "object", "properties": properties}
    kept.pop("required", None)
    there = sorted(required & set(properties))
    return kept | {"required": there} if there else kept


def _followed(schema: Mapping[str, Any], root: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with what its own `$ref` leads to (a few steps of them) put beneath it."""
    found = dict(schema)
    for _ in range(8):
        reference = found.pop("$ref", None)
        if reference is None:
            return found
        found = {**_mapping(_target(reference, root)), **found}
    raise Unusable("its schema refers to itself")


def _target(reference: object, root: Mapping[str, Any]) -> object:
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    place: object = root
    for step in reference[1:].split("/")[1:]:
        if not isinstance(place, dict):
            return None
        place = place.get(step.replace("~1", "/").replace("~0", "~"))
    return place


def _schema(schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> dict[str, Any]:
    if depth > DEEPEST:
        raise Unusable("its schema is nested too deep")
    if "$ref" in schema and not isinstance(_target(schema["$ref"], root), dict | bool):
        # Leads nowhere that the provider could look it up: anything is allowed there.
        schema = {key: value for key, value in schema.items() if key != "$ref"}
    return {
        key: _keyword(key, value, root, depth + 1)
        for key, value in schema.items()
        if key not in _DROPPED
    }


def _keyword(key: str, value: Any, root: Mapping[str, Any], depth: int) -> Any:
    if key in _NAMED and isinstance(value, dict):
        return {name: _sub(one, root, depth) for name, one in value.items()}
    if (key in _LISTED or key == "items") and isinstance(value, list):
        return [_sub(one, root, depth) for one in value]
    if key in _SINGLE:
        return _sub(value, root, depth)
    if key == "required" and isinstance(value, list):
        return sorted(_names(value))
    _check_depth(value, depth)
    return value


def _sub(value: Any, root: Mapping[str, Any], depth: int) -> Any:
    return _schema(value, root, depth) if isinstance(value, dict) else value


def _check_depth(value: object, depth: int) -> None:
    """Defaults, examples and constants are kept as they are, but not down to any depth."""
    todo = [(value, depth)]
    while todo:
        one, level = todo.pop()
        if level > DEEPEST:
            raise Unusable("its schema is nested too deep")
        if isinstance(one, dict):
            todo.extend((inner, level + 1) for inner in one.values())
        elif isinstance(one, list):
            todo.extend((inner, level + 1) for inner in one)


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _names(value: object) -> set[str]:
    return {one for one in value if isinstance(one, str)} if isinstance(value, list) else set()
