"""Whether there is a sandbox, what a person is told where there is none, and what asks when."""

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from desktop.core.permissions import Act, Rule, judge
from desktop.core.tools import Scene, Tool
from desktop.tools import rules
from desktop.tools.builtin.shell import Shell
from desktop.tools.sandbox import Sandbox, find_program
from desktop.tools.sandbox_ways import way_out

if sys.platform != "linux":
    pytest.skip("the sandbox is of Linux", allow_module_level=True)


def program(folder: Path, text: str) -> Callable[[], str]:
    """A bubblewrap that does what the script says."""
    file = folder / "bwrap"
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)
    return lambda: str(file)


def with_one(folder: Path) -> Sandbox:
    return Sandbox(environment=os.environ, find=program(folder, "exit 0"))


def without_one() -> Sandbox:
    return Sandbox(environment=os.environ, find=lambda: None)


def test_a_machine_without_the_program_is_told_how_to_get_it() -> None:
    state = Sandbox(environment={"PATH": "/nowhere"}).state_now()
    assert not state.is_sandboxed
    assert state.why == "The sandbox's program, bubblewrap, is not installed."
    assert "bubblewrap" in state.way_out


def test_a_program_that_fails_is_no_sandbox_and_its_words_are_told(tmp_path: Path) -> None:
    failing = program(tmp_path, "echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1")
    state = Sandbox(environment=os.environ, find=failing).state_now()
    assert not state.is_sandboxed
    assert state.why == "The sandbox can't be made here: setting up uid map: Permission denied."
    assert state.way_out


def test_a_program_that_hangs_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("desktop.tools.sandbox.PROBE_SECONDS", 0.2)
    hanging = program(tmp_path, "exec sleep 60")
    state = Sandbox(environment=os.environ, find=hanging).state_now()
    assert "did not answer within 0.2 seconds" in state.why


def test_it_is_tried_once(tmp_path: Path) -> None:
    counted = program(tmp_path, f"echo x >> {tmp_path}/count")
    sandbox = Sandbox(environment=os.environ, find=counted)

    async def ask() -> None:
        await asyncio.gather(*(sandbox.state() for _ in range(5)))

    asyncio.run(ask())
    assert (tmp_path / "count").read_text() == "x\n"


def test_a_program_that_a_command_could_have_put_there_is_not_taken(tmp_path: Path) -> None:
    """It runs outside of every sandbox, so it has to belong to the system."""
    if os.getuid() != 0:
        assert find_program(str(Path(program(tmp_path, "")()).parent)) is None
        return
    file = Path(program(tmp_path, "")())
    os.chown(file, 65534, -1)
    assert find_program(str(tmp_path)) is None


@pytest.mark.parametrize(
    ("release", "word"),
    [
        ("ID=debian\n", "apt install bubblewrap"),
        ('ID="linuxmint"\nID_LIKE="ubuntu debian"\n', "apt install bubblewrap"),
        ("ID=fedora\n", "dnf install bubblewrap"),
        ("ID=arch\n", "pacman -S bubblewrap"),
        ("ID=opensuse-leap\nID_LIKE='suse opensuse'\n", "zypper install bubblewrap"),
        ("", "Install bubblewrap"),
        ("nonsense", "Install bubblewrap"),
    ],
)
def test_the_way_out_names_the_distributions_own(release: str, word: str) -> None:
    assert word in way_out("", release=release)


@pytest.mark.parametrize(
    ("knob", "value", "word"),
    [
        ("kernel/apparmor_restrict_unprivileged_userns", "1", "bwrap-userns-restrict"),
        ("kernel/unprivileged_userns_clone", "0", "unprivileged_userns_clone=1"),
        ("user/max_user_namespaces", "0", "max_user_namespaces"),
        ("other", "0", "container"),
    ],
)
def test_the_way_out_of_a_refusal_is_what_refuses(
    knob: str, value: str, word: str, tmp_path: Path
) -> None:
    file = tmp_path / knob
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{value}\n")
    said = "loopback: Failed RTM_NEWADDR: Operation not permitted"
    assert word in way_out(said, knobs=tmp_path)


def act_of(shell: Tool, scene: Scene, command: str, **more: object) -> Act:
    return asyncio.run(shell.prepare({"command": command, **more}, scene))


def test_a_command_in_the_sandbox_says_what_it_could_do(scene: Scene, tmp_path: Path) -> None:
    act = act_of(Shell(with_one(tmp_path)), scene, "pytest -q")
    assert (act.confined, act.caution, act.network) == (True, "", False)
    assert act.writes == (str(scene.workspace),)
    assert act.sentence == "Run a command"
    assert act.offer == "pytest -q"


def test_the_network_is_a_question_of_its_own(scene: Scene, tmp_path: Path) -> None:
    shell = Shell(with_one(tmp_path))
    plain = act_of(shell, scene, "pytest -q")
    act = act_of(shell, scene, "pytest -q", network=True)
    assert act.network
    assert act.sentence == "Run a command with the network"
    assert not set(act.coverable_by) & set(plain.coverable_by)
    assert rules.words("shell", act.offer) == (
        "Run commands that start with `pytest -q`, with the network"
    )
    kept = frozenset({Rule(1, "shell", plain.offer)})
    assert judge(plain, mode="ask", rules=kept, workspace_id=1) == "allow"
    assert judge(act, mode="ask", rules=kept, workspace_id=1) == "ask"
    other = frozenset({Rule(1, "shell", act.offer)})
    assert judge(act, mode="ask", rules=other, workspace_id=1) == "allow"
    assert judge(plain, mode="ask", rules=other, workspace_id=1) == "ask"


@pytest.mark.parametrize("command", ["&network ls", "'&network' ls", "&network =ls", "=ls"])
def test_no_command_reads_as_a_rule_with_the_network(
    command: str, scene: Scene, tmp_path: Path
) -> None:
    shell = Shell(with_one(tmp_path))
    with_network = set(act_of(shell, scene, "ls", network=True).coverable_by)
    assert not set(act_of(shell, scene, command).coverable_by) & with_network


def test_without_a_sandbox_every_command_is_asked_for(scene: Scene) -> None:
    """PLATFORM.md §4.3.1: no kept answer counts, and none is offered."""
    act = act_of(Shell(without_one()), scene, "ls")
    assert (act.confined, act.network, act.writes) == (False, True, ("",))
    assert (act.coverable_by, act.offer) == ((), "")
    assert "bubblewrap, is not installed" in act.caution
    kept = frozenset({Rule(1, "shell", "ls"), Rule(1, "shell", "=ls")})
    assert judge(act, mode="ask", rules=kept, workspace_id=1) == "ask"
    assert judge(act, mode="accept-edits", rules=kept, workspace_id=1) == "ask"
    assert judge(act, mode="auto", rules=kept, workspace_id=1) == "allow"
    assert judge(act, mode="read-only", rules=kept, workspace_id=1) == "refuse"


def test_a_sandbox_that_breaks_later_runs_nothing(scene: Scene, tmp_path: Path) -> None:
    fails = program(tmp_path, 'case "$*" in *true) exit 0;; esac; echo "bwrap: no" >&2; exit 1')
    shell = Shell(Sandbox(environment=os.environ, find=fails))

    async def use() -> str:
        act = await shell.prepare({"command": "touch ran"}, scene)
        outcome = await shell.run(act, scene, lambda _: None)
        assert outcome.is_error
        return outcome.text

    text = asyncio.run(use())
    assert "The sandbox could not be made, so the command was not run." in text
    assert not (scene.workspace / "ran").exists()
