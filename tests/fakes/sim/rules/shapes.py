"""Small checks of JSON shapes, with the provider's wording and path style (API V2).

A check takes a value and its path and raises `Refusal`; shapes are built from checks as data.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from tests.fakes.sim.problems import Json, Refusal

Check = Callable[[Any, str], None]


def anything(value: Any, path: str) -> None:
    """Accepts every value."""


def string(value: Any, path: str) -> None:
    """A JSON string."""
    if not isinstance(value, str):
        raise Refusal(f"{path}: Input should be a valid string")


def boolean(value: Any, path: str) -> None:
    """true or false."""
    if not isinstance(value, bool):
        raise Refusal(f"{path}: Input should be a valid boolean")


def integer(value: Any, path: str) -> None:
    """A whole number; true is none."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise Refusal(f"{path}: Input should be a valid integer")


def mapping(value: Any, path: str) -> None:
    """A JSON object."""
    if not isinstance(value, dict):
        raise Refusal(f"{path}: Input should be a valid dictionary")


def listing(value: Any, path: str) -> None:
    """A JSON array."""
    if not isinstance(value, list):
        raise Refusal(f"{path}: Input should be a valid list")


def nullable(check: Check) -> Check:
    """null or what `check` takes."""

    def either(value: Any, path: str) -> None:
        if value is not None:
            check(value, path)

    return either


def items(check: Check) -> Check:
    """An array whose every item passes `check`."""

    def each(value: Any, path: str) -> None:
        listing(value, path)
        for index, item in enumerate(value):
            check(item, f"{path}.{index}")

    return each


def one_of(*allowed: str) -> Check:
    """One of the given strings."""
    quoted = [f"'{word}'" for word in allowed]
    said = f"{', '.join(quoted[:-1])} or {quoted[-1]}" if len(quoted) > 1 else quoted[0]

    def member(value: Any, path: str) -> None:
        if value not in allowed:
            raise Refusal(f"{path}: Input should be {said}")

    return member


def matching(pattern: str) -> Check:
    """A string that matches the whole pattern."""
    compiled = re.compile(pattern)

    def matched(value: Any, path: str) -> None:
        string(value, path)
        if not compiled.fullmatch(value):
            raise Refusal(f"{path}: String should match pattern '^{pattern}$'")

    return matched


def fields(
    required: Mapping[str, Check],
    optional: Mapping[str, Check] | None = None,
    *,
    more: bool = False,
) -> Check:
    """An object with these fields and, unless `more`, no others."""
    known = {**required, **(optional or {})}

    def shaped(value: Any, path: str) -> None:
        mapping(value, path)
        prefix = f"{path}." if path else ""
        for name in required:
            if name not in value:
                raise Refusal(f"{prefix}{name}: Field required")
        for name, part in value.items():
            if name in known:
                known[name](part, f"{prefix}{name}")
            elif not more:
                raise Refusal(f"{prefix}{name}: Extra inputs are not permitted")

    return shaped


def tagged(shapes: Mapping[str, Check], *, show_tag: bool = True) -> Check:
    """An object whose `type` chooses its shape; the tag becomes part of the path (V2)."""

    def chosen(value: Any, path: str) -> None:
        mapping(value, path)
        kind = tag(value, path)
        if kind not in shapes:
            expected = ", ".join(f"'{name}'" for name in shapes)
            raise Refusal(
                f"{path}: Input tag '{kind}' found using 'type' does not match any of the "
                f"expected tags: {expected}"
            )
        shapes[kind](value, f"{path}.{kind}" if show_tag else path)

    return chosen


def tag(value: Json, path: str) -> str:
    """The `type` of an object."""
    if "type" not in value:
        raise Refusal(f"{path}.type: Field required")
    string(value["type"], f"{path}.type")
    return str(value["type"])
