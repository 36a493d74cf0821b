"""Markdown that streams: finished blocks stay, the end equals the whole (SPEC U03, U39; F-R05)."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it.token import Token
from PySide6.QtGui import QTextBlockFormat, QTextFormat
from PySide6.QtWidgets import QApplication

from desktop.ui.theme import theme_for
from desktop.ui.transcript.boxes import cleaned
from desktop.ui.transcript.code_piece import CodePiece
from desktop.ui.transcript.markdown.grammar import Block, Grammar, Names
from desktop.ui.transcript.markdown.tables import PIECE_ROWS
from desktop.ui.transcript.markdown.writer import MarkdownWriter
from desktop.ui.transcript.pieces import Paper, Piece, TextPiece
from desktop.ui.transcript.wide import TablePiece
from tests.ui.transcript.likeness import likeness, links, streamed, texts, whole, written

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
    "notes": "one[^a] and two[^b], [^none]\n\n[^a]: A note\n\n    of two parts\n\n[^b]: B\n",
    "tasks": "- [ ] open\n- [x] done\n  - [X] inner\n- [ ]\n1. [x] numbered\n",
    "title below": "para\n\n[a]: /u\n'ti\ntle'\n\n[a] [b]\n\n[b]: /v\n'not\n\na title'\n",
    "definitions grow": "[a] [b]\n\n[a]: http://x.y/long\n[b]: http://z.y/longer\n\nend",
    "note in a list": "- a[^1]\n\n  [^1]: inside\n\nb[^1]\n",
    "marks at the end": "```\na\n``",
    "fence ends text": "```py\na\n```",
    "formulas": "so $a_b * c_d * e$, \\(x^2\\)\n$$\na\n=\n- b\n$$\nand\n\n\\[ y = 1\n\n+ 2\n",
    "long table": "|a|b|\n|-|-|\n" + "|1|[x]|\n" * 34 + "|2\n\n[x]: /u\n\nend",
    "table and more": "|a|b|\n|-|-|\n" + "|1|2|\n" * 31 + "|3|4|\n- item\n\n|c|\n|-|\n|5|",
    "odd spaces": "a\x0bb\x85c\u2028d\n\ne",
}


@pytest.fixture
def paper(qapp: QApplication) -> Paper:
    return Paper(theme_for("light", qapp.palette()))


def streamed_watched(paper: Paper, text: str, sizes: list[int]) -> MarkdownWriter:
    """Writes the text in parts, checking on the way that what is finished never changes."""
    writer = MarkdownWriter(paper, Grammar())
    at, number = 0, 0
    finished: list[tuple[Any, ...]] = []
    while at < len(text):
        at += sizes[number % len(sizes)]
        number += 1
        writer.write(text[:at], finished=False)
        now = likeness(writer.finished_pieces)
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
    assert likeness(streamed_watched(paper, text, [1]).pieces) == whole(paper, text)


@pytest.mark.skipif(not SHARED.exists(), reason="the specification's examples are not here")
def test_all_examples_of_the_specification_stream_to_the_same_end(paper: Paper) -> None:
    """F-R05: no exception on any prefix either."""
    for example in json.loads(SHARED.read_text(encoding="utf-8")):
        text = example["markdown"]
        assert likeness(streamed(paper, text, [1]).pieces) == whole(paper, text), text


FIXTURES = ("tables", "strikethrough", "tasklists", "xss", "fatal")


@pytest.mark.skipif(not SHARED.exists(), reason="the fixtures are not here")
@pytest.mark.parametrize("name", FIXTURES)
def test_what_else_is_understood_streams_to_the_same_end(paper: Paper, name: str) -> None:
    """F-R05: tables, strikethrough, task lists, and what broke parsers before."""
    fixture = SHARED.with_name(f"markdown-it-fixture-{name}.md").read_text(encoding="utf-8")
    for text in fixture.split("\n.\n"):
        assert likeness(streamed(paper, text, [1]).pieces) == whole(paper, text), text


@pytest.mark.skipif(not SHARED.exists(), reason="the documents are not here")
def test_long_documents_stream_to_the_same_end(paper: Paper) -> None:
    """F-R05, U03: real documents of up to 88 KB, and the specification itself."""
    for path in (*SHARED.parent.glob("pydantic-ai-*.md"), *SHARED.parent.glob("*-spec.txt")):
        text = path.read_text(encoding="utf-8")
        assert likeness(streamed(paper, text, [997]).pieces) == whole(paper, text), path.name


def a_paper() -> Paper:
    app = QApplication.instance() or QApplication([])
    assert isinstance(app, QApplication)
    return Paper(theme_for("light", app.palette()))


LINES = st.lists(
    st.sampled_from(
        [
            *("a", "- b", "  c", "> q", "```", "~~~", "# h", "===", "---", "***x", "", "1. n"),
            *("    i", "| a | b |", "|---|---|", "| 1 | 2 |", "\t- t", "[r]: /u", "[r]", "<b>"),
            *("``` py", "  ```", "[^n]: note", "see [^n] and [r]", "- [x] t", "    more", '"t'),
            *("1) n", "> [^n]: q", "[r]:", "/u2 'ti", "tle'", "~~s~~ $4 | $19"),
        ]
    ),
    max_size=14,
)


SIZES = st.lists(st.integers(1, 9), min_size=1, max_size=5)


@settings(max_examples=100, deadline=None)
@given(lines=LINES, sizes=SIZES)
def test_any_lines_in_any_parts_stream_to_the_same_end(lines: list[str], sizes: list[int]) -> None:
    """F-R05"""
    text = "\n".join(lines)
    assert likeness(streamed(a_paper(), text, sizes).pieces) == whole(a_paper(), text)


ROWS = st.lists(
    st.sampled_from(
        [
            *(["| 6 | **7** |"] * 6),
            *("| 1 | 2 |", "|3", "4", "| [r] | `|` |", "  | 5 | $a_b$ |", "|-|-|"),
            *("", "    | 8 |", "> q", "- b", "---", "```", "$$", "[r]: /u", "# h"),
        ]
    ),
    max_size=50,
)


@settings(max_examples=40, deadline=None)
@given(rows=ROWS, sizes=SIZES)
def test_any_rows_of_a_table_stream_to_the_same_end(rows: list[str], sizes: list[int]) -> None:
    """F-R05: whatever ends it, in whichever of its pieces."""
    text = "\n".join(["| a | b |", "|---|:-:|", *["| 1 | 2 |"] * 13, *rows])
    assert likeness(streamed(a_paper(), text, sizes).pieces) == whole(a_paper(), text)


SIGNS = "#*_~`[]()<>|-+=:!^x1.&$\\ \t\n\n\ra\u00e4\u0627\u05d0\U0001f600\u200d\ufdd0\u2028\0"
ANY_TEXT = st.text(
    st.one_of(st.sampled_from(SIGNS), st.characters(exclude_categories=["Cs"])), max_size=80
)


@settings(max_examples=100, deadline=None)
@given(text=ANY_TEXT, sizes=SIZES)
def test_any_text_in_any_parts_streams_to_the_same_end(text: str, sizes: list[int]) -> None:
    """F-R05, U03: whatever the letters are."""
    assert likeness(streamed(a_paper(), text, sizes).pieces) == whole(a_paper(), text)


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
    text = " ".join(texts(writer.pieces))
    assert text == "[picture: cat] <img src='x'> <b>bold</b>"
    for piece in writer.pieces:
        assert isinstance(piece, TextPiece)
        formats = piece.document.allFormats()
        assert not any(
            one.objectType() == QTextFormat.ObjectTypes.ImageObject.value for one in formats
        )


def test_only_web_and_mail_addresses_are_links(paper: Paper) -> None:
    text = "[a](https://x.y) [b](javascript:alert) [c](file:///e) [d](mailto:a@b) [e](rel/path)"
    assert links(written(paper, text).pieces) == ["https://x.y", "mailto:a@b", "rel/path"]


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
    shown = "".join(texts(writer.pieces))
    assert shown.replace("\n", "") == text.replace("\n", "")
    assert len(writer.pieces) > 1


class Watched(Grammar):
    """Tells how many letters were read at each look."""

    def __init__(self) -> None:
        super().__init__()
        self.looks: list[int] = []

    def blocks(self, text: str, names: Names) -> list[Block]:
        self.looks.append(len(text))
        return super().blocks(text, names)


def test_rows_of_an_open_table_are_final_as_they_come(paper: Paper) -> None:
    """U03: what is read for one more row, and what is made anew, does not grow with the table."""
    grammar = Watched()
    looks, writer = grammar.looks, MarkdownWriter(paper, grammar)
    text = "| a | b |\n|---|---|\n"
    kept: list[Piece] = []
    for number in range(600):
        text += f"| row {number} | cell |\n"
        writer.write(text, finished=False)
        stays = [old is new for old, new in zip(kept, writer.pieces, strict=False)]
        assert all(stays[:-1])
        kept = list(writer.pieces)
    assert max(looks) < 200 and len(looks) <= 4 * 600
    assert likeness(writer.pieces) == whole(paper, text)


def test_rows_of_a_table_that_come_together_are_read_together(paper: Paper) -> None:
    """U03: a window that was held up has much to read at once, and reads it in less."""
    grammar = Watched()
    looks, writer = grammar.looks, MarkdownWriter(paper, grammar)
    text = "| a \u2028 | b |\n|---|---|\n"
    writer.write(text, finished=False)
    looks.clear()
    text += "".join(f"| row {number} | cell |\n" for number in range(160))
    writer.write(text, finished=False)
    assert len(looks) <= 160 // PIECE_ROWS + 2
    assert likeness(writer.pieces) == whole(paper, text)


def test_a_table_that_becomes_too_large_while_it_streams_is_shown_as_written(paper: Paper) -> None:
    """U03"""
    text = "|a" * 64 + "|\n" + "|-" * 64 + "|\n" + ("|b" * 64 + "|\n") * 40 + "\nend"
    writer = streamed(paper, text, [211])
    assert not any(isinstance(one, TablePiece) for one in writer.pieces)
    assert likeness(writer.pieces) == whole(paper, text)


def test_numbers_of_a_list_go_on_where_they_begin(paper: Paper) -> None:
    lines = whole(paper, "para\n\n3. three\n4. four\n\npara")
    assert [line[2] for line in lines if line[2]] == ["3.", "4."]


def test_a_block_that_never_ends_is_looked_at_less_and_less(paper: Paper) -> None:
    """F-R03: a list of thousands of lines, one delta a line."""
    grammar = Watched()
    looks, writer = grammar.looks, MarkdownWriter(paper, grammar)
    text = ""
    for number in range(1_500):
        text += f"- item number {number} of a long list\n"
        writer.write(text, finished=False)
    assert sum(length > 10_000 for length in looks) < 80
    writer.write(text, finished=True)
    assert texts(writer.pieces)[-1] == "item number 1499 of a long list"


def test_tasks_have_marks_and_footnotes_are_called_where_they_are_used(paper: Paper) -> None:
    """U39: what is no note stays as it was written."""
    lines = whole(paper, "- [x] done\n- [ ] open\n- [y] no\n\nsee[^1] and [^a-z]\n\n[^1]: The note")
    marks = QTextBlockFormat.MarkerType
    assert [(line[1], line[6]) for line in lines] == [
        ("done", marks.Checked),
        ("open", marks.Unchecked),
        ("[y] no", marks.NoMarker),
        ("see1 and [^a-z]", marks.NoMarker),
        ("1\u00a0The note", marks.NoMarker),
    ]


def test_a_definition_below_writes_only_its_users_again(paper: Paper) -> None:
    """F-R05, U03: counted in blocks, and by the pieces that stay."""
    part = "Some words with [brackets] and a [link](http://x.y).\n\n```\ncode\n```\n\n"
    text = part * 40 + "Here [this] is used.\n\n" + part * 40
    writer = MarkdownWriter(paper, Grammar())
    writer.write(text, finished=False)
    before, made = list(writer.finished_pieces), writer.renders
    text += "[this]: http://late.example\n"
    writer.write(text, finished=True)
    changed = [old for old, new in zip(before, writer.pieces, strict=False) if old is not new]
    assert len(changed) == 1
    assert writer.settled == before.index(changed[0])
    assert writer.renders - made <= 4
    assert links(writer.pieces).count("http://late.example") == 1
    assert likeness(writer.pieces) == whole(paper, text)


def test_a_definition_that_is_half_there_is_not_kept(paper: Paper) -> None:
    """F-R05: the first of a name counts, but only once it is whole."""
    writer = MarkdownWriter(paper, Grammar())
    text = "[a]: /x\n\nfirst [a] [b]\n\n[b]: /yyy"
    for end in range(1, len(text) + 1):
        writer.write(text[:end], finished=False)
    writer.write(text, finished=True)
    assert links(writer.pieces) == ["/x", "/yyy"]


def test_code_in_a_list_has_its_own_box_and_the_numbers_go_on(paper: Paper) -> None:
    """LOOK.md: language, copy, wrap and save for every block of code."""
    text = (
        "1. Install:\n\n   ```sh\n   pip install x\n   ```\n   then\n2. Run\n"
        "   - inner\n\n     ```py\n     a\n     ```\n   - inner too\n3. End\n"
    )
    pieces = written(paper, text).pieces
    codes = [piece for piece in pieces if isinstance(piece, CodePiece)]
    assert [(one.code.language, one.code.text) for one in codes] == [
        ("sh", "pip install x\n"),
        ("py", "a\n"),
    ]
    assert 0 < codes[0].code.indent < codes[1].code.indent
    lines = [(line[1], line[2]) for line in likeness(pieces) if line[0] == "text"]
    assert [(text, sign) for text, sign in lines if sign[:1].isdigit()] == [
        ("Install:", "1."),
        ("Run", "2."),
        ("End", "3."),
    ]
    assert ("inner too", lines[-2][1]) == lines[-2] and lines[-2][1]
    assert likeness(streamed(paper, text, [1]).pieces) == likeness(pieces)


def test_a_table_in_a_quote_stands_by_itself(paper: Paper) -> None:
    pieces = written(paper, "> a\n>\n> | x | y |\n> |---|---|\n> | 1 | 2 |\n>\n> b").pieces
    table = pieces[1]
    assert isinstance(table, TablePiece) and table.quoted == 1 and table.left > 0
    assert texts([pieces[0], pieces[2]]) == ["a", "b"]


@pytest.mark.parametrize(
    "text",
    ["> " * 60 + "deep", "[" * 3_000, "![" * 1_500, "**a _b " * 900, "- " * 90 + "deep"],
    ids=["quotes", "brackets", "pictures", "stars", "lists"],
)
def test_what_would_be_read_again_and_again_is_never_spelled(paper: Paper, text: str) -> None:
    """U03: shown as written, and no letter of it is lost."""
    spelled: list[int] = []

    class Spelling(Grammar):
        def spell(self, block: Block, names: Names) -> list[Token]:
            spelled.append(len(block.source))
            return super().spell(block, names)

    writer = MarkdownWriter(paper, Spelling())
    for end in range(512, len(text), 512):
        writer.write(text[:end], finished=False)
    spelled.clear()
    writer.write(text, finished=True)
    assert spelled == []
    assert "".join(texts(writer.pieces)) == text


def test_a_very_long_line_of_code_is_cut_on_the_screen_and_whole_when_copied(paper: Paper) -> None:
    """U03: no line that is laid out is longer than 5,000 letters."""
    line = "\U0001f600" * 3_000 + "x" * 200_000
    text = f"```\n{line}\n```\n"
    writer = streamed(paper, text, [7_001])
    pieces = [piece for piece in writer.pieces if isinstance(piece, CodePiece)]
    assert pieces[0].code.text == line + "\n"
    shown = texts(pieces)
    assert "".join(shown) == line
    assert max(len(one) for one in shown) <= 5_000
    assert likeness(writer.pieces) == whole(paper, text)


CURRENCY = [
    "It costs $5 and $6.",
    "$4 … $19",
    "$1,000-$2,000/month, US$3 or $a_b$",
    "from $0.12 to $5/2 and 3 × $4",
    "$$ and $ alone$",
]


@pytest.mark.parametrize("text", CURRENCY)
def test_sums_of_money_are_text(paper: Paper, text: str) -> None:
    """U39"""
    assert texts(written(paper, text).pieces) == [text]


@pytest.mark.parametrize("text", CURRENCY)
def test_sums_of_money_have_the_letters_of_words(paper: Paper, text: str) -> None:
    """U39: with one exception, which is a formula."""
    assert formulas(paper, text) == (["$a_b$"] if "$a_b$" in text else [])


FORMULAS = {
    "so $a_b * c_d * e$ holds": ["$a_b * c_d * e$"],
    "with $n$, $2x$ and $f(x, y)$": ["$n$", "$2x$", "$f(x, y)$"],
    r"by \(x^2\), \[\frac{a}{b}\] and $$ \sin t $$": [
        r"\(x^2\)",
        r"\[\frac{a}{b}\]",
        r"$$ \sin t $$",
    ],
    "**$a < b$** and $a + b = c$.": ["$a < b$", "$a + b = c$"],
    "$$\na_1\n- b\n# c\n=\nd\n$$\nafter": ["$$\u2028a_1\u2028- b\u2028# c\u2028=\u2028d\u2028$$"],
    "text\n\\[ x = 1\n+ 2 \\]\nafter": ["\\[ x = 1\u2028+ 2 \\]"],
    "$$\nx = 1\n\n# A heading": ["$$\u2028x = 1"],
    "> $$\n> x = 1\n> $$": ["$$\u2028x = 1\u2028$$"],
    "- $$\n  x = 1\n  $$\n- b": ["$$\u2028x = 1\u2028$$"],
    "`$x$` and \\$x$ and $x $ and x$y$z and $HOME/a_b:$PATH": [],
    "```\n$$\nx\n$$\n```": [],
    r"\(see below\) \[1\]": [],
}


@pytest.mark.parametrize("text", FORMULAS)
def test_formulas_stand_as_written_in_letters_of_their_own(paper: Paper, text: str) -> None:
    """U39: no mark in them is read as Markdown, no letter is lost, and they stream to the same."""
    assert formulas(paper, text) == FORMULAS[text]
    assert likeness(streamed(paper, text, [1]).pieces) == whole(paper, text)


def formulas(paper: Paper, text: str) -> list[str]:
    """What has the letters of mathematics."""
    family = paper.theme.math().family()
    return [
        run[0]
        for line in whole(paper, text)
        for run in line[-1]
        if family in run and not line[0].startswith("code")
    ]


def test_a_drawing_in_words_is_shown_as_its_source(paper: Paper) -> None:
    """U39: mermaid and TeX fences are code, with their language."""
    pieces = written(paper, "```mermaid\ngraph TD; A-->B\n```\n").pieces
    (code,) = [one for one in pieces if isinstance(one, CodePiece)]
    assert (code.code.language, code.code.text) == ("mermaid", "graph TD; A-->B\n")


@pytest.mark.skipif(not SHARED.exists(), reason="the strings are not here")
def test_naughty_strings_and_families_are_shown_and_stream_to_the_same_end(paper: Paper) -> None:
    """U03: pathological Unicode."""
    data = SHARED.parents[1]
    naughty: list[str] = json.loads((data / "naughty-strings/blns.json").read_text("utf-8"))
    emoji = (data / "unicode/emoji-zwj-sequences.txt").read_text("utf-8").splitlines()
    points = [line.split(";")[0].split() for line in emoji if line and line[0] not in "#\n"]
    families = "".join("".join(chr(int(one, 16)) for one in part) for part in points[:200])
    for text in (*naughty, families):
        clean = cleaned(text)
        assert likeness(streamed(paper, clean, [1, 3]).pieces) == whole(paper, clean), text
