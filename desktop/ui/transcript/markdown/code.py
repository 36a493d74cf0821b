"""Code into pieces: short ones, so that more of it never lays out again what stands there."""

from PySide6.QtGui import QTextCursor

from desktop.ui.hidden import with_signs
from desktop.ui.transcript.code_piece import Code, CodePiece
from desktop.ui.transcript.pieces import Paper, code_block, ink
from desktop.ui.transcript.signs import sign_letters

CODE_LINES = 300
# A longer line goes on in the next one on the screen; Copy and Save have it whole.
LINE_LIMIT = 5_000


def code_pieces(paper: Paper, text: str, language: str, indent: int = 0) -> list[CodePiece]:
    """A finished block of code, so many pixels to the right; a long one in pieces of CODE_LINES."""
    code = Code(language, indent=indent)
    code.pieces.append(CodePiece(paper, code))
    grow_code(paper, code, text)
    finish_code(code)
    return code.pieces


def grow_code(paper: Paper, code: Code, more: str) -> None:
    """Appends to the last piece, and begins another where it is full."""
    code.look_into(more)
    code.parts.append(more)
    code.revealed = paper.reveals
    cursor = _writing_at_end(code)
    for number, line in enumerate(more.split("\n")):
        if number:
            cursor = _new_line(paper, code, cursor)
        for run, is_sign in with_signs(line) if paper.reveals else ((line, False),):
            cursor = _write_run(paper, code, cursor, run, is_sign=is_sign)
    cursor.endEditBlock()


def _write_run(
    paper: Paper, code: Code, cursor: QTextCursor, run: str, *, is_sign: bool
) -> QTextCursor:
    letters = ink(paper.colour)
    if is_sign:
        letters = sign_letters(paper, letters)
    while len(run) > (room := LINE_LIMIT - code.column):
        # A line ends between two signs.
        room = run.rfind("›", 0, room) + 1 if is_sign else room
        cursor.insertText(run[:room], letters)
        run = run[room:]
        cursor = _new_line(paper, code, cursor)
    if run:
        cursor.insertText(run, letters)
        code.column += len(run)
    return cursor


def _writing_at_end(code: Code) -> QTextCursor:
    """A cursor at the end whose changes are laid out once, at its `endEditBlock`."""
    cursor = QTextCursor(code.pieces[-1].document)
    cursor.beginEditBlock()
    cursor.movePosition(QTextCursor.MoveOperation.End)
    return cursor


def _new_line(paper: Paper, code: Code, cursor: QTextCursor) -> QTextCursor:
    piece = code.pieces[-1]
    code.column = 0
    if piece.document.blockCount() < CODE_LINES:
        cursor.insertBlock(code_block(paper.theme))
        return cursor
    cursor.endEditBlock()
    piece.last = False
    code.pieces.append(CodePiece(paper, code, first=False))
    return _writing_at_end(code)


def finish_code(code: Code) -> None:
    """The newline that ends the last line is no line of its own."""
    piece = code.pieces[-1]
    if piece.document.blockCount() > 1 and piece.document.lastBlock().length() == 1:
        cursor = QTextCursor(piece.document)
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.deletePreviousChar()
    elif len(code.pieces) > 1 and piece.document.isEmpty():
        code.pieces.pop()
        code.pieces[-1].last = True
