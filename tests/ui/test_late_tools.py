"""A tool server that is added while a conversation goes on: seen, told with its price, taken."""

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest
from PySide6.QtWidgets import QLabel, QLineEdit, QPlainTextEdit, QToolButton

from desktop.ui.tools_line import ToolsLine
from tests.e2e.nacre import Home
from tests.fakes.messages_api import (
    MessagesServer,
    Received,
    assert_extends,
    reply,
    text,
    thinking,
    tool_use,
)
from tests.ui.conftest import Enter
from tests.ui.program import Person

pytestmark = pytest.mark.timeout(300)
PLAIN = Path(__file__).parents[1] / "fakes" / "plain_tool_server.py"
ECHO = "mcp__late__echo"


def add_server(person: Person, name: str, *arguments: str) -> None:
    """Settings → Tool servers → Add: typed, tried and kept as a person does it."""
    person.do("settings")
    person.wait(lambda: person.shows("settingsDialog"))
    person.choose_section("Tool servers")
    person.wait(lambda: person.shows("noToolServers"))
    person.click("addToolServer")
    person.wait(lambda: person.shows("serverForm"))
    line = shlex.join([sys.executable, str(PLAIN), *arguments])
    person.now(lambda: person.part(QLineEdit, "serverFormName").setText(name))
    person.now(lambda: person.part(QPlainTextEdit, "serverFormCommand").setPlainText(line))
    person.click("serverFormTest")
    person.wait(lambda: "It works, and offers 1 tool: echo" in words(person, "serverFormOutcome"))
    person.click("serverFormSave")
    person.wait(lambda: words(person, "serverState") == "Connected, 1 tool")


def words(person: Person, name: str) -> str:
    return "\n".join(one.text().replace("\u200b", "") for one in person.parts(QLabel, name))


def offered(request: Received) -> list[str]:
    return [tool["name"] for tool in request.json["tools"]]


def causes(home: Home) -> list[Any]:
    """Why the cache was missed, by request."""
    rows = home.rows("select cache_json from model_requests order by started_at, id")
    found = (json.loads(row["cache_json"] or "{}").get("miss") for row in rows)
    return [one and one["cause"] for one in found]


def test_u25_a_late_server_joins_when_the_person_accepts_the_price(
    home: Home, enter: Enter
) -> None:
    """DESIGN §6, API C36, V38, SPEC U25, U32: until then requests extend each other; then its tools
    are there, thinking that was bound to the old ones is left out, and the miss is named."""
    script = [
        reply(thinking("one"), text("First.")),
        reply(thinking("two"), text("Second.")),
        reply(thinking("three"), tool_use(ECHO, {"text": "over there"}), stop_reason="tool_use"),
        reply(thinking("four"), text("Third.")),
        reply(thinking("five"), text("Fourth.")),
    ]
    with MessagesServer(script) as server:
        server.may_rewrite("the person chose other tools, which stand before everything")
        person = enter(server)
        tab_id = person.begin("one")
        person.wait(lambda: person.reads("First.") and person.idle())
        add_server(person, "late", "ok")
        person.click("serverRestart")
        person.wait(lambda: words(person, "serverState") == "Connected, 1 tool")
        person.close_dialog("settingsDialog")
        person.wait(lambda: "New tools are there (late: 1 tool)." in words(person, "toolsLineText"))
        person.say("two")
        person.wait(lambda: person.reads("Second.") and person.idle())
        assert "tokens, " in words(person, "toolsLineText")
        assert "$" in words(person, "toolsLineText")
        person.click("toolsLineAct")
        person.wait(lambda: person.reads("with the tools that are there now"))
        person.wait(lambda: not person.shows("toolsLine"))
        person.choose("modeChoice", "auto")
        person.say("three")
        person.wait(lambda: person.reads("Third.") and person.idle())
        children = [
            one
            for one in psutil.Process().children(recursive=True)
            if str(PLAIN) in " ".join(one.cmdline())
        ]
        assert children
        assert person.leave() == 0
        _, alive = psutil.wait_procs(children, timeout=20)
        assert alive == []
        again = enter(server)
        again.wait(lambda: tab_id in again.tab_ids())
        again.go_to(tab_id)
        again.say("four")
        again.wait(lambda: again.reads("Fourth.") and again.idle())
        assert not again.shows("toolsLine")
        assert again.leave() == 0
    assert server.rejected == []
    requests = server.requests
    assert [ECHO in offered(one) for one in requests] == [False, False, True, True, True]
    for earlier, later in ((0, 1), (2, 3), (3, 4)):
        assert_extends(requests[earlier].json, requests[later].json)
    assert causes(home) == [None, None, "tools", None, None]


def test_the_line_of_new_tools_stays_away_once_it_was_closed(home: Home, enter: Enter) -> None:
    with MessagesServer([reply("First."), reply("Second.")]) as server:
        person = enter(server)
        person.begin("one")
        person.wait(lambda: person.reads("First.") and person.idle())
        add_server(person, "late", "grows", str(home.root / "grown"))
        person.close_dialog("settingsDialog")
        person.wait(lambda: person.shows("toolsLine"))
        close = person.part(ToolsLine, "toolsLine").findChild(QToolButton)
        assert close is not None
        person.click_on(close)
        person.say("two")
        person.wait(lambda: person.reads("Second.") and person.idle())
        assert not person.shows("toolsLine")
        assert person.leave() == 0
