"""What every request carries of the tools, and what a child process may know."""

import json
from pathlib import Path

import pytest

from desktop.paths import resources
from desktop.tools.environment import scrubbed_environment
from desktop.tools.registry import builtin_tools


def test_the_tools_are_offered_in_a_stable_order_and_cost_little() -> None:
    specs = [tool.spec.as_json() for tool in builtin_tools()]
    names = [spec["name"] for spec in specs]
    assert names == sorted(names)
    assert names == [
        "edit_file",
        "glob",
        "grep",
        "list_dir",
        "read_file",
        "shell",
        "write_file",
    ]
    assert len(json.dumps(specs)) < 6000
    assert json.dumps(specs) == json.dumps([tool.spec.as_json() for tool in builtin_tools()])


def test_the_system_prompt_is_small_and_names_the_tools_that_there_are() -> None:
    prompt = (resources() / "prompts/system.md").read_text("utf-8")
    assert len(prompt.encode()) <= 2048
    for name in ("edit_file", "write_file", "list_dir", "glob", "grep", "read_file"):
        assert name in prompt


@pytest.mark.parametrize(
    "name",
    [
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_BASE_URL",
        "OPENAI_API_KEY",
        "GITHUB_TOKEN",
        "AWS_SECRET_ACCESS_KEY",
        "aws_access_key_id",
        "DB_PASSWORD",
        "MY_SECRETS",
        "DBUS_SESSION_BUS_ADDRESS",
        "SSH_AUTH_SOCK",
        "BASH_ENV",
        "BASH_FUNC_git%%",
        "LD_PRELOAD",
        "LD_LIBRARY_PATH",
        "QT_PLUGIN_PATH",
        "QML2_IMPORT_PATH",
        "_PYI_ARCHIVE_FILE",
        "LD_LIBRARY_PATH_ORIG",
    ],
)
def test_a_child_does_not_get(name: str) -> None:
    """PLATFORM.md §0.2, §0.6, §4.3."""
    assert name not in scrubbed_environment({name: "x"})


def test_a_child_keeps_what_programs_need() -> None:
    needed = {"PATH": "/bin", "HOME": str(Path("/h")), "LANG": "de_DE.UTF-8", "VIRTUAL_ENV": "/v"}
    assert needed.items() <= scrubbed_environment(needed).items()


def test_a_path_that_the_packager_replaced_comes_back() -> None:
    given = {"LD_LIBRARY_PATH": "/bundle", "LD_LIBRARY_PATH_ORIG": "/own"}
    assert scrubbed_environment(given)["LD_LIBRARY_PATH"] == "/own"


def test_a_child_never_waits_for_a_person() -> None:
    scrubbed = scrubbed_environment({"TERM": "xterm-256color", "PAGER": "less", "EDITOR": "vi"})
    assert (scrubbed["TERM"], scrubbed["PAGER"], scrubbed["EDITOR"]) == ("dumb", "cat", "true")
    assert scrubbed["GIT_TERMINAL_PROMPT"] == "0"
