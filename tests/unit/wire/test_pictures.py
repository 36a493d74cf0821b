"""Pictures and documents on the wire: how they are shown, refused, found and read (SPEC U23)."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from desktop.core.chunks import ToolResult
from desktop.core.media import Media
from desktop.core.model import RequestOptions
from desktop.core.rewrites import leaving_out_thinking
from desktop.wire import failures
from desktop.wire.failures import Refused
from desktop.wire.locating import places
from desktop.wire.models import KnownModel, ModelTable
from desktop.wire.pictures import Pictures
from desktop.wire.request import build
from desktop.wire.showing import MISSING, REPLACED, UNREAD, UNSEEN
from tests.fakes.messages_api import MessagesServer, assert_extends, fails, reply
from tests.fakes.messages_api import text as says
from tests.unit.wire.asking import asking, failure_of, finished
from tests.unit.wire.rows_of import ME, MODELS, OPUS, Log, bytes_of, paper, picture, said, text

CAT, DOG, PAPER = picture(1, name="cat.png"), picture(2, name="dog.png"), paper(2)
ALL = bytes_of(CAT, DOG, PAPER)


def image(kept: Any) -> dict[str, Any]:
    source = {"type": "base64", "media_type": "image/png", "data": kept.data}
    return {"type": "image", "source": source}


def looked_at() -> Log:
    """The person shows a cat, a tool a dog and a paper."""
    log = Log()
    log.prompt()
    log.shows(CAT)
    log.thinks("hm", "s1")
    log.calls("c1")
    log.result_shows("c1", DOG, PAPER)
    return log


def test_pictures_of_the_person_and_of_tools_are_shown_where_they_were_given():
    body = looked_at().body(pictures=ALL)
    asked, _, answered = said(body)
    assert asked[1] == [text("Look"), text("Attached file: cat.png (image/png)"), image(CAT)]
    shown = answered[1][0]["content"]
    assert shown[:2] == [text("fine"), image(DOG)]
    assert shown[2]["type"] == "document"
    assert shown[2]["source"] == {
        "type": "base64",
        "media_type": "application/pdf",
        "data": PAPER.data,
    }


def test_f_w04_a_message_of_a_picture_alone_has_no_empty_text():
    log = Log()
    log.shows(CAT, text=" \n")
    kinds = [block["type"] for block in log.body(pictures=ALL)["messages"][0]["content"]]
    assert kinds == ["text", "image"]


def test_u23_a_picture_whose_bytes_are_gone_leaves_fixed_words():
    body = looked_at().body(pictures=bytes_of(DOG))
    assert text(MISSING) in said(body)[0][1]


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (KnownModel("local", "Local", sees_images=False), UNSEEN),
        (KnownModel("local", "Local", reads_documents=False), UNREAD),
    ],
)
def test_a_model_that_takes_none_gets_words(model: KnownModel, words: str):
    table = ModelTable([model])
    rows = looked_at().rows
    body = build(rows, RequestOptions("local"), models=table, stamp=ME, pictures=ALL)
    assert words in json.dumps(body)


def test_what_a_server_says_of_its_models_decides():
    row = {"id": "m", "capabilities": {"image_input": {"supported": False}}}
    table, _ = ModelTable([]).with_listed([row, {"id": "bare"}])
    found, bare = table.find("m"), table.find("bare")
    assert found is not None
    assert bare is not None
    assert (found.sees_images, found.reads_documents, bare.sees_images) == (False, True, True)


def test_a12_a_rewrite_puts_fixed_words_in_place_of_just_that_picture():
    log = looked_at()
    before = log.body(pictures=ALL)
    log.replaces((log.rows[1].id, 0))
    log.fact("Later.")
    body = log.body(pictures=ALL)
    assert said(body)[0][1][2] == text(REPLACED)
    assert said(body)[2][1][0] == said(before)[2][1][0]
    with pytest.raises(AssertionError):
        assert_extends(before, body)
    assert_extends(before, body, rewritten=True)


def test_u22_thinking_before_a_seq_is_left_out_and_later_thinking_stays():
    log = looked_at()
    log.add("system", leaving_out_thinking(log.rows[-1].seq + 1, "Left out."))
    log.step = 1
    log.thinks("again", "s2")
    log.says("Done")
    log.user("Thanks")
    signatures = [b.get("signature") for _, content in said(log.body()) for b in content]
    assert "s1" not in signatures
    assert "s2" in signatures


def test_an_error_result_shows_no_picture():
    """The provider takes nothing but text in an error."""
    log = Log()
    log.user("Look")
    log.calls("c1")
    row = log.result_shows("c1", DOG)
    assert isinstance(row.data, ToolResult)
    log.rows[-1] = replace(row, data=replace(row.data, is_error=True))
    assert said(log.body(pictures=ALL))[2][1][0]["content"] == [text("fine")]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("messages.0.content.2.image.source.base64: Could not process image", [(2, 0)]),
        ("messages[0].content[2]: too large", [(2, 0)]),
        ("messages.2.content.0.tool_result.content.1.image: no", [(5, 0)]),
        ("messages.2.content.0: too many", [(5, 0), (5, 1)]),
        ("messages.0: At least one of the image dimensions exceed", [(2, 0)]),
        ("messages.9.content.1: there is no such message", []),
        ("messages: too many images", []),
        ("Could not process image", []),
    ],
)
def test_the_place_that_a_refusal_names_leads_to_the_row(words: str, found: list[tuple[int, int]]):
    rows = looked_at().rows
    asked = RequestOptions(OPUS)
    expected = tuple((f"row-{seq}", index) for seq, index in found)
    assert places(words, rows, asked, models=MODELS, stamp=ME) == expected


def test_the_same_picture_twice_is_told_apart_by_its_place():
    log = Log()
    log.shows(CAT, CAT)
    asked = RequestOptions(OPUS)
    found = places("messages.0.content.4.image", log.rows, asked, models=MODELS, stamp=ME)
    assert found == (("row-1", 1),)


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("Could not process image", "media"),
        ("messages.0.content.1.image.source.base64.data: image exceeds 5 MB maximum", "media"),
        ("messages.1.content.0.image.source.base64: Image does not match the provided", "media"),
        ("messages: too many images in the request: 101 > 100", "media"),
        ("messages.0.content.0.document.source.base64.data: The PDF specified was not", "media"),
        ("messages: A maximum of 100 PDF pages may be provided.", "media"),
        ("messages.1.content.0: Invalid `signature` in `thinking` block", "thinking"),
        ("messages.1.content.0.thinking.signature: Field required", "thinking"),
        ("Expected `thinking` or `redacted_thinking`, but found `tool_use`", "thinking"),
        ("thinking.budget_tokens: Input should be greater than 1024", "bad_request"),
        ("thinking: adaptive is not supported by this model", "bad_request"),
        ("messages.0.content.0: unknown field", "bad_request"),
        ("prompt is too long: 210000 tokens > 200000 maximum", "too_large"),
    ],
)
def test_a_refusal_is_told_by_what_it_is_about(message: str, kind: str):
    failure = failures.of_answer(Refused(400, "invalid_request_error", message))
    assert failure.kind == kind
    event = {"type": "error", "error": {"type": "invalid_request_error", "message": message}}
    assert failures.of_error_event(event).kind == kind


def test_a_local_server_without_eyes_is_understood_though_it_says_500():
    message = "image input is not supported - hint: you may need to provide the mmproj"
    failure = failures.of_answer(Refused(500, "server_error", message))
    assert (failure.kind, failure.retryable) == ("media", False)


def test_the_provider_takes_what_is_shown_and_the_place_of_a_refused_picture_is_known():
    log = looked_at()
    script = [reply(says("I see")), fails(400, message="messages.0.content.2.image: no")]
    with MessagesServer(script) as server, asking(server.base_url, kept=[CAT, DOG, PAPER]) as to:
        finished(to.ask(log.rows))
        assert said(server.requests[0].json)[0][1][2] == image(CAT)
        failure = failure_of(to.ask(log.rows))
    assert (failure.kind, failure.places) == ("media", (("row-2", 0),))


def test_a_picture_that_can_not_be_read_is_refused_by_name():
    broken = picture(3, name="broken.png")
    log = Log()
    log.shows(CAT, broken)
    kept = [CAT, replace(broken, content=broken.content[:40])]
    with MessagesServer([]) as server, asking(server.base_url, kept=kept) as to:
        failure = failure_of(to.ask(log.rows))
    assert (failure.kind, failure.places) == ("media", (("row-1", 1),))


def test_a_refusal_may_name_its_places_apart_from_its_words():
    """API §1.12: image_dimensions_too_large has `paths`."""
    wide = picture(4, side=8001)
    log = Log()
    log.shows(CAT, wide)
    with MessagesServer([]) as server, asking(server.base_url, kept=[CAT, wide]) as to:
        failure = failure_of(to.ask(log.rows))
    assert (failure.kind, failure.places) == ("media", (("row-1", 1),))


# The bytes


class Shelf:
    """Kept files that remember how often they were read."""

    def __init__(self, content: dict[str, bytes]) -> None:
        self.content = content
        self.read: list[str] = []

    async def __call__(self, sha256: str) -> bytes | None:
        self.read.append(sha256)
        return self.content.get(sha256)


def shown(pictures: Pictures, rows: Sequence[Any]) -> dict[str, str]:
    return dict(asyncio.run(pictures.shown_in(rows)))


def test_bytes_are_read_once_and_only_of_what_is_shown():
    log = looked_at()
    shelf = Shelf({one.sha256: one.content for one in (CAT, DOG)})
    pictures = Pictures(shelf)
    assert shown(pictures, log.rows) == bytes_of(CAT, DOG)
    assert sorted(shelf.read) == sorted([CAT.sha256, DOG.sha256, PAPER.sha256])
    shelf.read.clear()
    log.replaces((log.rows[1].id, 0))
    assert shown(pictures, log.rows) == bytes_of(DOG)
    assert shelf.read == [PAPER.sha256]  # it was not there; that may change


def test_what_is_kept_of_the_bytes_is_bounded():
    kept = [picture(number, side=64) for number in range(6)]
    shelf = Shelf({one.sha256: one.content for one in kept})
    pictures = Pictures(shelf, room=2 * len(kept[0].data) + 8)
    log = Log()
    for one in [*kept, kept[-1]]:
        log = Log()
        log.shows(one)
        assert shown(pictures, log.rows) == bytes_of(one)
    assert len(shelf.read) == len(kept)
    log.shows(*kept)
    assert shown(pictures, log.rows) == bytes_of(*kept)


def test_what_a_picture_costs_is_counted_as_the_provider_does():
    """API V16."""

    def of(width: int, height: int) -> int:
        return Media("image", "0", "image/png", width=width, height=height).tokens

    assert (of(28, 28), of(29, 28), of(1600, 900), of(2000, 2000)) == (1, 2, 58 * 33, 4784)
    assert of(0, 0) == 4784
