"""What looks like a key is dots, and what runs is seen exactly (SPEC K01, U31)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.core.tool_servers import ServerEntry
from desktop.ui import command_line, server_words
from desktop.ui.masking import DOTS, looks_like_key, masked_address, masked_arguments

RANDOM = "a1b2c3d4" * 5


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (("--api-key", "x"), ("--api-key", DOTS)),
        (("--api-key=x", "y"), (f"--api-key={DOTS}", "y")),
        (("--root", "/home/a"), ("--root", "/home/a")),
        (("sk-ant-abc",), (DOTS,)),
        (("ghp_abc", RANDOM), (DOTS, DOTS)),
        (("--header", "Bearer abc"), ("--header", DOTS)),
        (("-y", "@modelcontextprotocol/server-filesystem"), None),
        (("--token", "--verbose", "plain"), ("--token", "--verbose", "plain")),
    ],
)
def test_arguments_that_look_like_keys_are_dots(
    arguments: tuple[str, ...], shown: tuple[str, ...] | None
) -> None:
    assert masked_arguments(arguments) == (shown or arguments)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://x.test/mcp", "https://x.test/mcp"),
        ("https://u:p@x.test/mcp", f"https://{DOTS}@x.test/mcp"),
        ("https://x.test/m?key=1&team=a%20b", f"https://x.test/m?key={DOTS}&team=a%20b"),
        (f"https://x.test/{RANDOM}/mcp", f"https://x.test/{DOTS}/mcp"),
        ("http://[x", "http://[x"),
    ],
)
def test_addresses_show_no_key(url: str, shown: str) -> None:
    assert masked_address(url) == shown


def test_names_and_shapes_of_keys_are_known_and_an_empty_value_is_none() -> None:
    assert looks_like_key("GITHUB_TOKEN", "x")
    assert looks_like_key("X", "xoxb-1")
    assert not looks_like_key("GITHUB_TOKEN", " ")
    assert not looks_like_key("HOME", "/home/ann")


@given(st.lists(st.text(), min_size=1), st.booleans())
def test_a_command_line_is_taken_apart_into_what_it_was_made_of(
    parts: list[str], escapes: bool
) -> None:
    assert command_line.split(command_line.join(parts), escapes=escapes) == tuple(parts)


@pytest.mark.parametrize("line", ['a "b', "a 'b", "a \\"])
def test_a_line_that_is_not_closed_is_refused_in_words(line: str) -> None:
    with pytest.raises(ValueError, match="a quote is not closed"):
        command_line.split(line, escapes=True)


def test_where_paths_have_backslashes_they_are_letters() -> None:
    line = r'C:\Tools\run.exe "C:\My Files" # all'
    assert command_line.split(line, escapes=False) == (
        "C:\\Tools\\run.exe",
        "C:\\My Files",
        "#",
        "all",
    )


@given(st.text())
def test_a_text_that_may_be_broken_anywhere_is_still_the_same_text(text: str) -> None:
    assert server_words.breakable(text).replace("\u200b", "") == text.replace("\u200b", "")


def test_a_key_in_the_environment_or_a_header_is_dots() -> None:
    entry = ServerEntry("a", "run", env={"TOKEN": "hidden", "LANG": "C"}, cwd="/w")
    assert server_words.runs(entry).splitlines() == [
        "Program: “run”",
        "In the folder: “/w”",
        f"Environment: TOKEN = {DOTS}",
        "Environment: LANG = C",
    ]
    entry = ServerEntry("a", url="https://x.test", headers={"Authorization": "hidden"})
    assert "hidden" not in server_words.runs(entry)
