"""What a plugin can reach, and where it can lead to: conversations in use, and only when asked."""

import sys
from typing import Any

import pytest

from desktop.core.errors import InBin
from desktop.core.panels import PanelChoice
from desktop.plugins.limits import LEAVE_SECONDS, MOST_SUBSCRIPTIONS
from desktop.plugins.manifest import READ_MESSAGES
from tests.unit.plugins.hosts import Line, Stage, Tell, until
from tests.unit.store.builders import chunk, hide

if sys.platform == "win32":
    pytest.skip("the plain plugin listens to a Unix socket", allow_module_level=True)

C = "session.conversation."


def asked(session: str) -> list[tuple[str, dict[str, Any]]]:
    """Every call that names a conversation."""
    subscription = {"protocolVersion": 2, "subscription": "x", "sessionId": session}
    return [
        (C + "messages", {"sessionId": session}),
        (C + "turns", {"sessionId": session}),
        (C + "revision", {"sessionId": session}),
        (C + "subscribe", subscription),
        ("session.list", {"beside": session}),
        ("host.navigate", {"sessionId": session, "seq": 1}),
    ]


async def answers(stage: Stage, line: Line, session: str) -> list[Any]:
    """What each is answered with, but for the number of the call."""
    found: list[Any] = []
    for method, params in asked(session):
        if method == "host.navigate":
            await let_open(stage, line)
        answer = await line.call(method, **params)
        found.append({key: value for key, value in answer.items() if key != "id"})
    return found


async def let_open(stage: Stage, line: Line) -> None:
    """The person chooses a row of the plugin's own."""
    row = {"id": "own", "sort": 1, "title": "a row without a place"}
    await line.get("panel.update", view=1, rows=[row])
    stage.plugin.open(stage.plugin.rows()[0])
    assert (await line.asked("panel.opened"))["params"] == {"view": 1, "id": "own"}


def test_r12_what_is_in_the_bin_or_purged_is_answered_as_what_never_was(tell: Tell) -> None:
    async def story(stage: Stage) -> None:
        await stage.write(chunk("u", "S3CRET"))
        catalogue = stage.log.catalogue
        binned, purged = stage.tab, (await catalogue.create_tab(1)).id
        line = await stage.show()
        assert all("result" in one for one in await answers(stage, line, binned))
        assert stage.went == [(binned, 1)]
        await line.get(C + "unsubscribe", subscription="x")
        await catalogue.trash_tab(binned)
        await catalogue.trash_tab(purged)
        hide(stage.log, purged)
        never = await answers(stage, line, "00000000-0000-4000-8000-000000000000")
        assert [one["error"]["data"]["code"] for one in never] == ["not_found"] * 6
        assert await answers(stage, line, binned) == never
        assert await answers(stage, line, purged) == never
        assert stage.went == [(binned, 1)]
        await catalogue.restore_tab(binned)
        assert all("result" in one for one in await answers(stage, line, binned))

    tell(story)


def test_r12_a_conversation_that_goes_into_the_bin_ends_its_subscription(tell: Tell) -> None:
    async def story(stage: Stage) -> None:
        line = await stage.show()
        what = {"protocolVersion": 2, "subscription": "s", "sessionId": stage.tab}
        await line.get(C + "subscribe", **what)
        await stage.log.catalogue.trash_tab(stage.tab)
        stage.time.advance(5)
        changed = (await line.asked(C + "changed"))["params"]
        assert changed == {"subscription": "s", "terminal": True, "code": "not_found"}

    tell(story)


def test_r10_a_cursor_of_another_conversation_or_list_is_refused(tell: Tell) -> None:
    async def story(stage: Stage) -> None:
        for id_ in "abc":
            await stage.write(chunk(id_))
        others = [(await stage.log.catalogue.create_tab(1)).id for _ in range(3)]
        line = await stage.show()
        page = await line.get(C + "messages", sessionId=stage.tab, size=1)
        used = {"cursor": page["cursor"], "expectedRevision": page["revision"], "size": 1}
        for id_ in others:
            assert await line.fault(C + "messages", sessionId=id_, **used) == "invalid_query"
        assert await line.fault("session.list", size=1, cursor=page["cursor"]) == "invalid_query"
        listed = await line.get("session.list", size=1)
        wrong = {"cursor": listed["cursor"], "size": 1}
        assert await line.fault("session.list", beside=stage.tab, **wrong) == "invalid_query"
        wrong |= {"sessionId": stage.tab, "expectedRevision": page["revision"]}
        assert await line.fault(C + "messages", **wrong) == "invalid_query"

    tell(story)


def test_the_conversations_of_a_workspace_come_page_by_page_each_once(tell: Tell) -> None:
    """R11: most of them were begun in the same millisecond."""

    async def story(stage: Stage) -> None:
        catalogue = stage.log.catalogue
        (stage.place.parent / "elsewhere").mkdir()
        elsewhere = await catalogue.open_workspace(stage.place.parent / "elsewhere")
        other = (await catalogue.create_tab(elsewhere.id)).id
        mine = {stage.tab, *[(await catalogue.create_tab(1)).id for _ in range(7)]}
        put_away = (await catalogue.create_tab(1)).id
        await catalogue.trash_tab(put_away)
        line = await stage.show()
        page = await line.get("session.list", beside=stage.tab, size=3)
        found = [one["id"] for one in page["sessions"]]
        while page["hasMore"]:
            more = {"size": 3, "cursor": page["cursor"]}
            page = await line.get("session.list", beside=stage.tab, **more)
            found += [one["id"] for one in page["sessions"]]
        assert (len(found), set(found)) == (8, mine)
        everywhere = (await line.get("session.list"))["sessions"]
        assert {one["id"] for one in everywhere} == {*mine, other}
        assert set(everywhere[0]) == {"id", "title", "lastMessageAt"}

    tell(story)


def test_a_plugin_leads_the_person_only_where_the_person_asked_for_it_and_once(tell: Tell) -> None:
    async def story(stage: Stage) -> None:
        await stage.write(chunk("u"))
        line = await stage.show()
        there = {"sessionId": stage.tab, "seq": 1}
        assert await line.fault("host.navigate", **there) == "not_asked"
        await let_open(stage, line)
        assert await line.get("host.navigate", **there) == {}
        assert await line.fault("host.navigate", **there) == "not_asked"
        await let_open(stage, line)
        stage.time.now += LEAVE_SECONDS
        assert await line.fault("host.navigate", **there) == "not_asked"
        await let_open(stage, line)
        for wrong in ({"seq": 0}, {"seq": "1"}, {"sessionId": ""}, {"more": 1}):
            assert await line.fault("host.navigate", **{**there, **wrong}) == "invalid_query"
        stage.plugin.revoke(READ_MESSAGES)
        assert await line.fault("host.navigate", **there) == "unauthenticated"
        assert stage.went == [(stage.tab, 1)]

    tell(story)


def test_a_row_leads_to_its_place_in_any_conversation_that_may_be_read(tell: Tell) -> None:
    async def story(stage: Stage) -> None:
        other = (await stage.log.catalogue.create_tab(1)).id
        line = await stage.show()
        row = {"id": "r", "sort": 1, "title": "one", "place": {"sessionId": other, "seq": 3}}
        await line.get("panel.update", view=1, rows=[row])
        stage.plugin.open(stage.plugin.rows()[0])
        await until(lambda: stage.went == [(other, 3)])
        await stage.log.catalogue.trash_tab(other)
        stage.plugin.open(stage.plugin.rows()[0])
        await until(lambda: bool(stage.told))
        assert stage.told == ["The conversation that this row leads to is not there any more."]
        assert len(stage.went) == 1

    tell(story)


def test_a_place_that_is_gone_when_one_gets_there_is_not_found(tell: Tell) -> None:
    async def story(stage: Stage) -> None:
        line = await stage.show()
        await let_open(stage, line)
        stage.refusal = InBin(stage.tab)
        assert await line.fault("host.navigate", sessionId=stage.tab, seq=1) == "not_found"

    tell(story)


def test_the_person_switches_between_the_ways_to_fill_the_panel(tell: Tell) -> None:
    async def story(stage: Stage) -> None:
        line = await stage.show()
        ways = [{"id": "a", "title": "Here"}, {"id": "b", "title": "Everywhere"}]
        row = {"id": "r", "sort": 1, "title": "one"}
        await line.get("panel.update", view=1, choices=ways, rows=[row])
        assert stage.plugin.choices == (PanelChoice("a", "Here"), PanelChoice("b", "Everywhere"))
        assert stage.plugin.chosen == "a"
        stage.plugin.choose("nothing of it")
        stage.plugin.choose("b")
        assert not stage.plugin.rows()
        shown = await line.answer("panel.show", {})
        assert shown == {"sessionId": stage.tab, "view": 2, "choice": "b"}
        await line.get("panel.update", view=2, choices=ways)
        assert stage.plugin.chosen == "b"
        for wrong in (
            ways[:1],
            [*ways, ways[0]],
            [{"id": str(number), "title": "x"} for number in range(5)],
            [{"id": "a", "title": "x" * 61}, ways[1]],
            "ab",
        ):
            assert await line.fault("panel.update", view=2, choices=wrong) == "invalid_query"
        await line.get("panel.update", view=2, choices=[])
        assert (stage.plugin.choices, stage.plugin.chosen) == ((), "")

    tell(story)


def test_a_plugin_that_is_loaded_anew_begins_another_generation_where_it_is_seen(
    tell: Tell,
) -> None:
    async def story(stage: Stage) -> None:
        await stage.write(chunk("a"), chunk("b"))
        line = await stage.show()
        page = await line.get(C + "messages", sessionId=stage.tab, size=1)
        stage.plugin.reload()
        line = await stage.started()
        greeting = await line.answer("host.initialize", {"protocolVersion": 2})
        assert greeting["plugin"]["generation"] == 2
        await line.answer("panel.show", {})
        used = {"cursor": page["cursor"], "expectedRevision": page["revision"], "size": 1}
        assert await line.fault(C + "messages", sessionId=stage.tab, **used) == "invalid_query"
        stage.plugin.show(None)
        stage.plugin.reload()
        assert stage.plugin.state.phase == "off"

    tell(story)


def test_what_another_process_wrote_is_told_at_the_look_that_found_it(tell: Tell) -> None:
    """Not at the check of every five seconds, and no older revision than was told."""

    async def story(stage: Stage) -> None:
        line = await stage.show()
        what = {"protocolVersion": 2, "subscription": "s", "sessionId": stage.tab}
        await line.get(C + "subscribe", **what)
        assert stage.hub.followed == (stage.tab,)
        stage.time.advance(5)  # a check that finds nothing new says nothing
        await stage.write(chunk("a"))
        assert (await line.asked(C + "changed"))["params"]["batch"]["revision"] == "1"
        known = stage.hub.known()
        stage.hub.revision_found(stage.tab, 1, known)
        stage.hub.revision_found(stage.tab, 0, known)
        await stage.session.append([chunk("b")])
        stage.hub.revision_found(stage.tab, 2, known)
        check = (await line.asked(C + "changed"))["params"]
        assert (check["check"], check["revision"]) == (True, "2")
        await line.get(C + "unsubscribe", subscription="s")
        assert stage.hub.followed == ()
        assert line.unread == []

    tell(story)


def test_r12_a_read_that_was_on_its_way_when_the_right_was_taken_back_is_not_answered(
    tell: Tell,
) -> None:
    async def story(stage: Stage) -> None:
        line = await stage.show()
        stage.gate.clear()
        call = {"jsonrpc": "2.0", "id": 9, "method": "session.list", "params": {}}
        await line.say(call)
        await line.get("panel.update", view=1)  # it was heard before this one
        stage.plugin.revoke(READ_MESSAGES)
        stage.gate.set()
        answer = await line.hear(lambda one: one.get("id") == 9)
        assert answer["error"]["data"]["code"] == "unauthenticated"

    tell(story)


def test_all_subscriptions_may_end_in_one_moment(tell: Tell) -> None:
    """They are told of their ends, and that is not too much for a plugin that reads."""

    async def story(stage: Stage) -> None:
        line = await stage.show()
        names = {f"s{number}" for number in range(MOST_SUBSCRIPTIONS)}
        for name in names:
            what = {"protocolVersion": 2, "subscription": name, "sessionId": stage.tab}
            await line.get(C + "subscribe", **what)
        stage.plugin.revoke(READ_MESSAGES)
        ends = [(await line.asked(C + "changed"))["params"] for _ in names]
        assert {one["subscription"] for one in ends if one["terminal"]} == names
        assert stage.plugin.state.phase == "ready"

    tell(story)
