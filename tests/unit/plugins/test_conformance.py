"""A plain plugin driven through every method of the door (SPEC R10 – R14)."""

import sys
from typing import Any

import pytest

from desktop.core.chunks import System, Text, Thinking, ToolCall, ToolResult
from desktop.feed.checks import CHECK_SECONDS
from desktop.feed.cursors import LIFETIME_SECONDS
from desktop.plugins.limits import MOST_SUBSCRIPTIONS, TEXT_CHARACTERS
from desktop.plugins.manifest import READ_MESSAGES
from tests.unit.plugins.hosts import Stage, Tell
from tests.unit.store.builders import chunk, hide

if sys.platform == "win32":
    pytest.skip("the plain plugin listens to a Unix socket", allow_module_level=True)

C = "session.conversation."


def test_it_is_greeted_with_what_it_may_and_told_what_is_in_view(tell: Tell) -> None:
    async def story(stage: Stage) -> None:
        stage.plugin.show(stage.tab)
        line = await stage.started()
        greeting = await line.answer("host.initialize", {"protocolVersion": 2})
        assert greeting["capabilities"] == [READ_MESSAGES]
        assert greeting["plugin"] == {"id": "plain", "generation": 1}
        shown = await line.answer("panel.show", {})
        assert shown == {"sessionId": stage.tab, "view": 1, "choice": ""}
        assert stage.plugin.state.phase == "ready"

    tell(story)


def test_what_it_reads_is_words_and_turns_and_nothing_else(tell: Tell) -> None:
    """Of every kind of row there is one; a secret in each place that must stay inside."""

    async def story(stage: Stage) -> None:
        secret = {"secret": "S3CRET"}
        await stage.write(
            chunk("p", System("prompt", "S3CRET"), role="system"),
            chunk("u", Text("what is it?", attachments=(secret,), block=secret, extra=secret)),
            chunk("t", Thinking("S3CRET", metadata=secret), role="assistant"),
            chunk("c", ToolCall("x", "shell", secret), role="assistant"),
            chunk("r", ToolResult("x", "shell", "S3CRET", extra=secret), role="tool"),
            chunk("a", Text("é" * (TEXT_CHARACTERS + 1)), role="assistant"),
            chunk("e", System("turn_end", "S3CRET", {"outcome": "failed", "durationMs": 7}),
                  role="system"),
        )  # fmt: skip
        line = await stage.show()
        page = await line.get(C + "messages", sessionId=stage.tab, order="ascending")
        turns = await line.get(C + "turns", sessionId=stage.tab)
        assert "S3CRET" not in repr((page, turns))
        said, answered = page["records"]
        assert (said["id"], said["text"], said["attachments"]) == ("u", "what is it?", 1)
        assert (len(answered["text"]), answered["isCut"]) == (TEXT_CHARACTERS, True)
        assert set(said) == {
            "kind", "id", "seq", "role", "isRetracted", "turnId", "createdAt", "text", "isCut",
            "attachments",
        }  # fmt: skip
        (turn,) = turns["records"]
        assert (turn["outcome"], turn["durationMs"]) == ("failed", 7)
        now = {"epoch": "e", "revision": page["revision"]}
        assert await line.get(C + "revision", sessionId=stage.tab) == now
        assert isinstance(page["revision"], str)

    tell(story)


@pytest.mark.parametrize("method", ["messages", "turns"])
def test_pages_go_on_behind_a_cursor_at_one_revision(tell: Tell, method: str) -> None:
    """R10, R11"""

    async def story(stage: Stage) -> None:
        for number in range(5):
            await stage.write(chunk(f"u{number}", turn=f"t{number}"))
        line = await stage.show()
        what: dict[str, Any] = {"sessionId": stage.tab, "size": 2}
        page = await line.get(C + method, **what)
        found = [one["id"] for one in page["records"]]
        while page["hasMore"]:
            stands: dict[str, Any] = {"expectedRevision": page["revision"]}
            page = await line.get(C + method, **what, **stands, cursor=page["cursor"])
            found += [one["id"] for one in page["records"]]
        mark = "u" if method == "messages" else "t"
        assert found == [f"{mark}{number}" for number in (4, 3, 2, 1, 0)]
        assert page["cursor"] == ""
        await stage.write(chunk("u5", turn="t5"))
        why = await line.fault(C + method, **what, expectedRevision=page["revision"])
        assert why == "reconciliation_required"

    tell(story)


def test_a_cursor_is_of_its_conversation_its_question_its_time_and_its_start(tell: Tell) -> None:
    """R10, R11: each other use is refused, and says which way is open."""

    async def story(stage: Stage) -> None:
        await stage.write(chunk("a"), chunk("b"), chunk("c"))
        other = await stage.log.catalogue.create_tab(1)
        line = await stage.show()
        what: dict[str, Any] = {"sessionId": stage.tab, "size": 1}
        page = await line.get(C + "messages", **what)
        stands = {"cursor": page["cursor"], "expectedRevision": page["revision"]}
        for wrong in (
            {"sessionId": other.id},
            {"size": 2},
            {"order": "ascending"},
            {"roles": ["user"]},
            {"cursor": page["cursor"][:-8] + "AAAAAAA="},
            {"cursor": "no cursor"},
        ):
            assert (
                await line.fault(C + "messages", **{**what, **stands, **wrong}) == "invalid_query"
            )
        assert await line.fault(C + "turns", **{**what, **stands}) == "invalid_query"
        assert await line.fault(C + "messages", **what, cursor=stands["cursor"]) == "invalid_query"
        stage.time.now += LIFETIME_SECONDS
        assert await line.fault(C + "messages", **what, **stands) == "cursor_expired"
        fresh = await line.get(C + "messages", **what)
        stands["cursor"] = fresh["cursor"]
        await line.put(b"x" * 2**21)
        await stage.lost()
        stage.plugin.retry()
        line = await stage.ready()
        assert await line.fault(C + "messages", **what, **stands) == "invalid_query"

    tell(story)


def test_it_is_told_what_happens_until_it_wants_no_more(tell: Tell) -> None:
    """R04, R07: prompts and turns as records, what it does not select as an interval."""

    async def story(stage: Stage) -> None:
        line = await stage.show()
        what = {"protocolVersion": 2, "subscription": "s", "sessionId": stage.tab}
        begun = await line.get(C + "subscribe", **what, roles=["user"], turns=True)
        await stage.write(chunk("u"))
        changed = (await line.asked(C + "changed"))["params"]
        batch = changed["batch"]
        assert changed["subscription"] == "s"
        assert (batch["baseRevision"], batch["epoch"]) == (begun["revision"], begun["epoch"])
        kinds = [(one["op"], one["record"]["kind"]) for one in batch["operations"]]
        assert kinds == [("upsert", "message"), ("upsert", "turn")]
        stage.time.advance(1)
        await stage.write(chunk("r", ToolResult("x", "shell", "no"), role="tool"))
        hidden = (await line.asked(C + "changed"))["params"]["batch"]
        assert (hidden["baseRevision"], hidden["operations"]) == (batch["revision"], [])
        assert await line.get(C + "unsubscribe", subscription="s") == {}
        stage.time.advance(1)
        await stage.write(chunk("v"))
        await line.get(C + "revision", sessionId=stage.tab)
        assert line.unread == []
        assert await line.fault(C + "unsubscribe", subscription="s") == "invalid_query"

    tell(story)


def test_a_check_tells_of_what_no_batch_did_and_the_end_of_a_conversation(tell: Tell) -> None:
    """R12, R14"""

    async def story(stage: Stage) -> None:
        line = await stage.show()
        what = {"protocolVersion": 2, "subscription": "s", "sessionId": stage.tab}
        await line.get(C + "subscribe", **what)
        await stage.session.append([chunk("u")])
        stage.time.advance(CHECK_SECONDS)
        check = (await line.asked(C + "changed"))["params"]
        assert (check["check"], check["revision"]) == (True, "1")
        hide(stage.log, stage.tab)
        stage.time.advance(CHECK_SECONDS)
        terminal = (await line.asked(C + "changed"))["params"]
        assert terminal == {"subscription": "s", "terminal": True, "code": "not_found"}
        assert await line.fault(C + "messages", sessionId=stage.tab) == "not_found"
        assert await line.fault(C + "messages", sessionId="nobody's") == "not_found"

    tell(story)


def test_r12_a_capability_that_is_taken_back_ends_all_that_rests_on_it(tell: Tell) -> None:
    async def story(stage: Stage) -> None:
        line = await stage.show()
        what = {"protocolVersion": 2, "subscription": "s", "sessionId": stage.tab}
        await line.get(C + "subscribe", **what)
        stage.plugin.revoke(READ_MESSAGES)
        terminal = (await line.asked(C + "changed"))["params"]
        assert terminal == {"subscription": "s", "terminal": True, "code": "unauthenticated"}
        await stage.write(chunk("u"))
        for method in ("messages", "turns", "revision"):
            assert await line.fault(C + method, sessionId=stage.tab) == "unauthenticated"
        assert await line.fault(C + "subscribe", **what) == "unauthenticated"
        assert await line.fault("session.list") == "unauthenticated"
        assert line.unread == []

    tell(story)


def test_another_version_gets_an_explicit_answer_and_too_many_subscriptions_too(tell: Tell) -> None:
    async def story(stage: Stage) -> None:
        line = await stage.show()
        what = {"protocolVersion": 3, "subscription": "s", "sessionId": stage.tab}
        answer = await line.call(C + "subscribe", **what)
        assert answer["error"]["data"]["supported"] == [2]
        what["protocolVersion"] = 2
        for number in range(MOST_SUBSCRIPTIONS):
            await line.get(C + "subscribe", **{**what, "subscription": f"s{number}"})
        assert await line.fault(C + "subscribe", **what) == "too_many"

    tell(story)


def test_it_lists_conversations_and_fills_its_panel(tell: Tell) -> None:
    async def story(stage: Stage) -> None:
        line = await stage.show()
        (listed,) = (await line.get("session.list"))["sessions"]
        assert listed["id"] == stage.tab
        rows = [
            {"id": "a", "sort": 1, "title": "one", "place": {"sessionId": stage.tab, "seq": 1}},
            {"id": "b", "sort": 2, "title": "two", "mark": "failed", "time": 5, "durationMs": 7},
        ]
        assert await line.get("panel.update", view=1, rows=rows) == {"isShown": True}
        assert [row.title for row in stage.plugin.rows()] == ["two", "one"]
        await line.get("panel.update", view=1, remove=["b"])
        assert [row.title for row in stage.plugin.rows()] == ["one"]
        for wrong in (
            {"id": "c", "sort": 1},
            {"id": "c", "sort": 1, "title": "x" * 301},
            {"id": "c", "sort": 1, "title": "x", "html": "<b>"},
            {"id": "c", "sort": True, "title": "x"},
            {"id": "c", "sort": 1, "title": "x", "mark": "gold"},
            {"id": "c", "sort": 1, "title": "x", "place": {"sessionId": "s", "seq": 0}},
        ):
            assert await line.fault("panel.update", view=1, rows=[wrong]) == "invalid_query"
        stage.plugin.show(None)
        assert await line.get("panel.update", view=1, rows=rows) == {"isShown": False}
        assert list(stage.plugin.rows()) == []

    tell(story)
