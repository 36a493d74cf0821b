"""What Markdown means here: text to blocks of tokens, and what would take too long to lay out.

Structure is found before letters: a block that is too heavy is never spelled, so no run of brackets
or stars costs more than reading it. HTML is off: tags are text (TRANSCRIPT §2, SPEC U39).
"""

import re
from collections import ChainMap
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.common.utils import normalizeReference
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from mdit_py_plugins.footnote import footnote_plugin

from desktop.ui.transcript.markdown.math import math_plugin

CELL_LIMIT = 2_000
LINE_LIMIT = 5_000
BLOCK_LIMIT = 65_536
# Of one run of letters: what the parser looks at again and again grows with the square of these.
RUN_LIMIT = 16_384
BRACKET_LIMIT = 400
MARK_LIMIT = 2_000
DEPTH_LIMIT = 40

_MARKS = re.compile(r"[*_~<&]")
_LABEL = re.compile(r"\[((?:\\.|[^\[\]\\])+)\]", re.DOTALL)
_TASK = re.compile(r"\[([ xX])\][ \t]+(?=\S)")


@dataclass(frozen=True, slots=True)
class Block:
    """A top-level block: its tokens, its source, and where that begins in the text."""

    tokens: list[Token]
    source: str
    start: int

    @property
    def kind(self) -> str:
        return self.tokens[0].type

    @property
    def end(self) -> int:
        return self.start + len(self.source)


@dataclass(slots=True)
class Definitions:
    """The names of links and footnotes that are settled; the first of a name counts."""

    links: dict[str, Any] = field(default_factory=dict[str, Any])
    notes: dict[str, int] = field(default_factory=dict[str, int])
    names: list[str] = field(default_factory=list[str])


class Names:
    """What a text defines, over what is settled already: nothing of it is kept unless `settle`d."""

    def __init__(self, settled: Definitions) -> None:
        self._settled = settled
        self._links: dict[str, Any] = {}
        self._notes: dict[str, int] = {}
        self.env: dict[str, Any] = {
            "references": ChainMap(self._links, settled.links),
            "footnotes": {"refs": ChainMap(self._notes, settled.notes), "list": {}},
        }

    def settle(self) -> None:
        settled = self._settled
        settled.names.extend(one for one in (*self._links, *self._notes) if not self._knows(one))
        settled.links.update(
            {name: link for name, link in self._links.items() if name not in settled.links}
        )
        # -1: not yet referred to, in the plugin's words. Each text counts its own references.
        settled.notes.update(dict.fromkeys(self._notes, -1))

    def _knows(self, name: str) -> bool:
        return name in self._settled.links or name in self._settled.notes


class Grammar:
    """CommonMark with tables, strikethrough, footnotes, task lists and mathematics."""

    def __init__(self) -> None:
        options = {"html": False, "maxNesting": 2 * DEPTH_LIMIT}
        self._parser = MarkdownIt("commonmark", options).enable(["table", "strikethrough"])
        footnote_plugin(self._parser, inline=False, move_to_end=False)
        math_plugin(self._parser)
        # Letters come later and by block.
        self._parser.disable(["normalize", "block"])
        # Our own check stands at the click; here every target stays visible as written.
        self._parser.validateLink = lambda url: True  # pyright: ignore[reportAttributeAccessIssue]

    def blocks(self, text: str, names: Names) -> list[Block]:
        """The structure of a text whose lines end in "\\n"; what it defines goes into `names`."""
        tokens: list[Token] = []
        self._parser.block.parse(text.replace("\0", "\ufffd"), self._parser, names.env, tokens)
        starts = _line_starts(text)
        found: list[Block] = []
        current: list[Token] = []
        for token in tokens:
            current.append(token)
            if token.level == 0 and token.nesting <= 0:
                first, last = current[0].map or (0, 0)
                start = starts[first]
                found.append(Block(current, text[start : starts[last]], start))
                current = []
        return found

    def spell(self, block: Block, names: Names) -> list[Token]:
        """The block's tokens with their letters."""
        state = StateCore("", self._parser, names.env, block.tokens)
        self._parser.core.process(state)
        _mark_tasks(block.tokens)
        return block.tokens


def is_code(block: Block) -> bool:
    return block.kind in ("fence", "code_block")


def is_too_heavy(block: Block) -> bool:
    """Whether the block would take too long to spell or to lay out: it is shown as written."""
    source = block.source
    if len(source) > BLOCK_LIMIT or any(len(line) > LINE_LIMIT for line in source.split("\n")):
        return True
    cells = sum(token.type in ("td_open", "th_open") for token in block.tokens)
    if cells > CELL_LIMIT or any(token.level > DEPTH_LIMIT for token in block.tokens):
        return True
    return any(token.type == "inline" and _is_costly(token.content) for token in block.tokens)


def _is_costly(run: str) -> bool:
    if len(run) > RUN_LIMIT or run.count("[") > BRACKET_LIMIT:
        return True
    return sum(1 for _ in _MARKS.finditer(run)) > MARK_LIMIT


def uses(source: str, names: frozenset[str]) -> bool:
    """Whether the source may refer to one of these names."""
    return any(
        normalizeReference(label) in names or f":{label[1:]}" in names
        for label in _LABEL.findall(source)
    )


def task_of(token: Token) -> bool | None:
    """Of a list's item: whether its task is done, None where it is no task."""
    return token.meta.get("task")


def _line_starts(text: str) -> list[int]:
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    return starts


def _mark_tasks(tokens: Sequence[Token]) -> None:
    """`[ ]` and `[x]` at the beginning of an item become a mark of it."""
    for item, _, inline in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if item.type != "list_item_open" or inline.type != "inline" or not inline.children:
            continue
        found = _TASK.match(inline.content)
        first = inline.children[0]
        if found is not None and first.type == "text" and first.content.startswith("["):
            first.content = first.content[found.end() :]
            item.meta["task"] = found[1] != " "
