"""The Markdown of a part of an answer (SPEC U37)."""

import pytest

from desktop.ui.transcript.as_markdown import markdown_part

SOURCE = """# A **big** title

Some words with `code` and [a link](https://example.org/a_b) in it.

- one
- two **bold words** here

```py
x = 1
y = 2
```

The end."""
DRAWN = """A big title
Some words with code and a link in it.
one
two bold words here
x = 1
y = 2
The end."""


def part(text: str) -> str:
    at = DRAWN.index(text)
    return markdown_part(SOURCE, DRAWN[:at], text, DRAWN[at + len(text) :])


@pytest.mark.parametrize(
    ("drawn", "source"),
    [
        (DRAWN, SOURCE),
        ("words with", "words with"),
        ("ords wi", "ords wi"),
        ("A big title", "# A **big** title"),
        ("big", "**big**"),
        ("code", "`code`"),
        ("a link", "[a link](https://example.org/a_b)"),
        ("one\ntwo bold words here", "- one\n- two **bold words** here"),
        ("bold", "bold"),
        ("words here\nx = 1", "- two **bold words** here\n\n```py\nx = 1\ny = 2\n```"),
        ("y = 2\nThe end.", "```py\nx = 1\ny = 2\n```\n\nThe end."),
        ("x = 1", "x = 1"),
        ("end.", "end."),
    ],
)
def test_a_part_is_the_source_that_is_drawn_so(drawn: str, source: str) -> None:
    """U37"""
    assert part(drawn) == source


def test_a_part_without_words_is_itself() -> None:
    assert markdown_part("a ... b", "a ", "...", " b") == "..."


def test_words_that_stand_in_an_address_too_are_not_taken_from_there() -> None:
    source = "[here](https://x.org/and/more) and more"
    assert markdown_part(source, "here ", "and more", "") == "and more"


def test_a_long_answer_takes_time_in_proportion() -> None:
    source = "word " * 40_000
    assert markdown_part(source, source[:100_000], source[100_000:100_010], "x") == "word word"
