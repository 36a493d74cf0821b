"""A command as one line of text, and as the program and arguments that it stands for.

There is no shell: quotes keep an argument together, and nothing else means anything. Where paths
have backslashes, these are letters like all others.
"""

import os
import shlex
from collections.abc import Sequence


def split(line: str, *, escapes: bool = os.name != "nt") -> tuple[str, ...]:
    """Program and arguments. Raises ValueError with words where a quote is left open."""
    lexer = shlex.shlex(line, posix=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    if not escapes:
        lexer.escape = ""
    try:
        return tuple(lexer)
    except ValueError as error:
        raise ValueError("a quote is not closed, or the line ends in a backslash") from error


def join(parts: Sequence[str]) -> str:
    """The line that `split` takes apart into these."""
    return shlex.join(parts)
