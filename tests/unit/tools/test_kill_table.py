"""Whatever ends a command in the sandbox, nothing of it is left (SPEC U32, PLATFORM.md §4.1)."""

import json
import sys
import time
import uuid
from collections.abc import Iterator

import pytest

from tests.unit.tools.sandboxed import Desk, a_desk, alive

if sys.platform != "linux":
    pytest.skip("the sandbox is of Linux", allow_module_level=True)


@pytest.fixture(params=["me", "nobody"])
def desk(request: pytest.FixtureRequest) -> Iterator[Desk]:
    with a_desk(request.param) as made:
        yield made


def family(tag: str) -> str:
    """Four children, two of them away in sessions of their own and without the mark."""
    named = f"exec -a {tag} sleep 600"
    away = f"setsid env -i /bin/bash -c '{named}'"
    return f"({named}) & {away} & ({away} &); sleep 0.1; echo up; {named}"


def until_gone(tag: str, seconds: float = 5.0) -> None:
    until = time.monotonic() + seconds
    while left := alive(tag):
        assert time.monotonic() < until, f"{len(left)} are left"
        time.sleep(0.02)


def new_tag() -> str:
    return f"nacre-kill-{uuid.uuid4().hex[:12]}"


def test_u32_a_stop_leaves_nothing(desk: Desk) -> None:
    tag = new_tag()
    (outcome,) = desk.run(family(tag), stop=True)
    assert (outcome["stopped"], outcome["stillRunning"]) == (True, False)
    assert not alive(tag)


def test_u32_the_time_limit_leaves_nothing(desk: Desk) -> None:
    tag = new_tag()
    (outcome,) = desk.run(family(tag), timeout=1)
    assert (outcome["timedOut"], outcome["stillRunning"]) == (True, False)
    assert not alive(tag)


def test_u32_nacre_killed_leaves_nothing_within_five_seconds(desk: Desk) -> None:
    tag = new_tag()
    with desk.start(family(tag)) as nacre:
        assert nacre.stdout is not None
        assert json.loads(nacre.stdout.readline()) == {"live": "up\n"}
        # The four and what stands around them; Nacre itself has the tag among its arguments.
        assert len(set(alive(tag)) - {nacre.pid}) >= 4
        nacre.kill()
        nacre.wait()
        until_gone(tag)


def test_u32_what_a_command_leaves_behind_ends_with_nacre(desk: Desk) -> None:
    """F-T01: it goes on after the command, and no longer than the program."""
    tag = new_tag()
    away = f"setsid env -i /bin/bash -c 'exec -a {tag} sleep 600' >/dev/null &"
    with desk.start(f"{away} echo left", f"echo next; exec -a {tag} sleep 600") as nacre:
        assert nacre.stdout is not None
        lines = [json.loads(nacre.stdout.readline()) for _ in range(3)]
        assert lines[1]["stillRunning"]
        assert lines[2] == {"live": "next\n"}
        nacre.kill()
        nacre.wait()
        until_gone(tag)


def test_u32_a_command_that_takes_over_the_sandboxs_first_process_ends_all_the_same(
    desk: Desk,
) -> None:
    """It wipes the mark and would leave the group: what is left to find it is its number."""
    tag = new_tag()
    wipe = (
        "import re; m=[l for l in open('/proc/1/maps') if '[stack]' in l][0].split('-');"
        "a=int(m[0],16); b=int(m[1].split()[0],16); f=open('/proc/1/mem','r+b',0); f.seek(a);"
        "d=f.read(b-a); i=d.rfind(b'NACRE_COMMAND='); f.seek(a+i); f.write(b'x'*60); print('wiped')"
    )
    away = f"setsid env -i /bin/bash -c 'exec -a {tag} sleep 600' &"
    command = f'{away} sleep 0.3; python3 -c "{wipe}"; exec -a {tag} sleep 600'
    with desk.start(command) as nacre:
        assert nacre.stdout is not None
        said = json.loads(nacre.stdout.readline()).get("live", "")
        if said != "wiped\n":
            nacre.kill()
            pytest.skip(f"the first process can't be written here: {said}")
        nacre.kill()
        nacre.wait()
        until_gone(tag)
