"""Markdown that streams: finished blocks stay, the end equals the whole (SPEC U03, U39; F-R05)."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtGui import QTextFormat
from PySide6.QtWidgets import QApplication

from desktop.ui.theme import theme_for
from desktop.ui.transcript.code_piece import CodePiece
from desktop.ui.transcript.markdown.grammar import Block, Grammar, Names
from desktop.ui.transcript.markdown.writer import MarkdownWriter
from desktop.ui.transcript.pieces import Paper, Piece, TextPiece

SHARED = Path(__file__).parents[4] / "shared" / "data" / "markdown" / "commonmark.json"

SAMPLES = {
    "fence": "before\n\n```python\nx = 1\n\n``\n# y\n```\n\nafter\n",
    "long fence": "````\n```\ninner\n```\n````\nend",
    "tilde": "~~~sh\nls\n~~~",
    "table": "| a | b | c |\n|---|:-:|--:|\n| 1 | 2 | 3 |\n| 4 | 5 | 6 |\n| 7 | 8 | 9 |\n\nx\n",
    "setext": "Title\n===\n\nText\n---\nmore",
    "loose list": "- a\n- b\n\n  c\n\n- d\n",
    "numbers": "\n".join(f"{number}. item" for number in range(1, 12)) + "\n\ntext",
    "nested": "1. a\n   - b\n     - c\n\n       para\n2. d\n\n   ```\n   code\n   ```\n",
    "bold": "some **bold** and *it* and `code` and ~~gone~~ text",
    "link": "[t](http://x) and ![i](http://y/z.png) and <http://auto.link>",
    "html": "<details>\n<summary>x</summary>\n\ntext\n</details>\n",
    "dollars": "costs $5 and $6, $a_b$ is math",
    "rule": "a\n***\nb\n***c\n",
    "quote": "> a\n> b\n>\n> > c\nlazy\n\nend",
    "late definition": "see [this] and [that][x]\n\npara\n\n```\ncode\n```\n\n"
    "[this]: http://a\n[x]: http://b\n",
    "crlf": "a\r\n\r\n```\r\ncode\r\n```\r\n\r\nb\r",
    "blank start": "\n\n```js\nlet a\n",
    "odd spaces": "a\x0bb\x85c\u2028d\n\ne",
}


@pytest.fixture
def paper(qapp: QApplication) -> Paper:
    return Paper(theme_for("light", qapp.palette()))


def shape(pieces: list[Piece]) -> list[tuple[str, ...]]:
    """What is seen of pieces: each block's text, and whether it is code, a list, a heading."""
    seen: list[tuple[str, ...]] = []
    for piece in pieces:
        assert isinstance(piece, TextPiece)
        kind = "code" if isinstance(piece, CodePiece) else "text"
        block = piece.document.begin()
        while block.isValid():
            bullet = block.textList().itemText(block) if block.textList() else ""
            level = str(block.blockFormat().headingLevel())
            links: list[str] = []
            fragments = block.begin()
            while not fragments.atEnd():
                links.append(fragments.fragment().charFormat().anchorHref())
                fragments += 1
            seen.append((kind, block.text(), bullet, level, *(link for link in links if link)))
            block = block.next()
    return seen


def whole(paper: Paper, text: str) -> list[tuple[str, ...]]:
    writer = MarkdownWriter(paper, Grammar())
    writer.write(text, finished=True)
    return shape(list(writer.pieces))


def streamed(paper: Paper, text: str, sizes: list[int]) -> MarkdownWriter:
    """Writes the text in parts, checking on the way that what is finished never changes."""
    writer = MarkdownWriter(paper, Grammar())
    at, number = 0, 0
    finished: list[tuple[str, ...]] = []
    while at < len(text):
        at += sizes[number % len(sizes)]
        number += 1
        writer.write(text[:at], finished=False)
        now = shape(list(writer.finished_pieces))
        assert now[: len(finished)] == finished
        finished = now
        for piece in writer.pieces:
            if isinstance(piece, CodePiece):
                assert "```" not in piece.document.toPlainText() or "````" in text
    writer.write(text, finished=True)
    return writer


@pytest.mark.parametrize("name", SAMPLES)
def test_letter_by_letter_the_end_equals_the_whole(paper: Paper, name: str) -> None:
    """F-R05"""
    text = SAMPLES[name]
    assert shape(list(streamed(paper, text, [1]).pieces)) == whole(paper, text)


@pytest.mark.skipif(not SHARED.exists(), reason="the specification's examples are not here")
def test_all_examples_of_the_specification_stream_to_the_same_end(paper: Paper) -> None:
    """F-R05: no exception on any prefix either."""
    for example in json.loads(SHARED.read_text(encoding="utf-8")):
        text = example["markdown"]
        writer = MarkdownWriter(paper, Grammar())
        for at in range(1, len(text) + 1):
            writer.write(text[:at], finished=False)
        writer.write(text, finished=True)
        assert shape(list(writer.pieces)) == whole(paper, text), example["example"]


LINES = st.lists(
    st.sampled_from(
        [
            *("a", "- b", "  c", "> q", "```", "~~~", "# h", "===", "---", "***x", "", "1. n"),
            *("    i", "| a | b |", "|---|---|", "| 1 | 2 |", "\t- t", "[r]: /u", "[r]", "<b>"),
            *("``` py", "  ```"),
        ]
    ),
    max_size=14,
)


@settings(max_examples=150)
@given(lines=LINES, sizes=st.lists(st.integers(1, 9), min_size=1, max_size=5))
def test_any_lines_in_any_parts_stream_to_the_same_end(lines: list[str], sizes: list[int]) -> None:
    """F-R05"""
    app = QApplication.instance() or QApplication([])
    assert isinstance(app, QApplication)
    paper = Paper(theme_for("light", app.palette()))
    text = "\n".join(lines)
    writer = MarkdownWriter(paper, Grammar())
    at, number = 0, 0
    while at < len(text):
        at += sizes[number % len(sizes)]
        number += 1
        writer.write(text[:at], finished=False)
    writer.write(text, finished=True)
    assert shape(list(writer.pieces)) == whole(paper, text)


def test_the_cost_of_more_text_does_not_grow_with_the_text(paper: Paper) -> None:
    """U03: counted in blocks made, not in time."""

    def blocks_made(paragraphs: int) -> int:
        writer = MarkdownWriter(paper, Grammar())
        text = ""
        for number in range(paragraphs):
            text += (
                f"Paragraph {number} with **bold** words.\n\n- item\n- item\n\n```\ncode\n```\n\n"
            )
            writer.write(text, finished=False)
        return writer.renders

    assert blocks_made(80) <= 2.2 * blocks_made(40)


def test_an_open_fence_only_grows(paper: Paper) -> None:
    writer = MarkdownWriter(paper, Grammar())
    text = "```python\n"
    writer.write(text, finished=False)
    made = writer.renders
    first = writer.pieces[0]
    for number in range(100):
        text += f"line {number}\n"
        writer.write(text, finished=False)
    assert writer.renders == made
    assert writer.pieces[0] is first


def test_a_long_block_of_code_is_cut_and_copied_whole(paper: Paper) -> None:
    code = "".join(f"line {number}\n" for number in range(1_000))
    writer = MarkdownWriter(paper, Grammar())
    writer.write(f"```\n{code}```\n", finished=True)
    pieces = [piece for piece in writer.pieces if isinstance(piece, CodePiece)]
    assert len(pieces) == 4
    assert pieces[-1].code.text == code
    assert "\n".join(piece.document.toPlainText() for piece in pieces) == code.rstrip("\n")


def test_pictures_are_never_loaded_and_html_is_text(paper: Paper, tmp_path: Path) -> None:
    """U39"""
    picture = tmp_path / "a.png"
    picture.write_bytes(b"not read")
    writer = MarkdownWriter(paper, Grammar())
    writer.write(f"![cat]({picture.as_uri()}) <img src='x'>\n\n<b>bold</b>", finished=True)
    text = " ".join(line[1] for line in shape(list(writer.pieces)))
    assert text == "[picture: cat] <img src='x'> <b>bold</b>"
    for piece in writer.pieces:
        assert isinstance(piece, TextPiece)
        formats = piece.document.allFormats()
        assert not any(
            one.objectType() == QTextFormat.ObjectTypes.ImageObject.value for one in formats
        )


def test_only_web_and_mail_addresses_are_links(paper: Paper) -> None:
    text = "[a](https://x.y) [b](javascript:alert) [c](file:///e) [d](mailto:a@b) [e](rel/path)"
    links = [link for line in whole(paper, text) for link in line[4:]]
    assert links == ["https://x.y", "mailto:a@b", "rel/path"]


@pytest.mark.parametrize(
    "text",
    [
        "x" * 200_000,
        "word " * 40_000,
        "|" + " a |" * 64 + "\n|" + "-|" * 64 + "\n" + ("|" + " b |" * 64 + "\n") * 200,
        "para\n" * 20_000,
    ],
    ids=["long line", "long spaced line", "wide table", "64 KB block"],
)
def test_what_would_take_long_is_shown_plainly_and_whole(paper: Paper, text: str) -> None:
    """U03"""
    writer = MarkdownWriter(paper, Grammar())
    writer.write(text, finished=True)
    shown = "".join(line[1] for line in shape(list(writer.pieces)))
    assert shown.replace("\n", "") == text.replace("\n", "")
    assert len(writer.pieces) > 1


def test_numbers_of_a_list_go_on_where_they_begin(paper: Paper) -> None:
    lines = whole(paper, "para\n\n3. three\n4. four\n\npara")
    assert [line[2] for line in lines if line[2]] == ["3.", "4."]


def test_a_block_that_never_ends_is_looked_at_less_and_less(paper: Paper) -> None:
    """F-R03: a list of thousands of lines, one delta a line."""
    looks: list[int] = []

    class Watched(Grammar):
        def blocks(self, text: str, names: Names) -> list[Block]:
            looks.append(len(text))
            return super().blocks(text, names)

    writer = MarkdownWriter(paper, Watched())
    text = ""
    for number in range(1_500):
        text += f"- item number {number} of a long list\n"
        writer.write(text, finished=False)
    assert sum(length > 10_000 for length in looks) < 80
    writer.write(text, finished=True)
    assert shape(list(writer.pieces))[-1][1] == "item number 1499 of a long list"
