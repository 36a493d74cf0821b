"""What a model sees of a server's tools is legal, unique and the same at every start."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.tools.mcp.names import legal_name
from desktop.tools.mcp.offers import Offer, usable
from desktop.tools.mcp.schemas import Unusable, clean

LEGAL = re.compile(r"[a-zA-Z0-9_-]{1,64}")
WORDS = st.text(alphabet=st.sampled_from("ab_-.é /"), min_size=1, max_size=40)


def test_a_plain_name_stays_readable() -> None:
    assert legal_name("files", "read_all") == "mcp__files__read_all"


@given(st.sets(st.tuples(WORDS, WORDS), max_size=12))
def test_names_are_legal_and_another_for_each_pair(pairs: set[tuple[str, str]]) -> None:
    """FIELD F-X02, API V23."""
    names = [legal_name(server, tool) for server, tool in pairs]
    assert all(LEGAL.fullmatch(name) for name in names)
    assert len(set(names)) == len(pairs)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("a", "b__c"), ("a__b", "c")),
        (("a", "_b"), ("a_", "b")),
        (("s", "x" * 70 + "1"), ("s", "x" * 70 + "2")),
        (("my.files", "read"), ("my files", "read")),
        (("s", "a.b"), ("s", legal_name("s", "a.b").removeprefix("mcp__s__"))),
        (("Files", "read"), ("files", "read")),
    ],
)
def test_names_that_look_alike_are_told_apart(one: tuple[str, str], other: tuple[str, str]) -> None:
    """FIELD F-X02: over 64 characters with the same first ones, dots, blanks, two servers."""
    assert legal_name(*one) != legal_name(*other)


def test_a_name_depends_on_nothing_but_its_server_and_tool() -> None:
    """FIELD F-X02: the name of last year's log is this year's name."""
    assert legal_name("a.b", "c") == "mcp__a_b__c_8b745bb4ec"


def test_tools_are_sorted_and_one_that_is_there_twice_is_named() -> None:
    offers = [Offer("b", "", {}), Offer("a", "", {}), Offer("b", "other", {})]
    found, problems = usable("s", offers)
    assert [one.spec.name for one in found] == ["mcp__s__a", "mcp__s__b"]
    assert problems == ("The tool “b” is there twice; the first one is used.",)


def test_a_tool_that_cannot_be_offered_costs_only_itself() -> None:
    found, problems = usable("s", [Offer("bad", "", []), Offer("good", "Good.", {})])
    assert [one.tool for one in found] == ["good"]
    assert "“bad” can't be offered" in problems[0]


SCHEMAS: list[tuple[str, Any, Any]] = [
    ("a type that is missing", {}, {"properties": {}, "type": "object"}),
    (
        "the name of the dialect",
        {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"},
        {"properties": {}, "type": "object"},
    ),
    (
        "alternatives at the top",
        {
            "anyOf": [
                {"properties": {"a": {"type": "string"}}, "required": ["a", "b"]},
                {"properties": {"b": {"type": "string"}}, "required": ["b"]},
            ]
        },
        {
            "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
            "required": ["b"],
            "type": "object",
        },
    ),
    (
        "a reference at the top",
        {"$ref": "#/$defs/A", "$defs": {"A": {"type": "object", "properties": {"x": {}}}}},
        {
            "$defs": {"A": {"properties": {"x": {}}, "type": "object"}},
            "properties": {"x": {}},
            "type": "object",
        },
    ),
    (
        "a reference to nowhere",
        {"type": "object", "properties": {"a": {"$ref": "https://x/y", "title": "A"}}},
        {"properties": {"a": {"title": "A"}}, "type": "object"},
    ),
    (
        "an argument that is called like a keyword",
        {"type": "object", "properties": {"required": {"$id": "q"}, "items": {}}},
        {"properties": {"items": {}, "required": {}}, "type": "object"},
    ),
    (
        "half a character",
        {"type": "object", "properties": {"a": {"title": "\ud800"}}},
        {"properties": {"a": {"title": "\ufffd"}}, "type": "object"},
    ),
]


@pytest.mark.parametrize(("what", "schema", "wanted"), SCHEMAS, ids=[one[0] for one in SCHEMAS])
def test_a_schema_is_made_one_that_every_request_may_carry(
    what: str, schema: Any, wanted: Any
) -> None:
    """API M10."""
    assert clean(schema) == wanted


def nested(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(depth):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


@pytest.mark.parametrize(
    "schema",
    [
        None,
        {"type": "string"},
        {"$ref": "#"},
        {"properties": {"a b": {}}},
        {"properties": {"a": {"default": float("nan")}}},
        {"properties": {"a": {"description": "x" * 200_000}}},
        nested(2_000),
    ],
    ids=["none", "no object", "itself", "key", "no number", "large", "deep"],
)
def test_a_schema_that_cannot_be_mended_is_refused(schema: object) -> None:
    """FIELD F-T07: it disables that tool only."""
    with pytest.raises(Unusable):
        clean(schema)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "properties", "required", "anyOf", "$ref", "items", "a"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JSON_VALUES)
def test_any_schema_is_cleaned_to_the_same_bytes_or_refused(schema: object) -> None:
    """API C36: another order of its keys makes no other request."""
    try:
        once = clean(schema)
    except Unusable:
        return
    assert once["type"] == "object"
    assert not {"anyOf", "oneOf", "allOf", "$ref"} & set(once)
    assert json.dumps(clean(_turned(schema))) == json.dumps(once) == json.dumps(clean(once))


def _turned(value: object) -> object:
    if isinstance(value, dict):
        return {key: _turned(value[key]) for key in reversed(list(value))}
    return [_turned(one) for one in value] if isinstance(value, list) else value
