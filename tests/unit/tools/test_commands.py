"""What a kept "always" covers of a command line (FIELD F-T02)."""

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.tools.commands import coverable_by, offer, words_of
from desktop.tools.rules import words


@pytest.mark.parametrize(
    ("rule", "command"),
    [
        ("git status", "git status"),
        ("git status", "git status -s"),
        ("git status", "git  status   --short"),
        ("ls", "ls -la src"),
        ("echo", 'echo "a && b"'),
        ("echo", "echo 'a; $(id) | b'"),
        ("echo", "echo Grüße"),
        ("=ls | sh", "ls | sh"),
        ("=git status", "git status"),
    ],
)
def test_a_rule_covers_the_plain_commands_that_it_names(rule: str, command: str) -> None:
    assert rule in coverable_by(command)


@pytest.mark.parametrize(
    ("rule", "command"),
    [
        ("git status", "git status && rm -rf x"),
        ("ls", "ls; id"),
        ("ls", "ls\nid"),
        ("ls", "ls\rid"),
        ("ls", "ls\tx"),
        ("echo", "echo $(id)"),
        ("echo", "echo `id`"),
        ("echo", 'echo "$(id)"'),
        ("echo", 'echo "`id`"'),
        ("ls", "ls | sh"),
        ("ls", "ls > ~/.bashrc"),
        ("git status", "git statusx"),
        ("git", "git -c core.pager='sh -c id' status"),
        ("git status", "git -c core.pager='sh -c id' status"),
        ("git fetch", "git fetch --upload-pack=id ."),
        ("git fetch", "GIT_SSH_COMMAND=id git fetch"),
        ("find .", r"find . -exec id \;"),
        ("find", "find . -name x"),
        ("env", "env X=1 id"),
        ("ls", "ls &id"),
        ("echo", "echo <(id)"),
        ("ls", "ls\u00a0-l"),
        ("ls", "ls\u200b-l"),
        ("ls", "ls \u202egnp"),
        ("ls", "ls \u3164"),
        ("ls", "ls *"),
        ("ls", "ls {-a,-b}"),
        ("ls", "ls ~"),
        ("ls", "ls 'unclosed"),
        ("ls", "ls x#y #z"),
        ("git status -s", 'git "status -s"'),
        ("python3", "python3 -m pytest"),
        ("python3.11", "python3.11 x.py"),
        ("/usr/bin/python3", "/usr/bin/python3 x.py"),
        ("bash", "bash -x y"),
        ("sudo", "sudo ls"),
        ("xargs", "xargs rm"),
        ("timeout", "timeout 5 ls"),
        ("time", "time ls"),
        ("if", "if ls"),
        ("eval", "eval ls"),
        (".", ". ./x"),
        ("uv run", "uv run python"),
        ("npm run", "npm run x"),
    ],
)
def test_a_rule_covers_nothing_that_it_does_not_plainly_name(rule: str, command: str) -> None:
    assert rule not in coverable_by(command)


def test_the_rules_that_cover_stand_narrowest_first() -> None:
    assert coverable_by("git status -s") == (
        "=git status -s",
        "git status -s",
        "git status",
        "git",
    )


@pytest.mark.parametrize(
    ("command", "offered"),
    [
        ("git status -s", "git status"),
        ("git diff HEAD~1", "=git diff HEAD~1"),
        ("pytest -q tests/a", "pytest -q"),
        ("pytest", "=pytest"),
        ("ls -la src", "ls"),
        ("cat /etc/shadow", "=cat /etc/shadow"),
        ("rm -rf build", "=rm -rf build"),
        ("git push", "=git push"),
        ("python3 x.py", "=python3 x.py"),
        ("ls | wc -l", "=ls | wc -l"),
        ("cargo test --lib", "cargo test"),
        ("npm run test", "=npm run test"),
        ("ls\u00a0-l", ""),
        ("ls\nid", ""),
        ("echo " + "x; " * 2000, ""),
    ],
)
def test_the_offer_is_the_narrow_form(command: str, offered: str) -> None:
    assert offer(command) == offered


@given(st.text(max_size=40))
def test_what_is_offered_always_covers_the_command_it_was_offered_for(command: str) -> None:
    assert offer(command) in ("", *coverable_by(command))


@given(st.text(alphabet="ab -'\"=./;$&|\\`\n\t*~{},#!<>()é", min_size=1, max_size=16))
def test_plain_words_are_what_the_real_shell_sees(command: str) -> None:
    """The check and the shell never read a command differently."""
    found = words_of(command)
    if found is None:
        return
    script = f'f() {{ printf "%s\\0" "$@"; }}; f {command}'
    seen = subprocess.run(["bash", "-c", script], capture_output=True, check=True).stdout
    assert tuple(seen.decode().split("\0")[:-1]) == found


def test_rules_are_put_into_words() -> None:
    assert words("shell", "git status") == "Run commands that start with `git status`"
    assert words("shell", "=ls | sh") == "Run exactly `ls | sh`"
    assert words("write_file", "inside") == "Write files in this folder"
    assert words("edit_file", "inside") == "Edit files in this folder"
