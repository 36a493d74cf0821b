"""What a command can and can't do in the real sandbox (PLATFORM.md §4.3)."""

import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from desktop.tools.sandbox import Sandbox, writable
from tests.unit.tools.sandboxed import Desk, a_desk

if sys.platform != "linux":
    pytest.skip("the sandbox is of Linux", allow_module_level=True)


@pytest.fixture(params=["me", "nobody"])
def anybody(request: pytest.FixtureRequest) -> Iterator[Desk]:
    with a_desk(request.param) as made:
        yield made


@pytest.fixture
def desk() -> Iterator[Desk]:
    with a_desk("me") as made:
        yield made


def test_a_command_writes_its_workspace_and_nothing_else(anybody: Desk) -> None:
    outcome, again = anybody.run(
        f"echo in > in; echo x > {anybody.home}/out; echo t > /tmp/t && cat in /tmp/t",
        "ls -A /tmp/t; echo x > /usr/local/y",
    )
    assert "in\nt\n" in outcome["text"]
    assert "Read-only file system" in outcome["text"]
    assert (anybody.workspace / "in").read_text() == "in\n"
    assert not (anybody.home / "out").exists()
    assert not Path("/tmp/t").exists()
    assert "No such file" in again["text"]
    assert "only the workspace and /tmp can be written" in again["text"]


def test_secrets_and_the_data_of_nacre_cant_be_read(anybody: Desk) -> None:
    anybody.write(".ssh/id_ed25519", "sk-STOLEN")
    anybody.write(".netrc", "sk-STOLEN")
    anybody.write(".config/gh/hosts.yml", "sk-STOLEN")
    anybody.write(".aws/credentials", "sk-STOLEN")
    anybody.write("data/nacre.db", "sk-STOLEN")
    anybody.write("plain", "no secret")
    text = anybody.text(
        f"cat ~/plain; grep -rs sk-STOL ~ ; cat ~/.ssh/* ~/.netrc {anybody.home}/data/*; "
        "ls -A ~/.ssh; touch ~/.ssh/authorized_keys",
        private=[str(anybody.home / "data")],
    )
    assert "no secret" in text
    assert "STOLEN" not in text
    assert "Read-only file system" in text
    assert not (anybody.home / ".ssh/authorized_keys").exists()


def test_a_secret_behind_a_link_is_hidden_at_its_real_place(desk: Desk) -> None:
    real = desk.write("dotfiles/netrc", "sk-STOLEN")
    folder = desk.write("vault/id", "sk-STOLEN").parent
    (desk.home / ".netrc").symlink_to(real)
    (desk.home / ".ssh").symlink_to(folder)
    text = desk.text("cat ~/.netrc ~/dotfiles/netrc ~/.ssh/id ~/vault/id; echo end")
    assert "STOLEN" not in text
    assert "end" in text


def test_a_workspace_in_the_data_folder_is_there_and_its_surroundings_are_not(desk: Desk) -> None:
    """The scratch workspace lies in Nacre's own folder."""
    desk.write("nacre.db", "sk-STOLEN")
    text = desk.text("echo mine > f; cat f ../nacre.db; ls -A ..", private=[str(desk.home)])
    # The home as a whole is not hidden for a variable's sake; a folder of Nacre in it is.
    assert "mine" in text
    inner = desk.workspace / "data" / "scratch"
    inner.mkdir(parents=True)
    (inner.parent / "nacre.db").write_text("sk-STOLEN")
    text = desk.text("cat data/nacre.db; ls -A data", private=[str(inner.parent)])
    assert "STOLEN" not in text


def test_the_environment_holds_known_names_only(desk: Desk) -> None:
    desk.extra |= {"DATABASE_URL": "sk-STOLEN", "HISTORY_OF": "sk-STOLEN", "GOPATH": "/go"}
    text = desk.text("env; cat /proc/1/environ | tr '\\0' '\\n'")
    assert "STOLEN" not in text
    assert "GOPATH=/go" in text
    assert "DBUS_SESSION_BUS_ADDRESS" not in text


def test_other_processes_are_out_of_sight(desk: Desk) -> None:
    """Also Nacre itself, whose environment may hold a key."""
    desk.extra["ANTHROPIC_API_KEY"] = "sk-STOLEN"
    text = desk.text("cat /proc/*/environ | tr '\\0' '\\n'; ls -d /proc/[0-9]* | wc -l")
    assert "STOLEN" not in text
    assert int(text.split()[-1]) < 8


def test_without_a_sandbox_the_environment_and_memory_of_nacre_are_closed(anybody: Desk) -> None:
    """U34: a key that came in a variable is not in reach of the person's other programs."""
    if anybody.user.uid == 0:
        pytest.skip("nothing is closed to root")
    anybody.extra["ANTHROPIC_API_KEY"] = "sk-STOLEN"
    up = "p=$(ps -o ppid= -p $$ | tr -d ' ')"
    text = anybody.text(f"{up}; cat /proc/$p/environ; head -c1 /proc/$p/mem; id -u", bare=True)
    assert "STOLEN" not in text
    assert text.count("Permission denied") == 2
    assert text.endswith(f"\n{anybody.user.uid}\n")


def repository(folder: Path) -> None:
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    (folder / ".git/hooks").mkdir(exist_ok=True)


HOOK = "printf '#!/bin/sh\\necho taken\\n' > {0}/hooks/pre-commit; git config core.fsmonitor ./x"
NAMED = "git -c user.name=a -c user.email=b"


def test_hooks_and_configuration_of_git_cant_be_written(desk: Desk) -> None:
    repository(desk.workspace)
    before = (desk.workspace / ".git/config").read_bytes()
    text = desk.text(
        f"{HOOK.format('.git')}; mv .git old; rm -rf .git/hooks; mv .git/hooks h; "
        f"echo x > a && git add a && {NAMED} commit -qm works && git log --oneline"
    )
    assert "works" in text
    assert "Read-only file system" in text
    assert "busy" in text
    assert (desk.workspace / ".git/config").read_bytes() == before
    assert not (desk.workspace / ".git/hooks/pre-commit").exists()
    assert (desk.workspace / ".git/HEAD").exists()


def test_hooks_that_are_not_there_yet_cant_be_made(desk: Desk) -> None:
    repository(desk.workspace)
    subprocess.run(["rm", "-rf", str(desk.workspace / ".git/hooks")], check=True)
    desk.text(f"mkdir -p .git/hooks; {HOOK.format('.git')}")
    assert not (desk.workspace / ".git/hooks/pre-commit").exists()


def test_a_linked_working_tree_can_commit_and_not_reach_the_hooks(desk: Desk) -> None:
    main = desk.home / "main"
    repository(main)
    git = ["git", "-C", str(main), "-c", "user.name=a", "-c", "user.email=b"]
    subprocess.run([*git, "commit", "-qm", "first", "--allow-empty"], check=True)
    desk.workspace.rmdir()
    subprocess.run([*git, "worktree", "add", "-q", str(desk.workspace)], check=True)
    # What the question names is what can be written.
    assert writable(desk.workspace) == (desk.workspace, main / ".git")
    hook = HOOK.format("$(git rev-parse --git-common-dir)")
    text = desk.text(
        f"{hook}; echo {main} > $(git rev-parse --git-dir)/commondir; "
        f"echo gitdir: /tmp > .git; echo x > a && git add a && {NAMED} commit -qm works; "
        f"git log --oneline; echo x > {main}/other"
    )
    assert "works" in text
    assert not (main / ".git/hooks/pre-commit").exists()
    assert not (main / "other").exists()
    assert "fsmonitor" not in (main / ".git/config").read_text()
    subprocess.run([*git, "-C", str(desk.workspace), "status"], check=True, capture_output=True)


def test_a_file_that_calls_another_folder_its_repository_gets_nothing(desk: Desk) -> None:
    victim = desk.home / "victim"
    victim.mkdir()
    (desk.workspace / ".git").write_text(f"gitdir: {victim}\n")
    desk.text(f"echo x > {victim}/y")
    assert not (victim / "y").exists()


def test_what_is_shown_in_a_fresh_folder_is_there_also_behind_a_link(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some systems have all their programs behind a link in /run."""
    target = desk.write("store/tool", "here").parent
    link = Path(tempfile.mkdtemp()) / "system"
    link.symlink_to(target)
    try:
        monkeypatch.setattr("desktop.tools.sandbox._SHOWN", (str(link),))
        sandbox = Sandbox(environment=os.environ)
        assert sandbox.state_now().is_sandboxed, sandbox.state_now()
        launch = sandbox.around(
            ["/bin/cat", str(link / "tool")],
            workspace=desk.workspace,
            environment={"PATH": os.defpath},
            network=False,
        )
        assert subprocess.check_output(launch.argv, env=dict(launch.environment)) == b"here"
    finally:
        shutil.rmtree(link.parent)


def test_start_up_files_are_guarded_where_the_home_is_the_workspace(desk: Desk) -> None:
    desk.write("work/.bashrc", "mine\n")
    desk.write("work/.ssh/id", "sk-STOLEN")
    desk.extra["HOME"] = str(desk.workspace)
    text = desk.text("echo taken >> ~/.bashrc; cat ~/.ssh/id; echo fine > ~/new; cat ~/new")
    assert "STOLEN" not in text
    assert "fine" in text
    assert (desk.workspace / ".bashrc").read_text() == "mine\n"


class _Hello(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"hello from outside")

    def log_message(self, format: str, *args: object) -> None: ...


@contextmanager
def a_server() -> Generator[int]:
    server = HTTPServer(("127.0.0.1", 0), _Hello)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def fetch(port: int) -> str:
    code = (
        f"import urllib.request as u; print(u.urlopen('http://127.0.0.1:{port}').read().decode())"
    )
    return f'python3 -c "{code}"'


def test_there_is_no_network_unless_it_is_asked_for(anybody: Desk) -> None:
    with a_server() as port:
        without = anybody.text(fetch(port))
        assert "hello" not in without
        assert "network: true asks for it" in without
        assert anybody.text(fetch(port), network=True) == "hello from outside\n"


def test_a_sandbox_has_a_loopback_of_its_own(desk: Desk) -> None:
    serve = "python3 -m http.server 8123 --bind 127.0.0.1 >/dev/null 2>&1 & sleep 1.5; "
    assert "200" in desk.text(serve + fetch(8123).replace(".read().decode()", ".status"))


def test_memory_and_the_size_of_files_are_capped(anybody: Desk) -> None:
    greedy = "python3 -c 'x = bytearray(2_000_000_000); print(len(x))'"
    assert "MemoryError" in anybody.text(greedy, memory=1_000_000_000)
    text = anybody.text("ulimit -c; ulimit -f; ulimit -v", memory=0)
    assert text.split() == ["0", "16777216", "unlimited"]


def test_the_exit_of_a_command_is_told_as_it_is(desk: Desk) -> None:
    outcomes = desk.run("exit 3", "kill -9 $$", "true")
    assert [one["exitCode"] for one in outcomes] == [3, 137, 0]
    assert not any(one["stillRunning"] for one in outcomes)


def test_what_goes_on_in_the_background_is_told_and_goes_on(desk: Desk) -> None:
    """F-T01"""
    left, later = desk.run("(sleep 0.7; echo late > late) & echo ok", "sleep 1.2; cat late")
    assert left["stillRunning"]
    assert left["text"].startswith("ok\n[A process that it started goes on")
    assert later["text"] == "late\n"


def test_a_long_output_is_kept_as_ever(desk: Desk) -> None:
    (outcome,) = desk.run("seq 1 200000")
    assert outcome["bytes"] == 1_288_895
    assert "left out" in outcome["text"]
    assert outcome["text"].endswith("200000\n")


def test_a_folder_that_is_gone_is_an_error_and_nothing_runs(desk: Desk) -> None:
    outcome, after = desk.run("cd ..; rmdir work 2>/dev/null; mv work elsewhere; echo x", "ls -d .")
    assert "x" in outcome["text"]  # a mount can't be moved away
    assert after["text"] == ".\n"
