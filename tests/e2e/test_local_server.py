"""The program with a server of the Messages API on one's own computer, which leaves much out: no
thinking, no cache, no usage, no request id, errors of its own shape (API §4.6).

With the stand-in always; with a real llama.cpp when `NACRE_LOCAL_MODEL_SERVER` says where it is.
How to get one is told in `tests/README.md`.
"""

import contextlib
import json
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.nacre import Home, ended
from tests.fakes.messages_api import MessagesServer
from tests.fakes.sim import plain
from tests.guards import LOCAL_MODEL_SERVER

MODEL = "local-model"
LONG = "A pearl is laid down layer on layer. " * 30
PATIENCE = 240.0  # seconds that a model has to be read, or to say all it wants to


def talks_and_is_stopped(home: Home) -> str:
    """Two turns, one that is stopped in mid-answer, and one after it; gives the conversation."""
    first = home.run("Say hello.", "--model", MODEL)
    assert first.code == 0, first.err
    tab = str(home.rows("select id from tabs")[0]["id"])
    second = home.nacre("run", "--json", "--tab", tab, "And once more.")
    assert second.code == 0, second.err
    process = home.start("run", "--json", "--tab", tab, "Count to a thousand, slowly.")
    assert process.stdout is not None
    for line in process.stdout:
        if json.loads(line)["event"] == "chunk-delta":
            process.send_signal(signal.SIGINT)
            break
    stopped = ended(process)
    assert [one["outcome"] for one in stopped.named("turn-done")] == ["stopped"]
    last = home.nacre("run", "--json", "--tab", tab, "Go on with something else.")
    assert last.code == 0, last.err
    return tab


def check_log(home: Home) -> None:
    """Every turn is there with what was shown, and nothing else was made up."""
    rows = home.rows()
    assert [row["seq"] for row in rows] == list(range(1, len(rows) + 1))
    data = [(row["role"], row["type"], json.loads(row["data_json"])) for row in rows]
    ends = [one["outcome"] for _, _, one in data if one.get("kind") == "turn_end"]
    assert ends == ["done", "done", "stopped", "done"]
    said = [one for role, kind, one in data if (role, kind) == ("assistant", "text")]
    assert len(said) == 4
    assert [bool(one.get("interrupted")) for one in said] == [False, False, True, False]
    assert all(one["text"].strip() for one in said)
    assert not [kind for _, kind, _ in data if kind in ("error", "thinking", "opaque")]
    assert all(one["ended_at"] for one in home.rows("select * from model_requests"))
    assert home.nacre("doctor", "--json").code == 0


def sent(bodies: list[dict[str, Any]]) -> None:
    """Nothing was asked of the server that only the provider itself knows."""
    for body in bodies:
        assert not body.keys() & {"thinking", "output_config", "diagnostics"}
        assert "cache_control" not in json.dumps(body)


@pytest.mark.in_this_process
def test_a_plain_local_server_is_talked_to_stopped_and_gone_on_with(home: Home) -> None:
    script = [
        plain.says("Hello there."),
        plain.says("Hello again."),
        plain.says(LONG).gate_after(9, "mid"),
        plain.says("Gladly."),
    ]
    with MessagesServer(script, plain=True) as server:
        talks_and_is_stopped(replace(home, base_url=server.base_url))
        sent([one.json for one in server.requests])
    check_log(home)


@pytest.mark.in_this_process
def test_a_server_that_is_still_loading_its_model_is_waited_for(home: Home) -> None:
    with MessagesServer([plain.loading(), plain.says("Here.")], plain=True) as server:
        there = replace(home, base_url=server.base_url)
        answered = there.run("Hello?", "--model", MODEL)
    assert answered.code == 0, answered.err
    assert len(server.requests) == 2
    assert [one["text"] for one in answered.named("chunk-delta")]


@pytest.mark.in_this_process
def test_a_conversation_too_long_for_a_local_model_is_told_and_can_go_on(home: Home) -> None:
    with MessagesServer([plain.too_long(), plain.says("Shorter.")], plain=True) as server:
        there = replace(home, base_url=server.base_url)
        refused = there.run("Far too long.", "--model", MODEL)
        assert refused.code == 1
        assert "longer than the model can read" in refused.out + refused.err
        tab = home.rows("select id from tabs")[0]["id"]
        assert there.nacre("run", "--json", "--tab", tab, "Short.").code == 0


@pytest.mark.skipif(
    not LOCAL_MODEL_SERVER,
    reason="NACRE_LOCAL_MODEL_SERVER names no server (tests/README.md tells how to get one)",
)
@pytest.mark.timeout(900)
def test_a_real_local_model_is_talked_to_stopped_and_gone_on_with(home: Home) -> None:
    with local_server(LOCAL_MODEL_SERVER) as base_url:
        talks_and_is_stopped(replace(home, base_url=base_url, seconds=PATIENCE))
    check_log(home)


@contextmanager
def local_server(named: str) -> Generator[str]:
    """The base URL that the variable names, or a server begun from `BINARY:MODEL`."""
    if named.startswith(("http://", "https://")):
        yield named
        return
    binary, _, model = named.partition(":")
    port = _free_port()
    options = ["--host", "127.0.0.1", "--port", str(port), "--jinja", "-c", "16384", "-np", "1"]
    # A small model talks without end: token 2 ends an answer of the one in tests/README.md.
    options += ["--temp", "0", "--logit-bias", "2+4"]
    process = subprocess.Popen(
        [binary, "-m", model, *options, "-t", "2", "--alias", MODEL],
        cwd=Path(binary).parent,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait_for(f"http://127.0.0.1:{port}/health", process)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(10)


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def _wait_for(url: str, process: "subprocess.Popen[bytes]") -> None:
    """Until the model is read; there is nothing else to wait on."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        assert process.poll() is None, "the server ended"
        with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=5):
            return
        time.sleep(0.2)
    raise AssertionError(f"the model was not read within {PATIENCE} s")
