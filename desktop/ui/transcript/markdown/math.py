"""Mathematics among words: found, kept as it is written, and never read as Markdown (SPEC U39).

Only what looks like a formula is one: a sum of money between dollars is not, nor are words between
brackets with a backslash. The token holds its source with its signs, so whatever is taken for
mathematics by mistake still has all of its letters. A block ends at its closing sign or at a blank
line: what comes later never changes what was a block before.
"""

import re

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline

# No formula is longer; it also bounds how far each sign is looked for.
LIMIT = 1_000

_CLOSERS = {"$$": "$$", "\\(": "\\)", "\\[": "\\]"}
_SIGN = re.compile(r"\\[A-Za-z]+|\\[,;!{}|\\]|[_^]\S")
_OPERATOR = re.compile(r"[=<>+*/|·×÷±−≤≥≠≈∈∞∑∫√→-]")
_LETTER = re.compile(r"[A-Za-z\u0370-\u03ff]")
_WORD = re.compile(r"(?<!\\)[A-Za-z]{3,}")
_FUNCTIONS = frozenset({"sin", "cos", "tan", "log", "exp", "lim", "max", "min", "det", "mod"})
# x, 2x, x1, f(x), x', (a, b)
_PLAIN = re.compile(r"-?\d*[A-Za-z\u0370-\u03ff]\d?'*(\([^()]*\))?|\([^()]*,[^()]*\)")


def math_plugin(parser: MarkdownIt) -> None:
    """Teaches a parser to find mathematics."""
    parser.inline.ruler.before("escape", "math_inline", _inline)
    ends = ["paragraph", "reference", "blockquote", "list"]
    parser.block.ruler.before("fence", "math_block", _block, {"alt": ends})


def is_math_like(text: str) -> bool:
    """Whether it is rather a formula than words or a sum of money."""
    if _SIGN.search(text) or _PLAIN.fullmatch(text.strip()):
        return True
    if any(word not in _FUNCTIONS for word in _WORD.findall(text)):
        return False
    return _LETTER.search(text) is not None and _OPERATOR.search(text) is not None


def _inline(state: StateInline, silent: bool) -> bool:
    source, start = state.src, state.pos
    if source[start] not in "$\\":
        return False
    opener = source[start : start + 2]
    end = _end_of(source, start, opener) if opener in _CLOSERS else _end_of_single(source, start)
    if end is None or end > state.posMax:
        return False
    if not silent:
        state.push("math_inline", "math", 0).content = source[start:end]
    state.pos = end
    return True


def _end_of(source: str, start: int, opener: str) -> int | None:
    end = source.find(_CLOSERS[opener], start + 2, start + LIMIT)
    return end + 2 if end >= 0 and is_math_like(source[start + 2 : end]) else None


def _end_of_single(source: str, start: int) -> int | None:
    """Its signs stand at its letters, and not beside others: `US$3` and `$5 and $6` are sums."""
    if source[start] != "$" or (
        start and (source[start - 1].isalnum() or source[start - 1] == "$")
    ):
        return None
    end = source.find("$", start + 1, start + LIMIT)
    inside = source[start + 1 : end]
    if end < 0 or not inside or inside != inside.strip() or inside.endswith("\\"):
        return None
    after = source[end + 1 : end + 2]
    return end + 1 if not (after.isalnum() or after == "$") and is_math_like(inside) else None


def _block(state: StateBlock, line: int, last: int, silent: bool) -> bool:
    closer = _opened(state, line)
    if closer is None:
        return False
    if silent:
        return True
    end = line + 1
    while end < last and not state.isEmpty(end) and state.sCount[end] >= state.blkIndent:
        end += 1
        if _text(state, end - 1).endswith(closer):
            break
    token = state.push("math_block", "math", 0)
    token.content = "\n".join(_text(state, at) for at in range(line, end))
    token.map = [line, end]
    state.line = end
    return True


def _opened(state: StateBlock, line: int) -> str | None:
    """What closes the block that begins in this line; None where none begins."""
    text = _text(state, line)
    closer = _CLOSERS.get(text[:2]) if text[:2] != "\\(" else None
    if closer is None or state.is_code_block(line):
        return None
    rest = text[2:]
    return closer if not rest or (closer not in rest and is_math_like(rest)) else None


def _text(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]].strip()
