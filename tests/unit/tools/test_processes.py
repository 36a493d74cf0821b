"""The watcher that outlives Nacre for a moment ends what it was told of and nothing else."""

import subprocess
import sys
import uuid
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from desktop.tools.family import WATCHER, Family
from desktop.tools.sandbox_root import Root, look

if sys.platform == "win32":
    pytest.skip("the watcher is of POSIX", allow_module_level=True)

linux = pytest.mark.skipif(sys.platform != "linux", reason="what is found by /proc")

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
        "mark\n",
        "mark NACRE_COMMAND=\n",
        "mark NACRE_COMMAND=no-process-has-this\n",
        "mark NACRE_COMMAND=x\ndone\n",
        "mark NACRE_COMMAND=x\nwatch 4242 NACRE_COMMAND=x\nroot 1 5\n",
        "mark NACRE_COMMAND=x\nwatch 4242 NACRE_COMMAND=x\nroot 4242 5\ndone\n",
        "root 4242 5\n",
    ],
)
def test_u32_a_command_that_never_began_or_is_over_kills_nothing(said: str, tmp_path: Path) -> None:
    assert asked_to_kill(said, tmp_path / "killed") == []


def test_u32_nacre_gone_in_the_middle_ends_the_command_and_only_it(tmp_path: Path) -> None:
    mark = "NACRE_COMMAND=no-process-has-this"
    killed = asked_to_kill(f"watch 4194303 {mark}\n", tmp_path / "killed")
    assert killed == ["-TERM -4194303", "-KILL -4194303"]


@contextmanager
def sleeping(mark: str) -> Generator["subprocess.Popen[bytes]"]:
    with subprocess.Popen(["sleep", "60"], env={"NACRE_COMMAND": mark}) as process:
        try:
            yield process
        finally:
            process.kill()


@linux
def test_u32_nacre_gone_before_it_could_name_the_group_ends_what_has_the_mark(
    tmp_path: Path,
) -> None:
    mark = uuid.uuid4().hex
    with sleeping(mark) as one:
        # Until the program is there, the process is still a picture of this one.
        while look(one.pid)[0] == "" or mark not in environment_of(one.pid):
            pass
        killed = asked_to_kill(f"mark NACRE_COMMAND={mark}\n", tmp_path / "killed")
    assert killed == [f"-TERM {one.pid}", f"-KILL {one.pid}", f"-KILL {one.pid}"]


def environment_of(pid: int) -> str:
    return Path(f"/proc/{pid}/environ").read_text("utf-8", "replace")


@linux
def test_u32_the_first_process_of_a_sandbox_is_ended_and_no_other_of_its_number(
    tmp_path: Path,
) -> None:
    said = "mark NACRE_COMMAND=none\nwatch 4194303 NACRE_COMMAND=none\nroot {} {}\n"
    with sleeping("another") as one:
        born = look(one.pid)[1]
        killed = asked_to_kill(said.format(one.pid, born), tmp_path / "killed")
        assert f"-KILL {one.pid}" in killed
        killed = asked_to_kill(said.format(one.pid, int(born) + 1), tmp_path / "others")
        assert f"-KILL {one.pid}" not in killed
        other = Root(one.pid, str(int(born) + 1))
        assert not other.is_alive()
        other.kill()
        assert one.poll() is None
        Root(one.pid, born).kill()
        assert one.wait() == -9


def test_a_family_that_never_began_signals_nobody() -> None:
    """Group 0 would be the test's own group: this test would not live to see its end."""
    family = Family("never-began")
    family.end(0.0)
    assert not family.is_alive()
