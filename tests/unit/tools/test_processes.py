"""The watcher that outlives Nacre for a moment ends what it was told of and nothing else."""

import subprocess
import sys
from pathlib import Path

import pytest

from desktop.tools.processes import WATCHER, Family

if sys.platform == "win32":
    pytest.skip("the watcher is of POSIX", allow_module_level=True)

# `kill` only writes down what it was asked for.
RECORDER = 'kill() { echo "$@" >> "$OUT"; }; sleep() { :; };'


def asked_to_kill(said: str, out: Path) -> list[str]:
    """What the watcher would have killed, had Nacre said this and then gone."""
    out.touch()
    script = RECORDER + WATCHER.replace(
        ") </dev/null >/dev/null 2>&1 &", ") </dev/null 2>/dev/null"
    )
    subprocess.run(
        ["/bin/sh", "-c", script],
        input=said.encode(),
        env={"PATH": "/usr/bin:/bin", "OUT": str(out)},
        check=False,
        timeout=30,
    )
    return out.read_text().splitlines()


@pytest.mark.parametrize(
    "said",
    [
        "",
        "done\n",
        "\n",
        "watch\n",
        "watch 4242\n",
        "watch 4242 \n",
        "watch 4242 NACRE_COMMAND=\n",
        "watch 4242 PATH=x\n",
        "watch 0 NACRE_COMMAND=x\n",
        "watch 1 NACRE_COMMAND=x\n",
        "watch -1 NACRE_COMMAND=x\n",
        "watch x NACRE_COMMAND=x\n",
        "4242 NACRE_COMMAND=x\n",
        "watch 4242 NACRE_COMMAND=x\ndone\n",
        "watch 4242",
    ],
)
def test_u32_a_command_that_never_began_or_is_over_kills_nothing(said: str, tmp_path: Path) -> None:
    assert asked_to_kill(said, tmp_path / "killed") == []


def test_u32_nacre_gone_in_the_middle_ends_the_command_and_only_it(tmp_path: Path) -> None:
    mark = "NACRE_COMMAND=no-process-has-this"
    killed = asked_to_kill(f"watch 4194303 {mark}\n", tmp_path / "killed")
    assert killed == ["-TERM -4194303", "-KILL -4194303"]


def test_a_family_that_never_began_signals_nobody() -> None:
    """Group 0 would be the test's own group: this test would not live to see its end."""
    family = Family("never-began")
    family.end(0.0)
    assert not family.is_alive()
