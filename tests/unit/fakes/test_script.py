"""Scripts from files, the program, the demonstration, and the rule that requests extend."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from tests.fakes.messages_api import (
    MessagesServer,
    ScriptError,
    assert_extends,
    demo,
    parse,
    reply,
    thinking,
    tool_use,
)
from tests.unit.fakes.asking import TOOL, Json, ask, assistant, call, echoed, result, send, user

pytestmark = pytest.mark.talks_to_the_stand_in("its requests are made up, one by one")

LIST: Json = TOOL | {"name": "list_dir"}


def lines(*items: Json) -> str:
    return "\n".join(json.dumps(item) for item in items)


def recorded(number: int, *blocks: object) -> list[Json]:
    events = reply(*blocks).events  # type: ignore[arg-type]
    return [{"request": number}, *({"after_ms": 1, "event": event} for event in events)]


def test_a_recording_is_played_with_auto_filled_in(tmp_path: Path) -> None:
    file = tmp_path / "script.jsonl"
    file.write_text(
        lines(*recorded(1, thinking("hm"), tool_use("read_file", {"path": "a"}, id="t1")))
        + "\n\n# the second answer\n"
        + lines(*recorded(2, "Done."))
    )
    with MessagesServer(file) as server:
        body = ask(stream=True, tools=[TOOL])
        first = echoed(send(server, body))
        body["messages"] += [first, user(result("t1"))]
        second = echoed(send(server, body))
    assert second["content"] == [{"type": "text", "text": "Done."}]
    assert server.rejected == []


def test_a_script_can_fail_wait_and_cut() -> None:
    source = lines(
        {
            "request": 1,
            "status": 529,
            "error": {"message": "busy"},
            "headers": {"retry-after": "7"},
        },
        {"request": 2, "html": "<p>", "status": 502},
        {"request": 3, "cut_at_byte": 5, "crlf": True, "split": 1},
        {"event": {"type": "ping"}},
        {"request": 4},
        {"raw": ": note\n\n"},
        {"gate": "g"},
        {"silent": 0.001},
        {"event": {"type": "ping"}},
        {"cut": "fin"},
    )
    with MessagesServer(parse(source)) as server:
        busy = send(server, ask())
        assert (busy.status, busy.message, busy.headers["retry-after"]) == (529, "busy", "7")
        assert send(server, ask()).body == b"<p>"
        for _ in range(2):
            server.release("g")
            with pytest.raises(http.client.IncompleteRead):
                send(server, ask(stream=True))


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("{", "line 1: not JSON"),
        ("[]", "line 1: not an object"),
        ('{"gate": "g"}', "line 1: a step before the first"),
        ('{"request": 1}\n{"dance": 1}', "line 2: no event"),
        ('{"request": 1}\n{"event": {}}', "line 2: no event"),
    ],
)
def test_a_bad_script_names_its_line(source: str, complaint: str) -> None:
    with pytest.raises(ScriptError, match=complaint):
        parse(source)


def test_the_demonstration_looks_reads_and_sums_up_by_the_rules() -> None:
    body = ask(user("What is here?"), stream=True, tools=[TOOL, LIST])
    said: list[Json] = []
    with MessagesServer(demo, pace=0) as server:
        for answer in ("src/\nREADME.md\nmain.py", "# Title", "unused"):
            said.append(echoed(send(server, body)))
            calls = [block for block in said[-1]["content"] if block["type"] == "tool_use"]
            if not calls:
                break
            results = [result(block["id"], answer) for block in calls]
            body["messages"] += [said[-1], user(*results)]
        assert server.rejected == []
    names = [block.get("name") for message in said for block in message["content"]]
    assert [name for name in names if name] == ["list_dir", "read_file"]
    assert "# Title" in said[-1]["content"][-1]["text"]


def test_the_demonstration_without_tools_is_text() -> None:
    with MessagesServer(demo, pace=0) as server:
        content = send(server, ask(user("ahoy"))).json["content"]
    assert "ahoy" in content[-1]["text"]


def test_the_program_serves_a_script_and_ends_on_an_interrupt(tmp_path: Path) -> None:
    script, log = tmp_path / "script.jsonl", tmp_path / "log.jsonl"
    script.write_text(lines(*recorded(1, "From the script.")))
    command = [sys.executable, "-m", "tests.fakes.messages_api", "--script", str(script)]
    command += ["--log", str(log), "--invalid-key", "old-key"]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[3],
        env=os.environ | {"PYTHONWARNINGS": "error"},
    ) as program:
        assert program.stdout is not None
        url = program.stdout.readline().strip()
        request = urllib.request.Request(
            f"{url}/v1/messages",
            json.dumps(ask()).encode(),
            {"x-api-key": "my-key", "anthropic-version": "2026-10-21"},
        )
        with urllib.request.urlopen(request, timeout=10) as response:
            said = json.load(response)["content"][0]["text"]
        program.send_signal(signal.SIGINT)
        _, complaints = program.communicate(timeout=10)
    assert (said, program.returncode, complaints) == ("From the script.", 0, "")
    (entry,) = map(json.loads, log.read_text().splitlines())
    assert (entry["number"], entry["status"]) == (1, 200)
    assert "my-key" not in log.read_text()


def test_the_program_names_a_script_it_cannot_read(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.fakes.messages_api", "--script", str(tmp_path / "no")]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[3]
    )
    assert done.returncode == 2
    assert "can't be read" in done.stderr


BEFORE = ask(user("a"), assistant("b", call("t")), user(result("t")), tools=[TOOL], system="s")


def marked(body: Json) -> Json:
    grown = json.loads(json.dumps(body))
    grown["messages"][-1]["content"][-1]["cache_control"] = {"type": "ephemeral"}
    return grown


def test_a_longer_conversation_extends_markers_apart() -> None:
    after = BEFORE | {"messages": [*BEFORE["messages"], assistant("c"), user("d")]}
    assert_extends(marked(BEFORE), marked(after))
    assert_extends(BEFORE, BEFORE)


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"system": "t"}, "system changed"),
        ({"tools": []}, "tools: 0 blocks"),
        ({"tools": [dict(reversed(TOOL.items()))]}, "tools.0 changed"),
        ({"messages": BEFORE["messages"][:2]}, "messages: 3 blocks are fewer"),
        (
            {"messages": [{"role": "user", "content": "a"}, *BEFORE["messages"][1:]]},
            r"messages.0.content.0 changed",
        ),
        (
            {"messages": [*BEFORE["messages"][:2], user(result("t", "gone"))]},
            r"messages.2.content.0 changed",
        ),
    ],
)
def test_a_rewritten_conversation_does_not_extend(change: Json, path: str) -> None:
    with pytest.raises(AssertionError, match=path):
        assert_extends(BEFORE, BEFORE | change)
