"""Commands end, their output is bounded, nothing stays (FIELD F-T01, F-T09, SPEC U06, U32)."""

import asyncio
import gc
import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from desktop.core.errors import ToolFailed
from desktop.core.growing import Growing
from desktop.core.permissions import Act
from desktop.core.printed import Growth, Printed, Span
from desktop.core.tools import Scene, Stopped, ToolOutcome
from desktop.tools.builtin.shell import Shell
from desktop.tools.family import Family
from desktop.tools.live import Live
from desktop.tools.processes import LINGER, TERM_GRACE
from tests.unit.tools.conftest import OWNER, prepare_and_run

LONG = 15.0  # seconds: more than a busy machine takes, less than the limit of a call

pytestmark = pytest.mark.skipif(os.name != "posix", reason="bash")


Marked = Callable[[], list[int]]


@pytest.fixture
def marked(tmp_path: Path) -> Marked:
    """Gives the living processes that a command of this test started."""

    def find() -> list[int]:
        return [one.pid for one in psutil.process_iter() if _belongs_to(one, tmp_path)]

    return find


def _belongs_to(process: psutil.Process, folder: Path) -> bool:
    try:
        environment = process.environ()
    except psutil.Error:
        return False
    return "NACRE_COMMAND" in environment and environment.get(OWNER) == str(folder)


@pytest.fixture
def shell(marked: Marked) -> Iterator[Shell]:
    tool = Shell()
    yield tool
    asyncio.run(tool.close())
    wait_until(lambda: not marked())
    wait_until(lambda: not threads_of_commands())
    gc.collect()


def wait_until(condition: Callable[[], bool], seconds: float = 5.0) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not happen in time"
        time.sleep(0.02)


def zombies() -> list[int]:
    return [one.pid for one in psutil.Process().children() if one.status() == psutil.STATUS_ZOMBIE]


def threads_of_commands() -> list[str]:
    return [one.name for one in threading.enumerate() if one.name.startswith(("command", "tool"))]


Use = Callable[..., ToolOutcome]


def facts(outcome: ToolOutcome, *names: str) -> tuple[object, ...]:
    assert outcome.shell is not None
    return tuple(outcome.shell[name] for name in names)


def test_a_command_runs_in_the_workspace_and_gives_its_output(
    use: Use, shell: Shell, workspace: Path
) -> None:
    outcome = use(shell, command="pwd; echo oops >&2")
    assert outcome.text == f"{workspace}\noops\n"
    assert not outcome.is_error
    assert facts(outcome, "exitCode", "timedOut", "stopped", "stillRunning", "bytes") == (
        0,
        False,
        False,
        False,
        len(outcome.text),
    )


def test_a_failure_says_its_exit_code(use: Use, shell: Shell) -> None:
    outcome = use(shell, command="echo no; exit 3")
    assert (outcome.text, outcome.is_error) == ("no\n[Exit code 3.]", True)


def test_a_death_by_a_signal_is_told(use: Use, shell: Shell) -> None:
    outcome = use(shell, command="kill -9 $$")
    assert outcome.text == "[no output]\n[Ended by signal 9.]"
    assert facts(outcome, "exitCode") == (137,)


@pytest.mark.parametrize(
    ("command", "printed"),
    [
        ("sleep 600 & echo done", "done\n"),
        ("(while :; do echo x; sleep .1; done) & echo ok", "ok\n"),
        ("yes & echo ok", "ok"),
        ("setsid sleep 600 >/dev/null &", ""),
        (f"{sys.executable} -m http.server 0 & sleep 0.3; echo ok", "ok\n"),
        ("nohup sleep 600 & disown; echo ok", "ok\n"),
    ],
)
def test_a_background_child_does_not_keep_the_call(
    use: Use, shell: Shell, command: str, printed: str, marked: Marked
) -> None:
    """F-T01: back within two seconds of the shell's exit, with a word about what goes on."""
    started = time.monotonic()
    outcome = use(shell, command=command)
    assert time.monotonic() - started < LONG
    assert printed in outcome.text
    assert outcome.text.endswith("[A process that it started goes on in the background.]")
    assert facts(outcome, "stillRunning", "exitCode") == (True, 0)
    assert marked()
    assert use(shell, command="echo next").text == "next\n"
    assert not zombies()


@pytest.mark.parametrize(
    "command",
    [
        "cat",
        "read x",
        "sudo -k true",
        "git init -q r && cd r && git -c user.name=a -c user.email=b commit --allow-empty",
        "ssh -o ConnectTimeout=1 nosuchhost.invalid",
        "python3",
        "less /etc/passwd",
    ],
)
def test_whoever_waits_for_input_gets_its_end_at_once(use: Use, shell: Shell, command: str) -> None:
    outcome = use(shell, command=command)
    assert facts(outcome, "timedOut", "stillRunning") == (False, False)


def test_what_goes_on_in_the_background_may_go_on_printing(
    use: Use, shell: Shell, workspace: Path
) -> None:
    """A server must not die of its next log line because nobody listens any more."""
    use(
        shell,
        command="(sleep 0.8; for i in 1 2 3; do echo x; sleep 0.1; done; echo $? > late) & echo ok",
    )
    wait_until(lambda: (workspace / "late").exists() and (workspace / "late").read_text() == "0\n")


def test_the_limit_ends_everything_that_the_command_started(
    use: Use, shell: Shell, marked: Marked
) -> None:
    started = time.monotonic()
    outcome = use(
        shell,
        command="echo before; sleep 601 & setsid sleep 602 & (setsid sleep 603 &) ; sleep 604",
        timeout=1,
    )
    assert time.monotonic() - started < LONG
    assert outcome.text == "before\n[Ended: it ran longer than its limit of 1 seconds.]"
    assert facts(outcome, "timedOut", "stillRunning") == (True, False)
    assert not marked()
    assert not zombies()


def test_a_command_that_ignores_the_polite_signal_is_killed(
    use: Use, shell: Shell, marked: Marked
) -> None:
    started = time.monotonic()
    outcome = use(shell, command="trap '' TERM; while :; do sleep 0.1; done", timeout=1)
    assert 3.5 < time.monotonic() - started < LONG
    assert facts(outcome, "exitCode", "timedOut") == (137, True)
    assert not marked()


def test_children_without_the_mark_are_found_by_their_group(use: Use, shell: Shell) -> None:
    outcome = use(shell, command="env -i sleep 605 & echo $!; sleep 606", timeout=1)
    assert facts(outcome, "timedOut") == (True,)
    child = int(outcome.text.split()[0])
    wait_until(lambda: not psutil.pid_exists(child))


@pytest.mark.parametrize(
    "command",
    [
        "echo start; sleep 600",
        "trap '' TERM; echo start; while :; do sleep 0.1; done",
        "echo start; yes",
        "echo start; setsid sleep 600 & setsid sleep 600 & sleep 600",
        "echo start; cat <(sleep 600)",
    ],
)
def test_a_stop_takes_less_than_a_second_and_leaves_nothing(
    scene: Scene, shell: Shell, command: str, marked: Marked
) -> None:
    async def main() -> float:
        started_up = asyncio.Event()
        act = await shell.prepare({"command": command}, scene)
        task = asyncio.create_task(shell.run(act, scene, lambda _: started_up.set()))
        await started_up.wait()
        started = time.monotonic()
        task.cancel()
        with pytest.raises((Stopped, asyncio.CancelledError)) as caught:
            await task
        assert isinstance(caught.value, Stopped)
        assert "start" in caught.value.outcome.text
        assert facts(caught.value.outcome, "stopped", "timedOut") == (True, False)
        return time.monotonic() - started

    assert asyncio.run(main()) < TERM_GRACE  # not the patience of a time limit
    assert not marked()
    assert not zombies()


def test_a_stop_at_the_very_start_leaves_nothing(
    scene: Scene, shell: Shell, marked: Marked
) -> None:
    async def main() -> None:
        for turns in range(8):
            act = await shell.prepare({"command": "sleep 600"}, scene)
            task = asyncio.create_task(shell.run(act, scene, lambda _: None))
            for _ in range(turns):
                await asyncio.sleep(0)
            task.cancel()
            with pytest.raises((Stopped, asyncio.CancelledError)):
                await task

    asyncio.run(main())
    assert not marked()
    assert not zombies()


def test_an_impatient_second_stop_changes_nothing(
    scene: Scene, shell: Shell, marked: Marked
) -> None:
    async def main() -> None:
        started_up = asyncio.Event()
        command = "trap '' TERM; echo start; while :; do sleep 0.1; done"
        act = await shell.prepare({"command": command}, scene)
        task = asyncio.create_task(shell.run(act, scene, lambda _: started_up.set()))
        await started_up.wait()
        task.cancel()
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises((Stopped, asyncio.CancelledError)):
            await task

    asyncio.run(main())
    assert not marked()


def test_closing_ends_what_was_left_running(use: Use, shell: Shell, marked: Marked) -> None:
    use(shell, command="sleep 600 & setsid sleep 600 &")
    assert len(marked()) == 2
    asyncio.run(shell.close())
    assert not marked()


_DIES = r"""
import asyncio, os, sys
from pathlib import Path
from desktop.core.tools import Scene, Stopped
from desktop.tools.builtin.shell import Shell
from desktop.tools.live import Live
from desktop.tools.processes import LINGER
async def main():
    environment = {"PATH": os.environ["PATH"], "NACRE_TEST_FOLDER": sys.argv[2]}
    scene = Scene(Path(sys.argv[1]), Path(sys.argv[1]), environment)
    shell = Shell()
    act = await shell.prepare({"command": "sleep 600 & echo"}, scene)
    await shell.run(act, scene, lambda text: None)
    act = await shell.prepare({"command": "setsid sleep 600 & (setsid sleep 600 &); "
        "echo up; sleep 600"}, scene)
    await shell.run(act, scene, lambda growth: print(growth.text, flush=True))
asyncio.run(main())
"""


def test_when_nacre_is_killed_its_commands_end_within_five_seconds(
    workspace: Path, marked: Marked
) -> None:
    """SPEC U32."""
    with subprocess.Popen(
        [sys.executable, "-c", _DIES, str(workspace), str(workspace.parent)], stdout=subprocess.PIPE
    ) as nacre:
        assert nacre.stdout is not None
        assert nacre.stdout.readline() == b"up\n"
        assert len(marked()) >= 4
        nacre.send_signal(signal.SIGKILL)
    wait_until(lambda: not marked(), 5)


def test_a_number_that_became_somebody_elses_is_left_alone() -> None:
    with subprocess.Popen(["sleep", "60"], start_new_session=True) as stranger:
        family = Family("gone")
        family.begin(stranger.pid)
        family.lose_leader()
        assert not family.is_alive()
        family.end(0.1)
        assert stranger.poll() is None
        stranger.kill()


def test_a_finished_command_leaves_no_watcher(use: Use, shell: Shell) -> None:
    """The watcher holds the reading end of a pipe whose writing end is ours."""
    before = len(list(Path("/proc/self/fd").iterdir()))
    use(shell, command="true")
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_a_flood_of_output_is_bounded_in_memory(use: Use, shell: Shell, scene: Scene) -> None:
    """SPEC U06, F-T09: three hundred megabytes."""
    use(shell, command="yes | head -c 10000000")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    small = replace(scene, spool_bytes=50_000_000)

    outcome = asyncio.run(
        prepare_and_run(shell, small, command="yes | head -c 300000000; echo end", timeout=60)
    )[1]
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 20_000, f"grew by {grown} KB"
    assert facts(outcome, "exitCode", "bytes") == (0, 300_000_004)
    assert outcome.text.startswith("y\ny\n")
    assert "y\nend\n[The kept file holds the first 50.0 MB only.]" in outcome.text
    assert "299.9 MB left out …]" in outcome.text
    assert outcome.full is not None
    assert outcome.full.stat().st_size == 50_000_000


def test_litter_in_the_output_is_cleaned_and_the_raw_bytes_are_kept(use: Use, shell: Shell) -> None:
    command = (
        r"for i in $(seq 20000); do printf '\r\033[32m%s\033[0m\0\377' $i; done; echo; echo end"
    )
    outcome = use(shell, command=command)
    assert outcome.full is not None
    assert outcome.full.read_bytes().count(b"\x1b[32m") == 20_000
    assert "\x1b" not in outcome.text
    assert "20000␀\ufffd\nend\n" in outcome.text


def test_colours_are_told_apart_from_the_text_also_where_the_middle_is_left_out(
    use: Use, shell: Shell
) -> None:
    many = "for i in $(seq 20000); do echo plain $i; done"
    red = r"printf '\033[31mred %s\033[0m\n'"
    outcome = use(shell, command=f"{red} first; {many}; {red} last")
    assert "left out" in outcome.text
    coloured = [outcome.text[one.start : one.start + one.length] for one in outcome.colours]
    assert coloured == ["red first", "red last"]


def test_live_output_comes_at_most_twenty_times_a_second(scene: Scene, shell: Shell) -> None:
    reports: list[Growth] = []
    started = time.monotonic()
    command = "for i in $(seq 400); do echo line $i; sleep 0.002; done"
    asyncio.run(prepare_and_run(shell, scene, reports, command=command))
    assert 3 < len(reports) <= (time.monotonic() - started) * 20 + 2
    assert put_together(reports).text == "".join(f"line {number}\n" for number in range(1, 401))


COLOURFUL = r"""
for i in 10 50 100; do printf '\r\033[K\033[32m%3d%%\033[0m of it' $i; sleep 0.1; done; echo
printf 'r\303'; sleep 0.1; printf '\266d \033[3'; sleep 0.1; printf '1mred\033[0m\n'
printf '\033]0;title\007\033]52;c;c2VjcmV0\007\033[2J\033[9Aend\n'
echo found | grep --color=always found
"""


def test_what_is_seen_meanwhile_is_what_the_result_says(scene: Scene, shell: Shell) -> None:
    """Letters and colours alike; the model is told of neither sequence nor colour."""
    reports: list[Growth] = []
    _, outcome = asyncio.run(prepare_and_run(shell, scene, reports, command=COLOURFUL))
    seen = put_together(reports)
    assert (seen.text, seen.spans) == (outcome.text, tuple(outcome.colours))
    assert outcome.text == "100% of it\nröd red\nend\nfound\n"
    assert [seen.text[one.start : one.start + one.length] for one in seen.spans] == [
        "100%",
        "red",
        "found",
    ]
    assert len(reports) > 3


def test_u06_live_output_of_a_flood_is_bounded(scene: Scene, shell: Shell) -> None:
    reports: list[Growth] = []
    _, outcome = asyncio.run(prepare_and_run(shell, scene, reports, command="timeout 4 yes"))
    assert sum(len(one.text) for one in reports) < 131_072 + 8 * (32_768 + 4_096)
    growing = Growing()
    for one in reports:
        growing.add(one)
    assert outcome.shell is not None
    assert abs(growing.between - outcome.shell["bytes"] // 2) < 100


def test_what_was_read_is_told_whole_though_reading_it_takes_longer_than_the_command(
    scene: Scene, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a busy machine the reader is behind when the command has long ended."""
    feed = Live.feed

    def slowly(live: Live, chunk: bytes) -> None:
        time.sleep(LINGER * 2)
        feed(live, chunk)

    monkeypatch.setattr(Live, "feed", slowly)
    reports: list[Growth] = []
    asyncio.run(prepare_and_run(shell, scene, reports, command="echo the last word"))
    assert put_together(reports).text == "the last word\n"


def put_together(reports: list[Growth]) -> Printed:
    """All of what was told; stretches of one look that touch are one."""
    whole = Printed("")
    for one in reports:
        kept = whole.head(len(whole.text) - one.back)
        behind = Printed(one.text, one.spans).after(kept.text)
        whole = Printed(kept.text + one.text, kept.spans + behind)
    spans: list[Span] = []
    for span in whole.spans:
        last = spans[-1] if spans else None
        if last and (last.start + last.length, last.style) == (span.start, span.style):
            spans[-1] = Span(last.start, last.length + span.length, span.style)
        else:
            spans.append(span)
    return Printed(whole.text, tuple(spans))


def test_a_line_without_an_end_is_seen_at_once(scene: Scene, shell: Shell) -> None:
    async def main() -> Printed:
        reports: list[Growth] = []
        shown = asyncio.Event()

        def report(growth: Growth) -> None:
            reports.append(growth)
            if put_together(reports).text == "50%":
                shown.set()

        act = await shell.prepare({"command": r"printf '10%%\r50%%'; sleep 600"}, scene)
        task = asyncio.create_task(shell.run(act, scene, report))
        await shown.wait()
        task.cancel()
        with pytest.raises((Stopped, asyncio.CancelledError)):
            await task
        return put_together(reports)

    assert asyncio.run(main()).text == "50%"


def test_live_output_comes_from_the_thread_of_the_loop(scene: Scene, shell: Shell) -> None:
    seen: set[int] = set()

    async def main() -> None:
        act = await shell.prepare({"command": "echo a; sleep 0.2; echo b"}, scene)
        await shell.run(act, scene, lambda _: seen.add(threading.get_ident()))

    asyncio.run(main())
    assert seen == {threading.get_ident()}


def test_nothing_visible_is_said_so(use: Use, shell: Shell) -> None:
    assert use(shell, command="true").text == "[no output]"
    assert use(shell, command="echo").text.startswith("[nothing visible")


def test_a_child_sees_neither_keys_nor_the_session_bus(
    scene: Scene, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome = asyncio.run(prepare_and_run(shell, scene, command="env"))[1]
    names = {line.partition("=")[0] for line in outcome.text.splitlines()}
    assert {"PATH", "GIT_TERMINAL_PROMPT"} <= names
    assert not {"DBUS_SESSION_BUS_ADDRESS", "ANTHROPIC_API_KEY", "SSH_AUTH_SOCK"} & names


@pytest.mark.parametrize(
    "command", ["", "  ", "a\0b", "echo \ud83d", "echo " + "x" * 200_000, None, 7]
)
def test_what_no_shell_can_run_is_refused_with_a_sentence(
    prepared: Callable[..., Act], shell: Shell, command: object
) -> None:
    with pytest.raises(ToolFailed):
        prepared(shell, command=command)


def test_the_act_shows_what_will_be_run_to_the_letter(
    prepared: Callable[..., Act], shell: Shell, workspace: Path
) -> None:
    act = prepared(shell, command="git status\u202e  -s")
    assert act.detail == "git status\u202e  -s"
    assert (act.kind, act.detail_kind, act.where) == ("execute", "command", str(workspace))
    # Without a sandbox every command is asked for; with one see test_sandbox_of_commands.
    assert (act.coverable_by, act.offer) == ((), "")


def test_it_works_on_a_qt_loop(scene: Scene, tmp_path: Path) -> None:
    """The program's own loop is one of Qt's; it has no child watcher."""
    script = """
import asyncio, os, sys
from pathlib import Path
from PySide6.QtCore import QCoreApplication
import qasync
from desktop.core.tools import Scene, Stopped
from desktop.tools.builtin.shell import Shell
from desktop.tools.live import Live
from desktop.tools.processes import LINGER
app = QCoreApplication([])
loop = qasync.QEventLoop(app)
asyncio.set_event_loop(loop)
async def main():
    scene = Scene(Path(sys.argv[1]), Path(sys.argv[1]), {"PATH": os.environ["PATH"]})
    shell = Shell()
    act = await shell.prepare({"command": "echo hello; sleep 0.1"}, scene)
    outcome = await shell.run(act, scene, lambda text: None)
    print(outcome.text, end="")
    act = await shell.prepare({"command": "sleep 600"}, scene)
    task = asyncio.ensure_future(shell.run(act, scene, lambda text: None))
    await asyncio.sleep(0.2)
    task.cancel()
    try:
        await task
    except (Stopped, asyncio.CancelledError):
        print("stopped")
with loop:
    loop.run_until_complete(main())
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script, str(tmp_path)],
        capture_output=True,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        timeout=60,
        check=False,
    )
    assert (done.stdout, done.stderr) == (b"hello\nstopped\n", b"")


def test_u08_on_a_disk_short_of_room_a_long_output_is_not_spooled_and_the_model_is_told(
    shell: Shell, scene: Scene
) -> None:
    crowded = replace(scene, least_free=shutil.disk_usage(scene.workspace).total)
    _, outcome = asyncio.run(prepare_and_run(shell, crowded, command="seq 1 60000"))
    assert outcome.full is None
    assert not outcome.is_error
    assert outcome.text.startswith("1\n2\n")
    assert "60000" in outcome.text
    assert "are free on the disk, so the middle of the output was not kept" in outcome.text
    assert list(scene.spool.iterdir()) == []
