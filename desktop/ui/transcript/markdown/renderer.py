"""The renderer that is handed to the view when the libraries are loaded."""

from collections.abc import Callable, Sequence

from desktop.ui.transcript.code_piece import Code, colour_code
from desktop.ui.transcript.highlight import Highlighter
from desktop.ui.transcript.markdown.grammar import Grammar
from desktop.ui.transcript.markdown.writer import MarkdownWriter
from desktop.ui.transcript.pieces import Paper, Span
from desktop.ui.transcript.writing import Writer


class MarkdownRenderer:
    """Makes writers of Markdown; colours of code come in from the highlighter's thread."""

    def __init__(self, highlighter: Highlighter) -> None:
        self._grammar = Grammar()
        self._highlighter = highlighter

    def writer(self, paper: Paper, repaint: Callable[[], None]) -> Writer:
        def colour(code: Code) -> None:
            def done(found: Sequence[Span]) -> None:
                colour_code(code, found, paper.theme)
                repaint()

            self._highlighter.request(code.text, code.language, done)

        return MarkdownWriter(paper, self._grammar, colour)
