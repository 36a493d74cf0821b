"""Pictures and documents through the whole program: files in, requests out, blobs beside it."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.nacre import Home
from tests.fakes.messages_api import MessagesServer, assert_extends, reply, text, tool_use
from tests.unit.tools.pictures import drawn, noise, paper


def shown(blocks: Any) -> list[str]:
    """The kinds of what a message shows, results included."""
    found: list[str] = []
    for block in blocks if isinstance(blocks, list) else []:
        if block["type"] in ("image", "document"):
            found.append(block["type"])
        found += shown(block.get("content"))
    return found


def all_shown(body: Any) -> list[str]:
    return [kind for message in body["messages"] for kind in shown(message["content"])]


def put(home: Home, name: str, content: bytes) -> str:
    path = home.root / name
    path.write_bytes(content)
    return str(path)


@pytest.mark.in_this_process
@pytest.mark.parametrize("store", ["sql", "jsonl", "null"])
def test_u23_what_is_attached_is_scaled_sent_and_sent_again_by_the_next_process(
    home: Home, store: str
) -> None:
    wide = drawn((3000, 40))
    files = [
        *("--attach", put(home, "wide.png", wide)),
        *("--attach", put(home, "paper.pdf", paper(2))),
        *("--attach", put(home, "notes.txt", b"plain words")),
    ]
    word = f"jsonl:{home.root / 'files'}" if store == "jsonl" else store
    with MessagesServer([reply(text("I see.")), reply(text("Still."))]) as server:
        there = replace(home, base_url=server.base_url)
        found = there.run("look", "--store", word, *files)
        assert found.code == 0, found.err
        if store != "null":
            tab_id = json.loads(there.nacre("tabs", "--json").out.splitlines()[0])["id"]
            again = there.nacre("run", "--json", "--tab", tab_id, "and now?")
            assert again.code == 0, again.err
    assert server.rejected == []
    first = server.requests[0].json
    assert all_shown(first) == ["image", "document"]
    assert "plain words" in json.dumps(first)
    sealed = [one["data"] for one in found.named("chunk-seal") if one["data"].get("attachments")]
    (picture, document, notes) = sealed[0]["attachments"]
    assert (picture["width"], picture["height"]) == (2000, 27)
    assert picture["original"]["sha256"] == hashlib.sha256(wide).hexdigest()
    assert (document["kind"], document["pages"]) == ("document", 2)
    assert notes["mediaType"] == "text/plain"
    assert "content" not in json.dumps(sealed)
    if store == "null":
        assert not list((home.data / "blobs").rglob("*.*"))
        return
    assert_extends(first, server.requests[1].json)
    blobs = (home.root / "files" if store == "jsonl" else home.data) / "blobs"
    names = {path.name for path in blobs.rglob("*") if path.is_file()}
    assert {picture["sha256"], picture["original"]["sha256"], document["sha256"]} <= names


@pytest.mark.in_this_process
@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("empty.png", b"", "is empty"),
        ("words.png", b"words", "is no picture"),
        ("half.png", noise(64)[:2000], "damaged or not complete"),
        ("long.pdf", paper(101), "101 pages"),
    ],
)
def test_f_w12_a_bad_file_is_refused_before_anything_is_sent(
    home: Home, name: str, content: bytes, reason: str
) -> None:
    with MessagesServer([reply("never")]) as server:
        found = replace(home, base_url=server.base_url).run(
            "look", "--attach", put(home, name, content)
        )
    assert found.code != 0
    assert name in found.err
    assert reason in found.err
    assert server.requests == []
    assert home.rows("select * from tabs") == []


@pytest.mark.in_this_process
def test_f_w12_thirty_heavy_pictures_are_too_many_for_one_message(home: Home) -> None:
    """30 of 1.5 MB: refused as a whole, not sent to be refused."""
    picture = put(home, "x.png", noise(760))
    assert 1_500_000 < Path(picture).stat().st_size < 2_000_000
    with MessagesServer([reply("never")]) as server:
        files = [word for _ in range(30) for word in ("--attach", picture)]
        found = replace(home, base_url=server.base_url).run("look", *files)
    assert "more than one message can show" in found.err
    assert server.requests == []


def test_u23_a_refused_picture_is_replaced_and_hello_goes_out_in_another_process(
    home: Home,
) -> None:
    """The provider refuses what was checked: it can't be read there."""
    (home.workspace / "cat.png").write_bytes(drawn((40, 30)))
    script = [
        reply(tool_use("read_file", {"path": "cat.png"}), stop_reason="tool_use"),
        reply(text("A cat.")),
        reply(text("Hello.")),
    ]
    with MessagesServer(script) as server:
        server.may_rewrite("a picture that was refused is replaced")
        there = replace(home, base_url=server.base_url)
        found = there.run("look at cat.png")
        assert found.code == 0, found.err
        assert all_shown(server.requests[1].json) == ["image"]
        (result,) = [one["data"] for one in found.named("chunk-seal") if one["data"].get("images")]
        sha256 = result["images"][0]["sha256"]
        blob = home.data / "blobs" / sha256[:2] / sha256
        blob.write_bytes(blob.read_bytes()[:40])  # as if the disk had lost the rest
        tab_id = json.loads(there.nacre("tabs", "--json").out.splitlines()[0])["id"]
        again = there.nacre("run", "--json", "--tab", tab_id, "hello")
        assert again.code == 0, again.err
    assert len(server.rejected) == 1
    (rewrite,) = [
        one["data"] for one in again.named("chunk-seal") if one["data"].get("kind") == "rewrite"
    ]
    assert "cat.png" in rewrite["text"]
    assert all_shown(server.requests[-1].json) == []
    assert_extends(server.requests[1].json, server.requests[-1].json, rewritten=True)
