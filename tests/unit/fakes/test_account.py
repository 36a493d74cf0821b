"""The account where models and changes differ: smallest sizes, what a change loses and what it
leaves, how long an entry lives, and the constants of counting (API C4, C7, C8, C11, S12 to S17)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.fakes.messages_api import MessagesServer, reply
from tests.fakes.sim.models import MODELS, Model
from tests.fakes.sim.prefix import tokens_of
from tests.unit.fakes.asking import TOOL, Json, ask, assistant, send, user
from tests.unit.fakes.background import in_background
from tests.unit.fakes.test_cache import FIVE, HEADERS, HOUR, LONG, marked, paid

pytestmark = pytest.mark.talks_to_the_stand_in("its requests are made up, one by one")

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGOoBwAAgQCA05RTSgAAAABJRU5ErkJggg=="
IMAGE: Json = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": PNG},
}
SEARCH = {"type": "web_search_20260318", "name": "web_search"}
SMALLEST = {
    **dict.fromkeys(("fable-5-2", "mythos-5-2", "fable-5-1", "mythos-5-1"), 512),
    **dict.fromkeys(("haiku-5-5", "sonnet-5-5", "opus-5-5"), 512),
    **dict.fromkeys(("opus-5", "fable-5", "mythos-5"), 512),
    **dict.fromkeys(("opus-4-8", "sonnet-5", "sonnet-4-6", "sonnet-4-5"), 1024),
    "opus-4-7": 2048,
    **dict.fromkeys(("opus-4-6", "opus-4-5", "haiku-4-5"), 4096),
}


@pytest.fixture
def server() -> Iterator[MessagesServer]:
    with MessagesServer() as running:
        yield running


def text_of(tokens: int) -> str:
    """A text of so many tokens, at 3.6 bytes each."""
    return "x" * int(tokens * 3.6)


def test_every_model_has_its_smallest_prefix() -> None:
    assert {model.id.removeprefix("claude-"): model.cache_minimum for model in MODELS} == SMALLEST


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.id)
def test_c7_a_prefix_is_kept_from_the_models_smallest_size_on(
    server: MessagesServer, model: Model
) -> None:
    for tokens, written in ((model.cache_minimum - 1, 0), (model.cache_minimum, 1)):
        body = ask(user(marked(text_of(tokens))), model=model.id)
        assert (paid(server, body)[1] > 0) is bool(written)
        assert (paid(server, body)[0] > 0) is bool(written)


def in_three_parts() -> Json:
    """A request with a mark at the end of its tools, of its system text and of its messages."""
    tools = [TOOL | {"description": LONG}, TOOL | {"name": "b", "cache_control": FIVE}]
    return ask(
        *(user("hi"), assistant("yes"), user(marked(LONG))),
        tools=tools,
        system=[marked(LONG)],
    )


def changed(**more: Any) -> Json:
    return in_three_parts() | more


def with_tools(*tools: Json) -> Json:
    body = in_three_parts()
    return body | {"tools": [*tools, *body["tools"]]}


def with_image() -> Json:
    body = in_three_parts()
    return body | {"messages": [user("hi", IMAGE), *body["messages"][1:]]}


def edited() -> Json:
    body = in_three_parts()
    return body | {"messages": [user("ho"), *body["messages"][1:]]}


def appended() -> Json:
    body = in_three_parts()
    return body | {"messages": [*body["messages"], assistant("so"), user(marked("on"))]}


MATRIX: dict[str, tuple[Json, str]] = {
    "C19 a tool in front": (with_tools(TOOL | {"name": "new"}), ""),
    "C23 another model": (changed(model="claude-fable-5-1"), ""),
    "C20 another system text": (changed(system=[marked("Other. " + LONG)]), "tools"),
    "web search": (with_tools(SEARCH), ""),
    "C21 tool choice": (changed(tool_choice={"type": "none"}), "system"),
    "C21 one call at a time": (
        changed(tool_choice={"type": "auto", "disable_parallel_tool_use": True}),
        "system",
    ),
    "an image anywhere": (with_image(), "system"),
    "C22 effort": (changed(output_config={"effort": "high"}), "system"),
    "C22a the default effort by name": (changed(output_config={"effort": "medium"}), "messages"),
    "C25 how thinking is shown": (
        changed(thinking={"type": "adaptive", "display": "summarized"}),
        "messages",
    ),
    "an earlier message": (edited(), "system"),
    "more at the end": (appended(), "messages"),
}


@pytest.mark.parametrize("name", MATRIX)
def test_c19_to_c25_a_change_loses_what_comes_behind_it_and_no_more(
    server: MessagesServer, name: str
) -> None:
    """`kept` is the last part that is read after the change."""
    body, kept = MATRIX[name]
    before = in_three_parts()
    paid(server, before)
    sums = _ends(server, before)
    assert paid(server, body)[0] == sums[kept]


def _ends(server: MessagesServer, body: Json) -> dict[str, int]:
    """The tokens up to the end of each part, by the server's own count."""
    alone = body | {"messages": [user("x")]}
    bare = alone | {"system": [{"type": "text", "text": "x"}]}
    return {
        "": 0,
        "tools": counted(server, bare) - 2,
        "system": counted(server, alone) - 1,
        "messages": counted(server, body),
    }


def counted(server: MessagesServer, body: Json) -> int:
    asked = {key: value for key, value in body.items() if key != "max_tokens"}
    return int(send(server, asked, "/v1/messages/count_tokens").json["input_tokens"])


@pytest.mark.parametrize(("seconds", "hit"), [(10, True), (70, False)])
def test_c8_an_entrys_life_is_counted_from_the_start_of_its_request(
    seconds: int, hit: bool
) -> None:
    """An answer of four minutes leaves one minute."""
    body = ask(user(marked(LONG)), stream=True)
    with MessagesServer([reply("slowly").gate_after(2, "mid")]) as server:
        with in_background(lambda: send(server, body, headers=HEADERS)):
            server.wait_at_gate("mid")
            server.advance_clock(240)
            server.release("mid")
        server.advance_clock(seconds)
        assert (paid(server, ask(user(marked(LONG))))[0] > 0) is hit


def test_c11_an_hour_stands_before_five_minutes_and_never_behind(server: MessagesServer) -> None:
    good = ask(user(marked(LONG)), system=[marked(LONG, HOUR)])
    bad = ask(user(marked(LONG, HOUR)), system=[marked(LONG)])
    assert send(server, good).status == 200
    assert "must not come after" in send(server, bad).message


def test_c11_after_five_minutes_only_the_short_part_is_written_again(
    server: MessagesServer,
) -> None:
    body = ask(user(marked(LONG)), system=[marked(LONG, HOUR)])
    paid(server, body)
    server.advance_clock(301)
    assert paid(server, body) == (834, 834, 0)


def test_s14_a_tool_costs_the_models_own_prompt_and_an_image_a_flat_sum(
    server: MessagesServer,
) -> None:
    def count(*content: Any, **more: Any) -> int:
        return counted(server, ask(user(*content), **more))

    for model, constant in (
        ("claude-opus-5", 286),
        ("claude-sonnet-5", 354),
        ("claude-haiku-4-5", 496),
    ):
        more = count("hi", model=model, tools=[TOOL]) - count("hi", model=model)
        assert more == constant + tokens_of(TOOL)
    assert count("hi", IMAGE) - count("hi") == 1568


def test_s17_however_it_is_paid_the_whole_is_what_counting_says(server: MessagesServer) -> None:
    for body in (in_three_parts(), appended(), changed(tool_choice={"type": "none"})):
        assert sum(paid(server, body)) == counted(server, body)
